//! Which variables a spec may read (design.md part 5).

use std::collections::BTreeSet;
use std::path::Path;

use crate::config::setting::{FromText, Wrong};

/// One line of `secrets.env`: a name, or a prefix and `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvPattern {
    /// This variable.
    Exact(String),
    /// All variables whose names start so; never empty.
    Prefix(String),
}

impl EnvPattern {
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Exact(exact) => name == exact,
            Self::Prefix(prefix) => name.starts_with(prefix),
        }
    }
}

impl FromText for EnvPattern {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, Wrong> {
        let (name, prefix) = match text.strip_suffix('*') {
            Some(prefix) => (prefix, true),
            None => (text, false),
        };
        if !is_variable(name) {
            let message = format!("`{text}` names no variables");
            return Err(Wrong::new(message, "write a name, or a prefix and `*`, such as `CODE_*`"));
        }
        let name = name.to_owned();
        Ok(if prefix { Self::Prefix(name) } else { Self::Exact(name) })
    }
}

/// Whether a text can be the name of a variable.
pub(super) fn is_variable(name: &str) -> bool {
    let word = |found: char| found.is_ascii_alphanumeric() || found == '_';
    name.chars().all(word) && name.chars().next().is_some_and(|first| !first.is_ascii_digit())
}

/// The variables that specs may read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables {
    open: Vec<EnvPattern>,
    own: BTreeSet<String>,
}

impl Variables {
    /// `own` are those that the operator's file reads; they stay closed whatever is open.
    pub fn new(open: Vec<EnvPattern>, own: BTreeSet<String>) -> Self {
        Self { open, own }
    }

    /// May a spec name this variable?
    pub fn is_open(&self, name: &str) -> bool {
        !self.own.contains(name) && self.open.iter().any(|pattern| pattern.matches(name))
    }
}
