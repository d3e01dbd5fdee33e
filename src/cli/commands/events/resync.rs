//! `events recover`: reads the merchants' lists of events again from some moment on.

use crate::base::clock::{Clock, SystemClock, timestamp};
use crate::cli::args::events::RecoverArgs;
use crate::cli::commands::gateway::actions;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::context::timespec;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::control::protocol::ControlRequest;
use crate::engine::events::resync::ResyncEvents;
use crate::engine::queries::protocol::Reply;
use crate::render;

/// Runs the command. A list that could not be read is a failure of the environment (exit 4).
pub(crate) async fn run(
    setup: &Context,
    args: &RecoverArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let merchant = args.merchant.as_deref().map(actions::merchant).transpose()?;
    let since = timespec::parse_since(&args.since, SystemClock.now())?;
    let asked = ResyncEvents { merchant, since, without_hooks: args.without_hooks };
    let session = StateSession::open(setup).await?;
    let Reply::Recovered(read) =
        session.run_once(setup, ControlRequest::ResyncEvents(asked)).await?
    else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected the \
            recovered lists",
        ));
    };
    let read = read.map_err(|why| CommandFailure::input("reckon::events::recover", why))?;
    let told = serde_json::json!({ "since": timestamp(&since), "merchants": read });
    out.result(&told, || render::events::resync_result(&read, &timestamp(&since)))?;
    let whole = read.iter().all(|one| one.trouble.is_none());
    Ok(if whole { Exit::Done } else { Exit::Environment })
}
