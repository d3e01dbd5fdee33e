//! `forget`: stops managing a resource, or disowns an object with a mark of ours. The service is
//! not asked.

use crate::base::id::RemoteId;
use crate::cli::args::adopt::ForgetArgs;
use crate::cli::commands::inspect::get::parse_resource;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::control::protocol::ControlRequest;
use crate::engine::queries::protocol::Reply;
use crate::model::state::adoption::{ForgetRequest, ForgetResult};
use crate::render;

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    args: &ForgetArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let what = parse_subject(&args.what)?;
    if !confirm(&what, args.yes, out)? {
        out.note("nothing was written");
        return Ok(Exit::Done);
    }
    let session = StateSession::open(setup).await?;
    let Reply::Forgot(forgot) = session.run_once(setup, ControlRequest::Forget(what)).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected the result of forget",
        ));
    };
    match &*forgot {
        ForgetResult::Resource(..) | ForgetResult::Object(..) => {
            out.result(&forgot, || render::adoption::forget_result(&forgot))?;
            Ok(Exit::Done)
        }
        ForgetResult::Refused(why, help) => {
            let failure = CommandFailure::input("reckon::forget::refused", why).help(help);
            Err(CommandFailure { exit: Exit::NeedsAttention, ..failure })
        }
        ForgetResult::Unknown(nearest) => Err(unknown(&args.what, nearest.as_deref())),
    }
}

/// Parses the name of a resource, or an id.
fn parse_subject(text: &str) -> Result<ForgetRequest, CommandFailure> {
    if text.contains('/') {
        return Ok(ForgetRequest::Resource(parse_resource(text)?));
    }
    let id = RemoteId::new(text);
    let id =
        id.map_err(|error| CommandFailure::input("reckon::forget::name", error).help(NAMES))?;
    Ok(ForgetRequest::Object(id))
}

const NAMES: &str = "write KIND/NAME, or the id of an object that `reckon intents` shows";

fn unknown(text: &str, nearest: Option<&str>) -> CommandFailure {
    let what = if text.contains('/') {
        format!("no such resource: {text}")
    } else {
        format!("no such unknown object: {text}")
    };
    let failure = CommandFailure::input("reckon::forget::unknown", what);
    match nearest {
        Some(name) => failure.help(format!("did you mean {name}?")),
        None if text.contains('/') => failure.help("list all resources with `reckon get`"),
        None => failure.help(NAMES),
    }
}

/// Asks for agreement, unless `--yes` is set. Without a terminal `--yes` is required.
fn confirm(what: &ForgetRequest, yes: bool, out: Printer) -> Result<bool, CommandFailure> {
    if yes {
        return Ok(true);
    }
    out.note(&render::adoption::forget_request(what));
    if !out.interactive {
        let failure = CommandFailure::input(
            "reckon::forget::unconfirmed",
            "not confirmed: no terminal to ask \
            at",
        );
        return Err(
            failure.help("review what would be forgotten, then repeat the command with --yes")
        );
    }
    out.confirm("Forget it?")
}
