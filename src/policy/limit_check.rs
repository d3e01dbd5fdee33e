//! Limit checks: compares one planned effect, and the running totals, with every limit.
//!
//! The one place that compares with a limit. It checks single amounts first, then the merchant's
//! sums, then all sums.

use crate::base::id::Key;
use crate::base::money::{Currency, Money};
use crate::base::wording::count_noun;
use crate::model::change::{LimitExceeded, LimitScope, PlannedAction};
use crate::model::effect::{RecordedMove, RunningTotals, SpendRequest};
use crate::policy::limits::{
    AmountLimit, CountLimit, LimitSet, Limits, TypicalAmounts, exceeds, percent, typical_amount,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitPeriod {
    /// One state of the files on one day.
    Run,
    /// One UTC day.
    Day,
}

/// Access to the past totals. Called only where a limit needs them.
pub trait SpendHistory {
    fn totals(&self, span: LimitPeriod, merchant: Option<&Key>) -> RunningTotals;
    fn typical_amounts(&self, wish: &SpendRequest, moved: &RecordedMove) -> TypicalAmounts;
}

/// Returns the limit of sums that this effect would exceed: the merchant's first, then the general
/// one.
pub fn check_sums(
    limits: &Limits,
    wish: &SpendRequest,
    known: &dyn SpendHistory,
) -> Option<LimitExceeded> {
    let own = limits.merchants.get(&wish.merchant).map(|section| (section, Some(&wish.merchant)));
    let mut sections = own.into_iter().chain([(limits.general(wish.mode), None)]);
    let over = sections.find_map(|(section, merchant)| {
        check_section(section, wish, |span| with_exposure(known.totals(span, merchant), wish))
    });
    over.map(|over| LimitExceeded { scope: LimitScope::Sum, ..over })
}

/// Checks single amounts: against the limit for one amount, and against the typical amount.
pub fn check_single(
    limits: &Limits,
    wish: &SpendRequest,
    known: &dyn SpendHistory,
) -> Option<LimitExceeded> {
    let most =
        limits.for_resource(wish.mode, &wish.merchant, |section| section.per_object.as_ref());
    let usual =
        limits.for_resource(wish.mode, &wish.merchant, |section| section.typical_percent.as_ref());
    let mut moves = wish.exposure.moves.iter();
    moves.find_map(|moved| {
        let amount = moved.amount.minor().saturating_abs();
        let money = Money::new(amount, moved.amount.currency());
        most.and_then(|most| amount_over(most, money)).or_else(|| {
            let usual = usual?;
            typical_over(usual, money, typical_amount(&known.typical_amounts(wish, moved))?)
        })
    })
}

fn with_exposure(mut counted: RunningTotals, wish: &SpendRequest) -> RunningTotals {
    counted.add(&wish.exposure);
    counted
}

/// Checks sums and counts with this effect added. Currencies and counts that the effect does not
/// touch are skipped: a limit that was lowered below the present total stops nothing else.
fn check_section(
    section: &LimitSet,
    wish: &SpendRequest,
    sums: impl Fn(LimitPeriod) -> RunningTotals,
) -> Option<LimitExceeded> {
    let currencies: Vec<Currency> = wish.exposure.sums().into_keys().collect();
    let money = |most: &Option<AmountLimit>, span| {
        let most = most.as_ref().filter(|_| !currencies.is_empty())?;
        totals_over(most, &sums(span), &currencies)
    };
    let count = |(most, span, about): CountCheck<'_>| {
        let most = most.filter(|_| about.concerns(wish))?;
        count_over(most, about, &sums(span))
    };
    money(&section.per_run, LimitPeriod::Run)
        .or_else(|| money(&section.per_day, LimitPeriod::Day))
        .or_else(|| count_checks(section).into_iter().find_map(count))
}

type CountCheck<'a> = (Option<&'a CountLimit>, LimitPeriod, LimitSubject);

