//! Unknown fields: a change of them was in doubt, and no reading shows their value on the service.
//!
//! They differ from every value of a file, so the next change sends all of them again.

use serde_json::{Map, Value, json};

use super::observed::Observed;

/// Name of the member that marks an unknown value.
const UNKNOWN: &str = "unsure";

/// Returns whether a value is unknown.
pub fn is_unknown(value: &Value) -> bool {
    value.get(UNKNOWN).is_some()
}

/// Applies a change to `asked` that may or may not have happened: every field that it would have
/// changed becomes unknown. A spec that was never put on the service is left as it is.
pub fn mark_changed_unknown(known: &mut Observed, asked: &Value) {
    if let Some(applied) = &mut known.applied {
        applied.spec = merge_states(&applied.spec, asked);
    }
}

/// Marks the value at a dotted path, if there is one, as unknown.
pub fn mark_unknown(spec: &mut Value, path: &str) {
    if let Some(value) = spec.pointer_mut(&format!("/{}", path.replace('.', "/"))) {
        *value = json!({ UNKNOWN: true });
    }
}

/// Merges two states field by field; fields that differ become unknown.
fn merge_states(before: &Value, asked: &Value) -> Value {
    match (before, asked) {
        _ if before == asked => before.clone(),
        (Value::Object(old), Value::Object(new)) if !is_leaf(before) && !is_leaf(asked) => {
            let names = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
            let of = |fields: &Map<String, Value>, name: &String| {
                fields.get(name).cloned().unwrap_or_default()
            };
            let both =
                names.map(|name| (name.clone(), merge_states(&of(old, name), &of(new, name))));
            Value::Object(both.collect())
        }
        _ => json!({ UNKNOWN: true }),
    }
}

/// Returns whether an object of a canonical spec represents one value: an amount, a digest, or an
/// unknown one.
pub fn is_leaf(value: &Value) -> bool {
    ["minor", "digest", UNKNOWN].iter().any(|name| value.get(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_lost_change_would_have_changed_is_not_known_and_the_rest_is() {
        let usd = |minor: i64| json!({"minor": minor, "currency": "USD"});
        let before =
            json!({"amount": usd(500), "schedule": {"end": "a", "start": "s"}, "label": "x"});
        let asked = json!({"amount": usd(700), "schedule": {"end": "b", "start": "s"}, "max": 3, "label": "x"});
        let left = merge_states(&before, &asked);
        assert!(is_unknown(&left["amount"]) && is_unknown(&left["max"]));
        assert!(is_unknown(&left["schedule"]["end"]));
        assert_eq!((&left["schedule"]["start"], &left["label"]), (&json!("s"), &json!("x")));
        assert_eq!(merge_states(&before, &before), before);
    }
}
