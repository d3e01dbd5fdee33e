//! Actions of people while the machine lives. They change files and make requests until all faults
//! are over and everything settles.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::PoisonError;
use std::task::Poll;
use std::time::Duration;

use chrono::TimeDelta;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::super::check;
use super::super::deed::{self, Hands};
use super::super::machine::{GRACE, Open, TIMEOUT};
use super::super::world::Tree;
use super::{SETTLES_WITHIN, Stage, TOLD_WITHIN};
use crate::engine::{EngineError, Event, Question, Reply, Retention};
use crate::sim::applicant;

/// Polls without any progress of time after which the engine counts as spinning.
const TURNS_MAX: u32 = 10_000;

/// Returns a retention that runs beside everything: it keeps settled events for 20 seconds, and
/// runs every minute. The emulated list has no delay; the machine's clock may be days ahead.
pub(super) fn retention() -> Retention {
    let (late, ahead) = (TimeDelta::seconds(5), TimeDelta::days(30));
    Retention { keep: TimeDelta::seconds(20), every: Duration::from_mins(1), late, ahead }
}

/// Result of the people's part of a life.
pub(super) enum Drove {
    /// The process must be restarted.
    Restart,
    /// All steps are done; holds whether everything settled.
    Settled(bool),
}

impl Stage<'_> {
    /// Takes the steps of the people, from the point at which the machine died.
    pub(super) async fn drive(&mut self, sender: mpsc::Sender<Event>, open: &Open) -> Drove {
        let hands = Hands {
            engine: sender.clone(),
            desk: self.desk.clone(),
            notebook: self.notebook.clone(),
        };
        let mut under_way = JoinSet::new();
        self.look_after(&sender, &mut under_way);
        self.rig.begin(&sender).await;
        for (nth, step) in self.script.steps.iter().take(self.steps).enumerate() {
            deed::begin(nth, step, &self.answered, &hands, &mut under_way);
        }
        while let Some(step) = self.script.steps.get(self.steps) {
            let wait = Duration::from_millis(step.wait_ms);
            sleep_until(self.stepped.checked_add(wait).unwrap_or(self.stepped)).await;
            self.compare_views(&sender, open).await;
            let nth = self.steps;
            self.steps = self.steps.saturating_add(1);
            self.stepped = Instant::now();
            self.befall(nth);
            self.edit(|tree| step.changes.iter().for_each(|change| change.apply(tree)));
            self.rig.step(nth, &sender).await;
            if step.restart {
                drop(sender.send(Event::Stop).await);
                return Drove::Restart;
            }
            drop(sender.send(Event::Files(Vec::new())).await);
            let tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner).clone();
            applicant::click(&tree, &sender).await;
            deed::begin(nth, step, &self.answered, &hands, &mut under_way);
        }
        self.look_after(&sender, &mut under_way);
        self.front.calm();
        self.post.calm();
        self.machine.power.calm();
        self.memory.calm();
        self.rig.calm(&sender).await;
        self.edit(|tree| tree.values_mut().for_each(|doc| doc.broken = None));
        drop(sender.send(Event::Files(Vec::new())).await);
        sleep(self.front.weather().lasts()).await;
        let settled = timeout(SETTLES_WITHIN, async {
            while under_way.join_next().await.is_some() {}
            ask(&sender, Question::Settle).await;
            while !self.memory.rested(&self.script.people).await {
                ask(&sender, Question::Settle).await;
            }
        });
        let settled = settled.await.is_ok();
        self.front.weather().settled();
        self.post.quiet(&self.desk).await;
        self.rig.rest(self.looks_after(), &sender).await;
        sleep(TIMEOUT.saturating_add(GRACE).saturating_mul(2).max(TOLD_WITHIN)).await;
        if let Some(Reply::Resources(views)) = ask(&sender, Question::Resources).await {
            self.views = views;
        }
        Drove::Settled(settled)
    }

    /// Reads every view and compares it with the fold, unless the fold changed meanwhile.
    async fn compare_views(&mut self, sender: &mpsc::Sender<Event>, open: &Open) {
        let before = open.shared.writer.head();
        let asked = asked(sender).await;
        if open.shared.writer.head() != before {
            return;
        }
        let Some(asked) = asked else { return };
        match check::views(&open.shared.facts, &asked) {
            Ok(found) => self.violations.extend(found),
            Err(error) => self.violate("views", format!("the index cannot be read: {error}")),
        }
    }

    /// Changes the files and records the new version.
    fn edit(&mut self, change: impl FnOnce(&mut Tree)) {
        let mut tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut tree);
        self.desk.name(&mut tree);
        self.history.push((self.clock.now(), tree.clone()));
    }
}

/// Runs the engine, and fails if it spins without any progress of time.
pub(super) async fn watched(
    run: impl Future<Output = Result<(), EngineError>>,
) -> Result<(), EngineError> {
    let mut run = pin!(run);
    let (mut since, mut turns) = (Instant::now(), 0_u32);
    poll_fn(|context| {
        let now = Instant::now();
        turns = if now == since { turns.saturating_add(1) } else { 0 };
        since = now;
        if turns > TURNS_MAX {
            return Poll::Ready(Err(EngineError::Bug("it spins".to_owned())));
        }
        run.as_mut().poll(context)
    })
    .await
}

/// Reads every view at one moment. Returns `None` if the engine has ended.
async fn asked(sender: &mpsc::Sender<Event>) -> Option<check::Asked> {
    let Some(Reply::Intents(intents)) = ask(sender, Question::Intents).await else { return None };
    let Some(Reply::Metrics(metrics)) = ask(sender, Question::Metrics).await else { return None };
    let Some(Reply::Resources(resources)) = ask(sender, Question::Resources).await else {
        return None;
    };
    Some(check::Asked { intents, metrics: *metrics, resources })
}

/// Sends a query to the engine. Returns `None` if the engine did not answer.
pub(super) async fn ask(sender: &mpsc::Sender<Event>, question: Question) -> Option<Reply> {
    let (answer, reply) = oneshot::channel();
    sender.send(Event::Ask(question, answer)).await.ok()?;
    reply.await.ok()
}
