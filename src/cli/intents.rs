//! `intents`: effects that are not settled, contacts that were made again, and what a person says of one.

use super::args::intents::{IntentsArgs, IntentsCommand, ResolveArgs};
use super::exit::{Exit, Failure};
use super::out::Out;
use super::session::Session;
use super::setup::Setup;
use crate::control::Request;
use crate::engine::{Question, Reply, Resolved};
use crate::render;

/// Runs the command.
pub(super) async fn run(setup: &Setup, args: &IntentsArgs, out: Out) -> Result<Exit, Failure> {
    match &args.command {
        None => list(setup, out).await,
        Some(IntentsCommand::Resolve(args)) => resolve(setup, args, out).await,
    }
}

async fn list(setup: &Setup, out: Out) -> Result<Exit, Failure> {
    let session = Session::open(setup).await?;
    let reply = session.ask(Question::Intents).await;
    let Reply::Intents(view) = session.end(setup, reply).await? else {
        return Err(Failure::bug("intents were not answered by intents"));
    };
    out.result(&view, || render::intents::text(&view, out.color))?;
    Ok(if view.items.is_empty() && view.strays.is_empty() { Exit::Done } else { Exit::Stuck })
}

/// Writes a person's word down.
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
    };
    out.result(&resolved, || render::resolved(&resolved))?;
    Ok(exit)
}
