//! Source of a saved method's details: written in the document, or given by the payer.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize, Serializer, de};
use serde_json::{Value, json};

use super::bank::Bank;
use super::card::Card;
use super::{bank, card};
use crate::base::secret::Secret;
use crate::effects::methods::method::{MethodSource, PaymentMethodType};
use crate::kinds::planning::step::text;

/// The word for details that a payer gives.
pub(super) const INTAKE: &str = "intake";

/// Source of the method's details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MethodSourceSpec {
    /// Written here; an empty mapping keeps the saved details.
    Written(Box<WrittenDetails>),
    /// Given by a payer, on a page of ours or by an attached token.
    Intake,
}

/// Details that are written in the document: exactly one of these.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Written")]
pub struct WrittenDetails {
    /// A card written here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// A bank account written here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bank: Option<Bank>,
}

impl MethodSourceSpec {
    /// Returns the card that is written here.
    pub fn card(&self) -> Option<&Card> {
        self.written_details()?.card.as_ref()
    }

    /// Returns the bank account that is written here.
    pub fn bank(&self) -> Option<&Bank> {
        self.written_details()?.bank.as_ref()
    }

    /// Returns whether nothing is written: the saved details stay.
    pub(super) fn is_empty(&self) -> bool {
        self.written_details()
            .is_some_and(|written| written.card.is_none() && written.bank.is_none())
    }

    /// Returns a number in plain text, and its path.
    pub(super) fn literal(&self) -> Option<(&'static str, &Secret)> {
        let card = || Some((card::NUMBER, self.card()?.number.literal()?));
        let bank = || Some((bank::NUMBER, self.bank()?.account_number.literal()?));
        card().or_else(bank)
    }

    fn written_details(&self) -> Option<&WrittenDetails> {
        match self {
            Self::Written(written) => Some(written),
            Self::Intake => None,
        }
    }
}

impl Serialize for MethodSourceSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Written(written) => written.serialize(serializer),
            Self::Intake => serializer.serialize_str(INTAKE),
        }
    }
}

impl<'de> Deserialize<'de> for MethodSourceSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = MethodSourceSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`intake`, or a mapping that fits `type`")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<MethodSourceSpec, E> {
                if text == INTAKE {
                    return Ok(MethodSourceSpec::Intake);
                }
                Err(E::invalid_value(Unexpected::Str(text), &self))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MethodSourceSpec, A::Error> {
                let written = WrittenDetails::deserialize(MapAccessDeserializer::new(map))?;
                Ok(MethodSourceSpec::Written(Box::new(written)))
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for MethodSourceSpec {
    fn schema_name() -> Cow<'static, str> {
        "Source".into()
    }

    /// A mapping with its fields, or the one valid text.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = WrittenDetails::json_schema(generator);
        schema.insert("type".to_owned(), json!(["object", "string"]));
        schema.insert("pattern".to_owned(), json!(format!("^{INTAKE}$")));
        schema
    }
}

/// Returns the data from which a spec's method is created.
pub(crate) fn source(spec: &Value) -> MethodSource<'_> {
    let sort = method_type(spec);
    let place = match sort {
        PaymentMethodType::Card => "/source/card",
        PaymentMethodType::Bank => "/source/bank",
    };
    let details = spec.pointer(place).unwrap_or(&Value::Null);
    MethodSource { method_type: sort, details, description: spec.get("description") }
}

pub(super) fn method_type(spec: &Value) -> PaymentMethodType {
    if text(spec, "type") == "bank" { PaymentMethodType::Bank } else { PaymentMethodType::Card }
}
