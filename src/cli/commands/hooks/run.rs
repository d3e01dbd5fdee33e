//! `hooks run --dry-run`: runs the scripts of the folder on a known event, and shows the actions
//! that they request.

use serde_json::Value;

use super::overview::{check_script, diagnostic_look, load_valid};
use crate::cli::args::hooks::HooksRunArgs;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::daemon::trial_run;
use crate::cli::daemon::trial_run::{merchant, on_stage};
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::render::hooks as shown;
use crate::render::hooks::tried;
use crate::scripting::interface::{Hooks, TIME_MAX};

/// Runs the command. A run that fails is an error of the script (exit 1).
pub(crate) async fn run(
    setup: &Context,
    args: &HooksRunArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    if !args.dry_run {
        let what = "missing --dry-run: only the daemon runs scripts with effect, once for each \
            event";
        return Err(CommandFailure::input("reckon::hooks::run", what).help(format!(
            "add --dry-run to see the requested actions; run failed hooks again with `reckon \
            events replay {}`",
            args.event
        )));
    }
    let (folder, hooks) = load_valid(setup, out)?;
    check_script(&hooks, args.script.as_deref())?;
    let session = StateSession::open_view(setup).await?;
    let tried = run_scripts(&session, &hooks, args).await;
    let (event, ends) = session.end(setup, tried).await?;
    out.result(&tried::json(&event, &ends, &folder.scripts), || {
        let runs: String = ends.iter().flatten().map(tried::text).collect();
        let failures = ends.iter().filter_map(|end| end.as_ref().err());
        let problems: Vec<_> = failures.map(|failure| failure.problem(&folder.scripts)).collect();
        let none = if ends.is_empty() { "no script handles this event\n" } else { "" };
        [runs.as_str(), none, &shown::problem_report(&folder, &problems, diagnostic_look(out))]
            .concat()
    })?;
    Ok(if ends.iter().any(Result::is_err) { Exit::Input } else { Exit::Done })
}

async fn run_scripts(
    session: &StateSession,
    hooks: &Hooks,
    args: &HooksRunArgs,
) -> Result<(Value, Vec<tried::TrialOutcome>), CommandFailure> {
    let event = trial_run::event(session, &args.event).await?;
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    let mut ends = Vec::new();
    for handler in hooks.handlers(kind) {
        if args.script.as_ref().is_none_or(|name| *name == handler.script) {
            let (hooks, own, whose) = (hooks.clone(), event.clone(), merchant(&event));
            let run = move |reads| hooks.run(&handler, &own, &reads, Some(TIME_MAX));
            ends.push(on_stage(session, whose, run).await?);
        }
    }
    Ok((event, ends))
}
