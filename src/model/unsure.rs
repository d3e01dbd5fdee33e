//! Fields of which nobody can tell what stands on the service: a change of them was in doubt, and nothing shows it.
//!
//! They differ from whatever a file says, so the next change says all of them again.

use serde_json::{Map, Value, json};

use crate::model::observed::Observed;

/// The name inside the value that stands for one that is not known.
const UNSURE: &str = "unsure";

/// Whether a value stands for one that is not known.
pub fn is_unsure(value: &Value) -> bool {
    value.get(UNSURE).is_some()
}

/// After a change to `asked` that may or may not have happened: every field that it would have changed is unsure.
/// What was never put on the service stays unknown.
pub fn forget(known: &mut Observed, asked: &Value) {
    if let Some(applied) = &mut known.applied {
        applied.spec = either(&applied.spec, asked);
    }
}

/// What stands at a dotted path, if anything does, is not known.
pub fn mark(spec: &mut Value, path: &str) {
    if let Some(value) = spec.pointer_mut(&format!("/{}", path.replace('.', "/"))) {
        *value = json!({ UNSURE: true });
    }
}

/// What both say, field by field; what they do not agree on is not known.
fn either(before: &Value, asked: &Value) -> Value {
    match (before, asked) {
        _ if before == asked => before.clone(),
        (Value::Object(old), Value::Object(new)) if !is_leaf(before) && !is_leaf(asked) => {
            let names = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
            let of = |fields: &Map<String, Value>, name: &String| {
                fields.get(name).cloned().unwrap_or_default()
            };
            let both = names.map(|name| (name.clone(), either(&of(old, name), &of(new, name))));
            Value::Object(both.collect())
        }
        _ => json!({ UNSURE: true }),
    }
}

/// Whether an object of a canonical spec stands for one value: an amount, a digest, or an unknown one.
pub fn is_leaf(value: &Value) -> bool {
    ["minor", "digest", UNSURE].iter().any(|name| value.get(name).is_some())
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
        let left = either(&before, &asked);
        assert!(is_unsure(&left["amount"]) && is_unsure(&left["max"]));
        assert!(is_unsure(&left["schedule"]["end"]));
        assert_eq!((&left["schedule"]["start"], &left["label"]), (&json!("s"), &json!("x")));
        assert_eq!(either(&before, &before), before);
    }
}
