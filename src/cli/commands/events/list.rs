//! `events`: received events, their status and their hook runs.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{resync, trigger, urls};
use crate::base::plural::count_verb;
use crate::cli::args::events::{EventsCommand, EventsListArgs};
use crate::cli::args::options::Output;
use crate::cli::commands::gateway::actions;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::daemon::signals;
use crate::cli::output::exit::{CommandFailure, Exit};
use crate::cli::output::print::Printer;
use crate::control::protocol::ControlRequest;
use crate::engine::queries::events::{EventsView, EventsWanted};
use crate::engine::queries::hooks::HooksView;
use crate::engine::queries::protocol::{EngineQuery, Reply};
use crate::render;

/// Interval at which `events tail` asks for new events.
const TAIL_EVERY: Duration = Duration::from_secs(1);

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    command: &EventsCommand,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    match command {
        EventsCommand::Urls(args) => urls::run(setup, args, out).await,
        EventsCommand::List(args) => {
            let view = newest_events(setup, args).await?;
            out.result(&view, || render::events::text(&view, out.color))?;
            Ok(Exit::Done)
        }
        EventsCommand::Show { id } => show(setup, id, out).await,
        EventsCommand::Dead { forget: Some(id), .. } => acknowledge(setup, id, out).await,
        EventsCommand::Dead { forget_script: Some(script), .. } => {
            acknowledge_all(setup, script, out).await
        }
        EventsCommand::Dead { .. } => list_failed(setup, out).await,
        EventsCommand::Fire(args) => trigger::run(setup, args, out).await,
        EventsCommand::Recover(args) => resync::run(setup, args, out).await,
        EventsCommand::Replay { id: Some(id), .. } => replay(setup, id, out).await,
        EventsCommand::Replay { script, .. } => {
            replay_all(setup, script.as_deref().unwrap_or_default(), out).await
        }
        EventsCommand::Tail(args) => tail(setup, args, out).await,
    }
}

/// Returns the newest events.
async fn newest_events(
    setup: &Context,
    args: &EventsListArgs,
) -> Result<EventsView, CommandFailure> {
    let merchant = args.merchant.as_deref().map(actions::merchant).transpose()?;
    let question = EngineQuery::Events(EventsWanted { merchant, most: args.limit });
    let session = StateSession::open_view(setup).await?;
    let reply = session.ask(question).await;
    let Reply::Events(view) = session.end(setup, reply).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected events",
        ));
    };
    Ok(*view)
}

async fn show(setup: &Context, id: &str, out: Printer) -> Result<Exit, CommandFailure> {
    let session = StateSession::open_view(setup).await?;
    let reply = session.ask(EngineQuery::Event(id.to_owned())).await;
    let Reply::Event(event) = session.end(setup, reply).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected an event",
        ));
    };
    let Some(event) = event else {
        let failure =
            CommandFailure::input("reckon::events::unknown", format!("there is no event {id}"));
        return Err(failure.help("list the newest events with `reckon events list`"));
    };
    out.result(&event, || render::events::event_detail(&event))?;
    Ok(Exit::Done)
}

/// Lists failed hooks, actions that were not done, and those that wait. Exits with 3 if a person
/// has to act: a hook failed for good, or an action was not done or is on hold.
async fn list_failed(setup: &Context, out: Printer) -> Result<Exit, CommandFailure> {
    let view = hooks(setup).await?;
    out.result(&view, || render::events::failed_runs(&view))?;
    let held = view.waiting.iter().any(|wish| wish.on_hold.is_some());
    let waited_for = render::hooks::scripts::needs_attention(&view.known);
    let quiet = !waited_for && view.totals.dead == 0 && view.undone.is_empty() && !held;
    Ok(if quiet { Exit::Done } else { Exit::NeedsAttention })
}

async fn hooks(setup: &Context) -> Result<HooksView, CommandFailure> {
    let session = StateSession::open_view(setup).await?;
    let reply = session.ask(EngineQuery::Hooks).await;
    let Reply::Hooks(view) = session.end(setup, reply).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected hooks",
        ));
    };
    Ok(*view)
}

/// Returns the listed events for which a script failed for good.
async fn failed_events(setup: &Context, script: &str) -> Result<BTreeSet<String>, CommandFailure> {
    let view = hooks(setup).await?;
    let dead = view.dead.into_iter().filter(|one| one.script == script);
    let dead: BTreeSet<String> = dead.map(|one| one.event).collect();
    if dead.is_empty() {
        let message = format!("the script `{script}` has no failed hook run");
        let failure = CommandFailure::input("reckon::events::script", message);
        return Err(failure.help("list failed hook runs with `reckon events dead`"));
    }
    Ok(dead)
}

