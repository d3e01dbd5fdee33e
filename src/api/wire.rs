//! Shared forms of values on the wire: instants, states, secrets, and the origin of a creation or
//! change.
//!
//! The written form is the form of the service's own clients: UTC with milliseconds and `Z`, no
//! nulls. Reading tolerates additions in an answer: an unknown word is stored, not refused.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::api::call::objects;
use crate::base::clock;
use crate::base::secret::Secret;

/// Gives a type this JSON Schema, which is written where the type is used.
macro_rules! inline_schema {
    ($type:ident, $($schema:tt)+) => {
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($($schema)+)
            }
        }
    };
}

pub(crate) use inline_schema;

/// A moment; written as UTC ISO 8601 with milliseconds and `Z`, read with any offset
/// (service-facts, 17).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub DateTime<Utc>);

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        clock::with_timestamp(&self.0, |text| serializer.serialize_str(text))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TimestampVisitor)
    }
}

/// Reads the text of a moment where it is, without a copy.
struct TimestampVisitor;

impl de::Visitor<'_> for TimestampVisitor {
    type Value = Timestamp;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Timestamp, E> {
        let time = DateTime::parse_from_rfc3339(text).map_err(E::custom)?;
        Ok(Timestamp(time.with_timezone(&Utc)))
    }
}

inline_schema!(Timestamp, {"type": "string", "format": "date-time"});

/// Writes a secret unmasked; for bodies sent to the service only.
#[expect(clippy::ref_option, reason = "serde hands the field by reference")]
pub(crate) fn serialize_exposed<S: Serializer>(
    secret: &Option<Secret>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    secret.as_ref().map(Secret::expose).serialize(serializer)
}

/// A boolean that the service writes as a string (partner-api, Account object, `trust_account`).
pub(crate) mod text_bool {
    use serde::de::{Deserialize, Deserializer};
    use serde::ser::Serializer;
    use serde_json::Value;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands the field by reference")]
    pub(crate) fn serialize<S: Serializer>(yes: &bool, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(if *yes { "true" } else { "false" })
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
        let value = Value::deserialize(from)?;
        Ok(value == Value::Bool(true) || value.as_str() == Some("true"))
    }
}

/// Defines enumerations of words on the wire; `Other` keeps an undocumented word.
macro_rules! words {
    ($($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ })+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display)]
        #[derive(serde_with::SerializeDisplay, serde::Deserialize)]
        #[serde(from = "String")]
        #[display("{}", self.as_str())]
        pub enum $name {
            $($(#[$doc])* $variant,)+
            /// An undocumented word.
            Other(String),
        }

        impl Default for $name {
            fn default() -> Self {
                Self::Other(String::new())
            }
        }

        impl $name {
            /// Returns the word on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Other(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $($word => Self::$variant,)+
                    other => Self::Other(other.to_owned()),
                }
            }
        }

        $crate::api::wire::inline_schema!($name, {"type": "string", "enum": [$($word),+]});

        impl From<String> for $name {
            fn from(word: String) -> Self {
                Self::from(word.as_str())
            }
        }
    )+};
}

pub(crate) use words;

objects! {
    /// One side of an object's history: its creation or its last change.
    pub struct Audit {
        /// The user who did it; the literal `SERVER` for the service itself.
        pub user: Option<String>,
        /// Time of the change.
        pub timestamp: Option<Timestamp>,
        /// The application through which it was done.
        pub client_id: Option<String>,
        /// Address from which it was done.
        pub client_inet_address: Option<String>,
        /// Country from which it was done.
        pub client_country_code: Option<String>,
        /// Place from which it was done.
        pub client_location: Option<String>,
        /// The payer's address, where relayed.
        pub caller_inet_address: Option<String>,
        /// The payer's country.
        pub caller_country_code: Option<String>,
        /// The payer's place.
        pub caller_location: Option<String>,
    }
}
