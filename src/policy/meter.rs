//! Whether one thing may be done, given what was counted so far: yes, or the limit that it would exceed.
//!
//! The one place that compares with a limit. It looks at single amounts first, then at the merchant's
//! sums, then at all sums.

use crate::base::counted::counted;
use crate::base::id::Key;
use crate::base::money::{Currency, Money};
use crate::model::limit::{Over, Scope};
use crate::model::plan::Verdict;
use crate::model::stake::{Moved, Tally, Wish};
use crate::policy::limits::{Amounts, Limits, Most, Section};
use crate::policy::usual::{Usual, base, exceeds, percent};

/// What sums are taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Span {
    /// One state of the files on one day.
    Run,
    /// One UTC day.
    Day,
}

/// What is known of the past. It is asked only for what a limit needs.
pub trait Known {
    /// What was counted in this span, of one merchant or of all.
    fn counted(&self, span: Span, merchant: Option<&Key>) -> Tally;
    /// What is usual for this amount.
    fn usual(&self, wish: &Wish, moved: &Moved) -> Usual;
}

/// The limit that this would exceed, if there is one.
pub fn check(limits: &Limits, wish: &Wish, known: &dyn Known) -> Option<Over> {
    single(limits, wish, known).or_else(|| sums(limits, wish, known))
}

/// The limit of sums that this would exceed: the merchant's first, then the general one.
pub fn sums(limits: &Limits, wish: &Wish, known: &dyn Known) -> Option<Over> {
    let own = limits.merchants.get(&wish.merchant).map(|section| (section, Some(&wish.merchant)));
    let mut sections = own.into_iter().chain([(limits.general(wish.mode), None)]);
    let over = sections.find_map(|(section, merchant)| {
        summed(section, wish, |span| with(known.counted(span, merchant), wish))
    });
    over.map(|over| Over { scope: Scope::Sum, ..over })
}

/// Single amounts: against what one may be, and against what is usual.
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

/// What is at stake on top of what was counted.
fn with(mut counted: Tally, wish: &Wish) -> Tally {
    counted.add(&wish.stake);
    counted
}

/// Sums and counts with this one added. What this one does not touch is not looked at: a limit that
/// was lowered below what was counted stops nothing else.
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

/// The same of a plan: whether what was counted, with all of the plan, exceeds a limit of sums. Answers
/// each with the currency that it is about, or with none where it is about a count.
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

/// What a limit of a whole plan is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    /// Money of a currency.
    Money(Currency),
    /// Removed objects.
    Deletes,
    /// E-mails.
    Emails,
}

impl Whole {
    /// Whether what is planned adds to it.
    pub fn is_in(self, planned: &Tally) -> bool {
        match self {
            Self::Money(currency) => planned.sum(currency) > 0,
            Self::Deletes => planned.deletes > 0,
            Self::Emails => planned.emails > 0,
        }
    }

    /// Whether this is about what a wish puts at stake.
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
