//! What is wrong with a text before it has fields: a range of bytes, a code, a help.
//!
//! A [`Finding`] speaks of bytes of one text, an [`Issue`](crate::model::issue::Issue) of fields of
//! one document; both end as a [`Problem`](crate::model::issue::Problem).

use std::ops::Range;

use crate::model::issue::Severity;

/// One thing wrong with a text, by its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Stable for ever: `reckon::yaml::duplicate_key`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The guilty bytes of the text; empty where something is missing.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
    /// Other places of the same text.
    pub related: Vec<(Range<usize>, String)>,
}

impl Finding {
    /// An error at `span`.
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

    /// The same finding as a warning.
    #[must_use]
    pub fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// The same finding with a second place.
    #[must_use]
    pub fn related(mut self, span: Range<usize>, message: impl Into<String>) -> Self {
        self.related.push((span, message.into()));
        self
    }
}
