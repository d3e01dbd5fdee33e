//! What is wrong with a document, said in terms of its fields and never of bytes.
//!
//! A check names a *path* (`spec.line_items[0].rate_per_quantity`); only `spec` knows where that
//! path stands in a file, and only for documents that have an issue.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::id::Key;

/// One step of a path into a document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A key of a mapping.
    Key(String),
    /// A place in a sequence, from 0.
    Index(usize),
}

/// A path from the root of a document to a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub Vec<Segment>);

impl Path {
    /// Reads `spec.line_items[0].rate`. Keys that hold a dot cannot be written this way.
    pub fn parse(text: &str) -> Self {
        let mut segments = Vec::new();
        for part in text.split('.').filter(|part| !part.is_empty()) {
            let mut pieces = part.split('[');
            if let Some(key) = pieces.next().filter(|key| !key.is_empty()) {
                segments.push(Segment::Key(key.to_owned()));
            }
            let indexes = pieces.filter_map(|piece| piece.trim_end_matches(']').parse().ok());
            segments.extend(indexes.map(Segment::Index));
        }
        Self(segments)
    }

    /// This path and one more key.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        let mut segments = self.0.clone();
        segments.push(Segment::Key(key.to_owned()));
        Self(segments)
    }

    /// This path and one more place in a sequence.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut segments = self.0.clone();
        segments.push(Segment::Index(index));
        Self(segments)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if place == 0 => write!(f, "{key}")?,
                Segment::Key(key) => write!(f, ".{key}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Which part of a field an issue underlines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The field's name: it should not be there, or something is missing beneath it.
    Key,
    /// The field's value.
    Value,
}

/// How bad an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The document cannot be used.
    Error,
    /// The document is used; its author should know.
    Warning,
}

/// A second place that an issue speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// The other document; `None` means the same one.
    pub key: Option<Key>,
    /// Where in that document.
    pub path: Path,
    /// What to say about it.
    pub message: String,
}

/// One thing that is wrong with one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Stable for ever: `reckon::invoice::total_zero`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Which field it is about. A path that does not exist points at its nearest ancestor.
    pub path: Path,
    /// Whether the field's name or value is underlined.
    pub at: At,
    /// What is wrong and why, in a sentence without a full stop.
    pub message: String,
    /// What to write instead.
    pub help: String,
    /// Other places that matter.
    pub related: Vec<Related>,
}

impl Issue {
    /// An error about the value at `path` (written as [`Path::parse`] reads it).
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
            at: At::Value,
            message: message.into(),
            help: help.into(),
            related: Vec::new(),
        }
    }

    /// The same issue, pointing at the field's name.
    #[must_use]
    pub fn at_key(mut self) -> Self {
        self.at = At::Key;
        self
    }

    /// The same issue as a warning.
    #[must_use]
    pub fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// The same issue with a second place.
    #[must_use]
    pub fn related(mut self, key: Option<Key>, path: &str, message: impl Into<String>) -> Self {
        self.related.push(Related { key, path: Path::parse(path), message: message.into() });
        self
    }
}

/// An issue with its place in a file: what `validate -o json` prints (design.md part 4).
/// Lines and columns count from 1, columns in characters; `length` is in characters too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// The file, relative to the directory of `reckon.yaml`.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// How many characters are underlined, at least 1.
    pub length: usize,
    /// The stable code.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
    /// Other places that matter.
    pub related: Vec<RelatedPlace>,
}

/// A second place of a [`Problem`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RelatedPlace {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What to say about it.
    pub message: String,
}

/// Counts of problems by severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProblemCounts {
    /// Problems that make a document unusable.
    pub errors: usize,
    /// Problems that leave a document usable.
    pub warnings: usize,
}

impl ProblemCounts {
    /// Counts one more problem.
    pub fn add(&mut self, severity: Severity) {
        let count = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        *count = count.saturating_add(1);
    }

    /// The sum of both counts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let Self { errors, warnings } = other;
        Self {
            errors: self.errors.saturating_add(errors),
            warnings: self.warnings.saturating_add(warnings),
        }
    }

    /// Whether both counts are 0.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl<'a> FromIterator<&'a Problem> for ProblemCounts {
    fn from_iter<I: IntoIterator<Item = &'a Problem>>(problems: I) -> Self {
        let mut tally = Self::default();
        problems.into_iter().for_each(|problem| tally.add(problem.severity));
        tally
    }
}

/// The problems of a tree: the first ones with their places, and the count of the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    /// Sorted by file and line; bounded per file and in all.
    pub shown: Vec<Problem>,
    /// The problems beyond the bound.
    pub omitted: ProblemCounts,
}

impl Problems {
    /// Counts of all problems, shown or not.
    pub fn total(&self) -> ProblemCounts {
        self.shown.iter().collect::<ProblemCounts>().plus(self.omitted)
    }

    /// Whether a document is unusable.
    pub fn has_errors(&self) -> bool {
        self.total().errors > 0
    }
}
