//! Suspension and resumption of a resource by a person.
//!
//! An effect under way is settled all the same. A suspension ends by itself at its time: the engine
//! wakes then.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::base::id::Key;
use crate::base::wording::nearest;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::handles::{EngineError, EngineShared};
use crate::engine::core::task_result::TaskResult;
use crate::engine::queries::protocol::Reply;
use crate::kinds::planning::step::{MERCHANT, merchant_of};
use crate::model::operator::suspension::{
    RemainingSuspension, Suspension, SuspensionRequest, SuspensionResult,
};
use crate::model::record::Record;
use crate::plan::state_view::StateView;

/// Longest wait for the end of a suspension: the clock may have been set.
const LOOK_EVERY: Duration = Duration::from_hours(1);

/// The record to write, if any, and the answer that follows.
type SuspendRecord = (Option<Record>, SuspensionResult);

impl Engine {
    /// Records a suspension or resumption; the engine continues once it is durable.
    pub(crate) fn suspend(
        &mut self,
        pause: &SuspensionRequest,
        actor: String,
        reply: oneshot::Sender<Reply>,
    ) {
        let (record, paused) = self.suspend_record(pause, actor);
        let Some(record) = record else {
            return reply.send(Reply::Suspension(Box::new(paused))).unwrap_or_default();
        };
        let (shared, key) = (self.shared.clone(), pause.key().clone());
        self.tasks.spawn(async move {
            match write(&shared, record).await {
                Ok(()) => {
                    let answer = Reply::Suspension(Box::new(paused));
                    TaskResult::RecordWritten(Some(key)).with_reply(answer, reply)
                }
                Err(error) => TaskResult::Broken(error),
            }
        });
    }

    /// Does the same in a process without tasks: for a command that holds the state itself.
    pub async fn suspend_offline(
        &mut self,
        pause: &SuspensionRequest,
        actor: String,
    ) -> Result<Reply, EngineError> {
        let (record, paused) = self.suspend_record(pause, actor);
        if let Some(record) = record {
            write(&self.shared, record).await?;
            self.record_written(Some(pause.key().clone()))?;
        }
        Ok(Reply::Suspension(Box::new(paused)))
    }

    pub(crate) fn suspend_record(&self, pause: &SuspensionRequest, actor: String) -> SuspendRecord {
        let key = pause.key().clone();
        if self.planner.step(&key).is_none() && self.known_state.suspension(&key).is_none() {
            let names: Vec<String> = self.planner.steps().map(|step| step.key.short()).collect();
            let nearest = nearest(&key.short(), names.iter().map(String::as_str));
            let nearest = nearest.map(str::to_owned);
            return (None, SuspensionResult::Unknown { key, nearest });
        }
        let at = self.shared.now();
        match pause {
            SuspensionRequest::Suspend { key, reason, until } => {
                let (key, reason) = (key.clone(), reason.clone());
                let suspension = Suspension { key, reason, actor, until: *until, at };
                let record = Record::Suspended(Box::new(suspension.clone()));
                (Some(record), SuspensionResult::Suspended(suspension))
            }
            SuspensionRequest::Resume { key } => {
                let still = self.other_suspension(key);
                let key = key.clone();
                if !self.known_state.suspension(&key).is_some_and(|one| one.is_in_force(at)) {
                    return (None, SuspensionResult::NotSuspended { key, still });
                }
                let record = Record::Resumed { key: key.clone(), actor, at };
                (Some(record), SuspensionResult::Resumed { key, still })
            }
        }
    }

    /// Returns the suspension of a resource, or of its merchant, that is now in effect.
    pub(crate) fn suspension(&self, key: &Key) -> Option<Arc<Suspension>> {
        self.known_state.suspensions().next()?;
        let said = self.known_state.desired().manifests.get(key).and_then(|one| merchant_of(one));
        let known = || self.known_state.observed(key).map(|known| known.merchant.clone());
        let names = [Some(key.clone()), said.or_else(known)].into_iter().flatten();
        let mut words = names.filter_map(|name| self.known_state.suspension(&name));
        words.find(|word| word.is_in_force(self.shared.now()))
    }

    /// Returns true if a resource is suspended, by a person or by its document.
    pub(crate) fn is_suspended(&self, key: &Key) -> bool {
        let document = self.known_state.desired().manifests.get(key);
        document.is_some_and(|one| one.annotations.suspend) || self.suspension(key).is_some()
    }

    /// Returns the cause that suspends a resource besides its own suspension.
    fn other_suspension(&self, key: &Key) -> Option<RemainingSuspension> {
        let manifest = self.known_state.desired().manifest(key);
        if let Some(manifest) = manifest.as_ref().filter(|one| one.annotations.suspend) {
            let place = &manifest.place;
            return Some(RemainingSuspension::Document(place.file.to_string(), place.line));
        }
        let merchant = manifest.as_ref().and_then(merchant_of);
        let merchant =
            merchant.or_else(|| Some(self.known_state.observed(key)?.merchant.clone()))?;
        let holds = self.known_state.suspension(&merchant)?.is_in_force(self.shared.now());
        (holds && merchant != *key).then_some(RemainingSuspension::Merchant(merchant))
    }

    /// Returns the resources that a suspension of this one affects: for a merchant, also those
    /// without a document.
    pub(crate) fn affected_resources(&self, key: &Key) -> BTreeSet<Key> {
        let whole = key.kind.as_str() == MERCHANT;
        let absent = self.planner.steps().filter(|step| whole && step.place.is_none());
        absent.map(|step| step.key.clone()).chain([key.clone()]).collect()
    }

    /// Counts the names that are suspended now.
    pub(crate) fn suspended_count(&self) -> usize {
        let now = self.shared.now();
        self.known_state.suspensions().filter(|one| one.is_in_force(now)).count()
    }

    /// Returns the time at which the next suspension ends by itself.
    pub(crate) fn next_resumption(&self) -> Option<Instant> {
        let now = self.shared.now();
        let ends = self.known_state.suspensions().filter_map(|one| one.until);
        let next = ends.filter(|until| *until > now).min()?;
        let wait = next.signed_duration_since(now).to_std().ok()?;
        Instant::now().checked_add(wait.min(LOOK_EVERY))
    }

    /// Returns the resources whose suspension ended by itself.
    pub(crate) fn ended_suspensions(&self) -> BTreeSet<Key> {
        let now = self.shared.now();
        let over = self.known_state.suspensions().filter(|one| !one.is_in_force(now));
        over.flat_map(|one| self.affected_resources(&one.key)).collect()
    }
}

async fn write(shared: &EngineShared, record: Record) -> Result<(), EngineError> {
    shared.write(Vec::new(), vec![record]).await
}
