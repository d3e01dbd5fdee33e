//! Examples of values that a JSON Schema allows.

use serde_json::{Value, json};

const EXAMPLE_DEPTH_MAX: usize = 4;

/// Returns a value that a schema allows: a request's required fields, every field of an answer.
pub(crate) fn example(schema: &Value, components: &Value) -> Value {
    example_value(schema, components, 0)
}

fn example_value(schema: &Value, components: &Value, depth: usize) -> Value {
    let schema = resolve_ref(schema, components);
    let mut given = ["/examples/0", "/const", "/enum/0"].map(|at| value_at(schema, at)).into_iter();
    if let Some(given) = given.find(|given| !given.is_null()) {
        return given.clone();
    }
    let word = |kind: &Value| kind.as_str().map(str::to_owned);
    let first = |all: &Vec<Value>| all.iter().find_map(word);
    let kind = schema.get("type");
    let kind = kind.and_then(|kind| word(kind).or_else(|| kind.as_array().and_then(first)));
    match kind.as_deref() {
        Some("object") => example_object(schema, components, depth),
        Some("array") if depth < EXAMPLE_DEPTH_MAX => {
            json!([example_value(value_at(schema, "/items"), components, depth.saturating_add(1))])
        }
        Some("array") => json!([]),
        Some("integer" | "number") => example_number(schema),
        Some("boolean") => json!(true),
        Some("string") => example_text(schema),
        _ if schema.get("anyOf").is_some() => {
            example_value(value_at(schema, "/anyOf/0"), components, depth)
        }
        _ => json!({}),
    }
}

/// Returns an object of the required fields, of those of one `anyOf` choice, or of all fields.
fn example_object(schema: &Value, components: &Value, depth: usize) -> Value {
    let named = [
        value_at(schema, "/required"),
        value_at(schema, "/anyOf/1/required"),
        value_at(schema, "/anyOf/0/required"),
    ];
    let named = named.into_iter().find_map(Value::as_array);
    let wanted = |name: &str| named.is_none_or(|all| all.iter().any(|one| one == name));
    let fields = value_at(schema, "/properties").as_object().into_iter().flatten();
    let fields = fields.filter(|(name, _)| depth < EXAMPLE_DEPTH_MAX && wanted(name));
    let example = |field| example_value(field, components, depth.saturating_add(1));
    fields.map(|(name, field)| (name.clone(), example(field))).collect()
}

/// Returns 1000 minor units, clamped to the schema's bounds.
fn example_number(schema: &Value) -> Value {
    let bound = |name: &str| schema.get(name).and_then(Value::as_i64);
    let most = bound("maximum").unwrap_or(i64::MAX);
    json!(1000.min(most).max(bound("minimum").unwrap_or(0)))
}

fn example_text(schema: &Value) -> Value {
    match schema.get("format").and_then(Value::as_str) {
        Some("date") => json!("2030-01-15"),
        Some("date-time") => json!("2030-01-15T18:00:00.000Z"),
        Some("email") => json!("jane@example.com"),
        Some(_) | None => json!("…"),
    }
}

pub(crate) fn resolve_ref<'a>(schema: &'a Value, components: &'a Value) -> &'a Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    name.map_or(schema, |name| value_at(components, "/schemas").get(name).unwrap_or(&Value::Null))
}

/// Returns the value at a JSON pointer; null if there is none.
pub(crate) fn value_at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_has_what_is_required_and_is_made_of_what_is_allowed() {
        let schema = json!({"type": "object", "required": ["amount", "method", "on"], "properties": {
            "amount": {"type": "integer", "minimum": 1}, "note": {"type": "string"},
            "method": {"anyOf": [{"type": "string"}, {"type": "object"}]},
            "on": {"type": ["string", "null"], "format": "date"},
        }});
        let expect = json!({"amount": 1000, "method": "…", "on": "2030-01-15"});
        assert_eq!(example(&schema, &Value::Null), expect);
        let card = json!({"$ref": "#/components/schemas/Card"});
        let components = json!({"schemas": {"Card": {"type": "object", "properties": {
            "type": {"const": "card"}, "number": {"type": "string", "examples": ["4242424242424242"]}}}}});
        let expect = json!({"type": "card", "number": "4242424242424242"});
        assert_eq!(example(&card, &components), expect);
    }
}
