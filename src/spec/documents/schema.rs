//! JSON Schemas of whole documents: one for each kind, and one that distinguishes by `kind`.

use serde_json::{Map, Value, json};

use super::annotations::ANNOTATION_NAMES as ANNOTATIONS;
use super::header::API_VERSION;
use crate::base::id::NAME_LENGTH_MAX;
use crate::kinds::json_schema::DRAFT;
use crate::kinds::register::KindRow;

/// The name of the schema that distinguishes by `kind`, and of its file.
pub const DOCUMENT: &str = "document";

/// The required fields of every document.
const REQUIRED: [&str; 4] = ["apiVersion", "kind", "metadata", "spec"];

/// Returns the schema of documents of one kind.
pub fn of_kind(row: &KindRow) -> Value {
    let spec = (row.schema)();
    json!({
        "$schema": DRAFT,
        "title": row.name,
        "description": spec.get("description"),
        "type": "object",
        "properties": {
            "apiVersion": { "const": API_VERSION },
            "kind": { "const": row.name },
            "metadata": metadata(),
            "spec": spec,
        },
        "required": REQUIRED,
        "additionalProperties": false,
    })
}

/// Returns the schema of a document of any of these kinds.
pub fn document(kinds: &[KindRow]) -> Value {
    let names: Vec<&str> = kinds.iter().map(|row| row.name).collect();
    let specs = kinds.iter().map(|row| (row.name.to_owned(), (row.schema)()));
    let choices: Vec<Value> = names.iter().map(|name| choice(name)).collect();
    json!({
        "$schema": DRAFT,
        "title": "A document of reckon",
        "type": "object",
        "properties": {
            "apiVersion": { "const": API_VERSION },
            "kind": { "enum": names },
            "metadata": metadata(),
            "spec": { "type": "object" },
        },
        "required": REQUIRED,
        "additionalProperties": false,
        "allOf": choices,
        "$defs": specs.collect::<Map<_, _>>(),
    })
}

/// Returns the condition on the spec where `kind` is `name`.
fn choice(name: &str) -> Value {
    json!({
        "if": { "properties": { "kind": { "const": name } }, "required": ["kind"] },
        "then": { "properties": { "spec": { "$ref": format!("#/$defs/{name}") } } },
    })
}

/// Returns the schema of every document's head.
fn metadata() -> Value {
    let name = |what: &str| {
        json!({
            "description": what,
            "type": "string",
            "pattern": "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$",
            "maxLength": NAME_LENGTH_MAX,
        })
    };
    let text = json!({ "type": ["string", "number", "boolean"] });
    json!({
        "type": "object",
        "properties": {
            "name": name("The name of the document; together with kind and namespace it identifies the resource for \
                          ever."),
            "namespace": name("The namespace; `default` if it is left out."),
            "labels": {
                "description": "Texts of your own.",
                "type": ["object", "null"],
                "additionalProperties": text,
            },
            "annotations": annotations(&text),
        },
        "required": ["name"],
        "additionalProperties": false,
    })
}

/// Returns the schema of annotations: any other name is allowed, but no unknown one of ours.
fn annotations(text: &Value) -> Value {
    let ours: Vec<String> = ANNOTATIONS.iter().map(|name| format!("reckon.dev/{name}")).collect();
    let known = ours.iter().map(|name| (name.clone(), text.clone()));
    json!({
        "description": "Texts of your own, and those under `reckon.dev/`.",
        "type": ["object", "null"],
        "properties": known.collect::<Map<_, _>>(),
        "additionalProperties": text,
        "propertyNames": {
            "anyOf": [{ "enum": ours }, { "not": { "pattern": "^reckon\\.dev/" } }],
        },
    })
}
