//! Values as people write them: amounts, whole numbers, and fields that a spec must not have.
//!
//! An amount is `"125.00 USD"`, or an integer of minor units as on the wire. No value is guessed: a
//! text without a currency is an error that shows both readings, and a float is refused. An invalid
//! text is kept with its reason, so that one run reports every wrong amount of a document. The
//! canonical form is `{"minor":12500,"currency":"USD"}`, without the currency if none was written.
//! A whole number is `8`, `08` or `"08"`: the service takes both a number and a string
//! (partner-api, form data); the canonical form is a number. A refused field is one that `reckon`
//! fills in, or that another field replaces. The spec's struct declares it, so that its issue has
//! its own place and help. Its value is never read.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, Unexpected, Visitor};
use serde::{Deserialize, Serialize, de};
use serde_with::skip_serializing_none;

use crate::base::money::{AMOUNT_MAX, Currency, Money, MoneyError};
use crate::kinds::schema::kind::CheckCx;
use crate::model::issue::Issue;

/// Text by which a parser names the expected type of an amount.
pub(crate) const EXPECTED_AMOUNT: &str = "an amount";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AmountNotation {
    Text,
    /// Minor units.
    Minor,
    /// Something that is no amount; `minor` is then 0.
    Invalid(MoneyError),
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Amount {
    /// Minor units (cents for USD).
    pub minor: i64,
    /// The currency, where one was written.
    pub currency: Option<Currency>,
    #[serde(skip)]
    pub notation: AmountNotation,
}

impl Amount {
    /// Returns the amount as money, in the currency `assumed` if none was written.
    pub fn money(&self, assumed: Currency) -> Money {
        Money::new(self.minor, self.currency.unwrap_or(assumed))
    }

    /// Returns the amount as money, unless the document wrote no valid amount.
    pub fn read(&self, assumed: Currency) -> Option<Money> {
        match self.notation {
            AmountNotation::Text | AmountNotation::Minor => Some(self.money(assumed)),
            AmountNotation::Invalid(_) => None,
        }
    }

    pub fn issue(&self, path: &str, cx: &CheckCx) -> Option<Issue> {
        match &self.notation {
            AmountNotation::Text => None,
            AmountNotation::Minor => cx.decimal_amounts_only.then(|| self.not_decimal(path, cx)),
            AmountNotation::Invalid(error) => Some(money_issue(path, error)),
        }
    }

    /// Returns the issue with the notation at `path`, or with an amount of zero or less.
    pub fn positive_issue(&self, path: &str, cx: &CheckCx) -> Option<Issue> {
        self.issue(path, cx).or_else(|| {
            let money = self.money(cx.currency);
            (money.minor() <= 0).then(|| {
                let message = format!("{money} is not more than zero");
                Issue::error("reckon::amount::not_positive", path, message, "write more than zero")
            })
        })
    }

    fn not_decimal(&self, path: &str, cx: &CheckCx) -> Issue {
        let message = format!(
            "{} is a number of minor units, and `policy.amounts: decimal` requires a decimal amount",
            self.minor
        );
        let minor = self.money(cx.currency);
        let major = format!("{} {}", self.minor, minor.currency()).parse::<Money>();
        let help = match major {
            Ok(major) if major != minor => {
                format!("write `\"{major}\"`, or `\"{minor}\"` if minor units were meant")
            }
            Ok(_) | Err(_) => format!("write `\"{minor}\"`"),
        };
        Issue::error("reckon::amount::integer", path, message, help)
    }

    fn from_minor(minor: Option<i64>) -> Self {
        match minor.filter(|minor| (-AMOUNT_MAX..=AMOUNT_MAX).contains(minor)) {
            Some(minor) => Self { minor, currency: None, notation: AmountNotation::Minor },
            None => Self::invalid(MoneyError::OutOfRange),
        }
    }

    fn invalid(error: MoneyError) -> Self {
        Self { minor: 0, currency: None, notation: AmountNotation::Invalid(error) }
    }
}

/// Returns an issue at `path` with the text of [`MoneyError`].
pub fn money_issue(path: &str, error: &MoneyError) -> Issue {
    let (code, otherwise) = match error {
        MoneyError::MissingCurrency { .. } => ("reckon::amount::no_currency", ""),
        MoneyError::TooManyDecimals { .. } => {
            ("reckon::amount::too_many_decimals", "write fewer decimals")
        }
        MoneyError::NotANumber { .. } => ("reckon::amount::not_an_amount", ""),
        MoneyError::UnknownCurrency { .. } => ("reckon::amount::unknown_currency", ""),
        MoneyError::OutOfRange => ("reckon::amount::out_of_range", "write a smaller amount"),
        MoneyError::Mixed { .. } => {
            ("reckon::amount::mixed_currencies", "write one currency everywhere")
        }
    };
    let text = error.to_string();
    let (message, help) = text.rsplit_once("; ").unwrap_or((&text, otherwise));
    Issue::error(code, path, message, help)
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AmountVisitor)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CanonicalAmount {
    minor: i64,
    currency: Option<Currency>,
}

struct AmountVisitor;

impl<'de> Visitor<'de> for AmountVisitor {
    type Value = Amount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED_AMOUNT)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Amount, E> {
        Ok(match text.parse::<Money>() {
            Ok(money) => Amount {
                minor: money.minor(),
                currency: Some(money.currency()),
                notation: AmountNotation::Text,
            },
            Err(error) => Amount::invalid(error),
        })
    }

    fn visit_i64<E: de::Error>(self, minor: i64) -> Result<Amount, E> {
        Ok(Amount::from_minor(Some(minor)))
    }

    fn visit_u64<E: de::Error>(self, minor: u64) -> Result<Amount, E> {
        Ok(Amount::from_minor(i64::try_from(minor).ok()))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Amount, A::Error> {
        let CanonicalAmount { minor, currency } =
            Deserialize::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Amount { currency, ..Amount::from_minor(Some(minor)) })
    }
}

/// Text by which a parser names the expected type of a whole number.
pub(crate) const EXPECTED_WHOLE_NUMBER: &str = "a whole number";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct WholeNumber(pub u32);

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeVisitor)
    }
}

struct WholeVisitor;

impl Visitor<'_> for WholeVisitor {
    type Value = WholeNumber;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED_WHOLE_NUMBER)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<WholeNumber, E> {
        let wrong = |_| E::invalid_value(Unexpected::Unsigned(number), &self);
        u32::try_from(number).map(WholeNumber).map_err(wrong)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<WholeNumber, E> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| digits);
        number.map(WholeNumber).ok_or_else(|| E::invalid_type(Unexpected::Str(text), &self))
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RefusedField {
    is_written: bool,
}

impl RefusedField {
    /// Returns the issue at `path`, where the field was written.
    pub fn issue(self, path: &str, message: &str, help: &str) -> Option<Issue> {
        let issue =
            || Issue::error("reckon::spec::refused_field", path, message, help).underline_key();
        self.is_written.then(issue)
    }
}

impl<'de> Deserialize<'de> for RefusedField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer)?;
        Ok(Self { is_written: true })
    }
}
