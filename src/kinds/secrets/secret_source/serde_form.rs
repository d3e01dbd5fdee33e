//! Secret source as YAML and as JSON.

use std::fmt;

use serde::de;
use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{EXPECTED, SecretSource};
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
        while let Some(part) = map.next_key()? {
            match part {
                SecretSourceField::Env => source.env = Some(map.next_value()?),
                SecretSourceField::File => source.file = Some(map.next_value()?),
                SecretSourceField::Exec => source.exec = Some(map.next_value()?),
                SecretSourceField::Age => source.age = Some(map.next_value()?),
                SecretSourceField::Field => source.field = Some(map.next_value()?),
                SecretSourceField::Literal => source.literal = Some(map.next_value()?),
            }
        }
        Ok(source)
    }
}

/// Field of the mapping. `field` and `literal` belong to the canonical form, and are never
/// suggested.
enum SecretSourceField {
    Env,
    File,
    Exec,
    Age,
    Field,
    Literal,
}

impl<'de> Deserialize<'de> for SecretSourceField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let field = String::deserialize(deserializer)?;
        match field.as_str() {
            "env" => Ok(Self::Env),
            "file" => Ok(Self::File),
            "exec" => Ok(Self::Exec),
            "age" => Ok(Self::Age),
            "field" => Ok(Self::Field),
            "literal" => Ok(Self::Literal),
            _ => Err(de::Error::unknown_field(&field, &["env", "file", "exec", "age"])),
        }
    }
}
