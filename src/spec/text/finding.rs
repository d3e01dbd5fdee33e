//! A problem of a text before it has fields: a range of bytes, a code, a help.
//!
//! A [`Finding`] refers to bytes of one text, an [`Issue`](crate::model::issue::Issue) to fields of
//! one document; both end as a [`PlacedIssue`](crate::model::issue::PlacedIssue).

use std::ops::Range;

use crate::model::issue::Severity;

/// One problem of a text, by its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Stable for ever: `reckon::yaml::duplicate_key`.
    pub code: &'static str,
    pub severity: Severity,
    /// The guilty bytes of the text; empty where a part is missing.
    pub span: Range<usize>,
    pub message: String,
    /// The text to write instead.
    pub help: String,
    /// Other places of the same text.
    pub related: Vec<(Range<usize>, String)>,
}

impl Finding {
    /// Returns an error at `span`.
    pub fn error(
        code: &'static str,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity: Severity::Error,
            span,
            message: message.into(),
            help: help.into(),
            related: Vec::new(),
        }
    }

    /// Turns the finding into a warning.
    #[must_use]
    pub fn into_warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// Adds a second place.
    #[must_use]
    pub fn with_related(mut self, span: Range<usize>, message: impl Into<String>) -> Self {
        self.related.push((span, message.into()));
        self
    }
}
