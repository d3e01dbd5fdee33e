//! Caps the money of a run: a run moves no more than the plan that it carries out.
//!
//! Each amount is measured where it leaves the process, by the value that its answer must have (law
//! 4). The engine compares it with the plan, for each resource and in sum. More than the plan
//! contains is a mistake of ours: the run ends before the call is sent (exit code 5).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::base::hash::Digest;
use crate::base::id::{Key, Mode};
use crate::base::money::Currency;
use crate::model::effect::Effect;
use crate::model::plan::Step;

const AMOUNTS: [&str; 2] = ["total_amount", "amount"];
/// Suffix in the meaning of an amount to which a surcharge will be added.
const OPEN_END: &str = "_before_surcharge";

type CurrencyAndMode = (Currency, Mode);

/// The money of a plan, and the part of it that was sent.
#[derive(Debug, Default)]
pub(crate) struct PlanCap {
    planned: BTreeMap<Key, PlannedAmount>,
    totals: BTreeMap<CurrencyAndMode, i64>,
    /// True if a surcharge is added to some of it.
    open: bool,
    sent: BTreeMap<Key, (CurrencyAndMode, i64)>,
    sums: BTreeMap<CurrencyAndMode, i64>,
    /// Digest that the last try of each resource was to apply at the service.
    pub(crate) tries: BTreeMap<Key, Digest>,
}

/// The largest amount that a step may ask for at once.
#[derive(Debug, Clone, Copy)]
struct PlannedAmount {
    /// `None` if the step moves no money.
    most: Option<(CurrencyAndMode, i64)>,
    /// True if a surcharge is added, whose amount is not known yet.
    open: bool,
}

impl PlannedAmount {
    fn of(step: &Step) -> Self {
        let most = step.money.iter().max_by_key(|money| money.amount.minor());
        Self {
            most: most.map(|most| ((most.amount.currency(), most.mode), most.amount.minor())),
            open: step.money.iter().any(|money| money.meaning.ends_with(OPEN_END)),
        }
    }
}

impl PlanCap {
    fn add_step(&mut self, step: &Step) {
        let planned = PlannedAmount::of(step);
        if let Some((sort, most)) = planned.most {
            let total = self.totals.entry(sort).or_default();
            *total = total.saturating_add(most);
        }
        self.open |= planned.open;
        self.planned.insert(step.key.clone(), planned);
    }

    /// Counts the amount that an effect is about to send.
    fn count(&mut self, key: &Key, amount: i64) -> Result<(), String> {
        let Some(planned) = self.planned.get(key).copied() else { return Ok(()) };
        if let Some((_, before)) = self.sent.get(key) {
            return Err(format!("{key}: planned once, but {before} was already sent"));
        }
        let (sort, most) = planned.most.ok_or_else(|| {
            format!(
                "{key}: planned to move no money, but {amount} minor units are about to be sent"
            )
        })?;
        if amount > most && !planned.open {
            return Err(format!("{key}: {amount} minor units, but the plan has {most}"));
        }
        let total = self.totals.get(&sort).copied().unwrap_or_default();
        let sum = self.sums.entry(sort).or_default();
        let after = sum.saturating_add(amount);
        if after > total && !self.open {
            return Err(format!("{after} minor units in total, but the plan has {total}"));
        }
        *sum = after;
        self.sent.insert(key.clone(), (sort, amount));
        Ok(())
    }

    /// Takes an amount back that was not sent after all.
    pub(crate) fn subtract(&mut self, key: &Key) {
        let Some((sort, amount)) = self.sent.remove(key) else { return };
        let sum = self.sums.entry(sort).or_default();
        *sum = sum.saturating_sub(amount);
    }

