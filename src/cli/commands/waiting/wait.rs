//! `wait`: asks the holder of the state at intervals until resources satisfy a condition, or until
//! the time is over.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::Instant;

use crate::base::id::{Key, Kind};
use crate::cli::args::waiting::{WaitArgs, WaitGoal};
use crate::cli::commands::get::parse_resource;
use crate::cli::commands::waiting::condition::{Unmet, unmet};
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::engine::protocol::query::{OverviewQuery, PlanQuery, ResourceQuery, ResourcesQuery};
use crate::engine::protocol::resources::ResourceFilter;
use crate::engine::protocol::views::ResourceView;
use crate::render::progress::RunProgress;
use crate::render::waiting;

/// Interval of the questions.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// Output of `wait -o json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WaitOutput {
    /// The condition: `ready` or `synced`.
    r#for: &'static str,
    met: bool,
    /// The number of resources that the command waited for.
    resources: usize,
    /// Those that do not satisfy the condition when the time is over.
    unmet: Vec<Unmet>,
}

pub(crate) async fn run(setup: &Context, args: &WaitArgs) -> CommandResult {
    let keys = args.what.iter().map(|text| parse_resource(text));
    let keys = keys.collect::<CommandResult<Vec<Key>>>()?;
    let end = Instant::now().checked_add(args.timeout);
    // The plan is of the present files: an edit of a moment ago counts.
    setup.query(PlanQuery).await?;
    let progress = RunProgress::default();
    loop {
        let (resources, unmet) = look(setup, args.goal, &keys).await?;
        let is_over = end.is_some_and(|end| Instant::now() >= end);
        if unmet.is_empty() || is_over {
            drop(progress);
            return report(setup, args.goal, resources, unmet);
        }
        // A pipe gets no line: only the result counts there.
        drop(progress.update(&setup.query(OverviewQuery).await?, "waiting"));
        let next = Instant::now().checked_add(ASK_EVERY).into_iter().chain(end).min();
        tokio::select! {
            exit = machine::stop() => return Ok(exit.or(Exit::Interrupted)),
            () = tokio::time::sleep_until(next.unwrap_or_else(Instant::now)) => {}
        }
    }
}

/// Returns the number of resources, and those that do not satisfy the condition.
async fn look(setup: &Context, goal: WaitGoal, keys: &[Key]) -> CommandResult<(usize, Vec<Unmet>)> {
    let mut found = Vec::new();
    if keys.is_empty() {
        let all = setup.query(ResourcesQuery(ResourceFilter::default())).await?;
        let all = all.map(|list| list.items).unwrap_or_default();
        let documents = all.into_iter().filter(|view| !view.has_no_document());
        for view in documents {
            found.push((key_of(&view)?, Some(view)));
        }
    }
    for key in keys {
        found.push((key.clone(), setup.query(ResourceQuery(key.clone())).await?));
    }
    let unmet = found.iter().filter_map(|(key, view)| unmet(goal, key, view.as_ref()));
    Ok((found.len(), unmet.collect()))
}

fn key_of(view: &ResourceView) -> CommandResult<Key> {
    let name = |text: &str| text.parse().map_err(CommandFailure::bug);
    Ok(Key::new(Kind::new(&view.kind), &name(&view.namespace)?, &name(&view.name)?))
}

fn report(setup: &Context, goal: WaitGoal, resources: usize, unmet: Vec<Unmet>) -> CommandResult {
    let word = match goal {
        WaitGoal::Ready => "ready",
        WaitGoal::Synced => "synced",
    };
    let output = WaitOutput { r#for: word, met: unmet.is_empty(), resources, unmet };
    setup.out.result(&output, || {
        let lines = output.unmet.iter();
        let lines = lines.map(|one| (one.key.clone(), &*one.reason, &*one.message));
        waiting::outcome(word, resources, &lines.collect::<Vec<_>>(), setup.out.screen)
    })?;
    Ok(if output.met { Exit::Done } else { Exit::NeedsAttention })
}
