//! Secret source as YAML and as JSON.

use std::fmt;

use serde::de;
use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{EXPECTED, FIELDS, SecretSource};
use crate::base::secret::Secret;

impl Serialize for SecretSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { env, file, exec, age, field, literal } = self;
        let names = [("env", env), ("file", file), ("exec", exec), ("age", age), ("field", field)];
        let mut map = serializer.serialize_map(None)?;
        for (part, text) in names {
            if let Some(text) = text {
                map.serialize_entry(part, text)?;
            }
        }
        if let Some(text) = literal {
            map.serialize_entry("literal", text.expose())?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for SecretSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SourceVisitor)
    }
}

struct SourceVisitor;

impl<'de> Visitor<'de> for SourceVisitor {
    type Value = SecretSource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<SecretSource, E> {
        Ok(SecretSource { literal: Some(Secret::from(text)), ..SecretSource::default() })
    }

    /// Card numbers are often written without quotes.
    fn visit_u64<E: de::Error>(self, digits: u64) -> Result<SecretSource, E> {
        self.visit_str(&digits.to_string())
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<SecretSource, A::Error> {
        let mut source = SecretSource::default();
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "env" => fill(&mut source.env, "env", &mut map)?,
                "file" => fill(&mut source.file, "file", &mut map)?,
                "exec" => fill(&mut source.exec, "exec", &mut map)?,
                "age" => fill(&mut source.age, "age", &mut map)?,
                "field" => fill(&mut source.field, "field", &mut map)?,
                "literal" => fill(&mut source.literal, "literal", &mut map)?,
                _ => return Err(de::Error::unknown_field(&name, &FIELDS)),
            }
        }
        Ok(source)
    }
}

/// Reads the value of a field, which the mapping may have once.
fn fill<'de, T: Deserialize<'de>, A: de::MapAccess<'de>>(
    slot: &mut Option<T>,
    name: &'static str,
    map: &mut A,
) -> Result<(), A::Error> {
    if slot.is_some() {
        return Err(de::Error::duplicate_field(name));
    }
    *slot = Some(map.next_value()?);
    Ok(())
}
