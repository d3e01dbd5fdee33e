//! Values that must not show.
//!
//! A secret has no `Display`, no `Serialize` and a `Debug` that prints stars. So showing one takes
//! the word `expose`, which is easy to search for. Memory is wiped when a secret is dropped.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

mod digits;

pub use digits::{is_number, mask_digits};

/// A secret text: a key, token, authorization code, card or account number. Equality takes constant
/// time.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Returns the text itself; the caller keeps it out of logs, errors and answers.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl Eq for Secret {}

impl JsonSchema for Secret {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "password"})
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// Secret bytes: a raw key, a sealed body's plain form. Equality takes constant time.
#[derive(Clone)]
pub struct SecretBytes(Zeroizing<Vec<u8>>);

impl SecretBytes {
    /// Returns the bytes themselves; the caller keeps them out of logs, errors and answers.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for SecretBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }
}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretBytes(***)")
    }
}

impl PartialEq for SecretBytes {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_slice().ct_eq(other.0.as_slice()).into()
    }
}

impl Eq for SecretBytes {}

/// A name, address, e-mail or telephone number: not secret, but masked in plans, reports and
/// status.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Personal(String);

impl Personal {
    /// Returns the text itself, for the service and for the payer's own pages.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the first character and `•••`; an empty text stays empty.
    pub fn mask(&self) -> String {
        self.0.chars().next().map(|first| format!("{first}•••")).unwrap_or_default()
    }
}

impl From<String> for Personal {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Personal {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Personal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Personal({})", self.mask())
    }
}

impl fmt::Display for Personal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.mask())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_nothing_of_itself() {
        assert_eq!(format!("{:?}", Secret::from("4242424242424242")), "Secret(***)");
        assert_eq!(format!("{:?}", Some(SecretBytes::from(vec![7]))), "Some(SecretBytes(***))");
    }

    #[test]
    fn secrets_compare_by_their_whole_content() {
        assert_eq!(Secret::from("a"), Secret::from(String::from("a")));
        assert_ne!(Secret::from("a"), Secret::from("ab"));
        assert_ne!(SecretBytes::from(vec![1, 2]), SecretBytes::from(vec![1, 3]));
        assert_eq!(serde_json::from_str::<Secret>(r#""a""#).unwrap().expose(), "a");
    }

    #[test]
    fn a_personal_value_shows_its_first_character_only() {
        let jane = Personal::from("Jane Doe");
        assert_eq!(jane.to_string(), "J•••");
        assert_eq!(format!("{jane:?}"), "Personal(J•••)");
        assert_eq!(Personal::from("Østen").mask(), "Ø•••");
        assert_eq!(Personal::from("").mask(), "");
        assert_eq!(jane.expose(), "Jane Doe");
    }
}
