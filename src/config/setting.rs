//! A value of the file, or the name of the variable that holds it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::base::wording;

pub trait EnvSource {
    /// Returns the variable's text; `None` where it is unset or not UTF-8.
    fn var(&self, name: &str) -> Option<String>;
}

impl<F: Fn(&str) -> Option<String>> EnvSource for F {
    fn var(&self, name: &str) -> Option<String> {
        self(name)
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessEnv;

impl EnvSource for ProcessEnv {
    #[expect(clippy::disallowed_methods, reason = "the environment is read in config and cli only")]
    fn var(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

/// The reason why a text does not fit. Neither field holds the text of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidValue {
    pub message: String,
    pub help: String,
}

impl InvalidValue {
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

/// A value written as one scalar in the file, or in a variable.
pub trait FromText: Sized {
    /// Parses a text; relative paths start at `dir`.
    ///
    /// # Errors
    /// The text does not fit.
    fn from_text(text: &str, dir: &Path) -> Result<Self, InvalidValue>;

    /// Returns the JSON Schema of the text; its title names the type in words.
    fn schema() -> Value {
        text_schema("text")
    }
}

/// Returns the schema of any text, which YAML may also read as a number or a truth value.
pub(crate) fn text_schema(title: &str) -> Value {
    json!({ "title": title, "type": ["string", "number", "boolean"] })
}

pub(crate) fn word_schema(words: &[&str]) -> Value {
    json!({ "title": "word", "enum": words })
}

pub(crate) fn parse_word<T: Copy>(
    text: &str,
    words: &[(&'static str, T)],
) -> Result<T, InvalidValue> {
    let found = words.iter().find(|(known, _)| *known == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let help = wording::suggestion_help(text, words.iter().map(|(known, _)| *known));
        InvalidValue::new(format!("unknown value `{text}`"), help)
    })
}

/// Declares the words of a type, each with its value.
macro_rules! words {
    ($type:ident: $($word:literal => $value:ident),+) => {
        impl $crate::config::setting::FromText for $type {
            fn from_text(
                text: &str,
                _dir: &std::path::Path,
            ) -> Result<Self, $crate::config::setting::InvalidValue> {
                $crate::config::setting::parse_word(text, &[$(($word, Self::$value)),+])
            }

            fn schema() -> serde_json::Value {
                $crate::config::setting::word_schema(&[$($word),+])
            }
        }
    };
}

pub(crate) use words;

/// The value, or the name of its variable.
impl<T: FromText> JsonSchema for Setting<T> {
    fn schema_name() -> Cow<'static, str> {
        "Setting".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut value = T::schema();
        let title = value.as_object_mut().and_then(|value| value.shift_remove("title"));
        let variable = json!({
            "type": "object",
            "properties": { "env": { "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" } },
            "required": ["env"],
        });
        json_schema!({ "title": title, "anyOf": [value, variable] })
    }
}

/// The reason why a setting has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Exit code 4.
    #[error("the variable `{variable}`, which {file}:{line} names, is not set")]
    Unset {
        variable: String,
        file: Arc<str>,
        /// The line in that file, from 1.
        line: usize,
    },
    /// Exit code 4. The variable's text is not shown.
    #[error(
        "the variable `{variable}`, which {file}:{line} names, has an invalid value: {message}; {help}"
    )]
    Invalid {
        variable: String,
        file: Arc<str>,
        /// The line in that file, from 1.
        line: usize,
        message: String,
        help: String,
    },
    /// Exit code 1: the file lacks a field that the command needs.
    #[error("`{path}` is missing in {file}")]
    Missing { path: &'static str, file: Arc<str> },
}

#[derive(derive_more::Debug, Clone, PartialEq, Eq)]
pub enum Setting<T> {
    /// Written in the file, or the default.
    #[debug("{_0:?}")]
    Literal(T),
    /// Held by a variable, read at first use.
    #[debug("{{env: {}}}", _0.name)]
    Env(Variable),
}

/// A value, and its place as `FILE:LINE`.
#[derive(Debug, Clone)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    pub(crate) place: Arc<str>,
}

impl<T: JsonSchema> JsonSchema for Placed<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A reference to a variable, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub file: Arc<str>,
    /// The line in that file, from 1.
    pub line: usize,
    /// The folder from which relative paths start.
    pub dir: Arc<Path>,
}

impl<T: FromText + Clone> Setting<T> {
    /// Returns the value.
    ///
    /// # Errors
    /// The variable is unset, or does not fit.
    pub fn get(&self, env: &dyn EnvSource) -> Result<T, ConfigError> {
        match self {
            Self::Literal(value) => Ok(value.clone()),
            Self::Env(variable) => variable.get(env),
        }
    }
}

pub(crate) fn resolve_optional<T: FromText + Clone>(
    setting: Option<&Setting<T>>,
    env: &dyn EnvSource,
) -> Result<Option<T>, ConfigError> {
    setting.map(|setting| setting.get(env)).transpose()
}

impl Variable {
    fn get<T: FromText>(&self, env: &dyn EnvSource) -> Result<T, ConfigError> {
        let Self { name, file, line, dir } = self;
        let (variable, file, line) = (name.clone(), file.clone(), *line);
        let Some(text) = env.var(name) else {
            return Err(ConfigError::Unset { variable, file, line });
        };
        T::from_text(&text, dir).map_err(|InvalidValue { message, help }| {
            let message = mask_text(&message, &text);
            ConfigError::Invalid { variable, file, line, message, help: mask_text(&help, &text) }
        })
    }
}

fn mask_text(message: &str, text: &str) -> String {
    if text.is_empty() { message.to_owned() } else { message.replace(text, "•••") }
}
