//! A file's text while it is read: its line table, the room for its problems, and the values that
//! its documents leave out.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use crate::model::issue::{ProblemCounts, Severity};
use crate::spec::defaults::EffectiveDefaults;
use crate::spec::text::source::SourceText;

/// Problems of one file that get a place; the rest is only counted.
pub const PROBLEMS_OF_FILE_MAX: usize = 200;

/// A file's text while it is read. Its line table is built with the first problem.
#[derive(Debug)]
pub struct LazySource<'a> {
    pub(crate) file: Arc<str>,
    pub(crate) text: &'a str,
    lines: OnceCell<SourceText>,
    /// The number of problems that may still get a place.
    room: Cell<usize>,
    /// The values that documents leave out.
    pub(crate) defaults: Option<Arc<EffectiveDefaults>>,
}

impl<'a> LazySource<'a> {
    /// Returns a file's text, under its name in reports.
    pub fn new(file: Arc<str>, text: &'a str) -> Self {
        let room = Cell::new(PROBLEMS_OF_FILE_MAX);
        Self { file, text, lines: OnceCell::new(), room, defaults: None }
    }

    /// Sets the values that documents of this file leave out.
    pub(crate) fn with_defaults(self, defaults: Option<Arc<EffectiveDefaults>>) -> Self {
        Self { defaults, ..self }
    }

    pub fn source(&self) -> &SourceText {
        self.lines.get_or_init(|| SourceText::new(self.file.clone(), Arc::from(self.text)))
    }

    /// Splits problems into those that still get a place and the count of the rest.
    pub(crate) fn admit<T>(
        &self,
        mut found: Vec<T>,
        severity: impl Fn(&T) -> Severity,
    ) -> (Vec<T>, ProblemCounts) {
        let rest = found.split_off(found.len().min(self.room.get()));
        self.room.set(self.room.get().saturating_sub(found.len()));
        let mut omitted = ProblemCounts::default();
        for one in &rest {
            omitted.add(severity(one));
        }
        (found, omitted)
    }
}