    pub(crate) fn of<'a>(steps: impl Iterator<Item = &'a Step>) -> Self {
        let mut cap = Self::default();
        for step in steps.filter(|step| step.action.is_change()) {
            cap.add_step(step);
        }
        cap
    }

    /// Counts the amount that an effect is about to ask for.
    pub(crate) fn count_effect(&mut self, key: &Key, effect: &Effect) -> Result<(), String> {
        let amount =
            AMOUNTS.iter().find_map(|path| effect.expect.get(*path).and_then(Value::as_i64));
        let Some(amount) = amount else { return Ok(()) };
        self.count(key, amount)?;
        self.tries.insert(key.clone(), effect.applied.digest);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::money::Money;
    use crate::model::change::PlannedAction;
    use crate::model::effect::MoneyMove;
    use crate::model::plan::Reason;

    fn key(name: &str) -> Key {
        format!("Invoice/{name}").parse().unwrap()
    }

    /// Builds bounds from a plan with these amounts of dollars.
    fn bounds(steps: &[(&str, &[(i64, &'static str)])]) -> PlanCap {
        let mut bounds = PlanCap::default();
        for (name, money) in steps {
            let money = money.iter().map(|(amount, meaning)| MoneyMove {
                amount: Money::new(*amount, Currency::USD),
                mode: Mode::Test,
                meaning,
            });
            let step = Step::idle(key(name), PlannedAction::Create, Reason::NotCreated);
            bounds.add_step(&Step { money: money.collect(), ..step });
        }
        bounds
    }

    #[test]
    fn no_more_is_sent_than_was_planned_for_a_resource() {
        let mut bounds = bounds(&[("a", &[(100, "invoiced")]), ("b", &[(5, "invoiced")])]);
        assert!(bounds.count(&key("a"), 101).is_err(), "in sum it would still fit");
        assert_eq!(bounds.count(&key("a"), 100), Ok(()));
        assert!(bounds.count(&key("a"), 1).is_err(), "twice");
        bounds.subtract(&key("a"));
        assert_eq!(bounds.count(&key("a"), 100), Ok(()), "the first was not sent after all");
        assert_eq!(bounds.count(&key("b"), 5), Ok(()));
        assert_eq!(bounds.count(&key("not-planned"), 7), Ok(()));
    }

    #[test]
    fn what_was_to_move_no_money_moves_none_and_a_surcharge_is_on_top() {
        let planned: &[(i64, &'static str)] = &[(100, "charged_now_before_surcharge")];
        let mut bounds = bounds(&[("a", &[]), ("b", planned)]);
        assert!(bounds.count(&key("a"), 1).is_err());
        assert_eq!(bounds.count(&key("b"), 103), Ok(()));
    }

    #[test]
    fn only_steps_that_change_something_are_planned_money() {
        let amount = Money::new(100, Currency::USD);
        let money = vec![MoneyMove { amount, mode: Mode::Test, meaning: "invoiced" }];
        let step = |action| {
            let step = Step::idle(key("a"), action, Reason::NotCreated);
            Step { money: money.clone(), ..step }
        };
        let of = |action| PlanCap::of([step(action)].iter()).totals.len();
        assert_eq!(of(PlannedAction::Create), 1);
        for idle in [PlannedAction::Blocked, PlannedAction::Wait, PlannedAction::Settled] {
            assert_eq!(of(idle), 0, "{idle:?}");
        }
    }

    #[test]
    fn two_currencies_and_two_modes_never_share_a_total() {
        let mut bounds = PlanCap::default();
        for (name, currency, mode) in
            [("a", "USD", Mode::Test), ("b", "EUR", Mode::Test), ("c", "USD", Mode::Live)]
        {
            let amount = Money::new(100, currency.parse().unwrap());
            let money = vec![MoneyMove { amount, mode, meaning: "invoiced" }];
            let step = Step::idle(key(name), PlannedAction::Create, Reason::NotCreated);
            bounds.add_step(&Step { money, ..step });
        }
        assert_eq!(bounds.totals.len(), 3);
        for name in ["a", "b", "c"] {
            assert_eq!(bounds.count(&key(name), 100), Ok(()), "{name}");
        }
        assert!(bounds.sums.values().all(|sum| *sum == 100));
    }

    #[test]
    fn taking_back_what_was_never_sent_changes_nothing() {
        let mut bounds = bounds(&[("a", &[(100, "invoiced")])]);
        bounds.subtract(&key("a"));
        bounds.subtract(&key("unknown"));
        assert_eq!(bounds.count(&key("a"), 100), Ok(()));
        assert_eq!(bounds.sums.values().copied().collect::<Vec<_>>(), [100]);
    }
}
