//! Whole number as people write it: `8`, `08` or `"08"`. The service takes both a number and a
//! string (partner-api, form data); the canonical form is a number.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Unexpected, Visitor};
use serde::{Serialize, Serializer, de};

/// Text by which a parser names the expected type of a whole number.
pub(crate) const EXPECTED: &str = "a whole number";

/// Whole number from 0 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WholeNumber(pub u32);

impl Serialize for WholeNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.0)
    }
}

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeVisitor)
    }
}

struct WholeVisitor;

impl Visitor<'_> for WholeVisitor {
    type Value = WholeNumber;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
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
