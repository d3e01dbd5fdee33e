//! `intents`: unsettled effects, contacts that were created again, and their settlement by a
//! person.

use super::args::intents::{DismissArgs, IntentsArgs, IntentsCommand, ResolveArgs};
use super::exit::{Exit, Failure};
use super::out::Out;
use super::session::Session;
use super::setup::Setup;
use crate::control::Request;
use crate::engine::{Question, Reply, Resolved, Said};
use crate::render;

/// Runs the command.
pub(super) async fn run(setup: &Setup, args: &IntentsArgs, out: Out) -> Result<Exit, Failure> {
    match &args.command {
        None => list(setup, out).await,
        Some(IntentsCommand::Resolve(args)) => resolve(setup, args, out).await,
        Some(IntentsCommand::Dismiss(args)) => dismiss(setup, args, out).await,
    }
}

async fn list(setup: &Setup, out: Out) -> Result<Exit, Failure> {
    let session = Session::look(setup).await?;
    let reply = session.ask(Question::Intents).await;
    let Reply::Intents(view) = session.end(setup, reply).await? else {
        return Err(Failure::bug("intents were not answered by intents"));
    };
    out.result(&view, || render::intents::text(&view, out.color))?;
    Ok(if view.items.is_empty() && view.strays.is_empty() { Exit::Done } else { Exit::Stuck })
}

/// Records that a person reviewed an object that was created again.
async fn dismiss(setup: &Setup, args: &DismissArgs, out: Out) -> Result<Exit, Failure> {
    let request = Request::DismissOrphan(args.id, args.reason.clone());
    let session = Session::open(setup).await?;
    let Reply::OrphanSeen(found) = session.done(setup, request).await? else {
        return Err(Failure::bug("a dismissal was not answered by one"));
    };
    let Some(key) = found else {
        let message = format!("intent {} made nothing again that is listed", args.id);
        let failure = Failure::input("reckon::intents::not_listed", message);
        return Err(failure.help("`reckon intents` lists what was made again"));
    };
    let text = || format!("{} of {} is listed no more; the journal keeps it", args.id, key.short());
    out.result(&serde_json::json!({ "dismissed": args.id, "key": key }), text)?;
    Ok(Exit::Done)
}

/// Records a person's resolution.
async fn resolve(setup: &Setup, args: &ResolveArgs, out: Out) -> Result<Exit, Failure> {
    let request = Request::Resolve(args.id, args.said.0.clone());
    let session = Session::open(setup).await?;
    let Reply::Resolved(resolved) = session.done(setup, request).await? else {
        return Err(Failure::bug("a word on an intent was not answered by one"));
    };
    let exit = match &resolved {
        Resolved::Unknown => {
            let message = format!("there is no intent {} that is not settled", args.id);
            let failure = Failure::input("reckon::intents::unknown", message);
            return Err(failure.help("`reckon intents` lists those that are not"));
        }
        Resolved::Settled(_) => Exit::Done,
        Resolved::Busy(_) | Resolved::Unsettled(..) => Exit::Stuck,
        Resolved::Differs(key, why) => return Err(differs(&key.short(), why)),
        Resolved::Unverified(key, why) => return Err(unverified(&key.short(), why, args)),
    };
    out.result(&resolved, || render::resolved(&resolved))?;
    Ok(exit)
}

/// Returns the failure where the id names another object.
fn differs(name: &str, why: &str) -> Failure {
    let failure =
        Failure::input("reckon::intents::differs", format!("{name} is not settled: {why}"));
    let failure = failure.help(
        "look for the object by the mark that `reckon intents` shows; if there is none, say `--as not-done`",
    );
    Failure { exit: Exit::Stuck, ..failure }
}

/// Returns the failure where the object cannot be read.
fn unverified(name: &str, why: &str, args: &ResolveArgs) -> Failure {
    let id = match &args.said.0 {
        Said::Done(id) | Said::Unverified(id) => id.to_string(),
        Said::NotDone | Said::Retry => "REMOTE_ID".to_owned(),
    };
    let failure =
        Failure::input("reckon::intents::unverified", format!("{name} is not settled: {why}"));
    failure.help(format!(
        "look at the object in the portal of the service; then say `reckon intents resolve {} --as unverified:{id}`, and \
         your word is written down in its place",
        args.id
    ))
}
