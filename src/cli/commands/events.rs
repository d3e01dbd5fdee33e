//! `events`: received events, their status and their hook runs; `events trigger`, by which the
//! sandbox sends an event, so that operators see the answer of their scripts.

mod failed_runs;
pub(crate) mod replay;
mod replay_cost;
mod trial_values;

use std::collections::BTreeSet;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::base::clock::{Clock, SystemClock, timestamp};
use crate::base::id::{Key, Mode};
use crate::base::wording::{self, count_verb};
use crate::cli::args::events::{
    EventFilterArgs, EventsCommand, EventsListArgs, ResyncArgs, TriggerArgs,
};
use crate::cli::args::output::Output;
use crate::cli::commands::events::failed_runs::failed_events;
use crate::cli::commands::sandbox::env::control;
use crate::cli::commands::{event_detail, gateway_actions, get, links};
use crate::cli::context::open::Context;
use crate::cli::context::{machine, selection};
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::control::requests::{Dismiss, Resync};
use crate::engine::protocol::event_filter::{EventFilter, EventFilterError, EventFilterText};
use crate::engine::protocol::events::{EventsView, EventsWanted, ResyncEvents, ResyncedEvents};
use crate::engine::protocol::query::{EventsQuery, HooksQuery};
use crate::render;
use crate::scripting::language::names::EVENTS;

const TAIL_EVERY: Duration = Duration::from_secs(1);

pub(crate) async fn run(setup: &Context, command: &EventsCommand) -> CommandResult {
    match command {
        EventsCommand::Urls(args) => links::urls(setup, args).await,
        EventsCommand::List(args) => {
            let view = newest_events(setup, args).await?;
            let is_filtered = !filter(&args.filter)?.is_empty();
            setup.out.finish(&view, || render::events::text(&view, is_filtered, setup.out.screen))
        }
        EventsCommand::Show(args) => event_detail::show(setup, args).await,
        EventsCommand::Failed { ack: Some(id), .. } => acknowledge(setup, id).await,
        EventsCommand::Failed { ack_script: Some(script), .. } => {
            acknowledge_all(setup, script).await
        }
        EventsCommand::Failed { .. } => list_failed(setup).await,
        EventsCommand::Trigger(args) => trigger(setup, args).await,
        EventsCommand::Resync(args) => run_resync(setup, args).await,
        EventsCommand::Replay(args) => replay::run(setup, args).await,
        EventsCommand::Tail(args) => tail(setup, args).await,
    }
}

async fn newest_events(setup: &Context, args: &EventsListArgs) -> CommandResult<EventsView> {
    let merchant = args.merchant.as_deref().map(gateway_actions::merchant).transpose()?;
    let wanted = EventsWanted { merchant, most: args.limit, filter: filter(&args.filter)? };
    setup.query(EventsQuery(wanted)).await
}

fn filter(args: &EventFilterArgs) -> CommandResult<EventFilter> {
    let EventFilterArgs { kinds, states, resources, since, until } = args;
    let resources = resources.iter().map(|key| get::parse_resource_or_action(key));
    let resources = resources.collect::<CommandResult<Vec<_>>>()?;
    let (since, until) = (since.as_deref(), until.as_deref());
    let text = EventFilterText { kinds, since, until, ..EventFilterText::default() };
    let parsed = text.parse(SystemClock.now()).map_err(|why| {
        let EventFilterError { code, message, help } = why;
        CommandFailure::input(code, message).help(help)
    })?;
    Ok(EventFilter { states: states.clone(), resources, ..parsed })
}

/// Lists what failed, was not done or waits. Exits with 3 if a person has to act.
async fn list_failed(setup: &Context) -> CommandResult {
    let view = setup.query(HooksQuery).await?;
    setup.out.result(&view, || render::events::failed_runs(&view))?;
    let held = view.waiting.iter().any(|wish| wish.on_hold.is_some());
    let waited_for = render::hooks::needs_attention(&view.known);
    let quiet = !waited_for && view.totals.dead == 0 && view.undone.is_empty() && !held;
    Ok(if quiet { Exit::Done } else { Exit::NeedsAttention })
}

async fn acknowledge_all(setup: &Context, script: &str) -> CommandResult {
    let mut forgotten: usize = 0;
    for event in failed_events(setup, script).await? {
        forgotten = forgotten.saturating_add(setup.send(Dismiss(event)).await?);
    }
    print_acknowledged(setup, forgotten, &forgotten.to_string())
}

async fn acknowledge(setup: &Context, id: &str) -> CommandResult {
    let found = setup.send(Dismiss(id.to_owned())).await?;
    if found == 0 {
        let message = format!("event {id} has nothing to acknowledge");
        let failure = CommandFailure::input("reckon::events::forget", message);
        return Err(failure.help("list failed hook runs and actions with `reckon events failed`"));
    }
    print_acknowledged(setup, found, &count_verb(found, "item", "items"))
}

/// Output of `events failed --ack -o json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AcknowledgeOutput {
    /// Hook runs and actions that are no longer listed.
    forgotten: usize,
}

fn print_acknowledged(setup: &Context, count: usize, items: &str) -> CommandResult {
    let text = || format!("{items} acknowledged: no longer listed, still in the journal");
    setup.out.finish(&AcknowledgeOutput { forgotten: count }, text)
}

