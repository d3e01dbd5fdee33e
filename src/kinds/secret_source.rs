//! Where a secret comes from: `{env: NAME}`, `{file: NAME}`, or a text that may stand in the open.
//!
//! Reading a spec resolves nothing and shows nothing: no message here repeats what was written, since
//! a name in the wrong place may be the secret itself. The canonical form is `{"env":"X"}`,
//! `{"file":"x"}` or `{"literal":"…"}`; the last one is hidden by [`crate::kinds::redact`].

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::base::secret::Secret;
use crate::model::issue::Issue;

/// What a parser says it expected where a secret should stand.
pub(crate) const EXPECTED: &str = "a secret source";

/// Said wherever a secret must not stand in the open.
const HELP: &str = "write `{env: NAME}` or `{file: NAME}`";

/// A secret of a spec, unresolved. Which of the three is set is checked by [`SecretSource::issue`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretSource {
    env: Option<String>,
    file: Option<String>,
    literal: Option<Secret>,
}

/// The one place that a checked [`SecretSource`] names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source<'a> {
    /// A variable of the environment.
    Env(&'a str),
    /// A file beneath the folder of secrets.
    File(&'a str),
    /// The text itself.
    Literal(&'a Secret),
}

impl SecretSource {
    /// The place it names; `None` where it names none or several.
    pub fn source(&self) -> Option<Source<'_>> {
        match (&self.env, &self.file, &self.literal) {
            (Some(name), None, None) => Some(Source::Env(name)),
            (None, Some(name), None) => Some(Source::File(name)),
            (None, None, Some(text)) => Some(Source::Literal(text)),
            _ => None,
        }
    }

    /// The text, where it stands in the open.
    pub fn literal(&self) -> Option<&Secret> {
        match self.source() {
            Some(Source::Literal(text)) => Some(text),
            Some(Source::Env(_) | Source::File(_)) | None => None,
        }
    }

    /// What is wrong with the names at `path`; says nothing about a text in the open but that it is empty.
    pub fn issue(&self, path: &str) -> Option<Issue> {
        let (code, message, help) = match self.source() {
            None => {
                ("reckon::secret::not_one_source", "a secret comes from exactly one place", HELP)
            }
            Some(Source::Env(name)) if !is_variable(name) => (
                "reckon::secret::env_name",
                "this is no name of an environment variable",
                "write capital letters, digits and `_`, such as `{env: CODE_ACME}`",
            ),
            Some(Source::File(name)) if !is_relative(name) => (
                "reckon::secret::file_name",
                "this is no file beneath the folder of secrets",
                "write a relative path without `..`, such as `{file: acme/code}`",
            ),
            Some(Source::Literal(text)) if text.expose().trim().is_empty() => {
                ("reckon::secret::empty", "the secret is empty", HELP)
            }
            Some(Source::Env(_) | Source::File(_) | Source::Literal(_)) => return None,
        };
        Some(Issue::error(code, path, message, help))
    }

    /// The same, and a text in the open is an error: for secrets that no published value stands for.
    pub fn hidden_issue(&self, path: &str) -> Option<Issue> {
        self.issue(path).or_else(|| {
            self.literal().map(|_| {
                let message = "a secret stands here in the open";
                Issue::error("reckon::secret::in_the_open", path, message, HELP)
            })
        })
    }
}

/// `[A-Z_][A-Z0-9_]*`.
fn is_variable(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit();
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(allowed)
}

/// A relative path that cannot leave its folder.
fn is_relative(name: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    name.split('/').all(plain) && !name.chars().any(|c| c.is_control() || c == '\\')
}

impl Serialize for SecretSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { env, file, literal } = self;
        let mut map = serializer.serialize_map(None)?;
        if let Some(name) = env {
            map.serialize_entry("env", name)?;
        }
        if let Some(name) = file {
            map.serialize_entry("file", name)?;
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
                Part::Env => source.env = Some(map.next_value()?),
                Part::File => source.file = Some(map.next_value()?),
                Part::Literal => source.literal = Some(map.next_value()?),
            }
        }
        Ok(source)
    }
}

/// A field of the mapping. `literal` is the canonical form's, and is never suggested.
enum Part {
    Env,
    File,
    Literal,
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let field = String::deserialize(deserializer)?;
        match field.as_str() {
            "env" => Ok(Self::Env),
            "file" => Ok(Self::File),
            "literal" => Ok(Self::Literal),
            _ => Err(de::Error::unknown_field(&field, &["env", "file"])),
        }
    }
}
