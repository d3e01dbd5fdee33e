//! Source of a secret: `{env: NAME}`, `{file: NAME}`, `{exec: NAME}`, `{age: "…"}`, or plain text.
//!
//! Decoding a spec resolves no secret and shows none. No message here repeats the written value,
//! since a name in the wrong place may be the secret itself. The canonical form is `{"env":"X"}`,
//! `{"file":"x"}`, `{"exec":"x"}`, `{"age":"…","field":"…"}` or `{"literal":"…"}`; the last one is
//! hidden by [`super::redact`]. [`super::secret_place`] fills in the `field` of a sealed text: the
//! place of the text, which is the only place where it opens.

use std::fmt;

use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer, de};
use serde_with::skip_serializing_none;

use crate::base::secret::{Secret, is_sealed};
use crate::model::issue::Issue;

/// Text by which a parser names the expected type of a secret.
pub(crate) const EXPECTED: &str = "a secret source";
/// The forms that a secret may have, for messages.
pub(crate) const FORMS: &str = "`{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`";

/// Fields of the mapping, first those that a document may have.
pub(crate) const FIELDS: [&str; 6] = ["env", "file", "exec", "age", "field", "literal"];

/// Fields that only the canonical form has: no message suggests them.
const CANONICAL_FIELDS: [&str; 2] = ["field", "literal"];

/// Returns the fields that a message may suggest, of those that a type has.
pub(crate) fn suggestible(mut known: Vec<String>) -> Vec<String> {
    if known == FIELDS {
        known.retain(|name| !CANONICAL_FIELDS.contains(&name.as_str()));
    }
    known
}

const PROGRAM_LENGTH_MAX: usize = 63;

/// Secret of a spec, unresolved. [`SecretSource::issue`] checks that exactly one source is set.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SecretSource {
    env: Option<String>,
    file: Option<String>,
    exec: Option<String>,
    age: Option<String>,
    field: Option<String>,
    #[serde(serialize_with = "serialize_exposed")]
    literal: Option<Secret>,
}

/// The one source that a checked [`SecretSource`] names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretSourceRef<'a> {
    Env(&'a str),
    /// A file beneath the folder of secrets.
    File(&'a str),
    /// A program that the operator declared by this name.
    Exec(&'a str),
    Age(&'a str),
    Literal(&'a Secret),
}

impl SecretSource {
    /// Returns the source; `None` if none or several are set.
    pub fn source(&self) -> Option<SecretSourceRef<'_>> {
        let Self { env, file, exec, age, field: _, literal } = self;
        let given = [
            env.as_deref().map(SecretSourceRef::Env),
            file.as_deref().map(SecretSourceRef::File),
            exec.as_deref().map(SecretSourceRef::Exec),
            age.as_deref().map(SecretSourceRef::Age),
            literal.as_ref().map(SecretSourceRef::Literal),
        ];
        let mut given = given.into_iter().flatten();
        given.next().filter(|_| given.next().is_none())
    }

    /// Returns the text, if it is in plain text.
    pub fn literal(&self) -> Option<&Secret> {
        let Some(SecretSourceRef::Literal(text)) = self.source() else { return None };
        Some(text)
    }

    /// Returns the issue with the names at `path`. A plain text is only checked for being empty.
    pub fn issue(&self, path: &str) -> Option<Issue> {
        let forms = format!("write {FORMS}");
        let (code, message, help) = match self.source() {
            None => (
                "reckon::secret::not_one_source",
                "a secret has exactly one source",
                forms.as_str(),
            ),
            Some(SecretSourceRef::Env(name)) if !is_variable(name) => (
                "reckon::secret::env_name",
                "invalid name of an environment variable",
                "write capital letters, digits and `_`, such as `{env: CODE_ACME}`",
            ),
            Some(SecretSourceRef::File(name)) if !is_relative(name) => (
                "reckon::secret::file_name",
                "invalid path of a file in the folder of secrets",
                "write a relative path without `..`, such as `{file: acme/code}`",
            ),
            Some(SecretSourceRef::Exec(name)) if !is_program(name) => (
                "reckon::secret::exec_name",
                "invalid name of a program",
                "write a name that `secrets.exec` of reckon.yaml declares, such as `{exec: card-of-jane}`; never a command",
            ),
            Some(SecretSourceRef::Age(text)) if !is_sealed(text) => (
                "reckon::secret::age_malformed",
                "the text is not a sealed text",
                "write the whole text that `reckon seal KIND/NAME FIELD` prints, with its first and last line",
            ),
            Some(SecretSourceRef::Literal(text)) if text.expose().trim().is_empty() => {
                ("reckon::secret::empty", "the secret is empty", forms.as_str())
            }
            Some(
                SecretSourceRef::Env(_)
                | SecretSourceRef::File(_)
                | SecretSourceRef::Exec(_)
                | SecretSourceRef::Age(_)
                | SecretSourceRef::Literal(_),
            ) => return None,
        };
        Some(Issue::error(code, path, message, help))
    }

    /// As [`Self::issue`], but refuses plain text: no published test value can replace it.
    pub fn hidden_issue(&self, path: &str) -> Option<Issue> {
        self.issue(path).or_else(|| {
            self.literal().map(|_| {
                let message = "the secret is in plain text";
                let help = format!("write {FORMS}");
                Issue::error("reckon::secret::in_the_open", path, message, help)
            })
        })
    }
}

/// Returns whether `name` is valid for this type of source (`env`, `file` or `exec`).
pub fn is_name(place: &str, name: &str) -> bool {
    match place {
        "env" => is_variable(name),
        "file" => is_relative(name),
        "exec" => is_program(name),
        _ => false,
    }
}

/// Matches `[A-Z_][A-Z0-9_]*`.
fn is_variable(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit();
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(allowed)
}

/// Matches a relative path that cannot leave its folder.
fn is_relative(name: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    name.split('/').all(plain) && !name.chars().any(|c| c.is_control() || c == '\\')
}

/// Matches a name that `secrets.exec` may give to a program: letters, digits, `-`, `_` and `.`,
/// beginning with a letter or a digit.
pub fn is_program(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= PROGRAM_LENGTH_MAX
        && name.chars().all(allowed)
}

#[expect(clippy::ref_option, reason = "serde passes the field by reference")]
fn serialize_exposed<S: Serializer>(
    literal: &Option<Secret>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    literal.as_ref().map(Secret::expose).serialize(serializer)
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

#[cfg(test)]
mod tests;
