//! `approve MerchantApplication/NAME`: a person confirms that no lost state submitted a live
//! application (docs/operations/store.md, "Without a backup").

use serde_json::json;

use super::approve::NOTHING;
use crate::base::id::Key;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::engine::executor::epoch::StateReply;
use crate::engine::queries::protocol::{EngineQuery, Reply};
use crate::model::plans::plan::Reason;
use crate::model::state::epoch::ReleaseRequest;

/// Returns the reason for which an application waits for an approval, if it waits.
pub(crate) async fn waiting_reason(
    session: &StateSession,
    key: &Key,
) -> Result<Option<String>, CommandFailure> {
    let Reply::Resource(found) = session.ask(EngineQuery::Resource(key.clone())).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected a resource",
        ));
    };
    let waits = Reason::MaybeSubmitted(Box::new(key.clone())).to_string();
    Ok(found.map(|found| found.message).filter(|message| *message == waits))
}

/// Shows the waiting application, asks, and records the approval.
pub(crate) async fn run(
    (setup, mut session): (&Context, StateSession),
    (key, why): (&Key, &str),
    yes: bool,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let approved = approve(&mut session, (key, why), yes, out).await;
    let is_running = matches!(session, StateSession::Daemon(_));
    if !session.end(setup, approved).await? {
        out.note(NOTHING);
        return Ok(Exit::Done);
    }
    let next = if is_running { "the daemon continues" } else { "run `reckon apply` to continue" };
    let told = format!("{} is approved and will be submitted once; {next}", key.short());
    out.result(&json!({ "approved": key }), || told)?;
    Ok(Exit::Done)
}

/// Shows the waiting application and asks for agreement, unless `--yes` is set. Without a terminal
/// `--yes` is required.
pub(crate) fn confirm(
    (key, why): (&Key, &str),
    yes: bool,
    out: Printer,
) -> Result<bool, CommandFailure> {
    if yes {
        return Ok(true);
    }
    out.note(&format!("{}: {why}", key.short()));
    if !out.interactive {
        let failure = CommandFailure::input(
            "reckon::approve::unconfirmed",
            "not confirmed: no terminal to ask at",
        );
        return Err(failure
            .help("look for the application at the service, then repeat the command with --yes"));
    }
    out.confirm("Submit this application?")
}

/// Returns whether a person agreed and the approval is recorded.
async fn approve(
    session: &mut StateSession,
    (key, why): (&Key, &str),
    yes: bool,
    out: Printer,
) -> Result<bool, CommandFailure> {
    if !confirm((key, why), yes, out)? {
        return Ok(false);
    }
    let said = ReleaseRequest { keys: vec![key.clone()], done: false };
    let Reply::State(StateReply::Released(done)) = session.release(said).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected a release",
        ));
    };
    if done {
        return Ok(true);
    }
    let message = format!("{} no longer waits for this approval", key.short());
    Err(CommandFailure::input("reckon::approve::changed", message))
}
