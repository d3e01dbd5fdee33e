//! Reads the entries of `secrets.env`.

use std::path::Path;

use crate::config::setting::{FromText, InvalidValue};
use crate::kinds::schema::open_variables::EnvPattern;

impl FromText for EnvPattern {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let (name, prefix) = match text.strip_suffix('*') {
            Some(prefix) => (prefix, true),
            None => (text, false),
        };
        if !is_variable_name(name) {
            let message = format!("`{text}` is not the name of a variable");
            return Err(InvalidValue::new(
                message,
                "write a name, or a prefix and `*`, such as `CODE_*`",
            ));
        }
        let name = name.to_owned();
        Ok(if prefix { Self::Prefix(name) } else { Self::Exact(name) })
    }
}

/// Returns whether a text can be the name of a variable.
pub(crate) fn is_variable_name(name: &str) -> bool {
    let word = |found: char| found.is_ascii_alphanumeric() || found == '_';
    name.chars().all(word) && name.chars().next().is_some_and(|first| !first.is_ascii_digit())
}
