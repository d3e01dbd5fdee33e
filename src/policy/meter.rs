//! Limit checks: compares one planned effect, and the running totals, with every limit.
//!
//! The one place that compares with a limit. It checks single amounts first, then the merchant's
//! sums, then all sums.

use crate::base::counted::counted;
use crate::base::id::Key;
use crate::base::money::{Currency, Money};
use crate::model::limit::{Over, Scope};
use crate::model::plan::Verdict;
use crate::model::stake::{Moved, Tally, Wish};
use crate::policy::limits::{Amounts, Limits, Most, Section};
use crate::policy::usual::{Usual, base, exceeds, percent};

/// The span that sums are taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Span {
    /// One state of the files on one day.
    Run,
    /// One UTC day.
    Day,
}

/// Access to the past totals. Called only where a limit needs them.
pub trait Known {
    /// Returns the totals of this span, of one merchant or of all.
    fn counted(&self, span: Span, merchant: Option<&Key>) -> Tally;
    /// Returns the typical amounts for this movement.
    fn usual(&self, wish: &Wish, moved: &Moved) -> Usual;
}

/// Returns the limit that this effect would exceed, if there is one.
pub fn check(limits: &Limits, wish: &Wish, known: &dyn Known) -> Option<Over> {
    single(limits, wish, known).or_else(|| sums(limits, wish, known))
}

/// Returns the limit of sums that this effect would exceed: the merchant's first, then the general
/// one.
pub fn sums(limits: &Limits, wish: &Wish, known: &dyn Known) -> Option<Over> {
    let own = limits.merchants.get(&wish.merchant).map(|section| (section, Some(&wish.merchant)));
    let mut sections = own.into_iter().chain([(limits.general(wish.mode), None)]);
    let over = sections.find_map(|(section, merchant)| {
        summed(section, wish, |span| with(known.counted(span, merchant), wish))
    });
    over.map(|over| Over { scope: Scope::Sum, ..over })
}

/// Checks single amounts: against the limit for one amount, and against the typical amount.
pub fn single(limits: &Limits, wish: &Wish, known: &dyn Known) -> Option<Over> {
    let most = limits.single(wish.mode, &wish.merchant, |section| section.per_object.as_ref());
    let usual = limits.single(wish.mode, &wish.merchant, |section| section.usual_percent.as_ref());
    let mut moves = wish.stake.moves.iter();
    moves.find_map(|moved| {
        let amount = moved.amount.minor().saturating_abs();
        let money = Money::new(amount, moved.amount.currency());
        most.and_then(|most| amount_over(most, money)).or_else(|| {
            let usual = usual?;
            unusual(usual, money, base(&known.usual(wish, moved))?)
        })
    })
}

/// Adds the exposure to the totals.
fn with(mut counted: Tally, wish: &Wish) -> Tally {
    counted.add(&wish.stake);
    counted
}

/// Checks sums and counts with this effect added. Currencies and counts that the effect does not
/// touch are skipped: a limit that was lowered below the present total stops nothing else.
fn summed(section: &Section, wish: &Wish, sums: impl Fn(Span) -> Tally) -> Option<Over> {
    let currencies: Vec<Currency> = wish.stake.sums().into_keys().collect();
    let counts = wish.stake.counts;
    let money = |most: &Option<Amounts>, span| {
        let most = most.as_ref().filter(|_| !currencies.is_empty())?;
        totals_over(most, &sums(span), &currencies)
    };
    let count = |most: &Option<Most>, span, touched: u32, of: fn(&Tally) -> u32, what| {
        let most = most.as_ref().filter(|_| touched > 0)?;
        count_over(most, of(&sums(span)), what)
    };
    money(&section.per_run, Span::Run)
        .or_else(|| money(&section.per_day, Span::Day))
        .or_else(|| count(&section.deletes_per_run, Span::Run, counts.deletes, deletes, "delete"))
        .or_else(|| count(&section.deletes_per_day, Span::Day, counts.deletes, deletes, "delete"))
        .or_else(|| count(&section.emails_per_run, Span::Run, counts.emails, emails, "e-mail"))
        .or_else(|| count(&section.emails_per_day, Span::Day, counts.emails, emails, "e-mail"))
}

