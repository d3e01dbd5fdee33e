//! Results of the planner beside its steps: its notes of absences, names and refusals, the records
//! that must be written before any effect, and the money that is due by month, before a step and
//! after it.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Datelike, Months, NaiveDate, Utc};
use serde_json::Value;

use crate::base::id::{Key, Mode};
use crate::base::money::{Currency, Money};
use crate::kinds::planning::step::{merchant_of, mode_of};
use crate::kinds::register;
use crate::kinds::row::KindRow;
use crate::model::change::{MonthlyDue, PlannedAction, RemovalStatus};
use crate::model::plan::{Reason, Step};
use crate::model::record::Record;
use crate::model::state::health::PaymentResult;
use crate::model::state::observed::Observed;
use crate::model::state::orphan::{
    MarkedForPrune, MissingDocumentChange, MissingDocumentRecord, MovedRecord,
};
use crate::plan::blocks::is_retried;
use crate::plan::planner::{KindView, Planner};
use crate::plan::prune_state::set_member;
use crate::plan::state_view::{StateView, is_tree_complete};

impl Planner {
    /// Notes the absences and moves that the computation of a step showed.
    pub(crate) fn note_absence(
        &mut self,
        world: &dyn StateView,
        key: &Key,
        step: Option<&Step>,
        known: Option<&Observed>,
    ) {
        let moves = step.is_some_and(|step| !step.money.is_empty());
        let is_moving = |step: &Step| matches!(&step.reason, Reason::Removal(going) if matches!(**going, RemovalStatus::Moved { .. }));
        set_member(&mut self.pending_moves, key, step.is_some_and(is_moving));
        let document = world.desired().manifests.get(key);
        if document.is_none() && known.is_none() {
            return;
        }
        let mut absences = std::mem::take(&mut self.prune_state);
        self.with_context(world, |cx| {
            absences.note_observed(cx, key, document.map(|kept| &**kept), known, moves);
        });
        self.prune_state = absences;
    }

    /// Notes whether a resource was refused for a cause that may change at the service.
    pub(crate) fn note_refusal(
        &mut self,
        key: &Key,
        step: Option<&Step>,
        known: Option<&Observed>,
    ) {
        let refused = step.is_some_and(|step| matches!(step.reason, Reason::Refused(_)));
        let is_retryable = refused && known.is_some_and(is_retried);
        if set_member(&mut self.retryable_refusals, key, is_retryable) {
            self.refresh_changes.insert(key.clone());
        }
    }

    pub(crate) fn note_removal(
        &mut self,
        before: Option<&Step>,
        after: Option<&Step>,
        known: Option<&Observed>,
    ) {
        let Some(before) = before.filter(|_| after.is_none()) else { return };
        let there = known.is_some_and(|known| known.exists);
        let removal =
            before.reason.removal().filter(|_| before.action == PlannedAction::Delete && !there);
        if let Some(removal) = removal {
            let count = self.removal_counts.entry(removal).or_default();
            *count = count.saturating_add(1);
        }
    }

    pub(crate) fn recompute_guarded(&mut self, world: &dyn StateView, made: &mut BTreeSet<Key>) {
        if std::mem::take(&mut self.prune_state.search) {
            let open = self.steps.values().filter(|step| {
                step.place.is_some() && !(step.action == PlannedAction::Settled && step.ready)
            });
            for key in open.map(|step| step.key.clone()).collect::<Vec<_>>() {
                let step = self.steps.get(&key).cloned();
                let known = world.observed(&key);
                self.note_absence(world, &key, step.as_deref(), known.as_deref());
            }
        }
        for key in self.prune_state.update(&self.settings.prune) {
            self.recompute_step(world, &key);
            made.insert(key);
        }
    }

    /// Returns the records to write before any effect: moves, marks of live and of kept objects
    /// without document, and documents that are back. While some document cannot be read, only the last of
    /// these.
    pub fn pending_records(
        &self,
        world: &dyn StateView,
        at: DateTime<Utc>,
        commit: Option<&str>,
    ) -> Vec<Record> {
        let commit = commit.map(str::to_owned);
        let said = |key: &Key, change: MissingDocumentChange| {
            Record::MissingDocument(Box::new(MissingDocumentRecord { key: key.clone(), change }))
        };
        let returned = self.prune_state.returned.iter();
        let back = returned.map(|key| said(key, MissingDocumentChange::Returned { at }));
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
            .marks_due()
            .map(|key| said(key, MissingDocumentChange::Marked(marked.clone())));
        moves.chain(back).chain(marks).collect()
    }

