//! Actions of people while the machine lives. They change files and make requests until all faults
//! are over and everything settles.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use chrono::TimeDelta;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::memory::query;
use super::requests::PersonHandles;
use super::state::{REDELIVERED_WITHIN, SETTLES_WITHIN, SimRun};
use super::{people, requests};
use crate::engine::core::retention::Retention;
use crate::engine::handles::shared::EngineError;
use crate::engine::protocol::input::EngineInput;
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::sim::check::state;
use crate::sim::machine::process::{GRACE, OpenedState, TIMEOUT};
use crate::sim::plan::documents::DocTree;

/// Polls without any progress of time after which the engine counts as spinning.
const TURNS_MAX: u32 = 10_000;

/// Returns a retention that runs beside everything: it keeps settled events for 20 seconds, and
/// runs every minute. The emulated list has no delay; the machine's clock may be days ahead.
pub(crate) fn retention() -> Retention {
    let (late, ahead) = (TimeDelta::seconds(5), TimeDelta::days(30));
    Retention { keep: TimeDelta::seconds(20), every: Duration::from_mins(1), late, ahead }
}

/// Result of the people's part of a life.
pub(crate) enum DriveResult {
    /// The process must be restarted.
    Restart,
    /// All steps are done; holds whether everything settled.
    Settled(bool),
}

impl SimRun<'_> {
    /// Takes the steps of the people, from the point at which the machine died.
    pub(crate) async fn take_steps(
        &mut self,
        sender: mpsc::Sender<EngineInput>,
        open: &OpenedState,
    ) -> DriveResult {
        let hands = PersonHandles {
            engine: sender.clone(),
            desk: self.desk.clone(),
            notebook: self.notebook.clone(),
        };
        let mut under_way = JoinSet::new();
        self.start_restore_review(&sender, &mut under_way);
        self.rig.begin_life(&sender).await;
        for (nth, step) in self.script.steps.iter().take(self.steps).enumerate() {
            requests::start_requests(nth, step, &self.answered, &hands, &mut under_way);
        }
        while let Some(step) = self.script.steps.get(self.steps) {
            let wait = Duration::from_millis(step.wait_ms);
            sleep_until(self.stepped.checked_add(wait).unwrap_or(self.stepped)).await;
            self.compare_views(&sender, open).await;
            let nth = self.steps;
            self.steps = self.steps.saturating_add(1);
            self.stepped = Instant::now();
            self.apply_incidents(nth);
            self.edit_files(|tree| step.changes.iter().for_each(|change| change.apply(tree)));
            self.rig.step(nth, &sender).await;
            if step.restart {
                drop(sender.send(EngineInput::Stop).await);
                return DriveResult::Restart;
            }
            drop(sender.send(EngineInput::Files(Vec::new())).await);
            let tree = self.tree.lock().clone();
            people::open_links(&tree, &sender).await;
            requests::start_requests(nth, step, &self.answered, &hands, &mut under_way);
        }
        self.start_restore_review(&sender, &mut under_way);
        self.front.stop_faults();
        self.post.stop_detours();
        self.machine.power.clear_plan();
        self.memory.stop_faults();
        self.rig.stop_faults(&sender).await;
        self.edit_files(|tree| tree.values_mut().for_each(|doc| doc.broken = None));
        drop(sender.send(EngineInput::Files(Vec::new())).await);
        sleep(self.front.weather().time_until_over()).await;
        let settled = timeout(SETTLES_WITHIN, async {
            while under_way.join_next().await.is_some() {}
            query(&sender, EngineQuery::Settle).await;
            while !self.memory.wait_until_idle(&self.script.people).await {
                query(&sender, EngineQuery::Settle).await;
            }
        });
        let settled = settled.await.is_ok();
        self.front.weather().note_settled();
        self.post.wait_until_idle(&self.desk).await;
        self.rig.run_until_idle(self.has_restore_review(), &sender).await;
        sleep(TIMEOUT.saturating_add(GRACE).saturating_mul(2).max(REDELIVERED_WITHIN)).await;
        if let Some(Reply::Resources(views)) = query(&sender, EngineQuery::Resources).await {
            self.views = views;
        }
        DriveResult::Settled(settled)
    }

    /// Reads every view and compares it with the fold, unless the fold changed meanwhile.
    async fn compare_views(&mut self, sender: &mpsc::Sender<EngineInput>, open: &OpenedState) {
        let before = open.shared.writer.head();
        let asked = read_views(sender).await;
        if open.shared.writer.head() != before {
            return;
        }
        let Some(asked) = asked else { return };
        match state::check_views(&open.shared.facts, &asked) {
            Ok(found) => self.violations.extend(found),
            Err(error) => self.violate("views", format!("the index cannot be read: {error}")),
        }
    }

    /// Changes the files and records the new version.
    fn edit_files(&mut self, change: impl FnOnce(&mut DocTree)) {
        let mut tree = self.tree.lock();
        change(&mut tree);
        self.desk.fill_charge_ids(&mut tree);
        self.history.push((self.clock.now(), tree.clone()));
    }
}

/// Runs the engine, and fails if it spins without any progress of time.
pub(crate) async fn run_watched(
    run: impl Future<Output = Result<(), EngineError>>,
) -> Result<(), EngineError> {
    let mut run = pin!(run);
    let (mut since, mut turns) = (Instant::now(), 0_u32);
    poll_fn(|context| {
        let now = Instant::now();
        turns = if now == since { turns.saturating_add(1) } else { 0 };
        since = now;
        if turns > TURNS_MAX {
            return Poll::Ready(Err(EngineError::Bug(
                "the engine spins without progress of time".to_owned(),
            )));
        }
        run.as_mut().poll(context)
    })
    .await
}

/// Reads every view at one moment. Returns `None` if the engine has ended.
async fn read_views(sender: &mpsc::Sender<EngineInput>) -> Option<state::ViewSnapshot> {
    let Some(Reply::Intents(intents)) = query(sender, EngineQuery::Intents).await else {
        return None;
    };
    let Some(Reply::Metrics(metrics)) = query(sender, EngineQuery::Metrics).await else {
        return None;
    };
    let Some(Reply::Resources(resources)) = query(sender, EngineQuery::Resources).await else {
        return None;
    };
    Some(state::ViewSnapshot { intents, metrics: *metrics, resources })
}
