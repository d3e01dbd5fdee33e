//! Where the data of a saved method comes from: written in the document, or given by the payer.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use super::{Bank, Card, bank, card};
use crate::base::secret::Secret;

/// The word for details that a payer gives.
pub(super) const INTAKE: &str = "intake";

/// Where the method's data comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// It is written here; nothing at all says that what is saved already stays as it is.
    Written(Box<Written>),
    /// A payer gives it, by a page of ours or a token that is attached.
    Intake,
}

/// Data that is written in the document: just one of these.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// A card written here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// A bank account written here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bank: Option<Bank>,
}

impl Source {
    /// The card that is written here.
    pub fn card(&self) -> Option<&Card> {
        self.written()?.card.as_ref()
    }

    /// The bank account that is written here.
    pub fn bank(&self) -> Option<&Bank> {
        self.written()?.bank.as_ref()
    }

    /// Whether nothing is said: what is saved already stays as it is.
    pub(super) fn is_empty(&self) -> bool {
        self.written().is_some_and(|written| written.card.is_none() && written.bank.is_none())
    }

    /// A number that stands in the open, and where.
    pub(super) fn literal(&self) -> Option<(&'static str, &Secret)> {
        let card = || Some((card::NUMBER, self.card()?.number.literal()?));
        let bank = || Some((bank::NUMBER, self.bank()?.account_number.literal()?));
        card().or_else(bank)
    }

    fn written(&self) -> Option<&Written> {
        match self {
            Self::Written(written) => Some(written),
            Self::Intake => None,
        }
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Written(written) => written.serialize(serializer),
            Self::Intake => serializer.serialize_str(INTAKE),
        }
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Source;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`intake`, or a mapping of what `type` says")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Source, E> {
                if text == INTAKE {
                    return Ok(Source::Intake);
                }
                Err(E::invalid_value(Unexpected::Str(text), &self))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Source, A::Error> {
                let written = Written::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Source::Written(Box::new(written)))
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for Source {
    fn schema_name() -> Cow<'static, str> {
        "Source".into()
    }

    /// A mapping and its fields; of texts just one.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Written::json_schema(generator);
        schema.insert("type".to_owned(), json!(["object", "string"]));
        schema.insert("pattern".to_owned(), json!(format!("^{INTAKE}$")));
        schema
    }
}
