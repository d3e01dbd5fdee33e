//! Every field that a document may have, from the schema that editors use.

use std::collections::BTreeSet;

use reckon::kinds::register::KINDS;
use serde_json::Value;

/// Returns the paths of a kind's values below `spec`; `[]` is any place in a list.
pub(crate) fn leaves(kind: &str) -> BTreeSet<String> {
    let row = KINDS.iter().find(|row| row.name == kind).unwrap();
    let mut found = BTreeSet::new();
    walk("", &(row.schema)(), &mut found);
    found
}

/// Descends to the values that have no fields. A type of `reckon`'s own, such as an amount, is one value.
fn walk(path: &str, schema: &Value, found: &mut BTreeSet<String>) {
    let before = found.len();
    if schema.get("title").is_none() {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            walk(&path, property, found);
        }
        if let Some(items) = schema.get("items") {
            walk(&format!("{path}[]"), items, found);
        }
        for word in ["anyOf", "oneOf"] {
            for choice in schema[word].as_array().into_iter().flatten() {
                walk(path, choice, found);
            }
        }
    }
    if found.len() == before && !path.is_empty() && schema["type"] != "null" {
        found.insert(path.to_owned());
    }
}
