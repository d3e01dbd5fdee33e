//! Direct conversion of JSON text to script values.

use std::fmt;

use rhai::{Array, Dynamic, Map};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{apart, whole};

/// Converts a text from outside. Returns `None` if the text is not JSON, or holds a fractional
/// number.
pub(super) fn read(text: &[u8]) -> Option<Dynamic> {
    let mut text = serde_json::Deserializer::from_slice(text);
    let value = text.deserialize_any(Straight).ok()?;
    text.end().ok().map(|()| value)
}

/// Converts any JSON value.
struct Straight;

impl<'de> DeserializeSeed<'de> for Straight {
    type Value = Dynamic;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Dynamic, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Straight {
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
        Ok(whole(&number.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Dynamic, E> {
        Ok(whole(&number.into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Dynamic, E> {
        Ok(apart(text).as_ref().into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Dynamic, A::Error> {
        let mut list = Array::new();
        while let Some(item) = items.next_element_seed(Straight)? {
            list.push(item);
        }
        Ok(Dynamic::from_array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Dynamic, A::Error> {
        let mut map = Map::new();
        while let Some(Name(name)) = fields.next_key_seed(Naming)? {
            map.insert(name, fields.next_value_seed(Straight)?);
        }
        Ok(Dynamic::from_map(map))
    }
}

struct Name(rhai::Identifier);

/// Reads a field name.
struct Naming;

impl<'de> DeserializeSeed<'de> for Naming {
    type Value = Name;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Name, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Naming {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Name, E> {
        Ok(Name(apart(text).as_ref().into()))
    }
}
