//! Amounts: minor units of one currency, exact, checked.
//!
//! Guarantees: no sum wraps or mixes currencies, no text is rounded, and a printed amount reads
//! back as the same amount. On the wire an amount is an integer of minor units; in files it may
//! also be `"125.00 USD"`: exact decimals and an explicit currency, without guessing.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};

/// Greatest amount of the service, in minor units (service-facts, 31); negated, also the lowest.
pub const AMOUNT_MAX: i64 = 99_999_999_999_999;

/// Reasons why an amount cannot be read or calculated with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// A number alone. The readings assume US dollars, where such a reading is possible.
    #[error("`{text}` has no currency{}", readings(*.as_major, *.as_minor))]
    MissingCurrency {
        text: String,
        /// Read as whole units and decimals.
        as_major: Option<Money>,
        /// Read as an integer of minor units.
        as_minor: Option<Money>,
    },
    #[error("`{text}` has more than {exponent} decimals, and {currency} has no smaller unit")]
    TooManyDecimals { text: String, currency: Currency, exponent: u32 },
    /// Not digits with at most one point between them.
    #[error(
        "`{text}` is no amount; write digits, a point and a currency, such as `\"125.00 USD\"`"
    )]
    NotANumber { text: String },
    /// Not a code of ISO 4217, or the code of something that is not a means of payment.
    #[error("`{code}` is no currency{}", did_you_mean(*.nearest))]
    UnknownCurrency { code: String, nearest: Option<Currency> },
    /// Beyond ±[`AMOUNT_MAX`] in a text, or beyond 64 bits in a sum.
    #[error("the amount is out of range; the most is {max} minor units", max = AMOUNT_MAX)]
    OutOfRange,
    #[error("{left} and {right} do not add up")]
    Mixed { left: Currency, right: Currency },
}

fn readings(as_major: Option<Money>, as_minor: Option<Money>) -> String {
    match (as_major, as_minor) {
        (Some(major), Some(minor)) => format!(
            "; it could be {major}, or {minor} ({} minor units): write `\"{major}\"` or `\"{minor}\"`",
            minor.minor()
        ),
        (Some(one), None) | (None, Some(one)) => format!("; write it, such as `\"{one}\"`"),
        (None, None) => "; write one after it, such as `USD`".to_owned(),
    }
}

fn did_you_mean(nearest: Option<Currency>) -> String {
    match nearest {
        Some(code) => format!("; did you mean `{code}`?"),
        None => "; write a 3-letter code, such as `USD`".to_owned(),
    }
}

/// An amount of one currency in its minor units; may be negative (a difference, a refund).
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema
)]
#[serde(deny_unknown_fields)]
pub struct Money {
    minor: i64,
    currency: Currency,
}

impl Money {
    /// Makes an amount of `minor` units (cents for USD).
    pub const fn new(minor: i64, currency: Currency) -> Self {
        Self { minor, currency }
    }

    pub const fn zero(currency: Currency) -> Self {
        Self { minor: 0, currency }
    }

    pub const fn minor(self) -> i64 {
        self.minor
    }

    pub const fn currency(self) -> Currency {
        self.currency
    }

    /// Returns the sum; an error for two currencies, or beyond 64 bits.
    pub fn checked_add(self, other: Self) -> Result<Self, MoneyError> {
        self.combine(other, i64::checked_add)
    }

    /// Returns the difference; an error for two currencies, or beyond 64 bits.
    pub fn checked_sub(self, other: Self) -> Result<Self, MoneyError> {
        self.combine(other, i64::checked_sub)
    }

    fn combine(self, other: Self, by: fn(i64, i64) -> Option<i64>) -> Result<Self, MoneyError> {
        if self.currency != other.currency {
            return Err(MoneyError::Mixed { left: self.currency, right: other.currency });
        }
        let minor = by(self.minor, other.minor).ok_or(MoneyError::OutOfRange)?;
        Ok(Self { minor, ..self })
    }
}

/// Formats as `125.00 USD`, with as many decimals as the currency has.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { minor, currency } = *self;
        let sign = if minor < 0 { "-" } else { "" };
        let decimals = usize::try_from(currency.exponent()).unwrap_or_default();
        let digits = format!("{:0>1$}", minor.unsigned_abs(), decimals.saturating_add(1));
        let (whole, part) = digits.split_at(digits.len().saturating_sub(decimals));
        let point = if part.is_empty() { "" } else { "." };
        write!(f, "{sign}{whole}{point}{part} {currency}")
    }
}

/// Numeric codes of ISO 4217 have three digits.
const NUMERIC_CODE_MAX: u16 = 999;
/// Maximum edits (a wrong, missing, extra or swapped letter) between a text and a suggested code.
const SUGGESTION_EDITS_MAX: usize = 1;

/// A currency of ISO 4217 that is a means of payment (metals, bond units and test codes are none).
/// Text and JSON hold its 3-letter code, which also orders currencies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
#[derive(derive_more::Display, derive_more::Debug)]
#[display("{}", self.code())]
#[debug("{}", self.code())]
pub struct Currency(iso_currency::Currency);

