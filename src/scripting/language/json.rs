//! Conversion of JSON to script values, and back.

use std::borrow::Cow;
use std::fmt;

use rhai::{Array, Dynamic, Map};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value, json};

use super::limits::NESTED_MAX;
use super::values::ScriptMoment;
use crate::base::money::Money;
use crate::model::events::scripts::MONEY;

/// Converts JSON from outside. Fractional numbers become texts, since scripts have no fractions.
/// Two open braces mark a payer's link when a text is sent (`new_card_link`). Only a script may
/// request such a link, so the braces are separated.
pub(crate) fn untrusted_to_dynamic(value: &Value) -> Dynamic {
    convert(value, separate_braces, |_| None)
}

/// Converts a JSON text from outside; `None` if the text is not JSON.
pub(crate) fn parse_untrusted(text: &[u8]) -> Option<Dynamic> {
    let slowly = || serde_json::from_slice(text).ok().as_ref().map(untrusted_to_dynamic);
    parse_direct(text).or_else(slowly)
}

fn integer_or_text(number: &Number) -> Dynamic {
    number.as_i64().map_or_else(|| number.to_string().into(), Dynamic::from_int)
}

/// Conversion of tagged values to their own type; `None` for any other value.
type TagDecoder = fn(&Value) -> Option<Dynamic>;

/// Converts JSON, maps each text with `text`, and decodes tagged values.
fn convert(value: &Value, text: fn(&str) -> Cow<'_, str>, decode: TagDecoder) -> Dynamic {
    if let Some(decoded) = decode(value) {
        return decoded;
    }
    match value {
        Value::Null => Dynamic::UNIT,
        Value::Bool(truth) => Dynamic::from_bool(*truth),
        Value::Number(number) => integer_or_text(number),
        Value::String(words) => text(words).as_ref().into(),
        Value::Array(items) => {
            let items = items.iter().map(|item| convert(item, text, decode));
            Dynamic::from_array(items.collect::<Array>())
        }
        Value::Object(fields) => convert_fields(fields, text, decode),
    }
}

fn convert_fields(
    fields: &serde_json::Map<String, Value>,
    text: fn(&str) -> Cow<'_, str>,
    decode: TagDecoder,
) -> Dynamic {
    let fields = fields
        .iter()
        .map(|(name, value)| (text(name).as_ref().into(), convert(value, text, decode)));
    Dynamic::from_map(fields.collect::<Map>())
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
pub(crate) fn to_json(value: &Dynamic) -> Result<Value, String> {
    nested_to_json(value, 0, leaf_to_json, |map| map)
}

/// Converts a value to JSON; an error if it nests too deep, or a leaf has no JSON form.
fn nested_to_json(
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

fn leaf_to_json(value: &Dynamic) -> Result<Value, String> {
    if value.is_unit() {
        return Ok(Value::Null);
    }
    if let Ok(truth) = value.as_bool() {
        return Ok(Value::Bool(truth));
    }
    if let Ok(whole) = value.as_int() {
        return Ok(Value::from(whole));
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

// Direct conversion of JSON text to script values.

/// Converts a text from outside; `None` if it is not JSON, or holds a fractional number.
fn parse_direct(text: &[u8]) -> Option<Dynamic> {
    let mut text = serde_json::Deserializer::from_slice(text);
    let value = text.deserialize_any(DynamicSeed).ok()?;
    text.end().ok().map(|()| value)
}

struct DynamicSeed;

impl<'de> DeserializeSeed<'de> for DynamicSeed {
    type Value = Dynamic;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Dynamic, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DynamicSeed {
    type Value = Dynamic;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without fractions")
    }

    fn visit_unit<E: Error>(self) -> Result<Dynamic, E> {
        Ok(Dynamic::UNIT)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Dynamic, E> {
        Ok(Dynamic::from_bool(truth))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Dynamic, E> {
        Ok(integer_or_text(&number.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Dynamic, E> {
        Ok(integer_or_text(&number.into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Dynamic, E> {
        Ok(separate_braces(text).as_ref().into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Dynamic, A::Error> {
        let mut list = Array::new();
        while let Some(item) = items.next_element_seed(DynamicSeed)? {
            list.push(item);
        }
        Ok(Dynamic::from_array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Dynamic, A::Error> {
        let mut map = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let name = separate_braces(&name).as_ref().into();
            map.insert(name, fields.next_value_seed(DynamicSeed)?);
        }
        Ok(Dynamic::from_map(map))
    }
}

// Conversion of stored script values to JSON, and back: money and dates keep their type.

const DATE: &str = "$date";
const MAP: &str = "$map";

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

fn tag_of(value: &Value) -> Option<(&str, &Value)> {
    let (name, value) = value.as_object().filter(|fields| fields.len() == 1)?.iter().next()?;
    [MONEY, DATE, MAP].contains(&name.as_str()).then_some((name, value))
}

pub(crate) fn from_stored_json(value: &Value) -> Dynamic {
    convert(value, |text| Cow::Borrowed(text), decode_tagged)
}

fn decode_tagged(value: &Value) -> Option<Dynamic> {
    match tag_of(value)? {
        (MONEY, value) => value.as_str()?.parse::<Money>().ok().map(Dynamic::from),
        (DATE, value) => ScriptMoment::parse(value.as_str()?).ok().map(Dynamic::from),
        (_, value) => {
            Some(convert_fields(value.as_object()?, |text| Cow::Borrowed(text), decode_tagged))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to_dynamic(value: &Value) -> Dynamic {
        convert(value, |text| Cow::Borrowed(text), |_| None)
    }

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
            assert_eq!(to_json(&from_stored_json(&kept)).unwrap(), odd);
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
            assert_eq!(to_json(&from_stored_json(&old)).unwrap(), old);
        }
    }
}
