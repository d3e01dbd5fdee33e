//! Environment variables that a spec may read (`secrets.env` of `reckon.yaml`; design.md part 5).

use std::collections::BTreeSet;

/// Line of `secrets.env`: a name, or a prefix and `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvPattern {
    Exact(String),
    /// All variables with this prefix, which is never empty.
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

/// Variables that specs may read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables {
    open: Vec<EnvPattern>,
    own: BTreeSet<String>,
}

impl Variables {
    /// Creates the set; `own` are the variables that the operator's file reads: they stay closed
    /// whatever is open.
    pub fn new(open: Vec<EnvPattern>, own: BTreeSet<String>) -> Self {
        Self { open, own }
    }

    /// Returns whether a spec may name this variable.
    pub fn is_open(&self, name: &str) -> bool {
        !self.own.contains(name) && self.open.iter().any(|pattern| pattern.matches(name))
    }
}
