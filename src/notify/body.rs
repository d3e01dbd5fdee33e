//! Bodies of notifications in the form of their target: bounded, with card numbers masked. Pure.

use serde_json::{Map, Value, json};

use super::target::BodyFormat;
use crate::base::secret::mask_digits;

/// The largest body, in bytes, of a text unchanged or of a map as JSON.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// Returns the body of a POST.
///
/// # Errors
/// The body is too large, or neither a text nor a map.
pub(crate) fn json(body: &Value, form: BodyFormat) -> Result<String, String> {
    Ok(match (check(body)?, form) {
        (map @ Value::Object(_), BodyFormat::Json) => mask_numbers(map).to_string(),
        (other, BodyFormat::Json | BodyFormat::Chat) => {
            json!({"text": render_text(other)}).to_string()
        }
    })
}

/// Returns the text of a mail.
///
/// # Errors
/// As [`json()`].
pub(crate) fn text(body: &Value) -> Result<String, String> {
    check(body).map(render_text)
}

/// Returns the HTML of a mail.
///
/// # Errors
/// The HTML is too large.
pub(crate) fn html(html: &str) -> Result<String, String> {
    if html.len() > BODY_BYTES_MAX {
        let bytes = html.len();
        return Err(format!("its HTML has {bytes} bytes; at most {BODY_BYTES_MAX} are sent"));
    }
    Ok(mask_digits(html))
}

fn check(body: &Value) -> Result<&Value, String> {
    let bytes = match body {
        Value::String(text) => text.len(),
        Value::Object(_) => body.to_string().len(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err("its body is neither a text nor a map".to_owned());
        }
    };
    if bytes > BODY_BYTES_MAX {
        return Err(format!("its body has {bytes} bytes; at most {BODY_BYTES_MAX} are sent"));
    }
    Ok(body)
}

/// Renders the body for people.
fn render_text(body: &Value) -> String {
    match body.as_str() {
        Some(text) => mask_digits(text),
        None => format!("{:#}", mask_numbers(body)),
    }
}

/// Masks card numbers in texts, numbers and names of fields.
fn mask_numbers(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::Number(number) => {
            let text = number.to_string();
            let shown = mask_digits(&text);
            if shown == text { value.clone() } else { Value::String(shown) }
        }
        Value::String(text) => Value::String(mask_digits(text)),
        Value::Array(items) => items.iter().map(mask_numbers).collect(),
        Value::Object(fields) => Value::Object(mask_fields(fields)),
    }
}

fn mask_fields(fields: &Map<String, Value>) -> Map<String, Value> {
    fields.iter().map(|(name, value)| (mask_digits(name), mask_numbers(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_shows_no_card_either() {
        assert_eq!(html("<p>4242424242424242</p>"), Ok("<p>•••• 4242</p>".to_owned()));
    }

    #[test]
    fn a_map_is_posted_as_it_is_and_a_text_as_a_map() {
        let map = json!({"b": 1, "a": [true, null]});
        assert_eq!(json(&map, BodyFormat::Json).unwrap(), r#"{"b":1,"a":[true,null]}"#);
        assert_eq!(json(&json!("x\n\"y\""), BodyFormat::Json).unwrap(), r#"{"text":"x\n\"y\""}"#);
        assert_eq!(json(&json!("x"), BodyFormat::Chat).unwrap(), r#"{"text":"x"}"#);
        assert_eq!(
            json(&json!({"a": 1}), BodyFormat::Chat).unwrap(),
            r#"{"text":"{\n  \"a\": 1\n}"}"#
        );
        assert_eq!(text(&json!({"a": 1})).unwrap(), "{\n  \"a\": 1\n}");
    }

    #[test]
    fn a_body_of_another_sort_or_too_large_is_refused() {
        for odd in [json!(null), json!(7), json!(true), json!(["x"])] {
            assert_eq!(text(&odd).unwrap_err(), "its body is neither a text nor a map");
            assert!(json(&odd, BodyFormat::Chat).is_err(), "{odd}");
        }
        let full = "x".repeat(BODY_BYTES_MAX);
        assert!(text(&json!(full)).is_ok());
        for over in [json!(format!("{full}x")), json!({"a": full})] {
            assert!(text(&over).unwrap_err().ends_with("; at most 65536 are sent"));
            assert!(json(&over, BodyFormat::Json).is_err());
        }
    }

    #[test]
    fn card_numbers_are_masked_wherever_they_slipped_in() {
        let card = "4242 4242 4242 4242";
        let body = json!({"note": card, "list": [4_242_424_242_424_242_u64], card: {"n": 7}});
        let expect = r#"{"note":"•••• 4242","list":["•••• 4242"],"•••• 4242":{"n":7}}"#;
        assert_eq!(json(&body, BodyFormat::Json).unwrap(), expect);
        for shown in [text(&body), json(&body, BodyFormat::Chat), text(&json!(card))] {
            let shown = shown.unwrap();
            assert!(shown.contains("•••• 4242") && !shown.contains("4242 4242"), "{shown}");
        }
    }
}
