//! What a run may set in motion: the money of the plan that it carries out, and no more.
//!
//! What is sent is measured where it leaves, by what its answer has to say (law 4), and compared with the
//! plan, for each resource and in sum. More than the plan says is a mistake of ours: the run ends before it is
//! sent (exit code 5).

use std::collections::BTreeMap;

use serde_json::Value;

use super::Engine;
use super::shared::EngineError;
use crate::base::hash::Digest;
use crate::base::id::{Key, Mode};
use crate::base::money::Currency;
use crate::model::effect::Effect;
use crate::model::plan::Step;
use crate::plan::World;

/// Where an answer says how much it was.
const AMOUNTS: [&str; 2] = ["total_amount", "amount"];
/// How the meaning of an amount ends that a surcharge will be added to.
const OPEN_END: &str = "_before_surcharge";

/// Money of one currency and one mode.
type Sort = (Currency, Mode);

/// The money of a plan, and what was sent of it.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    planned: BTreeMap<Key, Planned>,
    totals: BTreeMap<Sort, i64>,
    /// Whether a surcharge comes on top of some of it.
    open: bool,
    sent: BTreeMap<Key, (Sort, i64)>,
    sums: BTreeMap<Sort, i64>,
    /// What the last try of each resource was to put on the service.
    tries: BTreeMap<Key, Digest>,
}

/// The most that a step may ask for at once.
#[derive(Debug, Clone, Copy)]
struct Planned {
    /// `None` where the step moves no money.
    most: Option<(Sort, i64)>,
    /// Whether a surcharge comes on top of it, which nobody knows yet.
    open: bool,
}

impl Planned {
    fn of(step: &Step) -> Self {
        let most = step.money.iter().max_by_key(|money| money.amount.minor());
        Self {
            most: most.map(|most| ((most.amount.currency(), most.mode), most.amount.minor())),
            open: step.money.iter().any(|money| money.meaning.ends_with(OPEN_END)),
        }
    }
}

impl Bounds {
    fn plan(&mut self, step: &Step) {
        let planned = Planned::of(step);
        if let Some((sort, most)) = planned.most {
            let total = self.totals.entry(sort).or_default();
            *total = total.saturating_add(most);
        }
        self.open |= planned.open;
        self.planned.insert(step.key.clone(), planned);
    }

    /// Counts what an effect is about to send. Errors: it is more than was planned.
    fn count(&mut self, key: &Key, amount: i64) -> Result<(), String> {
        let Some(planned) = self.planned.get(key).copied() else {
            return Ok(());
        };
        if let Some((_, before)) = self.sent.get(key) {
            return Err(format!("{key} was to be asked for once, and {before} was sent already"));
        }
        let (sort, most) = planned.most.ok_or_else(|| {
            format!("{key} was to move no money, and {amount} minor units are about to be sent")
        })?;
        if amount > most && !planned.open {
            return Err(format!("{key}: {amount} minor units, and its plan says {most}"));
        }
        let total = self.totals.get(&sort).copied().unwrap_or_default();
        let sum = self.sums.entry(sort).or_default();
        let after = sum.saturating_add(amount);
        if after > total && !self.open {
            return Err(format!("{after} minor units in all, and the plan says {total}"));
        }
        *sum = after;
        self.sent.insert(key.clone(), (sort, amount));
        Ok(())
    }

    /// Nothing was sent for it after all.
    fn take_back(&mut self, key: &Key) {
        let Some((sort, amount)) = self.sent.remove(key) else { return };
        let sum = self.sums.entry(sort).or_default();
        *sum = sum.saturating_sub(amount);
    }
}

impl Engine {
    /// From now on no more money is asked for than the present plan says. What is not in that plan is done
    /// as it comes.
    pub fn hold_to_plan(&mut self) {
        let mut bounds = Bounds::default();
        for step in self.planner.steps().filter(|step| step.verdict.changes()) {
            bounds.plan(step);
        }
        self.bounds = Some(bounds);
    }

    /// Counts what an effect is about to ask for. Errors: more than the plan says.
    pub(super) fn count(&mut self, key: &Key, effect: &Effect) -> Result<(), EngineError> {
        let Some(bounds) = &mut self.bounds else { return Ok(()) };
        let asked =
            AMOUNTS.iter().find_map(|path| effect.expect.get(*path).and_then(Value::as_i64));
        let Some(asked) = asked else { return Ok(()) };
        bounds.count(key, asked).map_err(|why| {
            EngineError::Bug(format!("more money than the plan says is not sent: {why}"))
        })?;
        bounds.tries.insert(key.clone(), effect.applied.digest);
        Ok(())
    }

    /// A try of a resource has ended. One that is neither done nor open did nothing: its absence was proved, or it
    /// was refused, so the next try is not a second one.
    pub(super) fn counted(&mut self, key: &Key) {
        let done = |digest: &Digest| {
            let known = self.world.observed(key);
            known.is_some_and(|known| {
                known.applied.as_ref().is_some_and(|one| one.digest == *digest)
            })
        };
        let tried = self.bounds.as_ref().and_then(|bounds| bounds.tries.get(key));
        if self.world.open(key).is_none() && tried.is_some_and(|digest| !done(digest)) {
            self.uncount(key);
        }
    }

    /// Nothing was sent after all.
    pub(super) fn uncount(&mut self, key: &Key) {
        if let Some(bounds) = &mut self.bounds {
            bounds.take_back(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::money::Money;
    use crate::model::plan::{MoneyMove, Reason, Verdict};

    fn key(name: &str) -> Key {
        format!("Invoice/{name}").parse().unwrap()
    }

    /// Bounds by a plan with these amounts of dollars.
    fn bounds(steps: &[(&str, &[(i64, &'static str)])]) -> Bounds {
        let mut bounds = Bounds::default();
        for (name, money) in steps {
            let money = money.iter().map(|(amount, meaning)| MoneyMove {
                amount: Money::new(*amount, Currency::USD),
                mode: Mode::Test,
                meaning,
            });
            let step = Step::idle(key(name), Verdict::Create, Reason::NotCreated);
            bounds.plan(&Step { money: money.collect(), ..step });
        }
        bounds
    }

    #[test]
    fn no_more_is_sent_than_was_planned_for_a_resource() {
        let mut bounds = bounds(&[("a", &[(100, "invoiced")]), ("b", &[(5, "invoiced")])]);
        assert!(bounds.count(&key("a"), 101).is_err(), "in sum it would still fit");
        assert_eq!(bounds.count(&key("a"), 100), Ok(()));
        assert!(bounds.count(&key("a"), 1).is_err(), "twice");
        bounds.take_back(&key("a"));
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
}
