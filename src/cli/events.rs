//! `events`: received events, their status and their hook runs.

use std::collections::BTreeSet;
use std::time::Duration;

use super::args::{EventsCommand, EventsListArgs, Output};
use super::exit::{Exit, Failure};
use super::gateway;
use super::out::Out;
use super::session::Session;
use super::setup::Setup;
use super::{fire, recover, signals, urls};
use crate::base::counted::verbed;
use crate::control::Request;
use crate::engine::{EventsView, EventsWanted, HooksView, Question, Reply};
use crate::render;

/// Interval at which `events tail` asks for new events.
const TAIL_EVERY: Duration = Duration::from_secs(1);

/// Runs the command.
pub(super) async fn run(setup: &Setup, command: &EventsCommand, out: Out) -> Result<Exit, Failure> {
    match command {
        EventsCommand::Urls(args) => urls::run(setup, args, out).await,
        EventsCommand::List(args) => {
            let view = asked(setup, args).await?;
            out.result(&view, || render::events::text(&view, out.color))?;
            Ok(Exit::Done)
        }
        EventsCommand::Show { id } => show(setup, id, out).await,
        EventsCommand::Dead { forget: Some(id), .. } => forget(setup, id, out).await,
        EventsCommand::Dead { forget_script: Some(script), .. } => {
            forget_all(setup, script, out).await
        }
        EventsCommand::Dead { .. } => dead(setup, out).await,
        EventsCommand::Fire(args) => fire::run(setup, args, out).await,
        EventsCommand::Recover(args) => recover::run(setup, args, out).await,
        EventsCommand::Replay { id: Some(id), .. } => replay(setup, id, out).await,
        EventsCommand::Replay { script, .. } => {
            replay_all(setup, script.as_deref().unwrap_or_default(), out).await
        }
        EventsCommand::Tail(args) => tail(setup, args, out).await,
    }
}

/// Returns the newest events.
async fn asked(setup: &Setup, args: &EventsListArgs) -> Result<EventsView, Failure> {
    let merchant = args.merchant.as_deref().map(gateway::merchant).transpose()?;
    let question = Question::Events(EventsWanted { merchant, most: args.limit });
    let session = Session::look(setup).await?;
    let reply = session.ask(question).await;
    let Reply::Events(view) = session.end(setup, reply).await? else {
        return Err(Failure::bug("events were not answered by events"));
    };
    Ok(*view)
}

async fn show(setup: &Setup, id: &str, out: Out) -> Result<Exit, Failure> {
    let session = Session::look(setup).await?;
    let reply = session.ask(Question::Event(id.to_owned())).await;
    let Reply::Event(event) = session.end(setup, reply).await? else {
        return Err(Failure::bug("an event was not answered by one"));
    };
    let Some(event) = event else {
        let failure = Failure::input("reckon::events::unknown", format!("there is no event {id}"));
        return Err(failure.help("`reckon events list` shows the newest ones"));
    };
    out.result(&event, || render::events::one(&event))?;
    Ok(Exit::Done)
}

/// Lists failed hooks, actions that were not done, and those that wait. Exits with 3 if a person
/// has to act: a hook failed for good, or an action was not done or is on hold.
async fn dead(setup: &Setup, out: Out) -> Result<Exit, Failure> {
    let view = hooks(setup).await?;
    out.result(&view, || render::events::dead(&view))?;
    let held = view.waiting.iter().any(|wish| wish.held.is_some());
    let waited_for = render::hooks::roster::needs_attention(&view.known);
    let quiet = !waited_for && view.totals.dead == 0 && view.undone.is_empty() && !held;
    Ok(if quiet { Exit::Done } else { Exit::Stuck })
}

async fn hooks(setup: &Setup) -> Result<HooksView, Failure> {
    let session = Session::look(setup).await?;
    let reply = session.ask(Question::Hooks).await;
    let Reply::Hooks(view) = session.end(setup, reply).await? else {
        return Err(Failure::bug("hooks were not answered by hooks"));
    };
    Ok(*view)
}

