//! Issues of a document, in terms of its fields and never of bytes.
//!
//! A check names a *path* (`spec.line_items[0].rate_per_quantity`). Only `spec` resolves a path to
//! its place in a file, and only for documents that have an issue.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Key;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathSegment {
    Key(String),
    /// A position in a sequence, from 0.
    Index(usize),
}

/// A path from the root of a document to a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub Vec<PathSegment>);

impl Path {
    /// Parses `spec.line_items[0].rate`. Keys that hold a dot cannot be written this way.
    pub fn parse(text: &str) -> Self {
        let mut segments = Vec::new();
        for part in text.split('.').filter(|part| !part.is_empty()) {
            let mut pieces = part.split('[');
            if let Some(key) = pieces.next().filter(|key| !key.is_empty()) {
                segments.push(PathSegment::Key(key.to_owned()));
            }
            let indexes = pieces.filter_map(|piece| piece.trim_end_matches(']').parse().ok());
            segments.extend(indexes.map(PathSegment::Index));
        }
        Self(segments)
    }

    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        let mut segments = self.0.clone();
        segments.push(PathSegment::Key(key.to_owned()));
        Self(segments)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, segment) in self.0.iter().enumerate() {
            match segment {
                PathSegment::Key(key) if place == 0 => write!(f, "{key}")?,
                PathSegment::Key(key) => write!(f, ".{key}")?,
                PathSegment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnderlinedPart {
    /// The field's name: the field is not allowed, or a field beneath it is missing.
    Key,
    Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    /// The document is used; its author should know.
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// The other document; `None` means the same one.
    pub key: Option<Key>,
    pub path: Path,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Stable for ever: `reckon::invoice::total_zero`.
    pub code: &'static str,
    pub severity: Severity,
    /// The field at fault. A path that does not exist points at its nearest ancestor.
    pub path: Path,
    pub underlined: UnderlinedPart,
    pub message: String,
    /// The text to write instead.
    pub help: String,
    pub related: Vec<Related>,
}

impl Issue {
    /// Makes an error about the value at `path` (written as [`Path::parse`] reads it).
    pub fn error(
        code: &'static str,
        path: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity: Severity::Error,
            path: Path::parse(path),
            underlined: UnderlinedPart::Value,
            message: message.into(),
            help: help.into(),
            related: Vec::new(),
        }
    }

    #[must_use]
    pub fn underline_key(mut self) -> Self {
        self.underlined = UnderlinedPart::Key;
        self
    }

    #[must_use]
    pub fn as_warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    #[must_use]
    pub fn with_related(
        mut self,
        key: Option<Key>,
        path: &str,
        message: impl Into<String>,
    ) -> Self {
        self.related.push(Related { key, path: Path::parse(path), message: message.into() });
        self
    }
}

/// An issue with its place in a file, as `validate -o json` prints it (design.md part 4). Lines and
/// columns count from 1, columns in characters; `length` is in characters too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct PlacedIssue {
    /// The file, relative to the directory of `reckon.yaml`.
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub length: usize,
    pub code: String,
    pub severity: Severity,
    pub message: String,
    pub help: String,
    pub related: Vec<RelatedPlace>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct RelatedPlace {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub message: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProblemCounts {
    pub errors: usize,
    pub warnings: usize,
}

impl ProblemCounts {
    pub fn add(&mut self, severity: Severity) {
        let count = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        *count = count.saturating_add(1);
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let Self { errors, warnings } = other;
        Self {
            errors: self.errors.saturating_add(errors),
            warnings: self.warnings.saturating_add(warnings),
        }
    }

    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl<'a> FromIterator<&'a PlacedIssue> for ProblemCounts {
    fn from_iter<I: IntoIterator<Item = &'a PlacedIssue>>(problems: I) -> Self {
        let mut tally = Self::default();
        problems.into_iter().for_each(|problem| tally.add(problem.severity));
        tally
    }
}

/// The problems of a tree: the first ones with their places, and the count of the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeProblems {
    /// Sorted by file and line; bounded per file and in total.
    pub shown: Vec<PlacedIssue>,
    pub omitted: ProblemCounts,
}

impl TreeProblems {
    pub fn total(&self) -> ProblemCounts {
        self.shown.iter().collect::<ProblemCounts>().plus(self.omitted)
    }

    pub fn has_errors(&self) -> bool {
        self.total().errors > 0
    }
}
