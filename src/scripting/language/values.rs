//! Script values beside those of the language: money and moments.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Days, Months, NaiveDate, NaiveTime, Utc};
use rhai::{Array, Dynamic, Engine, EvalAltResult, INT, ImmutableString};

use crate::base::clock::timestamp;
use crate::base::money::{Money, MoneyError};

/// Parts of an amount.
const PARTS_MAX: INT = 1000;

pub(crate) type ScriptResult<T> = Result<T, Box<EvalAltResult>>;

/// Parses a text, or returns the error as text.
pub(crate) fn parse<T: FromStr<Err: fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// A moment, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, derive_more::Display)]
#[display("{}", timestamp(_0))]
pub(crate) struct ScriptMoment(pub(crate) DateTime<Utc>);

impl ScriptMoment {
    /// Parses a date (its first moment, in UTC) or a timestamp.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Ok(moment) = DateTime::parse_from_rfc3339(text) {
            return Ok(Self(moment.with_timezone(&Utc)));
        }
        let date: Result<NaiveDate, _> = text.parse();
        date.map(|date| Self(date.and_time(NaiveTime::MIN).and_utc())).map_err(|_| {
            format!(
                "`{text}` is neither a date nor a timestamp with its zone; write a date such as `\"2026-11-30\"`, or \
                 `\"2026-11-30T12:00:00Z\"`"
            )
        })
    }

    /// Returns the moment `days` days later, or earlier if negative, at the same time of day.
    pub(crate) fn add_days(self, days: INT) -> Result<Self, String> {
        let count = Days::new(days.unsigned_abs());
        let Self(at) = self;
        let moved = if days < 0 { at.checked_sub_days(count) } else { at.checked_add_days(count) };
        moved.map(Self).ok_or_else(|| date_out_of_range(days))
    }

    /// Returns the moment `months` months later, or earlier if negative; the month's last day if
    /// that month has no such day.
    pub(crate) fn add_months(self, months: INT) -> Result<Self, String> {
        let count = u32::try_from(months.unsigned_abs()).map_err(|_| date_out_of_range(months))?;
        let (Self(at), count) = (self, Months::new(count));
        let moved =
            if months < 0 { at.checked_sub_months(count) } else { at.checked_add_months(count) };
        moved.map(Self).ok_or_else(|| date_out_of_range(months))
    }
}

fn date_out_of_range(count: INT) -> String {
    format!("{count} is too far: no calendar has that date")
}

/// Converts a text to an error of the language.
#[expect(clippy::unnecessary_box_returns, reason = "the language takes its errors boxed")]
pub(crate) fn throw(message: impl Into<String>) -> Box<EvalAltResult> {
    message.into().into()
}

/// Message for the sum of a text and money: a join would silently turn an amount into a text.
pub(crate) const NO_SUM: &str = "a text and money do not add up";
/// Fix for that error, for people.
pub(crate) const NO_SUM_HELP: &str = "write `${amount}` within a text to show an amount; a sum begins with money, such as `money(\"0.00 USD\")`";

fn no_sum_error() -> ScriptResult<Money> {
    Err(throw(format!("{NO_SUM}; {NO_SUM_HELP}")))
}

fn money_result(result: Result<Money, MoneyError>) -> ScriptResult<Money> {
    result.map_err(|error| throw(error.to_string()))
}

fn compare(one: Money, other: Money) -> ScriptResult<Ordering> {
    money_result(one.checked_sub(other)).map(|difference| difference.minor().cmp(&0))
}

fn multiply(money: Money, count: INT) -> ScriptResult<Money> {
    let minor = money.minor().checked_mul(count).ok_or(MoneyError::OutOfRange);
    money_result(minor.map(|minor| Money::new(minor, money.currency())))
}

/// Splits an amount into `count` parts with the same sum. The remainder goes to the first parts,
/// one minor unit each.
fn split(money: Money, count: INT) -> ScriptResult<Array> {
    if !(1..=PARTS_MAX).contains(&count) {
        return Err(throw(format!("money is split into 1 to {PARTS_MAX} parts, not {count}")));
    }
    let (each, rest) = (money.minor().div_euclid(count), money.minor().rem_euclid(count));
    let part = |nth: INT| {
        let minor = each.checked_add(INT::from(nth < rest)).ok_or(MoneyError::OutOfRange);
        money_result(minor.map(|minor| Money::new(minor, money.currency()))).map(Dynamic::from)
    };
    (0..count).map(part).collect()
}

/// An operator of the language, and the orderings for which it holds.
type Comparison = (&'static str, fn(Ordering) -> bool);

const COMPARISONS: [Comparison; 6] = [
    ("==", Ordering::is_eq),
    ("!=", Ordering::is_ne),
    ("<", Ordering::is_lt),
    ("<=", Ordering::is_le),
    (">", Ordering::is_gt),
    (">=", Ordering::is_ge),
];

pub(crate) fn register(engine: &mut Engine) {
    register_money(engine);
    register_moments(engine);
    for (operator, holds) in COMPARISONS {
        engine
            .register_fn(operator, move |one: Money, other: Money| compare(one, other).map(holds))
            .register_fn(operator, move |one: ScriptMoment, other: ScriptMoment| {
                holds(one.cmp(&other))
            });
    }
}

fn register_money(engine: &mut Engine) {
    engine
        .register_type_with_name::<Money>("money")
        .register_get("minor", |money: &mut Money| money.minor())
        .register_get("currency", |money: &mut Money| money.currency().code().to_owned())
        .register_fn("to_string", |money: &mut Money| money.to_string())
        .register_fn("to_debug", |money: &mut Money| money.to_string())
        .register_fn("+", |_: &str, _: Money| no_sum_error())
        .register_fn("+", |_: Money, _: &str| no_sum_error())
        .register_fn("+", |_: char, _: Money| no_sum_error())
        .register_fn("+", |_: Money, _: char| no_sum_error())
        .register_fn("+=", |_: &mut ImmutableString, _: Money| no_sum_error().map(drop))
        .register_fn("+", |one: Money, other: Money| money_result(one.checked_add(other)))
        .register_fn("-", |one: Money, other: Money| money_result(one.checked_sub(other)))
        .register_fn("*", multiply)
        .register_fn("split", split);
}

fn register_moments(engine: &mut Engine) {
    engine
        .register_type_with_name::<ScriptMoment>("date")
        .register_fn("to_string", |moment: &mut ScriptMoment| moment.to_string())
        .register_fn("to_debug", |moment: &mut ScriptMoment| moment.to_string())
        .register_fn("+", |text: &str, moment: ScriptMoment| format!("{text}{moment}"));
}