fn deletes(tally: &Tally) -> u32 {
    tally.deletes
}

fn emails(tally: &Tally) -> u32 {
    tally.emails
}

/// Checks a whole plan: returns every limit of sums that the totals with the whole plan exceed.
/// Each comes with the currency or count that it concerns.
pub fn whole(section: &Section, run: &Tally, day: &Tally) -> Vec<(Whole, Over)> {
    let mut found = Vec::new();
    for (most, tally) in [(&section.per_run, run), (&section.per_day, day)] {
        let currencies = tally.money.keys().filter(|currency| tally.sum(**currency) > 0);
        for currency in currencies {
            let over = most.as_ref().and_then(|most| totals_over(most, tally, &[*currency]));
            found.extend(over.map(|over| (Whole::Money(*currency), over)));
        }
    }
    let counts = [
        (&section.deletes_per_run, run.deletes, Whole::Deletes, "delete"),
        (&section.deletes_per_day, day.deletes, Whole::Deletes, "delete"),
        (&section.emails_per_run, run.emails, Whole::Emails, "e-mail"),
        (&section.emails_per_day, day.emails, Whole::Emails, "e-mail"),
    ];
    for (most, number, about, what) in counts {
        let over = most.as_ref().and_then(|most| count_over(most, number, what));
        found.extend(over.map(|over| (about, over)));
    }
    found.into_iter().map(|(about, over)| (about, Over { scope: Scope::Plan, ..over })).collect()
}

/// The subject of a limit of a whole plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    /// Money of a currency.
    Money(Currency),
    /// Removed objects.
    Deletes,
    Emails,
}

impl Whole {
    /// Returns whether the planned effects add to it.
    pub fn is_in(self, planned: &Tally) -> bool {
        match self {
            Self::Money(currency) => planned.sum(currency) > 0,
            Self::Deletes => planned.deletes > 0,
            Self::Emails => planned.emails > 0,
        }
    }

    /// Returns whether it concerns the exposure of an effect.
    pub fn concerns(self, wish: &Wish) -> bool {
        match self {
            Self::Money(currency) => wish.stake.sums().contains_key(&currency),
            Self::Deletes => wish.stake.counts.deletes > 0,
            Self::Emails => wish.stake.counts.emails > 0,
        }
    }
}

fn amount_over(most: &Amounts, money: Money) -> Option<Over> {
    let (allowed, place) = most.of(money.currency())?;
    (money.minor() > allowed).then(|| {
        let allows = Money::new(allowed, money.currency()).to_string();
        over(&most.name, place, allows, money.to_string())
    })
}

fn totals_over(most: &Amounts, tally: &Tally, currencies: &[Currency]) -> Option<Over> {
    currencies
        .iter()
        .find_map(|currency| amount_over(most, Money::new(tally.sum(*currency), *currency)))
}

fn count_over(most: &Most, number: u32, what: &str) -> Option<Over> {
    let allows = || counted(most.most, what);
    (number > most.most).then(|| over(&most.name, &most.place, allows(), number.to_string()))
}

fn unusual(most: &Most, money: Money, base: i64) -> Option<Over> {
    exceeds(money.minor(), base, most.most).then(|| {
        let usual = Money::new(base, money.currency());
        let allows = format!("{} % of what is usual, {usual},", most.most);
        over(
            &most.name,
            &most.place,
            allows,
            format!("{money}, {} %", percent(money.minor(), base)),
        )
    })
}

fn over(limit: &str, place: &str, allows: String, would: String) -> Over {
    Over {
        limit: limit.to_owned(),
        allows,
        would,
        place: place.to_owned(),
        scope: Scope::Object,
        wants: Verdict::Blocked,
        approved_by: Vec::new(),
        approvers: 1,
    }
}

#[cfg(test)]
mod tests;