impl Currency {
    /// US dollars, the service's default (service-facts, 33).
    pub const USD: Self = Self(iso_currency::Currency::USD);

    pub fn code(self) -> &'static str {
        self.0.code()
    }

    /// Returns the decimals of an amount: minor units in one unit, as a power of ten.
    pub fn exponent(self) -> u32 {
        self.0.exponent().map_or(0, u32::from)
    }

    fn all() -> impl Iterator<Item = Self> {
        (0..=NUMERIC_CODE_MAX)
            .filter_map(iso_currency::Currency::from_numeric)
            .filter(|currency| currency.exponent().is_some())
            .map(Self)
    }

    /// Returns the most similar code; of equals, US dollars first, then by the alphabet.
    fn nearest(text: &str) -> Option<Self> {
        let text = text.to_ascii_uppercase();
        Self::all()
            .map(|currency| (strsim::damerau_levenshtein(&text, currency.code()), currency))
            .filter(|(edits, _)| *edits <= SUGGESTION_EDITS_MAX)
            .min_by_key(|(edits, currency)| (*edits, *currency != Self::USD, *currency))
            .map(|(_, currency)| currency)
    }
}

impl PartialOrd for Currency {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Currency {
    fn cmp(&self, other: &Self) -> Ordering {
        self.code().cmp(other.code())
    }
}

impl FromStr for Currency {
    type Err = MoneyError;

    /// Reads an upper-case code.
    fn from_str(code: &str) -> Result<Self, MoneyError> {
        iso_currency::Currency::from_code(code)
            .filter(|currency| currency.exponent().is_some())
            .map(Self)
            .ok_or_else(|| MoneyError::UnknownCurrency {
                code: code.to_owned(),
                nearest: Self::nearest(code),
            })
    }
}

/// A number as written: sign, digits before the point, digits after it.
struct Number<'a> {
    negative: bool,
    whole: &'a str,
    decimals: &'a str,
}

impl FromStr for Money {
    type Err = MoneyError;

    /// Reads `125.00 USD`, `125 USD` and `-0.05 USD`: no exponent, no plus, no thousands separator,
    /// no more decimals than the currency has.
    ///
    /// # Errors
    /// Every [`MoneyError`] but `Mixed`.
    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let text = text.trim();
        let not_a_number = || MoneyError::NotANumber { text: text.to_owned() };
        let Some((number, code)) = text.split_once(char::is_whitespace) else {
            return Err(match Number::read(text) {
                Some(number) => without_currency(text, &number),
                None => not_a_number(),
            });
        };
        let number = Number::read(number).ok_or_else(not_a_number)?;
        let currency: Currency = code.trim_start().parse()?;
        match number.minor(currency.exponent()) {
            Some(minor) => within_limit(minor, currency),
            None if number.has_spare_decimals(currency.exponent()) => {
                let exponent = currency.exponent();
                Err(MoneyError::TooManyDecimals { text: text.to_owned(), currency, exponent })
            }
            None => Err(MoneyError::OutOfRange),
        }
    }
}

fn within_limit(minor: i64, currency: Currency) -> Result<Money, MoneyError> {
    if (-AMOUNT_MAX..=AMOUNT_MAX).contains(&minor) {
        Ok(Money::new(minor, currency))
    } else {
        Err(MoneyError::OutOfRange)
    }
}

fn without_currency(text: &str, number: &Number<'_>) -> MoneyError {
    let usd = |minor: i64| within_limit(minor, Currency::USD).ok();
    MoneyError::MissingCurrency {
        text: text.to_owned(),
        as_major: number.minor(Currency::USD.exponent()).and_then(usd),
        as_minor: number.integer().and_then(usd),
    }
}

impl<'a> Number<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let negative = digits.len() < text.len();
        let (whole, decimals) = match digits.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (digits, ""),
        };
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        (!whole.is_empty() && all_digits(whole) && all_digits(decimals)).then_some(Self {
            negative,
            whole,
            decimals,
        })
    }

    fn has_spare_decimals(&self, exponent: u32) -> bool {
        u32::try_from(self.decimals.len()).map_or(true, |decimals| decimals > exponent)
    }

    /// Returns the minor units of a currency with `exponent` decimals; `None` where the number has
    /// more decimals, or does not fit 64 bits.
    fn minor(&self, exponent: u32) -> Option<i64> {
        let exponent = usize::try_from(exponent).ok()?;
        if self.decimals.len() > exponent {
            return None;
        }
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}{:0<exponent$}", self.whole, self.decimals).parse().ok()
    }

    /// Returns the number where it is an integer, even if zeros follow its point.
    fn integer(&self) -> Option<i64> {
        let fraction = self.decimals.trim_end_matches('0');
        let whole = Self { negative: self.negative, whole: self.whole, decimals: fraction };
        whole.minor(0)
    }
}

#[cfg(test)]
mod tests;
