//! Field that the service has and a spec must not: `reckon` fills it in, or another field replaces
//! it.
//!
//! The spec's struct declares such a field, so that its issue has its own place and help, beside
//! every other issue. Its value is never read.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};

use crate::model::issue::Issue;

/// Presence of a refused field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RefusedField {
    is_written: bool,
}

impl RefusedField {
    /// Returns the issue at `path`, where the field was written.
    pub fn issue(self, path: &str, message: &str, help: &str) -> Option<Issue> {
        let issue =
            || Issue::error("reckon::spec::refused_field", path, message, help).underline_key();
        self.is_written.then(issue)
    }
}

impl<'de> Deserialize<'de> for RefusedField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer)?;
        Ok(Self { is_written: true })
    }
}
