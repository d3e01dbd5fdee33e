//! Signed approvals in the daemon: examines the files again when something changed, and at
//! intervals.

use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::approval::{Examination, KnownApprovals, examine, has_limited_step, note_answer};
use super::repository::SignedConfig;
use crate::base::clock::{Clock, SystemClock};
use crate::cli::context::open::Context;
use crate::cli::context::state_handle::StateHandle;
use crate::cli::exit::CommandFailure;
use crate::cli::print::Printer;
use crate::control::handle::Control;
use crate::control::requests;
use crate::control::requests::ApprovePlan;
use crate::engine::protocol::commands::command::EngineCommand;
use crate::engine::protocol::input::EngineInput;
use crate::engine::protocol::queries::views::Overview;
use crate::engine::protocol::query::PlanQuery;
use crate::render;
use crate::render::signed::{SignedApprovalsView, SignedFileStatus};
use crate::store::read_model::model::ReadModel;

/// Interval at which the daemon checks for changes.
const POLL_EVERY: Duration = Duration::from_secs(2);
/// Time after which every file is examined again, even without a change.
const EXAMINE_EVERY: Duration = Duration::from_mins(1);

/// Inputs of an examination; a change calls for another one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ExaminedInputs {
    head: Option<String>,
    position: u64,
    stuck: usize,
}

/// Examines approvals until the future is dropped. `events` leads to the engine.
pub(crate) async fn keep_examining(
    setup: &Context,
    open: &StateHandle,
    events: mpsc::Sender<EngineInput>,
    overviews: watch::Receiver<Overview>,
    out: Printer,
) -> Result<(), CommandFailure> {
    let Some(place) = SignedConfig::of(setup)? else { return std::future::pending().await };
    let (facts, mut told) = (open.state.facts.clone(), Vec::new());
    let mut last: Option<(ExaminedInputs, Instant)> = None;
    loop {
        tokio::time::sleep(POLL_EVERY).await;
        let now = read_inputs(&place, &overviews).await;
        let fresh = |(before, at): &(ExaminedInputs, Instant)| {
            *before == now && at.elapsed() < EXAMINE_EVERY
        };
        if now.stuck == 0 || last.as_ref().is_some_and(fresh) {
            continue;
        }
        let Some(view) = record_counting(&place, &facts, &events).await? else { return Ok(()) };
        last = Some((now, Instant::now()));
        print_new(&view, &mut told, out);
    }
}

async fn read_inputs(
    place: &SignedConfig,
    overviews: &watch::Receiver<Overview>,
) -> ExaminedInputs {
    let place = place.clone();
    let head = tokio::task::spawn_blocking(move || place.open().ok().map(|repo| repo.head)).await;
    let overview = overviews.borrow();
    let (position, stuck) = (overview.position, overview.stuck);
    ExaminedInputs { head: head.ok().flatten(), position, stuck }
}

/// Examines the files, and has the engine record the approvals that count; `None` once the engine
/// ended.
async fn record_counting(
    place: &SignedConfig,
    facts: &ReadModel,
    events: &mpsc::Sender<EngineInput>,
) -> Result<Option<SignedApprovalsView>, CommandFailure> {
    let control = Control::new(events.clone());
    let Ok(plan) = control.ask(PlanQuery).await else { return Ok(None) };
    if !has_limited_step(&plan) {
        return Ok(Some(SignedApprovalsView::default()));
    }
    let (place, known) = (place.clone(), KnownApprovals::of(facts, &plan)?);
    let looked = move || examine(&place, &plan, &known, SystemClock.now());
    let looked = tokio::task::spawn_blocking(looked).await.map_err(CommandFailure::bug)?;
    let Examination { mut view, counting } = looked;
    for (number, signing) in counting {
        let Ok(reply) = control
            .call(|reply| EngineInput::Command(EngineCommand::ApproveSigned(signing), reply))
            .await
        else {
            return Ok(None);
        };
        let answer = requests::typed::<ApprovePlan>(reply)?;
        note_answer(&mut view, number, &answer);
    }
    Ok(Some(view))
}

/// Prints the messages that are new.
fn print_new(view: &SignedApprovalsView, told: &mut Vec<String>, out: Printer) {
    let counting = view.files.iter().filter(|file| file.status == SignedFileStatus::Counts);
    let problems = view.problems().map(render::signed::problem_text);
    let news: Vec<String> = counting.map(render::signed::file_line).chain(problems).collect();
    news.iter().filter(|one| !told.contains(*one)).for_each(|one| out.note(one));
    *told = news;
}
