//! `approve`: a person's approval or confirmation. It approves a plan (`plan_approval.rs`), or
//! confirms the live merchant that the code of an application opened (design.md part 5). It also
//! confirms a live application of a state that began empty (`approve_submission.rs`). The
//! confirmation covers just what was shown, and nothing that began to wait since.

use super::{approve_submission, plan_approval};
use crate::base::id::Key;
use crate::cli::args::options::ApproveArgs;
use crate::cli::commands::inspect::get::parse_resource;
use crate::cli::commands::signed::{approval, write};
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::engine::queries::protocol::{EngineQuery, Reply};
use crate::model::operator::live_binding::{BindingApproval, LiveBinding};
use crate::render;

/// Message of a command that wrote nothing.
pub(crate) const NOTHING: &str = "nothing was approved";

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    args: &ApproveArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    if args.signed.signed {
        return approval::run(setup, out).await;
    }
    if let Some(file) = &args.signed.write {
        return write::write(Some(setup), args, file, out).await;
    }
    if let Some(checksum) = plan_approval::checksum(&args.what)? {
        return plan_approval::run(setup, args, &checksum, out).await;
    }
    let key = parse_resource(&args.what)?;
    let mut yes = args.yes;
    if let Some(future) = StateSession::future(setup).await? {
        let agreed = confirm_before_state(&future, &key, yes, out).await;
        if !future.end(setup, agreed).await? {
            out.note(NOTHING);
            return Ok(Exit::Done);
        }
        yes = true;
    }
    let mut session = open_bound_session(setup).await?;
    if let Some(why) = approve_submission::waiting_reason(&session, &key).await? {
        return approve_submission::run((setup, session), (&key, &why), yes, out).await;
    }
    let approved = approve(&mut session, &key, yes, out).await;
    let is_running = matches!(session, StateSession::Daemon(_));
    match session.end(setup, approved).await? {
        Some(approval) => {
            out.result(&approval, || render::approval_result(&approval, is_running))?;
        }
        None => out.note(NOTHING),
    }
    Ok(Exit::Done)
}

/// Asks about the application that will wait in a new state, before that state is made. A live
/// binding never waits in a new state.
async fn confirm_before_state(
    future: &StateSession,
    key: &Key,
    yes: bool,
    out: Printer,
) -> Result<bool, CommandFailure> {
    match approve_submission::waiting_reason(future, key).await? {
        Some(why) => approve_submission::confirm((key, &why), yes, out),
        None => Err(nothing_waits(key, &[])),
    }
}

/// Opens a session with the daemon or with the state; binds a new state first.
pub(crate) async fn open_bound_session(setup: &Context) -> Result<StateSession, CommandFailure> {
    let session = StateSession::make(setup).await?;
    if let StateSession::Own(own) = &session {
        // The record of the state's owner comes first in the journal.
        setup.bind(&own.open, None).await?;
    }
    Ok(session)
}

/// Finds the waiting binding, shows it, asks, and records the approval. Returns `None` if the
/// person declined.
async fn approve(
    session: &mut StateSession,
    key: &Key,
    yes: bool,
    out: Printer,
) -> Result<Option<BindingApproval>, CommandFailure> {
    let Reply::Approvals(waiting) = session.ask(EngineQuery::Approvals).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected approvals",
        ));
    };
    let Some(binding) = waiting.iter().find(|binding| binding.merchant == *key) else {
        return Err(nothing_waits(key, &waiting));
    };
    if !confirm(binding, yes, out)? {
        return Ok(None);
    }
    let Reply::Approved(approved) = session.approve(binding.clone()).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected an approval",
        ));
    };
    approved.map(|approval| Some(*approval)).ok_or_else(|| no_longer_waits(key))
}

/// Returns the failure where the binding that was shown does not wait any more.
fn no_longer_waits(key: &Key) -> CommandFailure {
    let message = format!("{} no longer waits for this approval", key.short());
    let failure = CommandFailure::input("reckon::approve::changed", message);
    failure.help("run `reckon approve` again for the present binding")
}

/// Shows the binding and asks for agreement, unless `--yes` is set. Without a terminal `--yes` is
/// required.
fn confirm(binding: &LiveBinding, yes: bool, out: Printer) -> Result<bool, CommandFailure> {
    if yes {
        return Ok(true);
    }
    out.note(&render::live_binding(binding));
    if !out.interactive {
        let failure = CommandFailure::input(
            "reckon::approve::unconfirmed",
            "not confirmed: no terminal to ask at",
        );
        return Err(failure.help("review the binding, then repeat the command with --yes"));
    }
    out.confirm("Approve this binding?")
}

/// Returns the failure where no approval waits under this name; its help lists those that wait.
fn nothing_waits(key: &Key, waiting: &[LiveBinding]) -> CommandFailure {
    let names: Vec<String> = waiting.iter().map(|binding| binding.merchant.short()).collect();
    let help = match names.as_slice() {
        [] => "list all resources with `reckon get`; none waits for an approval now".to_owned(),
        names => format!("name one that waits: {}", names.join(", ")),
    };
    let message = format!("{} does not wait for an approval", key.short());
    CommandFailure::input("reckon::approve::nothing_waits", message).help(help)
}
