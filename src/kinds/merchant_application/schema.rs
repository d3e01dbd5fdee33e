//! JSON Schema of an application, generated from the table that decodes it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::spec::MerchantApplicationSpec;
use crate::api::onboarding::fields::{
    ApplicationField, ApplicationPrivacy, FIELDS, FieldType, SECOND_OWNER, SECOND_OWNER_FIELDS,
};
use crate::kinds::secrets::secret_source::SecretSource;

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
