//! Privacy of fields, and specs without their private values.
//!
//! [`redact`] is for storage: equal values give equal digests under one key, so a change is visible
//! and the value is not. [`mask`] is for people. Both also remove card numbers from plain texts. A
//! secret's source (`{env: NAME}`) is no secret and stays.

use serde_json::{Map, Value, json};

use crate::base::hash::{canonical, keyed_digest};
use crate::base::secret::{Personal, mask_digits};
use crate::kinds::schema::kind::{Privacy, SpecField};

/// Domain label that separates these digests from all others under the same key.
const LABEL: &str = "spec-field";
/// Replacement for a secret or a number of a personal field.
const MASK: &str = "•••";

/// Returns the field that covers `path` (`spec.line_items[0].rate`): the longest entry at or above
/// it.
pub fn field_of<'a>(fields: &'a [SpecField], path: &str) -> Option<&'a SpecField> {
    covering(fields, &pattern(path)?)
}

/// As [`field_of`], for a place as the table writes it.
fn covering<'a>(fields: &'a [SpecField], place: &str) -> Option<&'a SpecField> {
    let covers = fields.iter().filter(|field| place == field.path || is_beneath(place, field.path));
    covers.max_by_key(|field| field.path.len())
}

/// Returns whether a value at `path` could hold a secret or personal text, itself or beneath. A
/// value above `spec` could.
pub(crate) fn touches_private(fields: &[SpecField], path: &str) -> bool {
    let Some(place) = pattern(path) else {
        return true;
    };
    let private = |field: &SpecField| field.privacy != Privacy::Plain;
    field_of(fields, path).is_some_and(private)
        || fields.iter().any(|field| private(field) && is_beneath(field.path, &place))
}

/// Returns the names of the fields directly beneath `path`; empty where the table lists none.
pub(crate) fn names_beneath(fields: &[SpecField], path: &str) -> Vec<&'static str> {
    let Some(place) = pattern(path) else {
        return Vec::new();
    };
    let beneath = fields.iter().filter(|field| is_beneath(field.path, &place));
    let rests = beneath.filter_map(|field| field.path.get(place.len()..));
    rests.filter_map(|rest| rest.trim_start_matches('.').split(['.', '[']).next()).collect()
}

/// Returns `spec.line_items[0].rate` as the table writes it: `line_items[].rate`. `None` outside
/// `spec`.
fn pattern(path: &str) -> Option<String> {
    let rest =
        path.strip_prefix("spec").filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']))?;
    let mut pieces = rest.trim_start_matches('.').split('[');
    let mut pattern = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        pattern.push('[');
        pattern.extend(piece.chars().skip_while(char::is_ascii_digit));
    }
    Some(pattern)
}

fn is_beneath(path: &str, above: &str) -> bool {
    let rest = path.strip_prefix(above);
    rest.is_some_and(|rest| !rest.is_empty() && (above.is_empty() || rest.starts_with(['.', '['])))
}

/// Replacement of one private value: (its privacy, its place as the table writes it, the value).
type Replace<'a> = &'a dyn Fn(Privacy, &str, &Value) -> Value;

/// Returns the canonical spec with `{"digest": "…"}`, 12 digits of a keyed hash, in place of
/// personal values and of secrets in plain text.
pub fn redact(fields: &[SpecField], spec: &Value, key: &[u8; 32]) -> Value {
    let digest = |_: Privacy, place: &str, value: &Value| {
        let data = canonical(&json!([place, value]));
        json!({ "digest": keyed_digest(key, LABEL, &data).short() })
    };
    walk(fields, &mut String::new(), spec, &digest)
}

/// Returns the canonical spec for people: `J•••` for a personal text, `•••` for a secret in plain
/// text.
pub fn mask(fields: &[SpecField], spec: &Value) -> Value {
    let masked = |privacy: Privacy, _: &str, value: &Value| match (privacy, value) {
        (Privacy::Personal, Value::String(text)) => json!(Personal::from(text.as_str()).mask()),
        (Privacy::Plain, Value::String(text)) => json!(mask_digits(text)),
        _ => json!(MASK),
    };
    walk(fields, &mut String::new(), spec, &masked)
}

/// Returns the canonical spec without the private values that `shows` hides; card numbers in plain
/// texts are masked.
pub fn without_private(fields: &[SpecField], spec: &Value, shows: fn(Privacy) -> bool) -> Value {
    visible_part(fields, &mut String::new(), spec, shows).unwrap_or_default()
}

/// Returns the visible part of a value at a place; none if the value is hidden.
fn visible_part(
    fields: &[SpecField],
    place: &mut String,
    value: &Value,
    shows: fn(Privacy) -> bool,
) -> Option<Value> {
    let privacy = covering(fields, place).map_or(Privacy::Plain, |field| field.privacy);
    if privacy == Privacy::Secret || (!shows(privacy) && !value.is_object() && !value.is_array()) {
        return shows(privacy).then(|| value.clone());
    }
    Some(match value {
        Value::Object(map) => {
            let entries = map.iter().filter_map(|(name, value)| {
                let dot = if place.is_empty() { "" } else { "." };
                let value =
                    descend(place, [dot, name], |place| visible_part(fields, place, value, shows));
                Some((name.clone(), value?))
            });
            Value::Object(entries.collect())
        }
        Value::Array(items) => descend(place, ["[]", ""], |place| {
            Value::Array(
                items.iter().filter_map(|one| visible_part(fields, place, one, shows)).collect(),
            )
        }),
        Value::String(text) => json!(mask_digits(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}

/// Replaces private values below `place`, the current place, which is unchanged at the end.
fn walk(fields: &[SpecField], place: &mut String, value: &Value, replace: Replace<'_>) -> Value {
    let privacy = covering(fields, place).map_or(Privacy::Plain, |field| field.privacy);
    match (privacy, value) {
        (Privacy::Secret, value) if is_source(value) => value.clone(),
        (Privacy::Secret, value) => replace(privacy, place, value),
        (Privacy::Plain | Privacy::Personal, Value::Object(map)) => {
            let mut entries = Map::with_capacity(map.len());
            for (name, value) in map {
                let dot = if place.is_empty() { "" } else { "." };
                let value =
                    descend(place, [dot, name], |place| walk(fields, place, value, replace));
                entries.insert(name.clone(), value);
            }
            Value::Object(entries)
        }
        (Privacy::Plain | Privacy::Personal, Value::Array(items)) => {
            descend(place, ["[]", ""], |place| {
                items.iter().map(|item| walk(fields, place, item, replace)).collect()
            })
        }
        (_, Value::Null) => Value::Null,
        (Privacy::Personal, value) => replace(privacy, place, value),
        (Privacy::Plain, Value::String(text)) if mask_digits(text) != *text => {
            replace(privacy, place, value)
        }
        (Privacy::Plain, value) => value.clone(),
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
    let Value::Object(map) = value else {
        return value.is_null();
    };
    map.keys().all(|name| ["env", "file", "exec"].contains(&name.as_str()))
}

#[cfg(test)]
mod tests;
