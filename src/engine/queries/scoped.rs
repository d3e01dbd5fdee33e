//! A plan of some resources alone, selected by path arguments, `--target` and `--exclude`, and the sums
//! of its steps: money, and money due by month.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;

use crate::base::id::{Key, Kind, Mode};
use crate::base::money::Currency;
use crate::engine::protocol::unknown_names::UnknownName;
use crate::engine::protocol::views::{DueView, MoneyView, PlanView, StepView};
use crate::engine::view::EngineView;
use crate::model::change::PlannedAction;
use crate::model::operator::StepSelection;
use crate::model::plan::{Reason, Step};
use crate::plan::state_view::StateView;

pub(crate) fn waits(reason: &Reason) -> Vec<Key> {
    if let Reason::WaitsFor(keys) = reason { keys.clone() } else { Vec::new() }
}

/// Sums the money of steps by currency, mode and meaning, in this order.
pub fn step_sums(steps: &[StepView]) -> Vec<MoneyView> {
    let done = steps.iter().filter(|step| step.verdict != PlannedAction::Blocked);
    sum_money(done.flat_map(|step| &step.money))
}

/// Sums amounts by currency, mode and meaning, in this order.
pub fn sum_money<'m>(all: impl Iterator<Item = &'m MoneyView>) -> Vec<MoneyView> {
    let mut sums = BTreeMap::new();
    for money in all {
        let sum = sums.entry((&money.currency, money.mode, &money.meaning)).or_insert(0_i64);
        *sum = sum.saturating_add(money.amount);
    }
    let view = |((currency, mode, meaning), amount): ((&String, _, &String), _)| MoneyView {
        currency: currency.clone(),
        mode,
        meaning: meaning.clone(),
        amount,
    };
    sums.into_iter().map(view).collect()
}

impl StepView {
    /// Returns the resource of the step; `None` if its name is not valid.
    pub fn key(&self) -> Option<Key> {
        let (namespace, name) = (self.namespace.parse().ok()?, self.name.parse().ok()?);
        Some(Key::new(Kind::new(&self.kind), &namespace, &name))
    }
}

impl PlanView {
    /// Keeps the steps that the scope selects, and sums them. A step that needs an unready resource
    /// outside the selection waits with a message, and so do the steps that need it.
    pub(crate) fn select(mut self, scope: &StepSelection) -> Self {
        // Resources that are not done; true if selected all the same.
        let mut left: BTreeMap<Key, bool> = BTreeMap::new();
        let mut taken = Vec::new();
        for mut step in self.steps {
            let Some(key) = step.key() else { continue };
            let needed = step.waits_for.iter().find_map(|key| left.get_key_value(key));
            let needed = needed.map(|(key, chosen)| (key.clone(), *chosen));
            let chosen = scope.contains(&key, step.file.as_deref());
            if !chosen || needed.is_some() {
                left.insert(key, chosen);
            }
            if let Some(needed) = needed.filter(|_| step.verdict.is_change()) {
                make_wait(&mut step, needed, scope);
            }
            if chosen {
                taken.push(step);
            }
        }
        self.totals = step_sums(&taken);
        self.due = due(&taken);
        self.steps = taken;
        self
    }
}

fn make_wait(step: &mut StepView, (needed, chosen): (Key, bool), scope: &StepSelection) {
    let why = if scope.exclude.contains(&needed) {
        "which is excluded"
    } else if chosen {
        "which also waits"
    } else {
        "which is not selected"
    };
    step.verdict = PlannedAction::Wait;
    step.message = format!("waits for {}, {why}", needed.short());
    step.held_by = None;
    step.money.clear();
    step.due.clear();
}

impl EngineView<'_> {
    /// Returns the plan of the scope.
    ///
    /// # Errors
    /// The selected names that no resource has.
    pub fn plan_within(&self, scope: &StepSelection) -> Result<PlanView, Vec<UnknownName>> {
        let unknown = self.unknown_names(scope);
        if !unknown.is_empty() {
            return Err(unknown);
        }
        Ok(self.plan_of(scope))
    }

    /// Returns the same without a check of the names: for a plan after their removal.
    pub fn plan_of(&self, scope: &StepSelection) -> PlanView {
        if scope.is_everything() {
            return self.plan_view();
        }
        let plan = self.plan_view().select(scope);
        let steps = plan.steps.iter().filter(|step| step.verdict.is_change());
        let steps: BTreeSet<Key> = steps.filter_map(StepView::key).collect();
        let steps = steps.iter().filter_map(|key| self.planner.step(key));
        let checksum = self.checksum(steps.map(|step| &**step));
        PlanView { checksum, ..plan }
    }

    /// Returns every resource that the scope selects, whatever its step.
    pub fn selected(&self, scope: &StepSelection) -> BTreeSet<Key> {
        let file = |step: &Step| step.place.as_ref().map(|(file, _)| file.clone());
        let steps = self.planner.steps();
        let taken = steps.filter(|step| scope.contains(&step.key, file(step).as_deref()));
        taken.map(|step| step.key.clone()).collect()
    }

    /// Returns the names without a document and without a known resource.
    fn unknown_names(&self, scope: &StepSelection) -> Vec<UnknownName> {
        let known = |key: &Key| {
            self.planner.step(key).is_some()
                || self.known_state.desired().manifests.contains_key(key)
        };
        UnknownName::among(scope.names(), known, self.planner.steps().map(|step| &step.key))
    }
}

/// Key of separate sums; the date is the first day of a month.
type DueMonth = (Currency, Mode, NaiveDate);

/// Sums steps by currency, mode and month. Blocked steps change nothing.
pub(crate) fn due(steps: &[StepView]) -> Vec<DueView> {
    let mut sums: BTreeMap<DueMonth, (i64, i64)> = BTreeMap::new();
    for due in steps.iter().flat_map(|step| &step.due) {
        let (before, after) = sums.entry((due.currency, due.mode, due.month)).or_default();
        *before = before.saturating_add(due.before);
        *after = after.saturating_add(due.after);
    }
    let view = |((currency, mode, month), (before, after)): (DueMonth, (i64, i64))| DueView {
        month: month.format("%Y-%m").to_string(),
        currency: currency.to_string(),
        mode,
        before,
        after,
        difference: after.saturating_sub(before),
    };
    sums.into_iter().map(view).filter(|due| due.difference != 0).collect()
}

#[cfg(test)]
mod tests;
