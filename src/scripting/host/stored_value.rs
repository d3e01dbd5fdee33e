//! Conversion of stored script values to JSON, and back: money and dates keep their type.
//!
//! Money is `{"$money": "3.50 USD"}`, a date `{"$date": "2026-11-30T12:00:00.000Z"}`. A script's
//! map that looks like one of them is `{"$map": {…}}`. Untagged values of older versions are read
//! as plain JSON.

use rhai::{Array, Dynamic, Map};
use serde_json::{Value, json};

use crate::base::money::Money;
use crate::model::events::script_values::MONEY;
use crate::scripting::run::json::{leaf_to_json, nested_to_json, to_dynamic};
use crate::scripting::run::values::ScriptMoment;

const DATE: &str = "$date";
const MAP: &str = "$map";

/// Converts a value to its stored JSON.
///
/// # Errors
///
/// The value has no JSON form.
pub(crate) fn to_stored_json(value: &Dynamic) -> Result<Value, String> {
    nested_to_json(value, 0, tag_leaf, quote_map)
}

/// Tags money and dates with their type; other leaves stay plain JSON.
fn tag_leaf(value: &Dynamic) -> Result<Value, String> {
    if let Some(money) = value.clone().try_cast::<Money>() {
        return Ok(json!({ MONEY: money.to_string() }));
    }
    if let Some(moment) = value.clone().try_cast::<ScriptMoment>() {
        return Ok(json!({ DATE: moment.to_string() }));
    }
    leaf_to_json(value)
}

/// Marks a map that looks like a tag as a map.
fn quote_map(map: Value) -> Value {
    if tag_of(&map).is_some() { json!({ MAP: map }) } else { map }
}

/// Returns the tag of a value, and the tagged content.
fn tag_of(value: &Value) -> Option<(&str, &Value)> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    let (name, value) = fields.iter().next()?;
    [MONEY, DATE, MAP].contains(&name.as_str()).then_some((name, value))
}

/// Converts stored JSON to a script value.
pub(crate) fn from_stored_json(value: &Value) -> Dynamic {
    if let Some(read) = tag_of(value).and_then(|(tag, value)| decode_tag(tag, value)) {
        return read;
    }
    match value {
        Value::Array(items) => {
            Dynamic::from_array(items.iter().map(from_stored_json).collect::<Array>())
        }
        Value::Object(_) => fields(value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => to_dynamic(value),
    }
}

fn decode_tag(tag: &str, value: &Value) -> Option<Dynamic> {
    match tag {
        MONEY => value.as_str()?.parse::<Money>().ok().map(Dynamic::from),
        DATE => ScriptMoment::parse(value.as_str()?).ok().map(Dynamic::from),
        _ => value.is_object().then(|| fields(value)),
    }
}

fn fields(value: &Value) -> Dynamic {
    let fields = value.as_object().into_iter().flatten();
    let fields = fields.map(|(name, value)| (name.as_str().into(), from_stored_json(value)));
    Dynamic::from_map(fields.collect::<Map>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k1_money_and_dates_keep_their_type_and_maps_that_look_like_them_stay_maps() {
        let money: Money = "3.50 USD".parse().unwrap();
        let moment = ScriptMoment::parse("2026-11-30").unwrap();
        let mut map = Map::new();
        map.insert("sum".into(), Dynamic::from(money));
        map.insert("list".into(), Dynamic::from_array(vec![Dynamic::from(moment)]));
        let kept = to_stored_json(&Dynamic::from_map(map)).unwrap();
        let expected =
            json!({"sum": {"$money": "3.50 USD"}, "list": [{"$date": "2026-11-30T00:00:00.000Z"}]});
        assert_eq!(kept, expected);
        let again = from_stored_json(&kept).cast::<Map>();
        assert_eq!(again["sum"].clone().try_cast::<Money>(), Some(money));
        assert_eq!(
            again["list"].clone().into_array().unwrap()[0].clone().cast::<ScriptMoment>(),
            moment
        );
        for odd in [
            json!({"$money": "3.50 USD"}),
            json!({"$map": {"$money": "3.50 USD"}}),
            json!({"$map": 7}),
        ] {
            let map = to_dynamic(&odd);
            let kept = to_stored_json(&map).unwrap();
            assert_eq!(
                crate::scripting::run::json::to_json(&from_stored_json(&kept)).unwrap(),
                odd
            );
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
            assert_eq!(crate::scripting::run::json::to_json(&from_stored_json(&old)).unwrap(), old);
        }
    }
}
