//! A plan of some resources alone: what path arguments, `--target` and `--exclude` choose.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::due::due;
use super::views::{MoneyView, PlanView, StepView};
use crate::base::id::{Key, Kind};
use crate::base::nearest::nearest;
use crate::engine::Engine;
use crate::model::plan::{Reason, Step, Verdict};
use crate::model::scope::Scope;
use crate::plan::World;

/// A name that was chosen and that nothing has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unknown {
    /// The name.
    pub key: Key,
    /// The name that looks most like it, if one does.
    pub nearest: Option<String>,
}

/// What a step waits for.
pub(super) fn waits(reason: &Reason) -> Vec<Key> {
    if let Reason::WaitsFor(keys) = reason { keys.clone() } else { Vec::new() }
}

/// What steps add up to: sums of money by currency, mode and meaning, in this order.
pub fn sums(steps: &[StepView]) -> Vec<MoneyView> {
    let done = steps.iter().filter(|step| step.verdict != Verdict::Blocked);
    added(done.flat_map(|step| &step.money))
}

/// Adds amounts up by currency, mode and meaning, in this order.
pub fn added<'m>(all: impl Iterator<Item = &'m MoneyView>) -> Vec<MoneyView> {
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
    /// The resource that it is about; none if its name cannot be one.
    pub fn key(&self) -> Option<Key> {
        let (namespace, name) = (self.namespace.parse().ok()?, self.name.parse().ok()?);
        Some(Key::new(Kind::new(&self.kind), &namespace, &name))
    }
}

impl PlanView {
    /// The steps that this chooses, and what they add up to. A step that needs something which is left out
    /// and not ready waits, and says so; so does whatever needs that step.
    pub(super) fn within(mut self, scope: &Scope) -> Self {
        // What is not done, and whether it was chosen all the same.
        let mut left: BTreeMap<Key, bool> = BTreeMap::new();
        let mut taken = Vec::new();
        for mut step in self.steps {
            let Some(key) = step.key() else { continue };
            let needed = step.waits_for.iter().find_map(|key| left.get_key_value(key));
            let needed = needed.map(|(key, chosen)| (key.clone(), *chosen));
            let chosen = scope.takes(&key, step.file.as_deref());
            if !chosen || needed.is_some() {
                left.insert(key, chosen);
            }
            if let Some(needed) = needed.filter(|_| step.verdict.changes()) {
                stop(&mut step, needed, scope);
            }
            if chosen {
                taken.push(step);
            }
        }
        self.totals = sums(&taken);
        self.due = due(&taken);
        self.steps = taken;
        self
    }
}

/// Has a step wait for something that is left out.
fn stop(step: &mut StepView, (needed, chosen): (Key, bool), scope: &Scope) {
    let why = if scope.exclude.contains(&needed) {
        "which is excluded"
    } else if chosen {
        "which has to wait itself"
    } else {
        "which is not among what was chosen"
    };
    step.verdict = Verdict::Wait;
    step.message = format!("waits for {}, {why}", needed.short());
    step.money.clear();
    step.due.clear();
}

impl Engine {
    /// The plan of what this chooses. Errors: the names in it that nothing has.
    pub fn plan_within(&self, scope: &Scope) -> Result<PlanView, Vec<Unknown>> {
        let unknown = self.unknown(scope);
        if !unknown.is_empty() {
            return Err(unknown);
        }
        Ok(self.plan_of(scope))
    }

    /// The same, whatever its names are: for a look after they were removed.
    pub fn plan_of(&self, scope: &Scope) -> PlanView {
        if scope.is_whole() {
            return self.plan_view();
        }
        let plan = self.plan_view().within(scope);
        let steps = plan.steps.iter().filter(|step| step.verdict.changes());
        let steps: BTreeSet<Key> = steps.filter_map(StepView::key).collect();
        let steps = steps.iter().filter_map(|key| self.planner.step(key));
        let checksum = self.checksum(steps.map(|step| &**step));
        PlanView { checksum, ..plan }
    }

    /// Every resource that this chooses, whatever its step is.
    pub fn taken(&self, scope: &Scope) -> BTreeSet<Key> {
        let file = |step: &Step| step.place.as_ref().map(|(file, _)| file.clone());
        let steps = self.planner.steps();
        let taken = steps.filter(|step| scope.takes(&step.key, file(step).as_deref()));
        taken.map(|step| step.key.clone()).collect()
    }

    /// The names that nothing has: no document, and nothing that is known.
    fn unknown(&self, scope: &Scope) -> Vec<Unknown> {
        let known = |key: &Key| {
            self.planner.step(key).is_some() || self.world.desired().manifests.contains_key(key)
        };
        let unknown: Vec<&Key> = scope.names().filter(|key| !known(key)).collect();
        if unknown.is_empty() {
            return Vec::new();
        }
        let names: Vec<String> = self.planner.steps().map(|step| step.key.short()).collect();
        let like = |key: &Key| nearest(&key.short(), names.iter().map(String::as_str));
        let told =
            |key: &&Key| Unknown { key: (*key).clone(), nearest: like(key).map(str::to_owned) };
        unknown.iter().map(told).collect()
    }
}