/// Returns the listed events for which a script failed for good.
async fn dead_of(setup: &Setup, script: &str) -> Result<BTreeSet<String>, Failure> {
    let view = hooks(setup).await?;
    let dead = view.dead.into_iter().filter(|one| one.script == script);
    let dead: BTreeSet<String> = dead.map(|one| one.event).collect();
    if dead.is_empty() {
        let message = format!("no hook of the script `{script}` failed for good");
        let failure = Failure::input("reckon::events::script", message);
        return Err(failure.help("`reckon events dead` lists those that did"));
    }
    Ok(dead)
}

/// Acknowledges every event for which a script failed for good.
async fn forget_all(setup: &Setup, script: &str, out: Out) -> Result<Exit, Failure> {
    let mut forgotten: usize = 0;
    for event in dead_of(setup, script).await? {
        let reply = Session::open(setup).await?.done(setup, Request::Dismiss(event)).await?;
        let Reply::Dismissed(found) = reply else {
            return Err(Failure::bug("what was seen was not answered by it"));
        };
        forgotten = forgotten.saturating_add(found);
    }
    out.result(&serde_json::json!({ "forgotten": forgotten }), || {
        format!("{forgotten} of them are listed no more; the journal keeps them")
    })?;
    Ok(Exit::Done)
}

/// Runs every failed hook again of the events for which this script failed for good.
async fn replay_all(setup: &Setup, script: &str, out: Out) -> Result<Exit, Failure> {
    let mut hooks: usize = 0;
    for event in dead_of(setup, script).await? {
        let reply = Session::open(setup).await?.done(setup, Request::Replay(event)).await?;
        let Reply::Replayed(found) = reply else {
            return Err(Failure::bug("a replay was not answered by one"));
        };
        hooks = hooks.saturating_add(found);
    }
    out.result(&serde_json::json!({ "hooks": hooks }), || {
        format!("{hooks} hooks are run again; the daemon does it at once")
    })?;
    Ok(Exit::Done)
}

/// Acknowledges the failed hooks of an event, on a person's word.
async fn forget(setup: &Setup, id: &str, out: Out) -> Result<Exit, Failure> {
    let session = Session::open(setup).await?;
    let asked = Request::Dismiss(id.to_owned());
    let Reply::Dismissed(found) = session.done(setup, asked).await? else {
        return Err(Failure::bug("what was seen was not answered by it"));
    };
    if found == 0 {
        let message = format!("nothing of event {id} is listed as dead");
        let failure = Failure::input("reckon::events::forget", message);
        return Err(failure.help("`reckon events dead` lists what is"));
    }
    out.result(&serde_json::json!({ "forgotten": found }), || {
        format!("{} listed no more; the journal keeps it", verbed(found, "of it is", "of it are"))
    })?;
    Ok(Exit::Done)
}

async fn replay(setup: &Setup, id: &str, out: Out) -> Result<Exit, Failure> {
    let session = Session::open(setup).await?;
    let Reply::Replayed(hooks) = session.done(setup, Request::Replay(id.to_owned())).await? else {
        return Err(Failure::bug("a replay was not answered by one"));
    };
    if hooks == 0 {
        let message = format!("no hook of event {id} failed for good");
        let failure = Failure::input("reckon::events::replay", message);
        return Err(failure.help("`reckon events dead` lists those that did"));
    }
    out.result(&serde_json::json!({ "hooks": hooks }), || {
        let hooks = verbed(hooks, "of its hooks is", "of its hooks are");
        format!("{hooks} run again; the daemon does it at once")
    })?;
    Ok(Exit::Done)
}

/// Prints the newest events, and follows new ones until it is interrupted.
async fn tail(setup: &Setup, args: &EventsListArgs, out: Out) -> Result<Exit, Failure> {
    if setup.server.is_none() {
        setup.there()?;
    }
    let mut seen = BTreeSet::new();
    loop {
        let mut view = asked(setup, args).await?;
        view.items.retain(|item| seen.insert((item.merchant.clone(), item.id.clone())));
        match out.form {
            Output::Json | Output::Yaml => {
                for item in view.items.iter().rev() {
                    out.text(&serde_json::to_string(item).map_err(Failure::bug)?)?;
                }
            }
            Output::Text | Output::Markdown => {
                out.text(&render::events::tail(&view.items, out.color))?;
            }
        }
        tokio::select! {
            exit = signals::stop() => return Ok(exit),
            () = tokio::time::sleep(TAIL_EVERY) => {}
        }
    }
}
