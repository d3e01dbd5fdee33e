//! Text from outside: texts that the service, a chat or mail target, or a peer of a connection
//! wrote.
//!
//! Such a text may repeat the request that it answers: a card number, a key, a name. So it is a
//! type of its own, and the constructors take the request's values ([`KnownValues`]). They remove those
//! values, in the usual encodings too, mask long runs of digits, neutralise terminal control
//! characters, and bound the length in linear time. No conversion from `String` to these types
//! exists, so an uncleaned text cannot be printed, stored or sent as one of them:
//!
//! ```compile_fail
//! use reckon::base::outside::ServiceText;
//! let text: ServiceText = String::from("number 4242424242424242").into();
//! ```
//!
//! Reading a text back from the journal cleans it again, without known values: older records hold
//! texts as they came.

mod clean;
mod decode;
mod digits;
mod known;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

pub use known::KnownValues;

pub const TEXT_CHARACTERS_MAX: usize = 300;
const CODE_CHARACTERS_MAX: usize = 64;
const PLACE_CHARACTERS_MAX: usize = 128;
/// Replaces a code that is no identifier.
pub const UNREADABLE_CODE: &str = "unreadable";
/// Replaces an invalid place, and a removed value.
const HIDDEN: &str = "***";

/// A sentence from outside: cleaned, at most [`TEXT_CHARACTERS_MAX`] characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ServiceText(String);

/// A machine-readable code from outside: lower-case letters, digits, underscores and dots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ServiceCode(String);

/// The field or object that an outside text refers to: `method.number`, `Card[c1]`, an id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ServicePlace(String);

impl ServiceText {
    /// Cleans a text that may repeat `known` values.
    pub fn clean(foreign: &str, known: &KnownValues) -> Self {
        Self(clean::clean(foreign, known, TEXT_CHARACTERS_MAX))
    }
}

impl From<&'static str> for ServiceText {
    /// Takes a text of this program's own source.
    fn from(ours: &'static str) -> Self {
        Self(ours.to_owned())
    }
}

impl ServiceCode {
    /// Takes an identifier as it is; anything else, and one that repeats a known value, becomes
    /// `unreadable`.
    pub fn parse(foreign: &str, known: &KnownValues) -> Self {
        let is_word = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.');
        let fits = foreign.len() <= CODE_CHARACTERS_MAX && foreign.bytes().all(is_word);
        let is_clean = fits && clean::clean(foreign, known, CODE_CHARACTERS_MAX) == foreign;
        Self(if is_clean { foreign } else { UNREADABLE_CODE }.to_owned())
    }
}

impl ServicePlace {
    /// Takes a place and removes its known values; an invalid place becomes `***`.
    pub fn parse(foreign: &str, known: &KnownValues) -> Self {
        let is_place = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-[]*".contains(&byte);
        let fits = foreign.len() <= PLACE_CHARACTERS_MAX && foreign.bytes().all(is_place);
        Self(if fits {
            clean::clean(foreign, known, PLACE_CHARACTERS_MAX)
        } else {
            HIDDEN.to_owned()
        })
    }
}

/// Implements the shared parts of the three types: accessor, display, and deserialisation with
/// renewed cleaning.
macro_rules! outside {
    ($name:ident, $again:path) => {
        impl $name {
            /// Returns the cleaned text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(|text| $again(&text, &KnownValues::default()))
            }
        }
    };
}

outside!(ServiceText, ServiceText::clean);
outside!(ServiceCode, ServiceCode::parse);
outside!(ServicePlace, ServicePlace::parse);

#[cfg(test)]
mod tests;
