//! Sums over all steps, updated step by step.

use std::collections::BTreeMap;

use crate::base::id::Mode;
use crate::model::plans::change::PlannedAction;
use crate::model::plans::plan::{Plan, Step};

#[derive(Debug, Clone, Default)]
pub struct PlanTotals {
    money: BTreeMap<(String, Mode, &'static str), i64>,
    verdicts: BTreeMap<PlannedAction, usize>,
    unready: usize,
    needing_attention: usize,
}

impl PlanTotals {
    /// Replaces one step's share by another's.
    pub(crate) fn replace(&mut self, before: Option<&Step>, after: Option<&Step>) {
        if let Some(step) = before {
            self.count(step, -1);
        }
        if let Some(step) = after {
            self.count(step, 1);
        }
    }

    /// Counts one step in, or out with a sign of -1.
    fn count(&mut self, step: &Step, sign: i64) {
        let moved = |count: &mut usize| {
            *count = count.checked_add_signed(if sign < 0 { -1 } else { 1 }).unwrap_or(0);
        };
        moved(self.verdicts.entry(step.action).or_default());
        if !step.is_ready() {
            moved(&mut self.unready);
        }
        if step.needs_operator() {
            moved(&mut self.needing_attention);
        }
        let wanted =
            if step.action == PlannedAction::Blocked { &[] } else { step.money.as_slice() };
        for money in wanted {
            let name = (money.amount.currency().to_string(), money.mode, money.meaning);
            let sum = self.money.entry(name.clone()).or_default();
            *sum = sum.saturating_add(money.amount.minor().saturating_mul(sign));
            if *sum == 0 {
                self.money.remove(&name);
            }
        }
    }

    /// Returns sums of money by currency, mode and meaning, in minor units.
    pub fn money(&self) -> &BTreeMap<(String, Mode, &'static str), i64> {
        &self.money
    }

    /// Returns the number of steps with this verdict.
    pub fn count_of(&self, verdict: PlannedAction) -> usize {
        self.verdicts.get(&verdict).copied().unwrap_or(0)
    }

    /// Returns the number of steps that would change something.
    pub fn changes(&self) -> usize {
        self.verdicts
            .iter()
            .filter(|(verdict, _)| verdict.is_change())
            .map(|(_, count)| count)
            .sum()
    }

    /// Returns the number of resources that are not ready.
    pub fn unready_count(&self) -> usize {
        self.unready
    }

    /// Returns the number of resources that need attention.
    pub fn needing_attention(&self) -> usize {
        self.needing_attention
    }
}

/// Counts a plan's verdicts, in their order, without the settled ones.
pub fn summary(plan: &Plan) -> BTreeMap<PlannedAction, usize> {
    let mut counts = BTreeMap::new();
    for step in plan.steps.iter().filter(|step| step.action != PlannedAction::Settled) {
        let count: &mut usize = counts.entry(step.action).or_default();
        *count = count.saturating_add(1);
    }
    counts
}
