//! A signature made of a typed name, for an applicant without scripts (partner-api, `signature`).

use serde_json::{Value, json};

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
