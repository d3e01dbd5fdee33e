//! Upkeep of the state beside all other work: compaction, change of the key, removal of old data.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::engine::core::compaction::{CompactionPlan, DAEMON, log_result, spawn_blocking_task};
use crate::engine::core::coordinator::Engine;
use crate::engine::core::retention::{Retention, RetentionTimer, drop_old_data};
use crate::engine::core::tasks::TaskClass;
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::query::Reply;
use crate::store::state::compact::{ArchivePolicy, CompactionRequest};
use crate::store::state::rekey::{RekeyRequest, Rekeyer};

impl Engine {
    /// Sets the compaction of this process.
    pub fn compact_with(&mut self, compaction: CompactionPlan) {
        self.compaction = Some(compaction);
    }

    /// Compacts because a person asks for it.
    pub(crate) fn compact(&self, drop_history: bool, actor: String, reply: oneshot::Sender<Reply>) {
        let Some(CompactionPlan { compactor, history, .. }) = self.compaction.clone() else {
            let why = "this process cannot compact its state".to_owned();
            return drop(reply.send(Reply::Compacted(Err(why))));
        };
        let history = if drop_history { ArchivePolicy::Drop } else { history };
        let wanted = CompactionRequest { history, at: self.shared.now(), actor };
        spawn_blocking_task(async move {
            let done = compactor.compact(&wanted).await;
            log_result(&done);
            // The asker may have gone away.
            drop(reply.send(Reply::Compacted(done.map(Box::new).map_err(|why| why.to_string()))));
        });
    }

    /// Compacts if the journal is much larger than the known state.
    pub(crate) fn compact_if_due(&self) {
        let Some(compaction) = self.compaction.clone().filter(|one| one.automatic) else { return };
        let CompactionPlan { compactor, history, .. } = compaction;
        let wanted = CompactionRequest { history, at: self.shared.now(), actor: DAEMON.to_owned() };
        spawn_blocking_task(async move {
            match compactor.is_due() {
                Ok(false) => {}
                Ok(true) => log_result(&compactor.compact(&wanted).await),
                Err(error) => tracing::error!(%error, "cannot read the size of the state"),
            }
        });
    }

    /// Sets the means to change the state's key.
    pub fn rekey_with(&mut self, rekeyer: Arc<Rekeyer>) {
        self.rekeyer = Some(rekeyer);
    }

    /// Changes the key because a person asks for it.
    pub(crate) fn rekey(
        &self,
        new_key_file: Option<PathBuf>,
        actor: String,
        reply: oneshot::Sender<Reply>,
    ) {
        let Some(rekeyer) = self.rekeyer.clone() else {
            let why = "this process cannot exchange the key of its state".to_owned();
            return drop(reply.send(Reply::Rekeyed(Err(why))));
        };
        let wanted = RekeyRequest { new_key_file, at: self.shared.now(), actor };
        spawn_blocking_task(async move {
            let done = rekeyer.rekey(&wanted).await;
            match &done {
                Ok(done) => tracing::info!(
                    generation = done.generation,
                    actor = done.actor,
                    "the key of the state was exchanged"
                ),
                Err(error) => {
                    tracing::error!(%error, "cannot exchange the key of the state");
                }
            }
            // The asker may have gone away.
            drop(reply.send(Reply::Rekeyed(done.map_err(|why| why.to_string()))));
        });
    }

    /// Drops settled old data from now on.
    pub fn retain(&mut self, retention: Retention) {
        let due = Some(Instant::now());
        self.retention =
            RetentionTimer { retention: Some(retention), due, ..RetentionTimer::default() };
    }

    /// Returns the time of the next search for old data.
    pub(crate) fn next_retention(&self) -> Option<Instant> {
        self.retention.due
    }

    /// Starts a search for old data, if one is due.
    pub(crate) fn drop_old(&mut self) {
        let is_due = self.retention.due.is_some_and(|due| due <= Instant::now());
        let Some(retention) = self.retention.retention.clone().filter(|_| is_due) else { return };
        self.retention.due = None;
        let (shared, intent) = (self.shared.clone(), self.retention.intent.clone());
        let read_at = self.event_schedule.read_at.clone();
        self.tasks.spawn(TaskClass::Upkeep, async move {
            match drop_old_data(&shared, (&retention, &read_at), &intent).await {
                Ok(()) => TaskResult::RetentionDone,
                Err(error) => TaskResult::Broken(error),
            }
        });
    }

    /// Handles the end of a search for old data.
    pub(crate) fn retention_done(&mut self) {
        let every = self.retention.retention.as_ref().map(|retention| retention.every);
        self.retention.due = every.and_then(|every| Instant::now().checked_add(every));
        self.compact_if_due();
    }
}
