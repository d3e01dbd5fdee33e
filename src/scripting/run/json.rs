//! Conversion of JSON to script values, and back.

mod straight;

use std::borrow::Cow;

use rhai::{Array, Dynamic, INT, Map};
use serde_json::{Number, Value};

use super::limits::NESTED_MAX;
use super::values::ScriptMoment;
use crate::base::money::Money;

/// Converts JSON to a script value. Fractional numbers become texts, since scripts have no
/// fractions.
pub(crate) fn to_dynamic(value: &Value) -> Dynamic {
    convert(value, |text| Cow::Borrowed(text))
}

/// Converts JSON from outside. Two open braces mark a payer's link when a text is sent
/// (`intake_link`). Only a script may request such a link, so the braces are separated.
pub(crate) fn untrusted_to_dynamic(value: &Value) -> Dynamic {
    convert(value, separate_braces)
}

/// Converts a JSON text from outside; `None` if the text is not JSON.
pub(crate) fn parse_untrusted(text: &[u8]) -> Option<Dynamic> {
    let slowly =
        || serde_json::from_slice(text).ok().map(|value: Value| untrusted_to_dynamic(&value));
    straight::parse_direct(text).or_else(slowly)
}

fn integer_or_text(number: &Number) -> Dynamic {
    number.as_i64().map_or_else(|| number.to_string().into(), Dynamic::from_int)
}

/// Converts JSON and maps each text with `text`.
fn convert(value: &Value, text: fn(&str) -> Cow<'_, str>) -> Dynamic {
    match value {
        Value::Null => Dynamic::UNIT,
        Value::Bool(truth) => Dynamic::from_bool(*truth),
        Value::Number(number) => integer_or_text(number),
        Value::String(words) => text(words).as_ref().into(),
        Value::Array(items) => {
            Dynamic::from_array(items.iter().map(|item| convert(item, text)).collect::<Array>())
        }
        Value::Object(fields) => {
            let entry =
                |(name, value): (&String, _)| (text(name).as_ref().into(), convert(value, text));
            Dynamic::from_map(fields.iter().map(entry).collect::<Map>())
        }
    }
}

fn separate_braces(text: &str) -> Cow<'_, str> {
    if !text.contains('{') {
        return Cow::Borrowed(text);
    }
    let mut text = text.replace("{intake:", "{ intake:");
    while text.contains("{{") {
        text = text.replace("{{", "{ {");
    }
    Cow::Owned(text)
}

/// Converts a value to JSON; money and moments become texts.
///
/// # Errors
///
/// The value has no JSON form.
pub(crate) fn to_json(value: &Dynamic) -> Result<Value, String> {
    nested_to_json(value, 0, leaf_to_json, |map| map)
}

/// Converts a value to JSON with these conversions of leaves and maps.
///
/// # Errors
///
/// The value nests too deep, or a leaf has no JSON form.
pub(crate) fn nested_to_json(
    value: &Dynamic,
    depth: usize,
    leaf: fn(&Dynamic) -> Result<Value, String>,
    map: fn(Value) -> Value,
) -> Result<Value, String> {
    if depth > NESTED_MAX {
        return Err(format!("the value nests deeper than {NESTED_MAX} levels"));
    }
    let below = depth.saturating_add(1);
    if let Ok(items) = value.as_array_ref() {
        let items = items.iter().map(|item| nested_to_json(item, below, leaf, map));
        return items.collect::<Result<_, _>>().map(Value::Array);
    }
    if let Ok(fields) = value.as_map_ref() {
        let fields = fields.iter();
        let fields = fields
            .map(|(name, value)| Ok((name.to_string(), nested_to_json(value, below, leaf, map)?)));
        return fields.collect::<Result<_, String>>().map(Value::Object).map(map);
    }
    leaf(value)
}

/// Converts a value that is neither a list nor a map.
///
/// # Errors
///
/// The value has no JSON form.
pub(crate) fn leaf_to_json(value: &Dynamic) -> Result<Value, String> {
    if value.is_unit() {
        return Ok(Value::Null);
    }
    if let Ok(truth) = value.as_bool() {
        return Ok(Value::Bool(truth));
    }
    if let Ok(whole) = value.as_int() {
        let whole: INT = whole;
        return Ok(Value::Number(Number::from(whole)));
    }
    if let Ok(text) = value.as_immutable_string_ref() {
        return Ok(Value::String(text.to_string()));
    }
    let text = value
        .as_char()
        .map(String::from)
        .ok()
        .or_else(|| value.clone().try_cast::<Money>().map(|money| money.to_string()))
        .or_else(|| value.clone().try_cast::<ScriptMoment>().map(|moment| moment.to_string()));
    text.map(Value::String).ok_or_else(|| format!("a {} cannot be written down", value.type_name()))
}
