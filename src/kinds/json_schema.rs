//! JSON Schema of a kind's spec, generated from the types that decode it.
//!
//! The types give the shape. The meaning of a field comes from the kind's table, so that editors,
//! `explain` and problems share one text. Fields that are declared only to be refused are left out.
//! Everything is inline: there are no references.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::kinds::schema::kind::{SpecField, SpecSchema};
use crate::kinds::schema::values::{Amount, RefusedField, WholeNumber};
use crate::kinds::secrets::secret_source::SecretSource;

pub const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Keys that the types emit and a schema of files does not need.
const NOISE: [&str; 5] = ["$schema", "title", "description", "writeOnly", "format"];

/// Secret that may never be in plain text: schema type of its field in place of [`SecretSource`].
#[derive(Debug)]
pub enum HiddenSecret {}

/// Returns the schema of a kind's spec; its description is the meaning of the kind.
pub(crate) fn of<K: SpecSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|one| one.inline_subschemas = true);
    let mut schema = settings.for_deserialize().into_generator().into_root_schema_for::<K::Spec>();
    let meaning = schema.remove("description");
    let mut schema = schema.to_value();
    tidy(K::FIELDS, "", &mut schema);
    if let (Some(meaning), Value::Object(map)) = (meaning, &mut schema) {
        first(map, "description", meaning);
    }
    schema
}

/// Adds the text of every field, and removes keys that do not belong there.
fn tidy(fields: &[SpecField], path: &str, schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    let own = map.get("x-own").is_some();
    let is_noise =
        |name: &str, value: &Value| NOISE.contains(&name) || (name == "default" && value.is_null());
    map.retain(|name, value| own && name == "title" || !is_noise(name, value));
    map.shift_remove("x-own");
    words(map);
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.retain(|_, property| !is_refused(property));
        for (name, property) in properties {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            tidy(fields, &path, property);
            describe(fields, &path, property);
        }
    }
    if let Some(items) = map.get_mut("items") {
        let path = format!("{path}[]");
        tidy(fields, &path, items);
        describe(fields, &path, items);
    }
    for name in ["anyOf", "oneOf"] {
        for choice in map.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten() {
            tidy(fields, path, choice);
        }
    }
}

/// Turns a list of words, each with its own text, into a plain list of words.
fn words(map: &mut Map<String, Value>) {
    let choices = map.get("oneOf").and_then(Value::as_array);
    let words = choices.and_then(|all| all.iter().map(|one| one.get("const").cloned()).collect());
    if let Some(words) = words {
        let words: Vec<Value> = words;
        map.shift_remove("oneOf");
        map.insert("type".to_owned(), json!("string"));
        map.insert("enum".to_owned(), Value::Array(words));
    }
}

fn is_refused(property: &Value) -> bool {
    *property == Value::Bool(false) || property.get("not") == Some(&json!({}))
}

fn describe(fields: &[SpecField], path: &str, schema: &mut Value) {
    let field = fields.iter().find(|field| field.path == path);
    if let (Some(field), Value::Object(map)) = (field, schema) {
        first(map, "description", json!(field.doc));
    }
}

fn first(map: &mut Map<String, Value>, name: &str, value: Value) {
    let rest = std::mem::take(map);
    map.insert(name.to_owned(), value);
    map.extend(rest);
}

fn form(name: &str, value: &Value) -> Value {
    json!({
        "type": "object",
        "properties": { name: value },
        "required": [name],
        "additionalProperties": false,
    })
}

const AGE_PATTERN: &str = "^\\s*-----BEGIN AGE ENCRYPTED FILE-----";

fn forms() -> Vec<Value> {
    vec![
        form("env", &json!({"type": "string", "pattern": "^[A-Z_][A-Z0-9_]*$"})),
        form("file", &json!({"type": "string", "minLength": 1})),
        form("exec", &json!({"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$"})),
        form("age", &json!({"type": "string", "pattern": AGE_PATTERN})),
    ]
}

/// Implements [`JsonSchema`] for a type with a fixed schema.
macro_rules! fixed_schema {
    ($type:ty, $name:literal, $schema:expr) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

fixed_schema!(
    HiddenSecret,
    "Hidden",
    json_schema!({ "x-own": true, "title": "SECRET", "anyOf": forms() })
);

fixed_schema!(SecretSource, "SecretSource", {
    let open = json!({ "type": ["string", "integer"] });
    let all: Vec<Value> = forms().into_iter().chain([open]).collect();
    json_schema!({ "x-own": true, "title": "SECRET", "anyOf": all })
});

fixed_schema!(
    Amount,
    "Amount",
    json_schema!({
        "x-own": true,
        "title": "amount",
        "anyOf": [
            { "type": "string", "pattern": "^\\s*-?[0-9]+(\\.[0-9]+)?\\s+[A-Za-z]{3}\\s*$" },
            { "type": "integer" },
        ],
    })
);

fixed_schema!(
    WholeNumber,
    "Whole",
    json_schema!({
        "x-own": true,
        "title": "whole number",
        "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": u32::MAX },
            { "type": "string", "pattern": "^[0-9]+$" },
        ],
    })
);

fixed_schema!(RefusedField, "Refused", false.into());
