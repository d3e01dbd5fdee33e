//! `events replay`: runs hooks again that failed for good, or a script for all events of a period.
//! The daemon records the request, and runs the hooks in the background.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::clock::{Clock, SystemClock};
use crate::base::wording::count_verb;
use crate::cli::args::replay::{REPLAY_LIMIT, ReplayArgs};
use crate::cli::commands::events::failed_runs::{failed_events, no_failed_run};
use crate::cli::commands::events::replay_cost;
use crate::cli::commands::gateway_actions;
use crate::cli::commands::hooks::{check_script, load_valid};
use crate::cli::context::open::Context;
use crate::cli::context::selection;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::control::requests::{Replay, ReplaySince};
use crate::engine::protocol::replay::ReplaySelection;
use crate::render::events::replay::cost_text;
use crate::scripting::hooks::Hooks;
use crate::scripting::language::names::EVENTS;

/// Output of `events replay -o json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReplayOutput {
    /// Hooks that will run again.
    hooks: usize,
}

pub(crate) async fn run(setup: &Context, args: &ReplayArgs) -> CommandResult {
    let script = args.script.as_deref().unwrap_or_default();
    match (&args.id, &args.since) {
        (Some(id), _) => replay_event(setup, id).await,
        (None, Some(since)) => replay_since(setup, (script, since), args).await,
        (None, None) => replay_failed(setup, script).await,
    }
}

async fn replay_event(setup: &Context, id: &str) -> CommandResult {
    let hooks = setup.send(Replay(id.to_owned())).await?;
    if hooks == 0 {
        let message = format!("event {id} has no failed hook run");
        return Err(no_failed_run("reckon::events::replay", message));
    }
    print_replayed(setup, hooks, &count_verb(hooks, "hook", "hooks"))
}

async fn replay_failed(setup: &Context, script: &str) -> CommandResult {
    let mut hooks: usize = 0;
    let failed: BTreeSet<String> = failed_events(setup, script).await?;
    for event in failed {
        hooks = hooks.saturating_add(setup.send(Replay(event)).await?);
    }
    print_replayed(setup, hooks, &format!("{hooks} hooks"))
}

fn print_replayed(setup: &Context, count: usize, hooks: &str) -> CommandResult {
    let text = || format!("{hooks} will run again; a running daemon starts them at once");
    setup.out.finish(&ReplayOutput { hooks: count }, text)
}

/// Runs a script for the events of a period, or prints the cost of that. Exits with 2 if runs wait
/// for `--yes`.
async fn replay_since(
    setup: &Context,
    (script, since): (&str, &str),
    args: &ReplayArgs,
) -> CommandResult {
    let (folder, hooks) = load_valid(setup)?;
    check_script(&hooks, Some(script))?;
    let now = SystemClock.now();
    let selection = select(&hooks, (script, since), args, now)?;
    if args.yes {
        let runs = setup.send(ReplaySince(selection)).await?;
        let text = format!("{script} for {}", count_verb(runs, "event", "events"));
        return print_replayed(setup, runs, &text);
    }
    let estimate =
        replay_cost::Estimate { setup, hooks: &hooks, selection, files: folder.digest() };
    let cost = estimate.cost().await?;
    setup.out.result(&cost, || cost_text(&cost))?;
    Ok(if cost.events > 0 { Exit::Pending } else { Exit::Done })
}

fn select(
    hooks: &Hooks,
    (script, since): (&str, &str),
    args: &ReplayArgs,
    now: DateTime<Utc>,
) -> CommandResult<ReplaySelection> {
    let since = selection::parse_since(since, now)?;
    let until = args.until.as_deref().map(|until| selection::parse_since(until, now));
    let until = until.transpose()?;
    if until.is_some_and(|until| until < since) {
        let what = "--until is before --since";
        return Err(CommandFailure::input("reckon::events::period", what)
            .help("write an end that is after the start, such as --since 7d --until 1d"));
    }
    Ok(ReplaySelection {
        script: script.to_owned(),
        handlers: handled_types(hooks, script),
        merchant: args.merchant.as_deref().map(gateway_actions::merchant).transpose()?,
        since,
        until,
        limit: args.limit.unwrap_or(REPLAY_LIMIT),
    })
}

/// Returns the types of events that a script handles, each with its function.
fn handled_types(hooks: &Hooks, script: &str) -> BTreeMap<String, String> {
    let handler = |kind: &'static str| hooks.handler(script, kind);
    let functions = EVENTS.iter().filter_map(|row| Some((row.name, handler(row.name)?.function)));
    functions.map(|(kind, function)| (kind.to_owned(), function)).collect()
}
