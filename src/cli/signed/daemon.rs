//! Signed approvals in the daemon: examines the files again when something changed, and at
//! intervals.

use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::place::Place;
use super::{Known, Look, Standing, look, settle, waits};
use crate::base::clock::{Clock, SystemClock};
use crate::cli::exit::Failure;
use crate::cli::out::Out;
use crate::cli::setup::{Open, Setup};
use crate::engine::{Event, Overview, PlanView, Question, Reply, Signing};
use crate::render;
use crate::render::signed::View;
use crate::store::facts::Facts;

/// Interval at which the daemon checks for changes.
const LOOK: Duration = Duration::from_secs(2);
/// Time after which every file is examined again, even without a change.
const AGAIN: Duration = Duration::from_mins(1);

/// Inputs of an examination; a change calls for another one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    head: Option<String>,
    position: u64,
    stuck: usize,
}

/// Examines approvals until the future is dropped. `events` leads to the engine.
pub(in crate::cli) async fn keep(
    setup: &Setup,
    open: &Open,
    events: mpsc::Sender<Event>,
    overviews: watch::Receiver<Overview>,
    out: Out,
) -> Result<(), Failure> {
    let Some(place) = Place::of(setup)? else { return std::future::pending().await };
    let (facts, mut told) = (open.state.facts.clone(), Vec::new());
    let mut last: Option<(Seen, Instant)> = None;
    loop {
        tokio::time::sleep(LOOK).await;
        let now = seen(&place, &overviews).await;
        let fresh = |(before, at): &(Seen, Instant)| *before == now && at.elapsed() < AGAIN;
        if now.stuck == 0 || last.as_ref().is_some_and(fresh) {
            continue;
        }
        let Some(view) = taken_in(&place, &facts, &events).await? else { return Ok(()) };
        last = Some((now, Instant::now()));
        tell(&view, &mut told, out);
    }
}

async fn seen(place: &Place, overviews: &watch::Receiver<Overview>) -> Seen {
    let place = place.clone();
    let head = tokio::task::spawn_blocking(move || place.open().ok().map(|repo| repo.head)).await;
    let overview = overviews.borrow();
    let (position, stuck) = (overview.position, overview.stuck);
    Seen { head: head.ok().flatten(), position, stuck }
}

/// Examines the files, and has the engine record the approvals that count; `None` once the engine
/// ended.
async fn taken_in(
    place: &Place,
    facts: &Facts,
    events: &mpsc::Sender<Event>,
) -> Result<Option<View>, Failure> {
    let Some(plan) = plan(events).await else { return Ok(None) };
    if !waits(&plan) {
        return Ok(Some(View::default()));
    }
    let (place, known) = (place.clone(), Known::of(facts, &plan)?);
    let looked = move || look(&place, &plan, &known, SystemClock.now());
    let looked = tokio::task::spawn_blocking(looked).await.map_err(Failure::bug)?;
    let Look { mut view, counting } = looked;
    for (number, signing) in counting {
        let Some(Reply::PlanApproved(answer)) = approve(events, signing).await else {
            return Ok(None);
        };
        settle(&mut view, number, &answer);
    }
    Ok(Some(view))
}

async fn plan(events: &mpsc::Sender<Event>) -> Option<Box<PlanView>> {
    let (reply, answer) = oneshot::channel();
    events.send(Event::Ask(Question::Plan, reply)).await.ok()?;
    let Reply::Plan(plan) = answer.await.ok()? else { return None };
    Some(plan)
}

async fn approve(events: &mpsc::Sender<Event>, signing: Signing) -> Option<Reply> {
    let (reply, answer) = oneshot::channel();
    events.send(Event::ApproveSigned(signing, reply)).await.ok()?;
    answer.await.ok()
}

/// Prints the messages that are new.
fn tell(view: &View, told: &mut Vec<String>, out: Out) {
    let counting = view.files.iter().filter(|file| file.standing == Standing::Counts);
    let problems = view.problems().map(render::signed::problem);
    let news: Vec<String> = counting.map(render::signed::line).chain(problems).collect();
    news.iter().filter(|one| !told.contains(*one)).for_each(|one| out.note(one));
    *told = news;
}
