//! `events`: received events, their status and their hook runs.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{trigger, urls};
use crate::base::clock::{Clock, SystemClock, timestamp};
use crate::base::wording::count_verb;
use crate::cli::args::events::{EventsCommand, EventsListArgs, ResyncArgs};
use crate::cli::args::options::Output;
use crate::cli::commands::gateway_actions;
use crate::cli::context::open::Context;
use crate::cli::context::session::StateSession;
use crate::cli::context::{machine, timespec};
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print::Printer;
use crate::control::requests::{Dismiss, Replay, Resync};
use crate::engine::protocol::queries::events::{EventsView, EventsWanted};
use crate::engine::protocol::queries::hooks::HooksView;
use crate::engine::protocol::query::{EventQuery, EventsQuery, HooksQuery};
use crate::engine::protocol::resync::ResyncEvents;
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
        EventsCommand::Failed { ack: Some(id), .. } => acknowledge(setup, id, out).await,
        EventsCommand::Failed { ack_script: Some(script), .. } => {
            acknowledge_all(setup, script, out).await
        }
        EventsCommand::Failed { .. } => list_failed(setup, out).await,
        EventsCommand::Trigger(args) => trigger::run(setup, args, out).await,
        EventsCommand::Resync(args) => run_resync(setup, args, out).await,
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
    let merchant = args.merchant.as_deref().map(gateway_actions::merchant).transpose()?;
    let wanted = EventsWanted { merchant, most: args.limit };
    StateSession::open_view(setup).await?.ask_once(setup, EventsQuery(wanted)).await
}

async fn show(setup: &Context, id: &str, out: Printer) -> Result<Exit, CommandFailure> {
    let session = StateSession::open_view(setup).await?;
    let event = session.ask_once(setup, EventQuery(id.to_owned())).await?;
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
    StateSession::open_view(setup).await?.ask_once(setup, HooksQuery).await
}

/// Returns the listed events for which a script failed for good.
async fn failed_events(setup: &Context, script: &str) -> Result<BTreeSet<String>, CommandFailure> {
    let view = hooks(setup).await?;
    let dead = view.dead.into_iter().filter(|one| one.script == script);
    let dead: BTreeSet<String> = dead.map(|one| one.event).collect();
    if dead.is_empty() {
        let message = format!("the script `{script}` has no failed hook run");
        let failure = CommandFailure::input("reckon::events::script", message);
        return Err(failure.help("list failed hook runs with `reckon events failed`"));
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
        let found = StateSession::open(setup).await?.send(setup, Dismiss(event)).await?;
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
        let found = StateSession::open(setup).await?.send(setup, Replay(event)).await?;
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
    let found = session.send(setup, Dismiss(id.to_owned())).await?;
    if found == 0 {
        let message = format!("event {id} has nothing to acknowledge");
        let failure = CommandFailure::input("reckon::events::forget", message);
        return Err(failure.help("list failed hook runs and actions with `reckon events failed`"));
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
    let hooks = session.send(setup, Replay(id.to_owned())).await?;
    if hooks == 0 {
        let message = format!("event {id} has no failed hook run");
        let failure = CommandFailure::input("reckon::events::replay", message);
        return Err(failure.help("list failed hook runs with `reckon events failed`"));
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
            exit = machine::stop() => return Ok(exit),
            () = tokio::time::sleep(TAIL_EVERY) => {}
        }
    }
}

// `events resync`: reads the merchants' lists of events again from some moment on.

/// Runs the command. A list that could not be read is a failure of the environment (exit 4).
pub(crate) async fn run_resync(
    setup: &Context,
    args: &ResyncArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    let merchant = args.merchant.as_deref().map(gateway_actions::merchant).transpose()?;
    let since = timespec::parse_since(&args.since, SystemClock.now())?;
    let asked = ResyncEvents { merchant, since, without_hooks: args.without_hooks };
    let read = StateSession::open(setup).await?.send(setup, Resync(asked)).await?;
    let read = read.map_err(|why| CommandFailure::input("reckon::events::recover", why))?;
    let told = serde_json::json!({ "since": timestamp(&since), "merchants": read });
    out.result(&told, || render::events::resync_result(&read, &timestamp(&since)))?;
    let whole = read.iter().all(|one| one.trouble.is_none());
    Ok(if whole { Exit::Done } else { Exit::Environment })
}
