//! The jSignature format (partner-api, `signature`): JSON text, an array of strokes, each with the
//! integers `lx`, `ly`, `mx` and `my`.

use serde_json::Value;

const POINTS: [&str; 4] = ["lx", "ly", "mx", "my"];

/// Returns the fault of a signature, as the end of a sentence; `None` for a valid one. Never
/// repeats the text.
pub(crate) fn fault(text: &str) -> Option<String> {
    let Ok(Value::Array(strokes)) = serde_json::from_str(text) else {
        return Some("is not JSON text of an array of strokes".to_owned());
    };
    if strokes.is_empty() {
        return Some("has no stroke".to_owned());
    }
    strokes.iter().zip(1_usize..).find_map(|(stroke, number)| {
        let Some(stroke) = stroke.as_object() else {
            return Some(format!("stroke {number} is not an object"));
        };
        let is_integer =
            |name: &str| stroke.get(name).is_some_and(|value| value.as_i64().is_some());
        let missing = POINTS.iter().find(|name| !is_integer(name))?;
        Some(format!("stroke {number} has no integer {missing}"))
    })
}
