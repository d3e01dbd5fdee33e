//! JSON Schema of `reckon.yaml`, generated from the types that the file is read into.
//!
//! The text of a field is its doc comment, for editors and for `explain`. Everything is inline: there
//! are no references.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::settings::Config;
use crate::kinds::json_schema::DRAFT;
use crate::spec::documents::header::API_VERSION;

/// The name of the schema, and `kind` of the file.
pub const CONFIG: &str = "Config";

/// Returns the schema of the file.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|one| one.inline_subschemas = true);
    let schema = settings.for_deserialize().into_generator().into_root_schema_for::<Config>();
    let mut schema = schema.to_value();
    tidy(&mut schema);
    let mut properties = Map::new();
    properties.insert(
        "apiVersion".to_owned(),
        constant("The version of the form of the file.", API_VERSION),
    );
    properties.insert("kind".to_owned(), constant("The kind of the file.", CONFIG));
    properties
        .extend(schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default());
    json!({
        "$schema": DRAFT,
        "title": CONFIG,
        "description": schema.get("description"),
        "type": "object",
        "properties": properties,
        "required": ["apiVersion", "kind"],
        "additionalProperties": false,
    })
}

fn constant(meaning: &str, word: &str) -> Value {
    json!({ "description": meaning, "title": "word", "enum": [word] })
}

/// Closes every section against unknown keys, and joins the lines of texts.
fn tidy(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    map.shift_remove("format");
    if let Some(Value::String(text)) = map.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    for property in map.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        tidy(property.1);
    }
    for name in ["items", "additionalProperties"] {
        map.get_mut(name).into_iter().for_each(tidy_part);
    }
    for choice in map.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten() {
        tidy_part(choice);
    }
    if map.contains_key("properties") {
        map.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

/// As [`tidy`], for a part that is no field: it has no text.
fn tidy_part(schema: &mut Value) {
    if let Value::Object(map) = schema {
        map.shift_remove("description");
    }
    tidy(schema);
}