fn count_checks(section: &LimitSet) -> [CountCheck<'_>; 4] {
    [
        (section.deletes_per_run.as_ref(), LimitPeriod::Run, LimitSubject::Deletes),
        (section.deletes_per_day.as_ref(), LimitPeriod::Day, LimitSubject::Deletes),
        (section.emails_per_run.as_ref(), LimitPeriod::Run, LimitSubject::Emails),
        (section.emails_per_day.as_ref(), LimitPeriod::Day, LimitSubject::Emails),
    ]
}

/// Checks a whole plan: returns every limit of sums that the totals with the whole plan exceed.
/// Each comes with the currency or count that it concerns.
pub fn check_plan(
    section: &LimitSet,
    run: &RunningTotals,
    day: &RunningTotals,
) -> Vec<(LimitSubject, LimitExceeded)> {
    let mut found = Vec::new();
    for (most, tally) in [(&section.per_run, run), (&section.per_day, day)] {
        let currencies = tally.money.keys().filter(|currency| tally.sum(**currency) > 0);
        for currency in currencies {
            let over = most.as_ref().and_then(|most| totals_over(most, tally, &[*currency]));
            found.extend(over.map(|over| (LimitSubject::Money(*currency), over)));
        }
    }
    for (most, span, about) in count_checks(section) {
        let tally = if span == LimitPeriod::Run { run } else { day };
        let over = most.and_then(|most| count_over(most, about, tally));
        found.extend(over.map(|over| (about, over)));
    }
    for (_, over) in &mut found {
        over.scope = LimitScope::Plan;
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitSubject {
    Money(Currency),
    Deletes,
    Emails,
}

impl LimitSubject {
    /// Returns whether the planned effects add to it.
    pub fn is_in(self, planned: &RunningTotals) -> bool {
        match self {
            Self::Money(currency) => planned.sum(currency) > 0,
            Self::Deletes => planned.deletes > 0,
            Self::Emails => planned.emails > 0,
        }
    }

    /// Returns whether it concerns the exposure of an effect.
    pub fn concerns(self, wish: &SpendRequest) -> bool {
        match self {
            Self::Money(currency) => wish.exposure.sums().contains_key(&currency),
            Self::Deletes => wish.exposure.counts.deletes > 0,
            Self::Emails => wish.exposure.counts.emails > 0,
        }
    }
}

fn amount_over(most: &AmountLimit, money: Money) -> Option<LimitExceeded> {
    let (allowed, place) = most.allowed_in(money.currency())?;
    (money.minor() > allowed).then(|| {
        let allows = Money::new(allowed, money.currency()).to_string();
        exceeded(&most.name, place, allows, money.to_string())
    })
}

fn totals_over(
    most: &AmountLimit,
    tally: &RunningTotals,
    currencies: &[Currency],
) -> Option<LimitExceeded> {
    let mut sums = currencies.iter().map(|currency| Money::new(tally.sum(*currency), *currency));
    sums.find_map(|sum| amount_over(most, sum))
}

fn count_over(
    most: &CountLimit,
    about: LimitSubject,
    tally: &RunningTotals,
) -> Option<LimitExceeded> {
    let (number, what) = match about {
        LimitSubject::Deletes => (tally.deletes, "delete"),
        LimitSubject::Emails => (tally.emails, "e-mail"),
        LimitSubject::Money(_) => return None,
    };
    let allows = || count_noun(most.maximum, what);
    (number > most.maximum).then(|| exceeded(&most.name, &most.place, allows(), number.to_string()))
}

fn typical_over(most: &CountLimit, money: Money, base: i64) -> Option<LimitExceeded> {
    exceeds(money.minor(), base, most.maximum).then(|| {
        let usual = Money::new(base, money.currency());
        let allows = format!("{} % of the usual {usual}", most.maximum);
        let would = format!("{money}, {} %", percent(money.minor(), base));
        exceeded(&most.name, &most.place, allows, would)
    })
}

fn exceeded(limit: &str, place: &str, allowed: String, resulting: String) -> LimitExceeded {
    LimitExceeded {
        limit: limit.to_owned(),
        allowed,
        resulting,
        place: place.to_owned(),
        scope: LimitScope::Object,
        intended: PlannedAction::Blocked,
        approved_by: Vec::new(),
        approvers: 1,
    }
}

#[cfg(test)]
mod tests;
