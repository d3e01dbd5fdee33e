//! Upkeep of the state: bookkeeping records that are due before the next effects, and beside all other
//! work compaction, change of the key, and removal of old data.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::base::id::Key;
use crate::engine::commands::action::is_about_accounts;
use crate::engine::commands::forget::record_keys;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::retention::{
    CompactionPlan, DAEMON_ACTOR, Retention, RetentionTimer, drop_old_data, log_compaction,
    spawn_blocking_task,
};
use crate::engine::core::tasks::TaskClass;
use crate::engine::handles::shared::EngineResult;
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::input::AllowPrune;
use crate::engine::protocol::query::Reply;
use crate::model::effect::is_action;
use crate::model::state::observed::Observed;
use crate::plan::state_view::StateView;
use crate::store::state::compact::{ArchivePolicy, CompactionRequest};
use crate::store::state::rekey::RekeyRequest;

impl Engine {
    pub(crate) fn compact(&self, drop_history: bool, actor: String, reply: oneshot::Sender<Reply>) {
        let Some(CompactionPlan { compactor, history, .. }) = self.compaction.clone() else {
            let why = "this process cannot compact its state".to_owned();
            return drop(reply.send(Reply::Compacted(Err(why))));
        };
        let history = if drop_history { ArchivePolicy::Drop } else { history };
        let wanted = CompactionRequest { history, at: self.shared.now(), actor };
        spawn_blocking_task(async move {
            let done = compactor.compact(&wanted).await;
            log_compaction(&done);
            // The asker may have gone away.
            drop(reply.send(Reply::Compacted(done.map(Box::new).map_err(|why| why.to_string()))));
        });
    }

    /// Compacts if the journal is much larger than the known state.
    pub(crate) fn compact_if_due(&self) {
        let Some(compaction) = self.compaction.clone().filter(|one| one.automatic) else { return };
        let CompactionPlan { compactor, history, .. } = compaction;
        let wanted =
            CompactionRequest { history, at: self.shared.now(), actor: DAEMON_ACTOR.to_owned() };
        spawn_blocking_task(async move {
            match compactor.is_due() {
                Ok(false) => {}
                Ok(true) => log_compaction(&compactor.compact(&wanted).await),
                Err(error) => tracing::error!(%error, "cannot read the size of the state"),
            }
        });
    }

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
                Ok(done) => {
                    let (generation, actor) = (done.generation, &done.actor);
                    tracing::info!(generation, actor, "the key of the state was exchanged");
                }
                Err(error) => tracing::error!(%error, "cannot exchange the key of the state"),
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

    pub(crate) fn drop_old(&mut self) {
        let is_due = self.retention.due.is_some_and(|due| due <= Instant::now());
        let Some(retention) = self.retention.retention.clone().filter(|_| is_due) else { return };
        self.retention.due = None;
        let (shared, intent) = (self.shared.clone(), self.retention.intent.clone());
        let read_at = self.event_schedule.read_at.clone();
        self.tasks.spawn(TaskClass::Upkeep, async move {
            drop_old_data(&shared, (&retention, &read_at), &intent).await?;
            Ok(TaskResult::RetentionDone)
        });
    }

    pub(crate) fn retention_done(&mut self) {
        let every = self.retention.retention.as_ref().map(|retention| retention.every);
        self.retention.due = every.and_then(|every| Instant::now().checked_add(every));
        self.compact_if_due();
    }

    /// Returns true if any record has to be written before the next effects.
    pub fn has_bookkeeping(&self) -> bool {
        !self.view().due_bookkeeping().is_empty()
    }

    /// Starts to write the records, in a task of its own.
    pub(crate) fn start_bookkeeping(&mut self) {
        let records = if self.stopping { Vec::new() } else { self.view().due_bookkeeping() };
        if records.is_empty() {
            return;
        }
        let keys: BTreeSet<Key> = records.iter().flat_map(record_keys).collect();
        self.scheduler.lock(keys.iter().cloned());
        let shared = self.shared.clone();
        self.tasks.spawn(TaskClass::Upkeep, async move {
            shared.write(Vec::new(), records).await?;
            Ok(TaskResult::BookkeepingDone(keys))
        });
    }

    /// Plans the resources again once their records are durable.
    pub(crate) fn bookkeeping_done(&mut self, keys: BTreeSet<Key>) -> EngineResult<()> {
        self.scheduler.busy.retain(|key| !keys.contains(key));
        self.refresh_and_replan(keys)
    }

    /// Returns the named resources that no permission applies to: they have documents, or stay.
    pub fn not_allowable<'a>(&self, allowing: &'a AllowPrune) -> Vec<&'a Key> {
        allowing.keys.iter().filter(|key| !self.planner.may_be_allowed(key)).collect()
    }

    /// Applies the readings of a command, once it has ended.
    pub(crate) fn read_afterwards(&mut self, key: &Key) -> EngineResult<()> {
        let known = self.known_state.observed(key).filter(|_| is_action(key));
        let about = |known: &Observed| {
            known.exists && known.applied.as_ref().is_some_and(is_about_accounts)
        };
        match known.filter(|known| about(known)) {
            Some(known) => self.record_written(Some(known.merchant.clone())),
            None => Ok(()),
        }
    }
}
