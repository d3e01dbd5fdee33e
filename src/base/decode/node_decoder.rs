//! Decodes the tree of a YAML document into a type.

use serde::de::value::StringDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    Visitor,
};

use crate::base::decode::document::{DocumentNode, Scalar};
use crate::base::decode::problem::{DocumentSegment, ExpectedValue, Misfit};

/// Text that a [`DocumentNode::Hole`] gives where text is expected: the shortest valid name.
const HOLE_TEXT: &str = "a";

impl DocumentNode {
    fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Self::Scalar { value: Scalar::Null, .. } | Self::Hole => Unexpected::Unit,
            Self::Scalar { value: Scalar::Bool(word), .. } => Unexpected::Bool(*word),
            Self::Scalar { value: Scalar::Number(number), .. } => {
                let whole = number.as_u64().map(Unexpected::Unsigned);
                let whole = whole.or_else(|| number.as_i64().map(Unexpected::Signed));
                whole.unwrap_or_else(|| Unexpected::Float(number.as_f64().unwrap_or_default()))
            }
            Self::Scalar { value: Scalar::Text, text } => Unexpected::Str(text),
            Self::Sequence(_) => Unexpected::Seq,
            Self::Mapping(_) => Unexpected::Map,
        }
    }

    fn refuse<'de, V: Visitor<'de>>(&self, visitor: &V) -> Misfit {
        Misfit::invalid_type(self.unexpected(), visitor)
    }
}

/// Forwards the hints of scalars to [`Deserializer::deserialize_any`], with an own value for a hole.
macro_rules! scalars {
    ($expected:ident $visit:ident $hole:tt: $($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            let value = if matches!(self, DocumentNode::Hole) {
                visitor.$visit $hole
            } else {
                self.deserialize_any(visitor)
            };
            value.map_err(|misfit| misfit.of_expected(ExpectedValue::$expected))
        }
    )+};
}

/// Forwards hints to another one; the decoder needs none of their own parameters.
macro_rules! forward {
    ($target:ident: $($method:ident($($unused:ty),*))+) => {$(
        fn $method<V: Visitor<'de>>(self, $(_: $unused,)* visitor: V) -> Result<V::Value, Misfit> {
            self.$target(visitor)
        }
    )+};
}

impl<'de> Deserializer<'de> for &DocumentNode {
    type Error = Misfit;

    scalars! {
        WholeNumber visit_u64(1):
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }
    scalars! { Number visit_u64(1): deserialize_f32 deserialize_f64 }
    scalars! { Bool visit_bool(false): deserialize_bool }
    scalars! { Nothing visit_unit(): deserialize_unit }
    forward! { deserialize_str: deserialize_string() deserialize_identifier() deserialize_char() }
    forward! { deserialize_unit: deserialize_unit_struct(&'static str) }
    forward! { deserialize_seq: deserialize_tuple(usize) deserialize_tuple_struct(&'static str, usize) }
    forward! { deserialize_map: deserialize_struct(&'static str, &'static [&'static str]) }
    forward! { deserialize_any: deserialize_bytes() deserialize_byte_buf() }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self {
            DocumentNode::Scalar { value: Scalar::Null, .. } => visitor.visit_unit(),
            DocumentNode::Scalar { value: Scalar::Bool(word), .. } => visitor.visit_bool(*word),
            DocumentNode::Scalar { value: Scalar::Number(number), .. } => {
                if let Some(number) = number.as_u64() {
                    visitor.visit_u64(number)
                } else if let Some(number) = number.as_i64() {
                    visitor.visit_i64(number)
                } else {
                    visitor.visit_f64(number.as_f64().unwrap_or_default())
                }
            }
            DocumentNode::Scalar { value: Scalar::Text, text } => visitor.visit_str(text),
            DocumentNode::Sequence(items) => visitor.visit_seq(Items { items, next: 0 }),
            DocumentNode::Mapping(entries) => {
                visitor.visit_map(MappingEntries { entries, next: 0 })
            }
            DocumentNode::Hole => visitor.visit_str(HOLE_TEXT),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let value = match self {
            DocumentNode::Scalar { text, .. } => visitor.visit_str(text),
            DocumentNode::Hole => visitor.visit_str(HOLE_TEXT),
            DocumentNode::Sequence(_) | DocumentNode::Mapping(_) => Err(self.refuse(&visitor)),
        };
        value.map_err(|misfit| misfit.of_expected(ExpectedValue::Text))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self {
            DocumentNode::Scalar { value: Scalar::Null, .. } | DocumentNode::Hole => {
                visitor.visit_none()
            }
            node @ (DocumentNode::Scalar { .. }
            | DocumentNode::Sequence(_)
            | DocumentNode::Mapping(_)) => visitor.visit_some(node),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let value = match self {
            DocumentNode::Hole => visitor.visit_seq(Items { items: &[], next: 0 }),
            DocumentNode::Scalar { value: Scalar::Null, text } if text.is_empty() => {
                visitor.visit_seq(Items { items: &[], next: 0 })
            }
            DocumentNode::Sequence(items) => visitor.visit_seq(Items { items, next: 0 }),
            DocumentNode::Scalar { .. } | DocumentNode::Mapping(_) => Err(self.refuse(&visitor)),
        };
        value.map_err(|misfit| misfit.of_expected(ExpectedValue::Sequence))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let value = match self {
            DocumentNode::Hole => visitor.visit_map(MappingEntries { entries: &[], next: 0 }),
            DocumentNode::Scalar { value: Scalar::Null, text } if text.is_empty() => {
                visitor.visit_map(MappingEntries { entries: &[], next: 0 })
            }
            DocumentNode::Mapping(entries) => {
                visitor.visit_map(MappingEntries { entries, next: 0 })
            }
            DocumentNode::Scalar { .. } | DocumentNode::Sequence(_) => Err(self.refuse(&visitor)),
        };
        value.map_err(|misfit| misfit.of_expected(ExpectedValue::Mapping))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let value = match self {
            DocumentNode::Scalar { text, .. } => {
                visitor.visit_enum(text.as_str().into_deserializer())
            }
            DocumentNode::Hole => {
                let first = variants.first().copied().unwrap_or_default();
                visitor.visit_enum(first.into_deserializer())
            }
            DocumentNode::Sequence(_) | DocumentNode::Mapping(_) => Err(self.refuse(&visitor)),
        };
        value.map_err(|misfit| misfit.of_expected(ExpectedValue::Word))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_unit()
    }
}

struct Items<'n> {
    items: &'n [DocumentNode],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Misfit> {
        let place = self.next;
        let Some(node) = self.items.get(place) else { return Ok(None) };
        self.next = place.saturating_add(1);
        let item = seed.deserialize(node);
        item.map(Some).map_err(|misfit| misfit.beneath(DocumentSegment::Item(place)))
    }
}

struct MappingEntries<'n> {
    entries: &'n [(String, DocumentNode)],
    next: usize,
}

impl<'de> MapAccess<'de> for MappingEntries<'_> {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Misfit> {
        let Some((key, _)) = self.entries.get(self.next) else { return Ok(None) };
        let key: StringDeserializer<Misfit> = key.clone().into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Misfit> {
        let Some((key, node)) = self.entries.get(self.next) else {
            return Err(Misfit::custom("a mapping has a key without a value"));
        };
        self.next = self.next.saturating_add(1);
        let value = seed.deserialize(node);
        value.map_err(|misfit| misfit.beneath(DocumentSegment::Field(key.clone())))
    }
}
