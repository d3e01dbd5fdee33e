//! The JSON Schema of an application, generated from the table of its fields.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::application::ApplicationFields;
use super::fields::{
    ApplicationField, FIELDS, FieldType, SECOND_OWNER, SECOND_OWNER_FIELDS, SIGN_UP_REQUIRED,
};

impl JsonSchema for ApplicationFields {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ApplicationFields".into()
    }

    /// Requires the fields that both ways of submission need; a complete application needs more, by
    /// its own fields.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut properties = properties(FIELDS);
        let second = json!({"type": "object", "properties": self::properties(SECOND_OWNER_FIELDS)});
        properties.insert(SECOND_OWNER.to_owned(), second);
        json_schema!({
            "type": "object",
            "properties": properties,
            "required": SIGN_UP_REQUIRED,
        })
    }
}

fn properties(fields: &[ApplicationField]) -> Map<String, Value> {
    fields.iter().map(|field| (field.name.to_owned(), shape(field.field_type))).collect()
}

fn shape(of: FieldType) -> Value {
    let mut shape = match of {
        FieldType::Choice(words) => return json!({"type": "string", "enum": words}),
        FieldType::Integer(min, max) => {
            return json!({"type": "integer", "minimum": min, "maximum": max});
        }
        FieldType::Boolean => return json!({"type": "boolean"}),
        FieldType::Date => json!({"type": "string", "format": "date"}),
        FieldType::Timestamp => json!({"type": "string", "format": "date-time"}),
        FieldType::Email => json!({"type": "string", "format": "email"}),
        FieldType::Text
        | FieldType::Phone
        | FieldType::PostalCode
        | FieldType::Url
        | FieldType::State
        | FieldType::Country
        | FieldType::Signature => json!({"type": "string"}),
    };
    if let (Some(most), Value::Object(shape)) = (of.length_max(), &mut shape) {
        shape.insert("maxLength".to_owned(), most.into());
    }
    shape
}
