//! Payment method in a request: the id of a saved one, or the details themselves (gateway-api,
//! Payment method).

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::bank::NewBank;
use super::card::NewCard;

/// A method in a request: the id of a saved method, or the details themselves.
#[derive(Debug, Clone, PartialEq)]
pub enum MethodRef {
    /// A saved card, saved bank, payment method or one-time token.
    Id(String),
    /// A card, inline.
    Card(Box<NewCard>),
    /// A bank account, inline.
    Bank(Box<NewBank>),
}

impl JsonSchema for MethodRef {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "MethodRef".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (card, bank) =
            (generator.subschema_for::<NewCard>(), generator.subschema_for::<NewBank>());
        json_schema!({"anyOf": [{"type": "string", "minLength": 1}, card, bank]})
    }
}

impl Serialize for MethodRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Id(id) => serializer.serialize_str(id),
            Self::Card(card) => card.serialize(serializer),
            Self::Bank(bank) => bank.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for MethodRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let value = Value::deserialize(deserializer)?;
        if let Value::String(id) = value {
            return Ok(Self::Id(id));
        }
        let method = match value.get("type").and_then(Value::as_str) {
            Some("bank") => serde_json::from_value(value).map(Self::Bank),
            _ => serde_json::from_value(value).map(Self::Card),
        };
        method.map_err(D::Error::custom)
    }
}
