//! Decodes an application's document, a map whose fields, and their types, are the table's, and
//! generates its JSON Schema from the same table.
//!
//! The canonical form is the same map in the order of the table, secrets as their sources.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::api::onboarding::application::Submission;
use crate::api::onboarding::fields::{
    ApplicationField, ApplicationPrivacy, FIELDS, FieldType, SECOND_OWNER, SECOND_OWNER_FIELDS,
};
use crate::kinds::secrets::secret_source::SecretSource;

const SUBMISSION: &str = "submission";

/// Application for a new merchant (partner-api, Merchant application).
#[derive(Clone, PartialEq, Serialize, derive_more::Debug)]
#[debug("Spec {{ submission: {submission:?}, fields: {:?} }}", fields.keys().collect::<Vec<_>>())]
pub struct MerchantApplicationSpec {
    pub submission: Submission,
    /// The fields that were written, in the order of the table; a secret is its source.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// Valid names of a mapping, and their types.
#[derive(Debug, Clone, Copy)]
struct FieldTable {
    fields: &'static [ApplicationField],
    beside: &'static [&'static str],
    names: &'static LazyLock<Vec<&'static str>>,
}

static NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| [SUBMISSION, SECOND_OWNER].into_iter().chain(names(FIELDS)).collect());
static SECOND_NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| names(SECOND_OWNER_FIELDS).collect());

const APPLICATION: FieldTable =
    FieldTable { fields: FIELDS, beside: &[SUBMISSION, SECOND_OWNER], names: &NAMES };
const SECOND: FieldTable =
    FieldTable { fields: SECOND_OWNER_FIELDS, beside: &[], names: &SECOND_NAMES };

fn names(fields: &'static [ApplicationField]) -> impl Iterator<Item = &'static str> {
    fields.iter().map(|field| field.name)
}

#[derive(Debug, Clone, Copy)]
enum FieldName {
    Beside(&'static str),
    Field(&'static ApplicationField),
}

impl<'de> Deserialize<'de> for MerchantApplicationSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = deserializer.deserialize_map(FieldsSeed(APPLICATION))?;
        let submission = fields.shift_remove(SUBMISSION);
        let submission = submission.ok_or_else(|| D::Error::missing_field(SUBMISSION))?;
        let submission = Submission::deserialize(submission).map_err(D::Error::custom)?;
        Ok(Self { submission, fields })
    }
}

struct FieldsSeed(FieldTable);

impl<'de> Visitor<'de> for FieldsSeed {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let FieldTable { fields, beside, names } = self.0;
        let mut found = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let beside = beside.iter().find(|one| **one == name).map(|one| FieldName::Beside(one));
            let field = || fields.iter().find(|field| field.name == name).map(FieldName::Field);
            let named = beside.or_else(field);
            let named = named.ok_or_else(|| A::Error::unknown_field(&name, names))?;
            found.insert(name, map.next_value_seed(FieldValueSeed(named))?);
        }
        Ok(names.iter().filter_map(|name| found.remove_entry(*name)).collect())
    }
}

impl<'de> DeserializeSeed<'de> for FieldsSeed {
    type Value = Map<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

struct FieldValueSeed(FieldName);

impl<'de> DeserializeSeed<'de> for FieldValueSeed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.0 {
            FieldName::Beside(SECOND_OWNER) => {
                FieldsSeed(SECOND).deserialize(deserializer).map(Value::from)
            }
            FieldName::Beside(_) => canonical::<Submission, D>(deserializer),
            FieldName::Field(ApplicationField { privacy: ApplicationPrivacy::Secret, .. }) => {
                canonical::<SecretSource, D>(deserializer)
            }
            FieldName::Field(ApplicationField { field_type: FieldType::Integer(..), .. }) => {
                canonical::<i64, D>(deserializer)
            }
            FieldName::Field(ApplicationField { field_type: FieldType::Boolean, .. }) => {
                canonical::<bool, D>(deserializer)
            }
            FieldName::Field(_) => canonical::<String, D>(deserializer),
        }
    }
}

/// Decodes a value of a type into its canonical form.
fn canonical<'de, T, D>(deserializer: D) -> Result<Value, D::Error>
where
    T: Deserialize<'de> + Serialize,
    D: Deserializer<'de>,
{
    serde_json::to_value(T::deserialize(deserializer)?).map_err(D::Error::custom)
}

impl JsonSchema for MerchantApplicationSpec {
    fn schema_name() -> Cow<'static, str> {
        "MerchantApplication".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = Map::new();
        properties.insert("submission".to_owned(), words(&["complete", "sign_up"]));
        properties.extend(table(FIELDS, generator));
        let second = object(&table(SECOND_OWNER_FIELDS, generator), &[]);
        properties.insert(SECOND_OWNER.to_owned(), second);
        json_schema!({
            "description": "An application for a new merchant (partner-api, Merchant application).",
            "type": "object",
            "properties": properties,
            "required": ["submission", "plan", "email"],
            "additionalProperties": false,
        })
    }
}

fn object(properties: &Map<String, Value>, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Returns the fields of a table except the one that carries the mark.
fn table(fields: &[ApplicationField], generator: &mut SchemaGenerator) -> Map<String, Value> {
    let fields = fields.iter().filter(|field| field.name != "reference");
    fields.map(|field| (field.name.to_owned(), property(field, generator))).collect()
}

fn property(field: &ApplicationField, generator: &mut SchemaGenerator) -> Value {
    if field.privacy == ApplicationPrivacy::Secret {
        return generator.subschema_for::<SecretSource>().to_value();
    }
    match field.field_type {
        FieldType::Choice(choices) => words(choices),
        FieldType::Integer(min, max) => json!({"type": "integer", "minimum": min, "maximum": max}),
        FieldType::Boolean => json!({"type": "boolean"}),
        FieldType::State | FieldType::Country => json!({"type": "string", "pattern": "^[A-Z]{2}$"}),
        FieldType::Text
        | FieldType::Email
        | FieldType::Phone
        | FieldType::PostalCode
        | FieldType::Url
        | FieldType::Date
        | FieldType::Timestamp
        | FieldType::Signature => json!({"type": "string"}),
    }
}

fn words(words: &[&str]) -> Value {
    json!({"type": "string", "enum": words})
}
