//! `approve`: a person's approval or confirmation. It approves a plan (`plan_approval.rs`), or
//! confirms the live merchant that the code of an application opened (design.md part 5). It also
//! confirms a live application of a state that began empty (`approve_submission.rs`). The
//! confirmation covers just what was shown, and nothing that began to wait since.

use super::approve_submission;
use super::args::ApproveArgs;
use super::exit::{Exit, Failure};
use super::get::one;
use super::out::Out;
use super::plan_approval;
use super::session::Session;
use super::setup::Setup;
use super::signed;
use crate::base::id::Key;
use crate::engine::{Question, Reply};
use crate::model::bound::{Approval, LiveBinding};
use crate::render;

/// Message of a command that wrote nothing.
pub(super) const NOTHING: &str = "nothing was approved";

/// Runs the command.
pub(super) async fn run(setup: &Setup, args: &ApproveArgs, out: Out) -> Result<Exit, Failure> {
    if args.signed.signed {
        return signed::run(setup, out).await;
    }
    if let Some(file) = &args.signed.write {
        return signed::write(Some(setup), args, file, out).await;
    }
    if let Some(checksum) = plan_approval::checksum(&args.what)? {
        return plan_approval::run(setup, args, &checksum, out).await;
    }
    let key = one(&args.what)?;
    let mut yes = args.yes;
    if let Some(future) = Session::future(setup).await? {
        let agreed = agreed_before(&future, &key, yes, out).await;
        if !future.end(setup, agreed).await? {
            out.note(NOTHING);
            return Ok(Exit::Done);
        }
        yes = true;
    }
    let mut session = opened(setup).await?;
    if let Some(why) = approve_submission::waiting(&session, &key).await? {
        return approve_submission::run((setup, session), (&key, &why), yes, out).await;
    }
    let approved = approve(&mut session, &key, yes, out).await;
    let is_running = matches!(session, Session::Daemon(_));
    match session.end(setup, approved).await? {
        Some(approval) => out.result(&approval, || render::approved(&approval, is_running))?,
        None => out.note(NOTHING),
    }
    Ok(Exit::Done)
}

/// Asks about the application that will wait in a new state, before that state is made. A live
/// binding never waits in a new state.
async fn agreed_before(future: &Session, key: &Key, yes: bool, out: Out) -> Result<bool, Failure> {
    match approve_submission::waiting(future, key).await? {
        Some(why) => approve_submission::agreed((key, &why), yes, out),
        None => Err(nothing_waits(key, &[])),
    }
}

/// Opens a session with the daemon or with the state; binds a new state first.
pub(super) async fn opened(setup: &Setup) -> Result<Session, Failure> {
    let session = Session::make(setup).await?;
    if let Session::Own(own) = &session {
        // The record of the state's owner comes first in the journal.
        setup.bind(&own.open, None).await?;
    }
    Ok(session)
}

/// Finds the waiting binding, shows it, asks, and records the approval. Returns `None` if the
/// person declined.
async fn approve(
    session: &mut Session,
    key: &Key,
    yes: bool,
    out: Out,
) -> Result<Option<Approval>, Failure> {
    let Reply::Approvals(waiting) = session.ask(Question::Approvals).await? else {
        return Err(Failure::bug("approvals were not answered by approvals"));
    };
    let Some(binding) = waiting.iter().find(|binding| binding.merchant == *key) else {
        return Err(nothing_waits(key, &waiting));
    };
    if !agreed(binding, yes, out)? {
        return Ok(None);
    }
    let Reply::Approved(approved) = session.approve(binding.clone()).await? else {
        return Err(Failure::bug("an approval was not answered by one"));
    };
    approved.map(|approval| Some(*approval)).ok_or_else(|| changed(key))
}

/// Returns the failure where the binding that was shown does not wait any more.
fn changed(key: &Key) -> Failure {
    let message = format!("{} does not wait for this approval any more", key.short());
    let failure = Failure::input("reckon::approve::changed", message);
    failure.help("look at what waits by now: say approve again")
}

/// Shows the binding and asks for agreement, unless `--yes` is set. Without a terminal `--yes` is
/// required.
fn agreed(binding: &LiveBinding, yes: bool, out: Out) -> Result<bool, Failure> {
    if yes {
        return Ok(true);
    }
    out.note(&render::binding(binding));
    if !out.interactive {
        let failure = Failure::input("reckon::approve::unconfirmed", "no terminal to ask at");
        return Err(failure.help("look at what would be bound, then say approve --yes"));
    }
    out.confirm("Approve this binding?")
}

/// Returns the failure where no approval waits under this name; its help lists those that wait.
fn nothing_waits(key: &Key, waiting: &[LiveBinding]) -> Failure {
    let names: Vec<String> = waiting.iter().map(|binding| binding.merchant.short()).collect();
    let help = match names.as_slice() {
        [] => "nothing waits for an approval now; `reckon get` lists every resource".to_owned(),
        names => format!("these wait: {}", names.join(", ")),
    };
    let message = format!("{} waits for no approval", key.short());
    Failure::input("reckon::approve::nothing_waits", message).help(help)
}
