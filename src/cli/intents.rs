//! `intents`: effects that are not settled, and contacts that were made again.

use super::exit::{Exit, Failure};
use super::out::Out;
use super::session::Session;
use super::setup::Setup;
use crate::engine::{Question, Reply};
use crate::render;

/// Runs the command.
pub(super) async fn run(setup: &Setup, out: Out) -> Result<Exit, Failure> {
    let session = Session::open(setup).await?;
    let reply = session.ask(Question::Intents).await;
    let Reply::Intents(view) = session.end(setup, reply).await? else {
        return Err(Failure::bug("intents were not answered by intents"));
    };
    out.result(&view, || render::intents::text(&view, out.color))?;
    Ok(if view.items.is_empty() { Exit::Done } else { Exit::Stuck })
}
