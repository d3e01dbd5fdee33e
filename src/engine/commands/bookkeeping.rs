//! Bookkeeping records that precede the effects: marks of documents that are missing, moves to new
//! names, and a person's permission of a removal.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::base::id::Key;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::handles::EngineError;
use crate::engine::core::task_result::TaskResult;
use crate::engine::queries::protocol::Reply;
use crate::model::record::Record;
use crate::model::state::orphan::{MissingDocumentChange, MissingDocumentRecord, PruneAllowed};

/// A person's permission of removals: `apply --allow-prune`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowPrune {
    /// Everything that a guard stops now.
    pub all: bool,
    /// These resources; live ones among them do not wait, either.
    pub keys: Vec<Key>,
}

impl AllowPrune {
    /// Returns true if nothing is permitted.
    pub fn is_empty(&self) -> bool {
        !self.all && self.keys.is_empty()
    }
}

/// Returns the resources that a bookkeeping record names; its own one last.
fn record_keys(record: &Record) -> Vec<Key> {
    if let Record::MissingDocument(absence) = record {
        return vec![absence.key.clone()];
    }
    if let Record::Moved(moved) = record {
        return vec![moved.from.clone(), moved.to.clone()];
    }
    Vec::new()
}

impl Engine {
    /// Returns true if any record has to be written before the next effects.
    pub fn has_bookkeeping(&self) -> bool {
        !self.due_bookkeeping().is_empty()
    }

    /// Returns the records to write now, for resources that are not busy.
    fn due_bookkeeping(&self) -> Vec<Record> {
        let commit = self.known_state.files().commit();
        let mut records =
            self.planner.pending_records(&self.known_state, self.shared.now(), commit.as_deref());
        let chosen = |key: &Key| self.targets.as_ref().is_none_or(|chosen| chosen.contains(key));
        records.retain(|record| {
            let keys = record_keys(record);
            keys.last().is_some_and(chosen) && !keys.iter().any(|key| self.busy.contains(key))
        });
        records
    }

    /// Starts to write the records, in a task of its own.
    pub(crate) fn start_bookkeeping(&mut self) {
        let records = if self.stopping { Vec::new() } else { self.due_bookkeeping() };
        if records.is_empty() {
            return;
        }
        let keys: BTreeSet<Key> = records.iter().flat_map(record_keys).collect();
        self.busy.extend(keys.iter().cloned());
        self.queue.retain(|key| !keys.contains(key));
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match shared.write(Vec::new(), records).await {
                Ok(()) => TaskResult::BookkeepingDone(keys),
                Err(error) => TaskResult::Broken(error),
            }
        });
    }

    /// Plans the resources again once their records are durable.
    pub(crate) fn bookkeeping_done(&mut self, keys: BTreeSet<Key>) -> Result<(), EngineError> {
        for key in &keys {
            self.busy.remove(key);
            self.known_state.refresh(&self.shared.facts, key)?;
        }
        self.replan(keys);
        Ok(())
    }

    /// Records a person's permission in a task of its own; the reply names its resources.
    pub(crate) fn allow(
        &mut self,
        allowing: &AllowPrune,
        actor: &str,
        reply: oneshot::Sender<Reply>,
    ) {
        let (keys, records) = self.allowance_records(allowing, actor);
        let answer = Reply::Allowed(keys.iter().cloned().collect());
        if records.is_empty() {
            return reply.send(answer).unwrap_or_default();
        }
        self.busy.extend(keys.iter().cloned());
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match shared.write(Vec::new(), records).await {
                Ok(()) => TaskResult::BookkeepingDone(keys).with_reply(answer, reply),
                Err(error) => TaskResult::Broken(error),
            }
        });
    }

    /// Returns the named resources to which a permission does not apply: their documents exist, or
    /// they stay.
    pub fn not_allowable<'a>(&self, allowing: &'a AllowPrune) -> Vec<&'a Key> {
        allowing.keys.iter().filter(|key| !self.planner.may_be_allowed(key)).collect()
    }

    /// Does the same in a process without tasks. Returns the resources of the permission.
    pub async fn allow_offline(
        &mut self,
        allowing: &AllowPrune,
        actor: &str,
    ) -> Result<Vec<Key>, EngineError> {
        let (keys, records) = self.allowance_records(allowing, actor);
        self.shared.write(Vec::new(), records).await?;
        self.bookkeeping_done(keys.clone())?;
        Ok(keys.into_iter().collect())
    }

    /// Returns the resources to which a permission applies now, and its records.
    fn allowance_records(
        &self,
        allowing: &AllowPrune,
        actor: &str,
    ) -> (BTreeSet<Key>, Vec<Record>) {
        let named = |key: &Key| allowing.keys.contains(key);
        let mut keys = if allowing.all { self.planner.guarded_keys() } else { BTreeSet::new() };
        keys.extend(allowing.keys.iter().filter(|key| self.planner.may_be_allowed(key)).cloned());
        keys.retain(|key| !self.busy.contains(key));
        let at = self.shared.now();
        let records = keys.iter().map(|key| {
            let word = PruneAllowed { at, actor: actor.to_owned(), at_once: named(key) };
            let said = MissingDocumentChange::Allowed(word);
            Record::MissingDocument(Box::new(MissingDocumentRecord {
                key: key.clone(),
                change: said,
            }))
        });
        (keys.clone(), records.collect())
    }
}
