//! Converts bytes of a text to lines and columns, both from 1, columns in characters.

use std::ops::Range;
use std::sync::Arc;

use super::split::next_line;
use crate::model::issue::{PlacedIssue, RelatedPlace};
use crate::spec::text::finding::Finding;

/// A file's text with a table of its lines.
#[derive(Clone, PartialEq, Eq)]
pub struct SourceText {
    /// The file's name in reports, relative to the directory of `reckon.yaml`.
    pub file: Arc<str>,
    /// The text, without a byte order mark.
    pub text: Arc<str>,
    starts: Vec<usize>,
}

impl std::fmt::Debug for SourceText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Source({}, {} lines)", self.file, self.starts.len())
    }
}

impl SourceText {
    /// Builds the line table.
    pub fn new(file: Arc<str>, text: Arc<str>) -> Self {
        let mut starts = vec![0];
        let mut at = 0;
        while at < text.len() {
            at = next_line(&text, at);
            starts.push(at);
        }
        if starts.len() > 1 && !text.ends_with(['\n', '\r']) {
            starts.pop();
        }
        Self { file, text, starts }
    }

    /// Returns the line and column of a byte.
    pub fn position(&self, byte: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= byte).max(1);
        let start = self.start(line);
        let before = self.text.get(start..byte.max(start)).unwrap_or_default();
        (line, before.chars().count().saturating_add(1))
    }

    /// Returns the byte of a line and column; the end of the text for places beyond it.
    pub fn byte(&self, line: usize, column: usize) -> usize {
        let start = self.start(line);
        let rest = self.text.get(start..).unwrap_or_default();
        let skip = column.saturating_sub(1);
        let within = rest.char_indices().nth(skip).map_or(rest.len(), |(at, _)| at);
        start.saturating_add(within)
    }

    /// Returns the byte at which a line (from 1) starts; the end of the text for lines beyond it.
    pub fn start(&self, line: usize) -> usize {
        self.starts.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len())
    }

    /// Returns the number of lines, at least 1.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Returns a finding with its place.
    pub fn problem(&self, finding: &Finding) -> PlacedIssue {
        let (line, column) = self.position(finding.span.start);
        let related = finding.related.iter().map(|(span, message)| {
            let (line, column) = self.position(span.start);
            RelatedPlace { file: self.file.to_string(), line, column, message: message.clone() }
        });
        PlacedIssue {
            file: self.file.to_string(),
            line,
            column,
            length: self.length(&finding.span),
            code: finding.code.to_owned(),
            severity: finding.severity,
            message: finding.message.clone(),
            help: finding.help.clone(),
            related: related.collect(),
        }
    }

    /// Returns the characters of a range on its first line, at least 1.
    pub fn length(&self, span: &Range<usize>) -> usize {
        let guilty = self.text.get(span.clone()).unwrap_or_default();
        let line = guilty.split(['\n', '\r']).next().unwrap_or_default();
        line.chars().count().max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one_and_back() {
        let source = SourceText::new("f".into(), "aé\r\n\rb".into());
        assert_eq!(source.count(), 3);
        for (byte, place) in [(0, (1, 1)), (1, (1, 2)), (3, (1, 3)), (5, (2, 1)), (6, (3, 1))] {
            assert_eq!(source.position(byte), place);
            assert_eq!(source.byte(place.0, place.1), byte);
        }
        assert_eq!(source.position(7), (3, 2));
        assert_eq!(source.length(&(1..7)), 1);
        assert_eq!(SourceText::new("f".into(), "".into()).position(0), (1, 1));
    }
}
