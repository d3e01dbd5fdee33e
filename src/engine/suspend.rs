//! Suspension and resumption of a resource by a person.
//!
//! An effect under way is settled all the same. A suspension ends by itself at its time: the engine
//! wakes then.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::question::Reply;
use super::shared::EngineError;
use super::tasks::Finished;
use super::{Engine, Shared};
use crate::base::id::Key;
use crate::base::nearest::nearest;
use crate::kinds::step::{MERCHANT, merchant_of};
use crate::model::record::Record;
use crate::model::suspension::{Pause, Paused, Still, Suspension};
use crate::plan::World;

/// Longest wait for the end of a suspension: the clock may have been set.
const LOOK_EVERY: Duration = Duration::from_hours(1);

/// The record to write, if any, and the answer that follows.
type Word = (Option<Record>, Paused);

impl Engine {
    /// Records a suspension or resumption; the engine continues once it is durable.
    pub(super) fn pause(&mut self, pause: &Pause, actor: String, reply: oneshot::Sender<Reply>) {
        let (record, paused) = self.word(pause, actor);
        let Some(record) = record else {
            return reply.send(Reply::Paused(Box::new(paused))).unwrap_or_default();
        };
        let (shared, key) = (self.shared.clone(), pause.key().clone());
        self.tasks.spawn(async move {
            match write(&shared, record).await {
                Ok(()) => {
                    let answer = Reply::Paused(Box::new(paused));
                    Finished::Heard(Some(key)).answering(answer, reply)
                }
                Err(error) => Finished::Broken(error),
            }
        });
    }

    /// Does the same in a process without tasks: for a command that holds the state itself.
    pub async fn pause_alone(
        &mut self,
        pause: &Pause,
        actor: String,
    ) -> Result<Reply, EngineError> {
        let (record, paused) = self.word(pause, actor);
        if let Some(record) = record {
            write(&self.shared, record).await?;
            self.heard(Some(pause.key().clone()))?;
        }
        Ok(Reply::Paused(Box::new(paused)))
    }

    pub(super) fn word(&self, pause: &Pause, actor: String) -> Word {
        let key = pause.key().clone();
        if self.planner.step(&key).is_none() && self.world.suspension(&key).is_none() {
            let names: Vec<String> = self.planner.steps().map(|step| step.key.short()).collect();
            let nearest = nearest(&key.short(), names.iter().map(String::as_str));
            let nearest = nearest.map(str::to_owned);
            return (None, Paused::Unknown { key, nearest });
        }
        let at = self.shared.now();
        match pause {
            Pause::Suspend { key, reason, until } => {
                let (key, reason) = (key.clone(), reason.clone());
                let suspension = Suspension { key, reason, actor, until: *until, at };
                let record = Record::Suspended(Box::new(suspension.clone()));
                (Some(record), Paused::Suspended(suspension))
            }
            Pause::Resume { key } => {
                let still = self.still(key);
                let key = key.clone();
                if !self.world.suspension(&key).is_some_and(|one| one.holds(at)) {
                    return (None, Paused::NotSuspended { key, still });
                }
                let record = Record::Resumed { key: key.clone(), actor, at };
                (Some(record), Paused::Resumed { key, still })
            }
        }
    }

    /// Returns the suspension of a resource, or of its merchant, that is now in effect.
    pub(super) fn suspension(&self, key: &Key) -> Option<Arc<Suspension>> {
        self.world.suspensions().next()?;
        let said = self.world.desired().manifests.get(key).and_then(|one| merchant_of(one));
        let known = || self.world.observed(key).map(|known| known.merchant.clone());
        let names = [Some(key.clone()), said.or_else(known)].into_iter().flatten();
        let mut words = names.filter_map(|name| self.world.suspension(&name));
        words.find(|word| word.holds(self.shared.now()))
    }

    /// Returns true if a resource is suspended, by a person or by its document.
    pub(super) fn is_suspended(&self, key: &Key) -> bool {
        let document = self.world.desired().manifests.get(key);
        document.is_some_and(|one| one.annotations.suspend) || self.suspension(key).is_some()
    }

    /// Returns the cause that suspends a resource besides its own suspension.
    fn still(&self, key: &Key) -> Option<Still> {
        let manifest = self.world.desired().manifest(key);
        if let Some(manifest) = manifest.as_ref().filter(|one| one.annotations.suspend) {
            let place = &manifest.place;
            return Some(Still::Document(place.file.to_string(), place.line));
        }
        let merchant = manifest.as_ref().and_then(merchant_of);
        let merchant = merchant.or_else(|| Some(self.world.observed(key)?.merchant.clone()))?;
        let holds = self.world.suspension(&merchant)?.holds(self.shared.now());
        (holds && merchant != *key).then_some(Still::Merchant(merchant))
    }

    /// Returns the resources that a suspension of this one affects: for a merchant, also those
    /// without a document.
    pub(super) fn spoken_of(&self, key: &Key) -> BTreeSet<Key> {
        let whole = key.kind.as_str() == MERCHANT;
        let absent = self.planner.steps().filter(|step| whole && step.place.is_none());
        absent.map(|step| step.key.clone()).chain([key.clone()]).collect()
    }

    /// Counts the names that are suspended now.
    pub(super) fn suspended(&self) -> usize {
        let now = self.shared.now();
        self.world.suspensions().filter(|one| one.holds(now)).count()
    }

    /// Returns the time at which the next suspension ends by itself.
    pub(super) fn next_resumption(&self) -> Option<Instant> {
        let now = self.shared.now();
        let ends = self.world.suspensions().filter_map(|one| one.until);
        let next = ends.filter(|until| *until > now).min()?;
        let wait = next.signed_duration_since(now).to_std().ok()?;
        Instant::now().checked_add(wait.min(LOOK_EVERY))
    }

    /// Returns the resources whose suspension ended by itself.
    pub(super) fn resumed(&self) -> BTreeSet<Key> {
        let now = self.shared.now();
        let over = self.world.suspensions().filter(|one| !one.holds(now));
        over.flat_map(|one| self.spoken_of(&one.key)).collect()
    }
}

async fn write(shared: &Shared, record: Record) -> Result<(), EngineError> {
    shared.write(Vec::new(), vec![record]).await
}
