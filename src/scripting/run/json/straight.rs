//! Direct conversion of JSON text to script values.

use std::fmt;

use rhai::{Array, Dynamic, Map};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{integer_or_text, separate_braces};

/// Converts a text from outside. Returns `None` if the text is not JSON, or holds a fractional
/// number.
pub(super) fn parse_direct(text: &[u8]) -> Option<Dynamic> {
    let mut text = serde_json::Deserializer::from_slice(text);
    let value = text.deserialize_any(DynamicSeed).ok()?;
    text.end().ok().map(|()| value)
}

/// Converts any JSON value.
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
        while let Some(MapKey(name)) = fields.next_key_seed(MapKeySeed)? {
            map.insert(name, fields.next_value_seed(DynamicSeed)?);
        }
        Ok(Dynamic::from_map(map))
    }
}

struct MapKey(rhai::Identifier);

/// Reads a field name.
struct MapKeySeed;

impl<'de> DeserializeSeed<'de> for MapKeySeed {
    type Value = MapKey;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<MapKey, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for MapKeySeed {
    type Value = MapKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<MapKey, E> {
        Ok(MapKey(separate_braces(text).as_ref().into()))
    }
}
