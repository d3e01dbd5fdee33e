//! Conversion of stored script values to JSON, and back: money and dates keep their type.
//!
//! Money is `{"$money": "3.50 USD"}`, a date `{"$date": "2026-11-30T12:00:00.000Z"}`. A script's
//! map that looks like one of them is `{"$map": {…}}`. Untagged values of older versions are read
//! as plain JSON.

use rhai::{Array, Dynamic, Map};
use serde_json::{Value, json};

use super::json::{dynamic, leaf, nested};
use super::values::Moment;
use crate::base::money::Money;
use crate::model::kept::MONEY;

const DATE: &str = "$date";
const MAP: &str = "$map";

/// Converts a value to its stored JSON.
///
/// # Errors
///
/// The value has no JSON form.
pub(super) fn written(value: &Dynamic) -> Result<Value, String> {
    nested(value, 0, tagged, quoted)
}

/// Tags money and dates with their type; other leaves stay plain JSON.
fn tagged(value: &Dynamic) -> Result<Value, String> {
    if let Some(money) = value.clone().try_cast::<Money>() {
        return Ok(json!({ MONEY: money.to_string() }));
    }
    if let Some(moment) = value.clone().try_cast::<Moment>() {
        return Ok(json!({ DATE: moment.to_string() }));
    }
    leaf(value)
}

/// Marks a map that looks like a tag as a map.
fn quoted(map: Value) -> Value {
    if tag(&map).is_some() { json!({ MAP: map }) } else { map }
}

/// Returns the tag of a value, and the tagged content.
fn tag(value: &Value) -> Option<(&str, &Value)> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    let (name, value) = fields.iter().next()?;
    [MONEY, DATE, MAP].contains(&name.as_str()).then_some((name, value))
}

/// Converts stored JSON to a script value.
pub(super) fn read(value: &Value) -> Dynamic {
    if let Some(read) = tag(value).and_then(|(tag, value)| untagged(tag, value)) {
        return read;
    }
    match value {
        Value::Array(items) => Dynamic::from_array(items.iter().map(read).collect::<Array>()),
        Value::Object(_) => fields(value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => dynamic(value),
    }
}

fn untagged(tag: &str, value: &Value) -> Option<Dynamic> {
    match tag {
        MONEY => value.as_str()?.parse::<Money>().ok().map(Dynamic::from),
        DATE => Moment::read(value.as_str()?).ok().map(Dynamic::from),
        _ => value.is_object().then(|| fields(value)),
    }
}

fn fields(value: &Value) -> Dynamic {
    let fields = value.as_object().into_iter().flatten();
    let fields = fields.map(|(name, value)| (name.as_str().into(), read(value)));
    Dynamic::from_map(fields.collect::<Map>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k1_money_and_dates_keep_their_type_and_maps_that_look_like_them_stay_maps() {
        let money: Money = "3.50 USD".parse().unwrap();
        let moment = Moment::read("2026-11-30").unwrap();
        let mut map = Map::new();
        map.insert("sum".into(), Dynamic::from(money));
        map.insert("list".into(), Dynamic::from_array(vec![Dynamic::from(moment)]));
        let kept = written(&Dynamic::from_map(map)).unwrap();
        let expected =
            json!({"sum": {"$money": "3.50 USD"}, "list": [{"$date": "2026-11-30T00:00:00.000Z"}]});
        assert_eq!(kept, expected);
        let again = read(&kept).cast::<Map>();
        assert_eq!(again["sum"].clone().try_cast::<Money>(), Some(money));
        assert_eq!(again["list"].clone().into_array().unwrap()[0].clone().cast::<Moment>(), moment);
        for odd in [
            json!({"$money": "3.50 USD"}),
            json!({"$map": {"$money": "3.50 USD"}}),
            json!({"$map": 7}),
        ] {
            let map = dynamic(&odd);
            let kept = written(&map).unwrap();
            assert_eq!(super::super::json::json(&read(&kept)).unwrap(), odd);
        }
    }

    #[test]
    fn k1_values_from_before_there_were_tags_are_read_as_they_stand() {
        for old in [
            json!("3.50 USD"),
            json!({"$money": 350}),
            json!({"$date": "soon"}),
            json!({"$map": [1]}),
            json!({"a": [1, null, true]}),
        ] {
            assert_eq!(super::super::json::json(&read(&old)).unwrap(), old);
        }
    }
}
