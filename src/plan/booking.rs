//! The planner's bookkeeping of absences and names: its notes in memory, and the records that must
//! be written before any effect.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::{Planner, Seen, World, removal};
use crate::base::id::Key;
use crate::model::absence::{AbsenceRecord, Marked, MovedRecord, Said};
use crate::model::going::{Going, Removal};
use crate::model::plan::{Reason, Step, Verdict};
use crate::model::record::Record;

impl Planner {
    /// Notes the absences and moves that the computation of a step showed.
    pub(super) fn note_absence(&mut self, world: &dyn World, key: &Key, step: Option<&Step>) {
        let moves = step.is_some_and(|step| !step.money.is_empty());
        let is_moving = |step: &Step| matches!(&step.reason, Reason::Going(going) if matches!(**going, Going::Moved { .. }));
        if step.is_some_and(is_moving) {
            self.moving.insert(key.clone());
        } else {
            self.moving.remove(key);
        }
        let known = world.observed(key);
        let document = world.desired().manifests.get(key);
        if document.is_none() && known.is_none() {
            return;
        }
        let mut absences = std::mem::take(&mut self.absences);
        {
            let seen = Seen { world, planner: self };
            let cx = self.cx(world, &seen);
            absences.known(&cx, key, document.map(|kept| &**kept), known.as_deref(), moves);
        }
        self.absences = absences;
    }

    /// Counts a removal since this planner began.
    pub(super) fn note_removal(
        &mut self,
        world: &dyn World,
        before: Option<&Step>,
        after: Option<&Step>,
    ) {
        let Some(before) = before.filter(|_| after.is_none()) else { return };
        let there = world.observed(&before.key).is_some_and(|known| known.exists);
        let removal =
            before.reason.removal().filter(|_| before.verdict == Verdict::Delete && !there);
        if let Some(removal) = removal {
            let count = self.removed.entry(removal).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Returns the number of removals since this planner began, by kind of removal.
    pub fn removed(&self) -> &BTreeMap<Removal, usize> {
        &self.removed
    }

    /// Recomputes the steps whose guards changed their verdict.
    pub(super) fn guard(&mut self, world: &dyn World, made: &mut BTreeSet<Key>) {
        if self.absences.take_search() {
            let open = self.steps.values().filter(|step| {
                step.place.is_some() && !(step.verdict == Verdict::Settled && step.ready)
            });
            for key in open.map(|step| step.key.clone()).collect::<Vec<_>>() {
                let step = self.steps.get(&key).cloned();
                self.note_absence(world, &key, step.as_deref());
            }
        }
        for key in self.absences.judged(&self.settings.prune) {
            self.make(world, &key);
            made.insert(key);
        }
    }

    /// Returns the records to write before any effect: moves, marks of live objects without
    /// document, and documents that are back. While some document cannot be read, only the last of
    /// these.
    pub fn booking(
        &self,
        world: &dyn World,
        at: DateTime<Utc>,
        commit: Option<&str>,
    ) -> Vec<Record> {
        let commit = commit.map(str::to_owned);
        let said = |key: &Key, said: Said| {
            Record::Absence(Box::new(AbsenceRecord { key: key.clone(), said }))
        };
        let back = self.absences.back().map(|key| said(key, Said::Back { at }));
        if !removal::believed(world) {
            return back.collect();
        }
        let moves = self.moving.iter().filter_map(|to| {
            let from = world.desired().manifests.get(to)?.annotations.moved_from.clone()?;
            let moved = MovedRecord { from, to: to.clone(), at, commit: commit.clone() };
            Some(Record::Moved(Box::new(moved)))
        });
        let marked = Marked { at, commit: commit.clone() };
        let marks = self.absences.unmarked().map(|key| said(key, Said::Marked(marked.clone())));
        moves.chain(back).chain(marks).collect()
    }

    /// Returns the removals, and the new documents, that a guard stops now.
    pub fn guarded(&self) -> BTreeSet<Key> {
        self.absences.guarded().cloned().collect()
    }

    /// Returns whether an approval of this resource would have a meaning: the object is to be
    /// removed with its missing document, or the document looks renamed.
    pub fn may_be_allowed(&self, key: &Key) -> bool {
        self.absences.twin(key).is_some() || self.absences.is_going(key)
    }
}
