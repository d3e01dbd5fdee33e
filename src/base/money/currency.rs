//! Currencies and their decimals: ISO 4217.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::MoneyError;

/// Numeric codes of ISO 4217 have three digits.
const NUMERIC_CODE_MAX: u16 = 999;

/// Maximum edits (a wrong, missing, extra or swapped letter) between a text and a suggested code.
const SUGGESTION_EDITS_MAX: usize = 1;

/// A currency of ISO 4217 that is a means of payment (metals, bond units and test codes are none).
/// Text and JSON hold its 3-letter code, which also orders currencies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency(iso_currency::Currency);

impl Currency {
    /// US dollars, the service's default (service-facts, 33).
    pub const USD: Self = Self(iso_currency::Currency::USD);

    /// Returns the 3-letter code.
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

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for Currency {
    type Err = MoneyError;

    /// Reads an upper-case code.
    ///
    /// # Errors
    /// [`MoneyError::UnknownCurrency`].
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

impl TryFrom<String> for Currency {
    type Error = MoneyError;

    fn try_from(code: String) -> Result<Self, MoneyError> {
        code.parse()
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.code().to_owned()
    }
}
