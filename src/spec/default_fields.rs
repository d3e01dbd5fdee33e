//! The fields of `Defaults` documents: one table for their reading, schema and explanation.

use serde_json::{Map, Value, json};

/// The kind of these documents.
pub const DEFAULTS: &str = "Defaults";
pub(crate) const MERCHANT: &str = "merchant";
pub(crate) const TIMEZONE: &str = "timezone";
pub(crate) const LABELS: &str = "labels";

/// The fields below `spec`, each with its type and its meaning.
pub(crate) const FIELDS: [(&str, &str, &str); 3] = [
    (MERCHANT, "text", "The merchant of documents that name none: NAME, or NAMESPACE/NAME."),
    (TIMEZONE, "text", "The zone of Merchant documents that name none, such as `Europe/Berlin`."),
    (LABELS, "mapping", "Labels of every document; a document's own label of a name wins."),
];
pub(crate) const MEANING: &str = "Values for the documents of its folder and of the folders below \
    that leave them out; the nearest one wins.";

/// Returns true for a field of a spec that `Defaults` may give.
pub(crate) fn is_given(name: &Value) -> bool {
    name == MERCHANT || name == TIMEZONE
}

/// Returns the JSON Schema below `spec`.
pub(crate) fn spec_schema() -> Value {
    let fields = FIELDS.map(|(name, kind, meaning)| {
        let schema = if kind == "text" {
            json!({ "description": meaning, "type": "string", "minLength": 1 })
        } else {
            let texts = json!({ "type": "string" });
            json!({ "description": meaning, "type": "object", "additionalProperties": texts })
        };
        (name.to_owned(), schema)
    });
    json!({
        "description": MEANING,
        "type": "object",
        "properties": Map::from_iter(fields),
        "additionalProperties": false,
    })
}
