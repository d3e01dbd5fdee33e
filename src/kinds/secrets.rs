//! Privacy of fields, and specs without their private values.
//!
//! [`redact`] is for storage: equal values give equal digests under one key, so a change is visible
//! and the value is not. [`without_private`] is for scripts and people. Both also mask card numbers in
//! plain texts. A secret's source (`{env: NAME}`) is no secret and stays.

pub mod secret_place;
pub mod secret_source;

use serde_json::{Value, json};

use crate::base::hash::{canonical, keyed_digest};
use crate::base::secret::{mask_digits, masked};
use crate::kinds::schema::kind::{Privacy, SpecField};

/// Domain label that separates these digests from all others under the same key.
const LABEL: &str = "spec-field";

/// Returns the field that covers `path` (`spec.line_items[0].rate`): the longest at or above it.
pub fn field_of<'a>(fields: &'a [SpecField], path: &str) -> Option<&'a SpecField> {
    covering(fields, &pattern(path)?)
}

/// As [`field_of`], for a place as the table writes it.
pub(crate) fn covering<'a>(fields: &'a [SpecField], place: &str) -> Option<&'a SpecField> {
    let covers = fields.iter().filter(|field| place == field.path || is_beneath(place, field.path));
    covers.max_by_key(|field| field.path.len())
}

/// Returns whether a value at `path`, or one beneath, could be private. A value above `spec` could.
pub(crate) fn touches_private(fields: &[SpecField], path: &str) -> bool {
    let Some(place) = pattern(path) else { return true };
    let private = |field: &SpecField| field.privacy != Privacy::Plain;
    field_of(fields, path).is_some_and(private)
        || fields.iter().any(|field| private(field) && is_beneath(field.path, &place))
}

/// Returns the names of the fields directly beneath `path`; empty where the table lists none.
pub(crate) fn names_beneath(fields: &[SpecField], path: &str) -> Vec<&'static str> {
    let Some(place) = pattern(path) else { return Vec::new() };
    let beneath = fields.iter().filter(|field| is_beneath(field.path, &place));
    let rests = beneath.filter_map(|field| field.path.get(place.len()..));
    rests.filter_map(|rest| rest.trim_start_matches('.').split(['.', '[']).next()).collect()
}

/// Returns `spec.line_items[0].rate` as `line_items[].rate`; `None` outside `spec`.
fn pattern(path: &str) -> Option<String> {
    let rest =
        path.strip_prefix("spec").filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']))?;
    Some(without_positions(rest.trim_start_matches('.')))
}

/// Returns a path in the form of the tables: any position in a sequence is `[]`.
pub(crate) fn without_positions(path: &str) -> String {
    let mut pieces = path.split('[');
    let mut pattern = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        pattern.push('[');
        pattern.extend(piece.chars().skip_while(char::is_ascii_digit));
    }
    pattern
}

pub(crate) fn is_beneath(path: &str, above: &str) -> bool {
    let rest = path.strip_prefix(above);
    rest.is_some_and(|rest| !rest.is_empty() && (above.is_empty() || rest.starts_with(['.', '['])))
}

/// Result for a leaf: (its privacy, its place as the table writes it, its value). None drops it.
type Leaf<'a> = &'a dyn Fn(Privacy, &str, &Value) -> Option<Value>;

/// Returns the canonical spec without the private values that `shows` hides; masks card numbers.
pub fn without_private(fields: &[SpecField], spec: &Value, shows: fn(Privacy) -> bool) -> Value {
    let leaf = |privacy: Privacy, _: &str, value: &Value| {
        let text = value.as_str().filter(|_| privacy != Privacy::Secret);
        let visible = text.map_or_else(|| value.clone(), |text| json!(mask_digits(text)));
        shows(privacy).then_some(visible)
    };
    walk(fields, &mut String::new(), spec, &leaf).unwrap_or_default()
}

/// Returns the canonical spec with `{"digest": "…"}`, 12 digits of a keyed hash, in place of
/// personal values, of secrets in plain text, and of plain texts with a card number.
pub fn redact(fields: &[SpecField], spec: &Value, key: &[u8; 32]) -> Value {
    let leaf = |privacy: Privacy, place: &str, value: &Value| {
        let is_private = match (privacy, value) {
            (Privacy::Secret, value) => !is_source(value),
            (Privacy::Personal, value) => !value.is_null(),
            (Privacy::Plain, Value::String(text)) => masked(text).is_some(),
            (Privacy::Plain, _) => false,
        };
        let data = || canonical(&json!([place, value]));
        let digest = || json!({ "digest": keyed_digest(key, LABEL, &data()).short() });
        Some(if is_private { digest() } else { value.clone() })
    };
    walk(fields, &mut String::new(), spec, &leaf).unwrap_or_default()
}

/// Returns a value with the results of its leaves: every secret, and all that is neither a mapping
/// nor a list. `place` is the current place, which is unchanged at the end.
fn walk(fields: &[SpecField], place: &mut String, value: &Value, leaf: Leaf<'_>) -> Option<Value> {
    let privacy = covering(fields, place).map_or(Privacy::Plain, |field| field.privacy);
    match value {
        value if privacy == Privacy::Secret => leaf(privacy, place, value),
        Value::Object(map) => {
            let entries = map.iter().filter_map(|(name, value)| {
                let dot = if place.is_empty() { "" } else { "." };
                let value = descend(place, [dot, name], |place| walk(fields, place, value, leaf));
                Some((name.clone(), value?))
            });
            Some(Value::Object(entries.collect()))
        }
        Value::Array(items) => descend(place, ["[]", ""], |place| {
            Some(items.iter().filter_map(|item| walk(fields, place, item, leaf)).collect())
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            leaf(privacy, place, value)
        }
    }
}

/// Runs `work` one step further down.
fn descend<T>(place: &mut String, step: [&str; 2], work: impl FnOnce(&mut String) -> T) -> T {
    let length = place.len();
    place.extend(step);
    let value = work(place);
    place.truncate(length);
    value
}

/// Returns whether a value is `{"env": …}`, `{"file": …}` or `{"exec": …}` and nothing else. A
/// sealed text is stored as a digest: it is long, and unreadable.
fn is_source(value: &Value) -> bool {
    let Value::Object(map) = value else { return value.is_null() };
    map.keys().all(|name| ["env", "file", "exec"].contains(&name.as_str()))
}

#[cfg(test)]
mod tests;
