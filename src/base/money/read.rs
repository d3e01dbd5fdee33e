//! Parses an amount from text: exact decimals and an explicit currency, without guessing.

use std::str::FromStr;

use super::{AMOUNT_MAX, Currency, Money, MoneyError};

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
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
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
