//! The shape of one JSON output: its name, its version, and the JSON Schema that its type gives.
//!
//! An object of ours permits no further property, so a renamed field breaks the schema. A map with
//! keys of people or of the service permits any key.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use crate::kinds::json_schema::DRAFT;

/// Start of every `$id`; a schema is found in `docs/schemas` of the same version of the program.
const BASE: &str = "https://reckon.invalid/schemas/";

/// One JSON output. Outputs of the same shape share a name.
#[derive(Debug, Clone, Copy)]
pub struct OutputShape {
    pub name: &'static str,
    pub version: u32,
    make: fn() -> Value,
}

impl OutputShape {
    /// Makes the first version of the shape of a type.
    pub(super) const fn of<T: JsonSchema>(name: &'static str) -> Self {
        Self { name, version: 1, make: schema_of::<T> }
    }

    /// Returns the name of the schema's file in `docs/schemas`.
    pub fn file(self) -> String {
        format!("{}.v{}.json", self.name, self.version)
    }

    /// Returns the JSON Schema (draft 2020-12).
    pub fn schema(self) -> Value {
        let mut schema = Map::new();
        schema.insert("$schema".to_owned(), DRAFT.into());
        schema.insert("$id".to_owned(), format!("{BASE}{}", self.file()).into());
        schema.insert("title".to_owned(), self.name.into());
        if let Value::Object(made) = (self.make)() {
            schema.extend(
                made.into_iter().filter(|(name, _)| !matches!(name.as_str(), "$schema" | "title")),
            );
        }
        Value::Object(schema)
    }
}

fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(close));
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Closes an object with declared properties, and cleans its text of links of Rust.
fn close(schema: &mut Schema) {
    let Some(schema) = schema.as_object_mut() else { return };
    schema.shift_remove("default");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        // `[` and `]` around code in backticks are links of Rust.
        *text = text.replace("[\u{60}", "\u{60}").replace("\u{60}]", "\u{60}");
    }
    if !schema.contains_key("properties") || schema.contains_key("additionalProperties") {
        return;
    }
    let is_composed =
        ["allOf", "anyOf", "oneOf", "$ref"].iter().any(|word| schema.contains_key(*word));
    let word = if is_composed { "unevaluatedProperties" } else { "additionalProperties" };
    schema.insert(word.to_owned(), Value::Bool(false));
}
