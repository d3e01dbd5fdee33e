//! Texts that the service, a chat or mail target, or a peer of a connection wrote.
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
//! Reading from the journal cleans again, without known values: older records hold raw texts.

pub mod known;

use known::KnownValues;
use serde::{Deserialize, Deserializer, Serialize};

use crate::base::masking::{HIDDEN, hide, render_masked};

pub const TEXT_CHARACTERS_MAX: usize = 300;
const CODE_CHARACTERS_MAX: usize = 64;
const PLACE_CHARACTERS_MAX: usize = 128;
/// Replaces a code that is no identifier.
pub const UNREADABLE_CODE: &str = "unreadable";

/// A sentence from outside: cleaned, at most [`TEXT_CHARACTERS_MAX`] characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, derive_more::Display)]
#[serde(transparent)]
pub struct ServiceText(String);

/// A machine-readable code from outside: lower-case letters, digits, underscores and dots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, derive_more::Display)]
#[serde(transparent)]
pub struct ServiceCode(String);

/// The field or object that an outside text refers to: `method.number`, `Card[c1]`, an id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, derive_more::Display)]
#[serde(transparent)]
pub struct ServicePlace(String);

impl ServiceText {
    /// Cleans a text that may repeat `known` values.
    pub fn clean(foreign: &str, known: &KnownValues) -> Self {
        Self(clean(foreign, known, TEXT_CHARACTERS_MAX))
    }
}

impl From<&'static str> for ServiceText {
    /// Takes a text of this program's own source.
    fn from(ours: &'static str) -> Self {
        Self(ours.to_owned())
    }
}

impl ServiceCode {
    /// Takes an identifier as it is; any other text or known value becomes `unreadable`.
    pub fn parse(foreign: &str, known: &KnownValues) -> Self {
        let is_word = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.');
        let fits = foreign.len() <= CODE_CHARACTERS_MAX && foreign.bytes().all(is_word);
        let is_clean = fits && clean(foreign, known, CODE_CHARACTERS_MAX) == foreign;
        Self(if is_clean { foreign } else { UNREADABLE_CODE }.to_owned())
    }
}

impl ServicePlace {
    /// Takes a place and removes its known values; an invalid place becomes `***`.
    pub fn parse(foreign: &str, known: &KnownValues) -> Self {
        let is_place = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-[]*".contains(&byte);
        let fits = foreign.len() <= PLACE_CHARACTERS_MAX && foreign.bytes().all(is_place);
        Self(if fits { clean(foreign, known, PLACE_CHARACTERS_MAX) } else { HIDDEN.to_owned() })
    }
}

/// Implements the accessor, and deserialisation with renewed cleaning.
macro_rules! outside {
    ($name:ident, $again:path) => {
        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
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

/// Characters of a foreign text that are examined; the rest is dropped unseen.
const WINDOW_CHARACTERS: usize = 8192;
/// Characters dropped at the end of a cut text: a value may have been cut in two there.
const MARGIN_CHARACTERS: usize = 1024;
/// Longer unbroken runs of letters and digits count as an encoded value.
const OPAQUE_MIN: usize = 48;

/// Cleans a foreign text; the result has at most `most` characters.
fn clean(foreign: &str, known: &KnownValues, most: usize) -> String {
    let window: String = foreign.chars().take(WINDOW_CHARACTERS).collect();
    let is_cut = window.len() < foreign.len();
    let mut text: Vec<char> = known::decode(&window).chars().collect();
    let mut hidden = vec![false; text.len()];
    known.mark(&text, &mut hidden);
    crate::base::masking::mark_numbers(&text, &mut hidden);
    mark_opaque(&text, &mut hidden);
    let margin = if is_cut { MARGIN_CHARACTERS } else { 0 };
    let shown = text.len().saturating_sub(margin);
    text.truncate(shown);
    truncate(render_masked(&text, &hidden), is_cut, most)
}

/// Limits the text to `most` characters; an ellipsis marks a cut.
fn truncate(mut text: impl Iterator<Item = char>, is_cut: bool, most: usize) -> String {
    let mut kept: String = text.by_ref().take(most).collect();
    if text.next().is_some() || is_cut {
        kept = kept.chars().take(most.saturating_sub(1)).collect();
        kept.push('…');
    }
    kept.trim_end().to_owned()
}

/// Hides long unbroken runs of the characters of base64 and hex.
fn mark_opaque(text: &[char], hidden: &mut [bool]) {
    let mut start = 0;
    for end in 0..=text.len() {
        let is_of_base64 = |c: &char| c.is_ascii_alphanumeric() || "+/=_-".contains(*c);
        if text.get(end).is_some_and(is_of_base64) {
            continue;
        }
        if end.saturating_sub(start) > OPAQUE_MIN {
            hide(hidden, start, end);
        }
        start = end.saturating_add(1);
    }
}

#[cfg(test)]
mod tests;