/// Prints the newest events, and follows new ones until it is interrupted.
async fn tail(setup: &Context, args: &EventsListArgs) -> CommandResult {
    if setup.server.is_none() {
        setup.require_state()?;
    }
    let mut seen = BTreeSet::new();
    loop {
        let mut view = newest_events(setup, args).await?;
        view.items.retain(|item| seen.insert((item.merchant.clone(), item.id.clone())));
        match setup.out.form {
            Output::Json | Output::Yaml => {
                for item in view.items.iter().rev() {
                    setup.out.text(&render::json_line(item))?;
                }
            }
            Output::Text | Output::Markdown => {
                setup
                    .out
                    .text(&render::events::list::event_lines(&view.items, setup.out.screen))?;
            }
        }
        tokio::select! {
            exit = machine::stop() => return Ok(exit),
            () = tokio::time::sleep(TAIL_EVERY) => {}
        }
    }
}

/// Output of `events resync -o json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ResyncOutput<'a> {
    since: String,
    merchants: &'a [ResyncedEvents],
}

/// Runs the command. A list that could not be read is a failure of the environment (exit 4).
pub(crate) async fn run_resync(setup: &Context, args: &ResyncArgs) -> CommandResult {
    let merchant = args.merchant.as_deref().map(gateway_actions::merchant).transpose()?;
    let since = selection::parse_since(&args.since, SystemClock.now())?;
    let asked = ResyncEvents { merchant, since, without_hooks: args.without_hooks };
    let read = setup.send(Resync(asked)).await?;
    let read = read.map_err(|why| CommandFailure::input("reckon::events::recover", why))?;
    let told = ResyncOutput { since: timestamp(&since), merchants: &read };
    setup.out.result(&told, || render::events::resync_result(&read, &told.since))?;
    Ok(if read.iter().all(|one| one.trouble.is_none()) { Exit::Done } else { Exit::Environment })
}

/// Prefixes of types that the service sends to the partner, when an application is decided.
const PARTNERS: [&str; 2] = ["merchant.", "merchant_application."];

pub(crate) async fn trigger(setup: &Context, args: &TriggerArgs) -> CommandResult {
    setup.require_local("`events trigger`", "it uses the sandbox on this machine")?;
    check_type(&args.event)?;
    let (merchant, mode) = chosen_merchant(setup, args.merchant.as_deref())?;
    let set = args.set.iter().map(|field| parse_pair(field)).collect::<Result<Map<_, _>, _>>()?;
    let order = json!({"merchant": merchant.name, "mode": mode, "type": args.event, "set": set});
    let event = control(setup, "events", &order).await?;
    let id = event.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    setup.out.finish(&event, || {
        format!(
            "{} was sent as {id}; see `reckon events show {id}` and `reckon events failed`",
            args.event
        )
    })
}

/// Checks that this type exists, and that the service sends it to a merchant's address.
fn check_type(kind: &str) -> CommandResult<()> {
    let names = EVENTS.iter().map(|row| row.name);
    if !names.clone().any(|name| name == kind) {
        let failure =
            CommandFailure::input("reckon::events::type", format!("there is no event type {kind}"));
        return Err(failure.help(wording::suggestion_help(kind, names)));
    }
    if PARTNERS.iter().any(|begin| kind.starts_with(begin)) {
        let message = format!(
            "{kind} cannot be fired: the service sends it to the partner when an application \
            is decided"
        );
        return Err(CommandFailure::input("reckon::events::type", message)
            .help("decide an application: POST /_sandbox/applications/ID/decision"));
    }
    Ok(())
}

/// Returns the named merchant, or the only one, with its mode.
fn chosen_merchant(setup: &Context, named: Option<&str>) -> CommandResult<(Key, Mode)> {
    let all = links::documents(setup).merchants;
    let named = named.map(gateway_actions::merchant).transpose()?;
    let wrong = |what: String| {
        let list: Vec<String> = all.iter().map(|(key, _)| key.name.to_string()).collect();
        let failure = CommandFailure::input("reckon::events::merchant", what);
        let wanted = named.as_ref().map_or("", |key| key.name.as_str());
        failure.help(match wording::nearest(wanted, list.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean --merchant {meant}?"),
            None => format!("name one: --merchant {}", list.join(", --merchant ")),
        })
    };
    match (&named, all.as_slice()) {
        (None, [one]) => Ok(one.clone()),
        (None, []) => Err(CommandFailure::input(
            "reckon::events::merchant",
            "the documents contain no merchant",
        )),
        (None, _) => Err(wrong("no merchant named: the documents contain several".to_owned())),
        (Some(named), all) => {
            let found = all.iter().find(|(key, _)| key == named).cloned();
            found.ok_or_else(|| wrong(format!("there is no merchant {}", named.short())))
        }
    }
}

/// Parses `path=value`; the value is JSON, or else a text.
fn parse_pair(text: &str) -> CommandResult<(String, Value)> {
    let (path, value) =
        text.split_once('=').filter(|(path, _)| !path.is_empty()).ok_or_else(|| {
            CommandFailure::input("reckon::events::set", format!("--set {text}: there is no `=`")).help(
                "write the field and its value, such as --set amount=1200 or --set status=FAILED",
            )
        })?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((path.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_is_misspelt_is_told_with_the_one_that_was_meant() {
        assert!(check_type("transaction.failed").is_ok());
        let help = |kind: &str| check_type(kind).unwrap_err().help.unwrap_or_default();
        assert_eq!(help("transaction.fialed"), "did you mean `transaction.failed`?");
        assert!(help("merchant.provisioned").contains("decision"));
    }

    #[test]
    fn a_field_is_json_or_else_a_text() {
        let read = |text: &str| parse_pair(text).ok();
        assert_eq!(read("amount=1200"), Some(("amount".to_owned(), json!(1200))));
        assert_eq!(read("status=FAILED"), Some(("status".to_owned(), json!("FAILED"))));
        assert_eq!(read("method.name=a=b"), Some(("method.name".to_owned(), json!("a=b"))));
        assert_eq!((read("amount"), read("=1")), (None, None));
    }
}
