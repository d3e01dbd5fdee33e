//! `hooks list` and `hooks forget`: the scripts that the state knows, and the end of one whose file
//! is gone.

use serde_json::json;

use crate::base::suggestion;
use crate::cli::args::hooks::HooksForgetArgs;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::control::protocol::ControlRequest;
use crate::engine::queries::hooks::HooksView;
use crate::engine::queries::protocol::{EngineQuery, Reply};
use crate::engine::queries::scripts::ScriptView;
use crate::render::hooks::{quotas, scripts as shown};

/// Runs `hooks list`. A script that is absent or stopped needs attention (exit 3).
pub(crate) async fn list(setup: &Context, out: Printer) -> Result<Exit, CommandFailure> {
    let HooksView { known, quotas, .. } = view(setup).await?;
    let shown = || format!("{}{}", shown::text(&known), quotas::text(&quotas));
    out.result(&json!({ "version": 1, "scripts": known, "quotas": quotas }), shown)?;
    Ok(if shown::needs_attention(&known) { Exit::NeedsAttention } else { Exit::Done })
}

async fn known_scripts(setup: &Context) -> Result<Vec<ScriptView>, CommandFailure> {
    Ok(view(setup).await?.known)
}

async fn view(setup: &Context) -> Result<HooksView, CommandFailure> {
    let session = StateSession::open_view(setup).await?;
    let reply = session.ask(EngineQuery::Hooks).await;
    let Reply::Hooks(view) = session.end(setup, reply).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected hooks",
        ));
    };
    Ok(*view)
}

/// Runs `hooks forget`.
pub(crate) async fn forget(
    setup: &Context,
    args: &HooksForgetArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let known = known_scripts(setup).await?;
    let named = known.iter().find(|one| one.script == args.script);
    let script =
        named.filter(|one| one.absent.is_some()).ok_or_else(|| cannot_forget(&known, args))?;
    if !confirm(script, args.yes, out)? {
        return Ok(Exit::Done);
    }
    let session = StateSession::open(setup).await?;
    let asked = ControlRequest::ForgetScript(args.script.clone());
    let Reply::ScriptForgotten(kept) = session.run_once(setup, asked).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected the \
            forgotten script",
        ));
    };
    let kept = kept.ok_or_else(|| cannot_forget(&known, args))?;
    out.result(&json!({ "script": args.script, "events": script.waiting, "kept": kept }), || {
        format!("{} is forgotten", args.script)
    })?;
    Ok(Exit::Done)
}

/// Returns the failure of a script that cannot be forgotten: it is in use, or the state does not
/// know it.
fn cannot_forget(known: &[ScriptView], args: &HooksForgetArgs) -> CommandFailure {
    let name = &args.script;
    if known.iter().any(|one| one.script == *name) {
        let failure = CommandFailure::input(
            "reckon::hooks::in_use",
            format!("the script `{name}` is in use"),
        );
        return failure.help("remove its file first; its events then wait until you forget it");
    }
    let failure =
        CommandFailure::input("reckon::hooks::script", format!("there is no script `{name}`"));
    let absent = known.iter().filter(|one| one.absent.is_some());
    let absent: Vec<&str> = absent.map(|one| one.script.as_str()).collect();
    failure.help(if absent.is_empty() {
        "list all scripts with `reckon hooks list`; none is absent".to_owned()
    } else {
        suggestion::suggestion_help(name, absent)
    })
}

/// Asks for agreement, unless `--yes` is set. Without a terminal `--yes` is required.
fn confirm(script: &ScriptView, yes: bool, out: Printer) -> Result<bool, CommandFailure> {
    if yes {
        return Ok(true);
    }
    out.note(&shown::forget_request(script));
    if !out.interactive {
        let failure = CommandFailure::input(
            "reckon::hooks::unconfirmed",
            "not confirmed: no \
            terminal to ask at",
        );
        return Err(failure.help(
            "review what would be forgotten, then repeat the command with \
            --yes",
        ));
    }
    out.confirm("Forget it?")
}
