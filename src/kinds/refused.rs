//! A field that the service has and a spec must not: `reckon` fills it in, or another field stands for it.
//!
//! Declared in the spec's struct so that it is told at its own place with its own help, and beside
//! everything else that is wrong. Its value is never looked at.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};

use crate::model::issue::Issue;

/// Whether the field was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refused {
    given: bool,
}

impl Refused {
    /// The issue at `path`, where the field was written.
    pub fn issue(self, path: &str, message: &str, help: &str) -> Option<Issue> {
        let issue = || Issue::error("reckon::spec::refused_field", path, message, help).at_key();
        self.given.then(issue)
    }
}

impl<'de> Deserialize<'de> for Refused {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer)?;
        Ok(Self { given: true })
    }
}