    /// Returns whether an approval of this resource would have a meaning: the object is to be
    /// removed with its missing document, or the document looks renamed.
    pub fn may_be_allowed(&self, key: &Key) -> bool {
        self.prune_state.twins.contains_key(key) || self.prune_state.is_to_be_removed(key)
    }
}

/// Months that are compared, from the first one on.
const MONTHS: u32 = 12;

impl Planner {
    pub fn dues(&self, world: &dyn StateView, step: &Step) -> Vec<MonthlyDue> {
        let manifest = world.desired().manifest(&step.key);
        let known = world.observed(&step.key).filter(|known| known.exists);
        let now = manifest.as_ref().map(|manifest| &manifest.spec);
        let after = match step.action {
            PlannedAction::Create | PlannedAction::Update => now,
            PlannedAction::Wait if !step.money.is_empty() => now,
            PlannedAction::Delete => None,
            PlannedAction::Wait
            | PlannedAction::Settled
            | PlannedAction::Read
            | PlannedAction::Orphan
            | PlannedAction::Blocked => return Vec::new(),
        };
        let owner = || known.as_ref().map(|known| known.merchant.clone());
        let merchant = manifest.as_deref().and_then(merchant_of).or_else(owner);
        let mode =
            merchant.and_then(|merchant| mode_of(&KindView { world, planner: self }, &merchant));
        let (Some(row), Some(mode)) = (register::find(step.key.kind.as_str()), mode) else {
            return Vec::new();
        };
        let today = world.now().date_naive();
        let known = known.as_ref().filter(|known| known.text("ended").is_none());
        let applied = known.and_then(|known| known.applied.as_ref());
        let before = dues_from(row, applied.map(|applied| &applied.spec), today);
        let mut after = dues_from(row, after, today);
        // The old object stays unchanged beside the new one of a raised `reckon.dev/generation`.
        let generation = manifest.map_or(0, |new| new.annotations.generation);
        if applied.is_some_and(|applied| applied.generation < generation) {
            after.extend_from_slice(&before);
        }
        let months = dues_by_month(&before, &after);
        let changed = months.into_iter().filter(|(_, (before, after))| before != after);
        let due = |((month, currency), (before, after))| MonthlyDue {
            month,
            currency,
            mode,
            before,
            after,
        };
        changed.map(due).collect()
    }
}

impl Planner {
    /// Returns the payments that an existing object goes on to collect, with its mode; an ended
    /// object and a paid invoice collect nothing more. `None` if it never collects money.
    pub(crate) fn expected_payments(
        &self,
        world: &dyn StateView,
        key: &Key,
        known: &Observed,
    ) -> Option<(Mode, Vec<(NaiveDate, Money)>)> {
        let row = register::find(key.kind.as_str()).filter(|row| row.amount.is_some())?;
        let mode = mode_of(&KindView { world, planner: self }, &known.merchant)?;
        let applied = known.applied.as_ref().filter(|_| known.text("ended").is_none());
        let mut dues =
            dues_from(row, applied.map(|applied| &applied.spec), world.now().date_naive());
        let last = known.payments.as_deref().map(|payments| payments.last.result);
        if dues.len() == 1 && last == Some(PaymentResult::Paid) {
            dues.clear();
        }
        Some((mode, dues))
    }
}

fn dues_from(row: &KindRow, spec: Option<&Value>, today: NaiveDate) -> Vec<(NaiveDate, Money)> {
    spec.map(|spec| (row.due_payments)(spec, today)).unwrap_or_default()
}

/// Sums both by month and currency, over the months for which both are known.
fn dues_by_month(
    before: &[(NaiveDate, Money)],
    after: &[(NaiveDate, Money)],
) -> BTreeMap<(NaiveDate, Currency), (i64, i64)> {
    let dates = before.iter().chain(after).map(|(date, _)| *date);
    let end =
        dates.min().map(month_of).and_then(|month| month.checked_add_months(Months::new(MONTHS)));
    let mut months: BTreeMap<(NaiveDate, Currency), (i64, i64)> = BTreeMap::new();
    for (is_before, dues) in [(true, before), (false, after)] {
        for (date, money) in dues.iter().filter(|(date, _)| end.is_none_or(|end| *date < end)) {
            let sums = months.entry((month_of(*date), money.currency())).or_default();
            let sum = if is_before { &mut sums.0 } else { &mut sums.1 };
            *sum = sum.saturating_add(money.minor());
        }
    }
    months
}

fn month_of(date: NaiveDate) -> NaiveDate {
    date.with_day(1).unwrap_or(date)
}
