//! Memory of the people across lives of the machine, and their queries to the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

use crate::engine::protocol::commands::command::EngineCommand;
use crate::engine::protocol::input::EngineInput;
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::model::state::lifecycle::ReleaseRequest;
use crate::sim::plan::people::{People, SeenPlan};

/// Consecutive looks without a request that end a person's work, once all faults are over.
const QUIET_LOOKS: u32 = 2;

/// Actor of the requests that no named person makes.
pub(crate) const ACTOR: &str = "the simulator";

/// Memory of the people across lives of the machine; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<MemoryNotes>>);

/// Contents of the memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryNotes {
    /// Set once all faults are over.
    pub(crate) faults_over: bool,
    /// Time since which each intent was seen on hold.
    pub(crate) on_hold_since: BTreeMap<String, Instant>,
    /// Intents with a requested retry.
    pub(crate) retried: BTreeSet<String>,
    /// Consecutive looks of each person without a request, after the faults.
    pub(crate) quiet_looks: BTreeMap<&'static str, u32>,
    /// Set if any person made a request since the last reset.
    pub(crate) acted: bool,
    /// Successful and attempted approvals of each approver.
    pub(crate) approvals: BTreeMap<&'static str, (u32, u32)>,
    /// Plans that people saw before they approved them.
    pub(crate) seen_plans: Vec<SeenPlan>,
}

impl Memory {
    pub(crate) fn notes(&self) -> MutexGuard<'_, MemoryNotes> {
        self.0.lock()
    }

    /// Notes that all faults are over.
    pub(crate) fn stop_faults(&self) {
        self.notes().faults_over = true;
    }

    /// Waits until no person has anything left to do. Returns true if no person made a request
    /// meanwhile.
    pub(crate) async fn wait_until_idle(&self, people: &People) -> bool {
        self.notes().quiet_looks.clear();
        self.notes().acted = false;
        while self.notes().quiet_looks.values().filter(|looks| **looks >= QUIET_LOOKS).count()
            < people.count()
        {
            sleep(Duration::from_secs(1)).await;
        }
        !self.notes().acted
    }

    /// Returns true if a person may approve once more, within these maxima of approvals and
    /// attempts.
    pub(crate) fn may_approve(&self, who: &str, most: (u32, u32)) -> bool {
        let given = self.notes().approvals.get(who).copied().unwrap_or_default();
        given.0 < most.0 && given.1 < most.1
    }

    /// Notes a plan that a person saw and is about to approve.
    pub(crate) fn note_plan(&self, seen: SeenPlan) {
        self.notes().seen_plans.push(seen);
    }

    /// Returns every plan that a person saw and was about to approve.
    pub(crate) fn seen_plans(&self) -> Vec<SeenPlan> {
        self.notes().seen_plans.clone()
    }

    /// Notes the answer to an approval.
    pub(crate) fn note_approval(&self, who: &'static str, given: bool) {
        let mut notes = self.notes();
        let (approved, tried) = notes.approvals.entry(who).or_default();
        *approved = approved.saturating_add(u32::from(given));
        *tried = tried.saturating_add(1);
    }

    /// Lets a person look at intervals, for ever. A look returns `None` if the engine did not answer,
    /// else whether the person made a request.
    pub(crate) async fn look_at_intervals(
        &self,
        who: &'static str,
        every_s: u64,
        look: impl AsyncFn() -> Option<bool>,
    ) {
        loop {
            sleep(Duration::from_secs(every_s)).await;
            if let Some(spoke) = look().await {
                self.note_look(who, spoke);
            }
        }
    }

    /// Notes the end of a look.
    fn note_look(&self, who: &'static str, spoke: bool) {
        let mut notes = self.notes();
        notes.acted |= spoke;
        let calm = notes.faults_over;
        let quiet = notes.quiet_looks.entry(who).or_default();
        *quiet = if spoke || !calm { 0 } else { quiet.saturating_add(1) };
    }
}

/// Sends an input to the engine, and waits for its answer. Returns `None` if the engine did not
/// answer: a person then asks again in its next life.
pub(crate) async fn ask<T>(
    engine: &mpsc::Sender<EngineInput>,
    input: impl FnOnce(oneshot::Sender<T>) -> EngineInput,
) -> Option<T> {
    let (reply, answer) = oneshot::channel();
    engine.send(input(reply)).await.ok()?;
    answer.await.ok()
}

/// Resolves, in the name of a person, what a restore left in doubt.
pub(crate) async fn release(
    engine: &mpsc::Sender<EngineInput>,
    request: ReleaseRequest,
) -> Option<()> {
    ask(engine, |reply| {
        EngineInput::Command(EngineCommand::Release(request, ACTOR.to_owned()), reply)
    })
    .await
    .map(drop)
}

/// Sends a query to the engine. Returns `None` if the engine did not answer.
pub(crate) async fn query(
    engine: &mpsc::Sender<EngineInput>,
    question: EngineQuery,
) -> Option<Reply> {
    ask(engine, |reply| EngineInput::Ask(question, reply)).await
}
