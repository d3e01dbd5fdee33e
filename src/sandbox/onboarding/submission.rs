//! The input of a submitted sign-up form, parsed and merged into the known fields.
//!
//! An applicant without scripts types a name, which becomes the signature (partner-api,
//! `signature`).

use serde_json::{Map, Value, json};

use crate::api::onboarding::fields;
use crate::api::onboarding::fields::{ApplicationPrivacy, SECOND_OWNER};

/// The field that a script fills with strokes.
const SIGNATURE: &str = "signature";

/// Parses a submitted form. Empty inputs are left out; the second owner's inputs become one object,
/// which is empty where all of them were left empty.
pub(crate) fn parse_submission(sent: Value) -> Map<String, Value> {
    let Value::Object(sent) = sent else {
        return Map::new();
    };
    let is_empty = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
    let mut fields = Map::new();
    let mut second = None;
    for (name, value) in sent {
        let own = name.strip_prefix(SECOND_OWNER).and_then(|rest| rest.strip_prefix('.'));
        if let Some(own) = own {
            let second = second.get_or_insert_with(Map::new);
            if !is_empty(&value) {
                second.insert(own.to_owned(), value);
            }
        } else if !is_empty(&value) && !matches!(name.as_str(), "reference" | "plan" | "test") {
            let value = if name == SIGNATURE { signature(value) } else { value };
            fields.insert(name, value);
        }
    }
    fields.extend(second.map(|second| (SECOND_OWNER.to_owned(), Value::Object(second))));
    fields
}

/// Merges the submitted values into the known ones; an empty second owner is removed.
pub(crate) fn merge(fields: &mut Map<String, Value>, sent: Map<String, Value>) {
    for (name, value) in sent {
        match (fields.get_mut(&name), value) {
            (_, Value::Object(none)) if none.is_empty() => drop(fields.shift_remove(&name)),
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (_, value) => drop(fields.insert(name, value)),
        }
    }
}

/// Returns the secrets among these fields. They are stored while the applicant corrects the form,
/// since no page shows them again.
pub(crate) fn secrets(all: &Map<String, Value>) -> Map<String, Value> {
    let is_secret = |path: &str| {
        fields::find(path).is_some_and(|field| field.privacy == ApplicationPrivacy::Secret)
    };
    let mut kept = Map::new();
    for (name, value) in all {
        match value {
            Value::Object(inner) => {
                let own = inner.iter().filter(|(own, _)| is_secret(&format!("{name}.{own}")));
                let own: Map<_, _> = own.map(|(own, value)| (own.clone(), value.clone())).collect();
                if !own.is_empty() {
                    kept.insert(name.clone(), Value::Object(own));
                }
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => {
                if is_secret(name) {
                    kept.insert(name.clone(), value.clone());
                }
            }
        }
    }
    kept
}

/// Points between the starts of two letters.
const STEP: usize = 16;

/// Height of the base line, and the range of heights that letters reach.
const FOOT: usize = 100;

const TOP: usize = 40;

/// Returns a signature as strokes. JSON stays as it is; a typed name becomes a line of hills, one a
/// letter.
pub(crate) fn signature(typed: Value) -> Value {
    let is_name =
        |text: &&str| !text.trim().is_empty() && !text.trim_start().starts_with(['[', '{']);
    match typed.as_str().filter(is_name) {
        Some(name) => Value::String(Value::Array(hills(name.trim())).to_string()),
        None => typed,
    }
}

fn hills(name: &str) -> Vec<Value> {
    let starts = (20_usize..).step_by(STEP);
    let hills = name.chars().zip(starts).map(|(letter, left)| {
        let (middle, right) = (left.saturating_add(8), left.saturating_add(STEP));
        let code = usize::try_from(u32::from(letter)).unwrap_or_default();
        let top = TOP.saturating_add(code.checked_rem(TOP).unwrap_or_default());
        [
            json!({"mx": left, "my": FOOT, "lx": middle, "ly": top}),
            json!({"mx": middle, "my": top, "lx": right, "ly": FOOT}),
        ]
    });
    hills.flatten().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::signature;

    /// Closes E16: the form can be finished without scripts.
    #[test]
    fn a_typed_name_becomes_strokes_and_strokes_stay_as_they_are() {
        let made = signature(json!(" Jo "));
        let strokes: Value = serde_json::from_str(made.as_str().unwrap()).unwrap();
        assert_eq!(strokes.as_array().unwrap().len(), 4);
        assert_eq!(strokes[0], json!({"mx": 20, "my": 100, "lx": 28, "ly": 74}));
        for kept in [json!("[{\"lx\":1}]"), json!("{}"), json!(""), json!(3)] {
            assert_eq!(signature(kept.clone()), kept);
        }
    }
}
