//! Bookkeeping records that precede the effects: marks of documents that are missing, moves to new
//! names, and a person's permission of a removal.

use std::collections::BTreeSet;

use super::decision::Decision;
use crate::base::id::Key;
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::commands::bookkeeping::AllowPrune;
use crate::engine::protocol::query::Reply;
use crate::engine::view::EngineView;
use crate::model::record::Record;
use crate::model::state::orphan::{MissingDocumentChange, MissingDocumentRecord, PruneAllowed};

/// Returns the resources that a bookkeeping record names; its own one last.
pub(crate) fn record_keys(record: &Record) -> Vec<Key> {
    if let Record::MissingDocument(absence) = record {
        return vec![absence.key.clone()];
    }
    if let Record::Moved(moved) = record {
        return vec![moved.from.clone(), moved.to.clone()];
    }
    Vec::new()
}

impl EngineView<'_> {
    /// Decides about a person's permission; the reply names its resources.
    pub(crate) fn allow_prune(&self, allowing: &AllowPrune, actor: &str) -> Decision {
        let (keys, records) = self.allowance_records(allowing, actor);
        let answer = Reply::Allowed(keys.iter().cloned().collect());
        if records.is_empty() {
            return Decision::answer(answer);
        }
        let result = TaskResult::BookkeepingDone(keys.clone());
        Decision::append(records, result, answer).locking(keys)
    }

    /// Returns the records to write now, for resources that are not busy.
    pub(crate) fn due_bookkeeping(&self) -> Vec<Record> {
        let commit = self.known_state.files().commit();
        let mut records =
            self.planner.pending_records(self.known_state, self.shared.now(), commit.as_deref());
        let chosen =
            |key: &Key| self.scheduler.targets.as_ref().is_none_or(|chosen| chosen.contains(key));
        records.retain(|record| {
            let keys = record_keys(record);
            keys.last().is_some_and(chosen)
                && !keys.iter().any(|key| self.scheduler.busy.contains(key))
        });
        records
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
        keys.retain(|key| !self.scheduler.busy.contains(key));
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
