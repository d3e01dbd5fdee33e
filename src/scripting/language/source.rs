//! A file of the scripts folder, and positions in its text.

use std::sync::Arc;

use rhai::Position;

use crate::model::issue::{PlacedIssue, Severity};

/// End of the names of scripts and modules.
pub(crate) const ENDING: &str = ".rhai";

/// A file of the scripts folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScriptSource {
    /// Path within the scripts folder, with slashes: `dunning.rhai`, `lib/dates.rhai`.
    pub path: String,
    /// Name in problems: the path from the folder of `reckon.yaml`.
    pub display_path: String,
    pub text: Arc<str>,
}

impl ScriptSource {
    /// Returns a file whose path is also its name in problems.
    pub(crate) fn named(name: &str, text: &str) -> Self {
        Self { path: name.to_owned(), display_path: name.to_owned(), text: text.into() }
    }

    /// Returns the path without `.rhai`: the name of a script, or the path in the `import` of a
    /// module.
    pub fn name(&self) -> &str {
        self.path.strip_suffix(ENDING).unwrap_or(&self.path)
    }

    /// Returns true for a module, which is imported and handles no event.
    pub fn is_module(&self) -> bool {
        self.path.contains('/')
    }

    /// Returns a problem at a line and column, both from 1; the word at that place is underlined.
    pub(crate) fn problem(
        &self,
        at: (usize, usize),
        code: &str,
        message: &str,
        help: &str,
    ) -> PlacedIssue {
        let (line, column) = at;
        PlacedIssue {
            file: self.display_path.clone(),
            line,
            column,
            length: self.word_length(at),
            code: format!("reckon::hooks::{code}"),
            severity: Severity::Error,
            message: message.to_owned(),
            help: help.to_owned(),
            related: Vec::new(),
        }
    }

    /// Returns the word at a place if a colon follows it.
    pub(crate) fn key_at(&self, (line, column): (usize, usize)) -> Option<String> {
        let line = self.text.lines().nth(line.saturating_sub(1))?;
        let rest: String = line.chars().skip(column.saturating_sub(1)).collect();
        let word: String =
            rest.chars().take_while(|one| one.is_alphanumeric() || *one == '_').collect();
        let behind = rest.strip_prefix(word.as_str())?.trim_start();
        let is_key = behind.starts_with(':') && !behind.starts_with("::") && !word.is_empty();
        is_key.then_some(word)
    }

    /// Returns the length in characters of the word or quoted text at a place; at least 1.
    fn word_length(&self, (line, column): (usize, usize)) -> usize {
        let line = self.text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        let rest: Vec<char> = line.chars().skip(column.saturating_sub(1)).collect();
        let quoted = rest.first().is_some_and(|first| ['"', '`', '\''].contains(first));
        let length = if quoted {
            let end = rest.iter().skip(1).position(|found| rest.first() == Some(found));
            end.map_or(rest.len(), |end| end.saturating_add(2))
        } else {
            rest.iter().take_while(|found| found.is_alphanumeric() || **found == '_').count()
        };
        length.max(1)
    }

    /// Returns the place of the name in `fn NAME`, searched upwards from a line.
    pub(crate) fn definition(&self, name: &str, line: usize) -> (usize, usize) {
        let before: Vec<&str> = self.text.lines().take(line).collect();
        let found = before.iter().enumerate().rev().find_map(|(index, text)| {
            let column = name_column(text, name)?;
            Some((index.saturating_add(1), column))
        });
        found.unwrap_or((line.max(1), 1))
    }
}

/// Removes the byte order mark that editors may write.
pub(crate) fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Returns the column of the name if the line defines the function.
fn name_column(line: &str, name: &str) -> Option<usize> {
    let start = line.find("fn ")?;
    let (before, rest) = line.split_at_checked(start)?;
    let after = rest.strip_prefix("fn ")?;
    let trimmed = after.trim_start();
    let end = trimmed.strip_prefix(name)?;
    let skipped = after.chars().count().saturating_sub(trimmed.chars().count());
    (!end.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
        .then(|| before.chars().count().saturating_add(skipped).saturating_add(4))
}

/// Returns the functions that a text defines, judged by the starts of its lines.
pub(crate) fn defined_functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let line = line.strip_prefix("private ").unwrap_or(line);
        let name = line.strip_prefix("fn ")?.trim_start();
        name.split(|found: char| !found.is_alphanumeric() && found != '_').next()
    })
}

pub(crate) fn place(position: Position) -> Option<(usize, usize)> {
    Some((position.line()?, position.position().unwrap_or(1).max(1)))
}

/// Converts a position to line and column; the start of the file if there is none.
pub(crate) fn place_or_start(position: Position) -> (usize, usize) {
    place(position).unwrap_or((1, 1))
}
