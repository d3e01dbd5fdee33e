//! The planner's bookkeeping of absences, names and refusals: its notes in memory, and the records
//! that must be written before any effect.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use crate::base::id::Key;
use crate::model::plans::change::PlannedAction;
use crate::model::plans::plan::{Reason, Step};
use crate::model::plans::removal::{Removal, RemovalStatus};
use crate::model::record::Record;
use crate::model::state::orphan::{
    MarkedForPrune, MissingDocumentChange, MissingDocumentRecord, MovedRecord,
};
use crate::plan::planner::{KindView, Planner};
use crate::plan::refusal::is_retried;
use crate::plan::state_view::{StateView, is_tree_complete};

impl Planner {
    /// Notes the absences and moves that the computation of a step showed.
    pub(crate) fn note_absence(&mut self, world: &dyn StateView, key: &Key, step: Option<&Step>) {
        let moves = step.is_some_and(|step| !step.money.is_empty());
        let is_moving = |step: &Step| matches!(&step.reason, Reason::Removal(going) if matches!(**going, RemovalStatus::Moved { .. }));
        if step.is_some_and(is_moving) {
            self.pending_moves.insert(key.clone());
        } else {
            self.pending_moves.remove(key);
        }
        let known = world.observed(key);
        let document = world.desired().manifests.get(key);
        if document.is_none() && known.is_none() {
            return;
        }
        let mut absences = std::mem::take(&mut self.prune_state);
        {
            let seen = KindView { world, planner: self };
            let cx = self.step_context(world, &seen);
            absences.note_observed(&cx, key, document.map(|kept| &**kept), known.as_deref(), moves);
        }
        self.prune_state = absences;
    }

    /// Notes whether a resource was refused for a cause that may change at the service.
    pub(crate) fn note_refusal(&mut self, world: &dyn StateView, key: &Key, step: Option<&Step>) {
        let refused = step.is_some_and(|step| matches!(step.reason, Reason::Refused(_)));
        let known = if refused { world.observed(key) } else { None };
        if known.is_some_and(|known| is_retried(&known)) {
            self.retryable_refusals.insert(key.clone());
        } else {
            self.retryable_refusals.remove(key);
        }
    }

    /// Counts a removal since this planner began.
    pub(crate) fn note_removal(
        &mut self,
        world: &dyn StateView,
        before: Option<&Step>,
        after: Option<&Step>,
    ) {
        let Some(before) = before.filter(|_| after.is_none()) else { return };
        let there = world.observed(&before.key).is_some_and(|known| known.exists);
        let removal =
            before.reason.removal().filter(|_| before.action == PlannedAction::Delete && !there);
        if let Some(removal) = removal {
            let count = self.removal_counts.entry(removal).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Returns the number of removals since this planner began, by kind of removal.
    pub fn removal_counts(&self) -> &BTreeMap<Removal, usize> {
        &self.removal_counts
    }

    /// Recomputes the steps whose guards changed their verdict.
    pub(crate) fn recompute_guarded(&mut self, world: &dyn StateView, made: &mut BTreeSet<Key>) {
        if self.prune_state.take_search() {
            let open = self.steps.values().filter(|step| {
                step.place.is_some() && !(step.action == PlannedAction::Settled && step.ready)
            });
            for key in open.map(|step| step.key.clone()).collect::<Vec<_>>() {
                let step = self.steps.get(&key).cloned();
                self.note_absence(world, &key, step.as_deref());
            }
        }
        for key in self.prune_state.update(&self.settings.prune) {
            self.recompute_step(world, &key);
            made.insert(key);
        }
    }

    /// Returns the records to write before any effect: moves, marks of live objects without
    /// document, and documents that are back. While some document cannot be read, only the last of
    /// these.
    pub fn pending_records(
        &self,
        world: &dyn StateView,
        at: DateTime<Utc>,
        commit: Option<&str>,
    ) -> Vec<Record> {
        let commit = commit.map(str::to_owned);
        let said = |key: &Key, said: MissingDocumentChange| {
            Record::MissingDocument(Box::new(MissingDocumentRecord {
                key: key.clone(),
                change: said,
            }))
        };
        let back = self
            .prune_state
            .returned()
            .map(|key| said(key, MissingDocumentChange::Returned { at }));
        if !is_tree_complete(world) {
            return back.collect();
        }
        let moves = self.pending_moves.iter().filter_map(|to| {
            let from = world.desired().manifests.get(to)?.annotations.moved_from.clone()?;
            let moved = MovedRecord { from, to: to.clone(), at, commit: commit.clone() };
            Some(Record::Moved(Box::new(moved)))
        });
        let marked = MarkedForPrune { at, commit: commit.clone() };
        let marks = self
            .prune_state
            .unmarked_removals()
            .map(|key| said(key, MissingDocumentChange::Marked(marked.clone())));
        moves.chain(back).chain(marks).collect()
    }

    /// Returns the removals, and the new documents, that a guard stops now.
    pub fn guarded_keys(&self) -> BTreeSet<Key> {
        self.prune_state.guarded_keys().cloned().collect()
    }

    /// Returns whether an approval of this resource would have a meaning: the object is to be
    /// removed with its missing document, or the document looks renamed.
    pub fn may_be_allowed(&self, key: &Key) -> bool {
        self.prune_state.twin(key).is_some() || self.prune_state.is_to_be_removed(key)
    }
}