/// Acknowledges every event for which a script failed for good.
async fn acknowledge_all(
    setup: &Context,
    script: &str,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let mut forgotten: usize = 0;
    for event in failed_events(setup, script).await? {
        let reply = StateSession::open(setup)
            .await?
            .run_once(setup, ControlRequest::Dismiss(event))
            .await?;
        let Reply::Dismissed(found) = reply else {
            return Err(CommandFailure::bug(
                "internal error: unexpected response type; expected an \
                acknowledgement",
            ));
        };
        forgotten = forgotten.saturating_add(found);
    }
    out.result(&serde_json::json!({ "forgotten": forgotten }), || {
        format!("{forgotten} acknowledged: no longer listed, still in the journal")
    })?;
    Ok(Exit::Done)
}

/// Runs every failed hook again of the events for which this script failed for good.
async fn replay_all(setup: &Context, script: &str, out: Printer) -> Result<Exit, CommandFailure> {
    let mut hooks: usize = 0;
    for event in failed_events(setup, script).await? {
        let reply =
            StateSession::open(setup).await?.run_once(setup, ControlRequest::Replay(event)).await?;
        let Reply::Replayed(found) = reply else {
            return Err(CommandFailure::bug(
                "internal error: unexpected response type; expected a replay",
            ));
        };
        hooks = hooks.saturating_add(found);
    }
    out.result(&serde_json::json!({ "hooks": hooks }), || {
        format!("{hooks} hooks will run again; a running daemon starts them at once")
    })?;
    Ok(Exit::Done)
}

/// Acknowledges the failed hooks of an event, on a person's word.
async fn acknowledge(setup: &Context, id: &str, out: Printer) -> Result<Exit, CommandFailure> {
    let session = StateSession::open(setup).await?;
    let asked = ControlRequest::Dismiss(id.to_owned());
    let Reply::Dismissed(found) = session.run_once(setup, asked).await? else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected an acknowledgement",
        ));
    };
    if found == 0 {
        let message = format!("event {id} has nothing to acknowledge");
        let failure = CommandFailure::input("reckon::events::forget", message);
        return Err(failure.help("list failed hook runs and actions with `reckon events dead`"));
    }
    out.result(&serde_json::json!({ "forgotten": found }), || {
        format!(
            "{} acknowledged: no longer listed, still in the journal",
            count_verb(found, "item", "items")
        )
    })?;
    Ok(Exit::Done)
}

async fn replay(setup: &Context, id: &str, out: Printer) -> Result<Exit, CommandFailure> {
    let session = StateSession::open(setup).await?;
    let Reply::Replayed(hooks) =
        session.run_once(setup, ControlRequest::Replay(id.to_owned())).await?
    else {
        return Err(CommandFailure::bug(
            "internal error: unexpected response type; expected a replay",
        ));
    };
    if hooks == 0 {
        let message = format!("event {id} has no failed hook run");
        let failure = CommandFailure::input("reckon::events::replay", message);
        return Err(failure.help("list failed hook runs with `reckon events dead`"));
    }
    out.result(&serde_json::json!({ "hooks": hooks }), || {
        let hooks = count_verb(hooks, "hook", "hooks");
        format!("{hooks} will run again; a running daemon starts them at once")
    })?;
    Ok(Exit::Done)
}

/// Prints the newest events, and follows new ones until it is interrupted.
async fn tail(
    setup: &Context,
    args: &EventsListArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    if setup.server.is_none() {
        setup.require_state()?;
    }
    let mut seen = BTreeSet::new();
    loop {
        let mut view = newest_events(setup, args).await?;
        view.items.retain(|item| seen.insert((item.merchant.clone(), item.id.clone())));
        match out.form {
            Output::Json | Output::Yaml => {
                for item in view.items.iter().rev() {
                    out.text(&serde_json::to_string(item).map_err(CommandFailure::bug)?)?;
                }
            }
            Output::Text | Output::Markdown => {
                out.text(&render::events::event_lines(&view.items, out.color))?;
            }
        }
        tokio::select! {
            exit = signals::stop() => return Ok(exit),
            () = tokio::time::sleep(TAIL_EVERY) => {}
        }
    }
}
