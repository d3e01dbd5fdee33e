//! The text of a file: its documents, by their marker lines alone, and its lines and columns.
//!
//! Lines and columns count from 1, columns in characters. YAML forbids a line that starts with
//! `---` or `...` inside any scalar. So the split needs no parser, and a document that does not
//! parse cannot hide the ones after it.

use std::ops::Range;
use std::sync::Arc;

use crate::model::issue::{PlacedIssue, RelatedPlace};
use crate::spec::text::decode::Finding;

#[derive(derive_more::Debug, Clone, PartialEq, Eq)]
#[debug("Source({file}, {} lines)", starts.len())]
pub struct SourceText {
    /// The file's name in reports, relative to the directory of `reckon.yaml`.
    pub file: Arc<str>,
    /// The text, without a byte order mark.
    pub text: Arc<str>,
    starts: Vec<usize>,
}

impl SourceText {
    pub fn new(file: Arc<str>, text: Arc<str>) -> Self {
        let (mut starts, mut at) = (vec![0], 0);
        while at < text.len() {
            at = next_line(&text, at);
            starts.push(at);
        }
        if starts.len() > 1 && !text.ends_with(['\n', '\r']) {
            starts.pop();
        }
        Self { file, text, starts }
    }

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

    pub fn count(&self) -> usize {
        self.starts.len()
    }

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
        guilty.split(['\n', '\r']).next().unwrap_or_default().chars().count().max(1)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// The bytes from the document's first line with content to the next marker.
    pub range: Range<usize>,
    /// From 1.
    pub line: usize,
}

/// Returns the documents of a text in order; empty ones are left out.
pub fn split(text: &str) -> (Vec<Slice>, Vec<Finding>) {
    let mut cut =
        Splitter { slices: Vec::new(), findings: Vec::new(), open: None, directive: None };
    let (mut line, mut start) = (1_usize, 0_usize);
    while start < text.len() {
        let next = next_line(text, start);
        cut.line(text, start..next, line);
        start = next;
        line = line.saturating_add(1);
    }
    cut.close(text.len());
    cut.end_of_directives();
    (cut.slices, cut.findings)
}

/// Returns the byte after the line that starts at `start`; `\n`, `\r\n` and `\r` end a line.
pub(crate) fn next_line(text: &str, start: usize) -> usize {
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    let Some(at) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
        return text.len();
    };
    let end = start.saturating_add(at);
    let pair = rest.get(at..).is_some_and(|tail| tail.starts_with(b"\r\n"));
    end.saturating_add(if pair { 2 } else { 1 })
}

struct Splitter {
    slices: Vec<Slice>,
    findings: Vec<Finding>,
    open: Option<Slice>,
    /// The last directive not yet followed by `---`.
    directive: Option<Range<usize>>,
}

impl Splitter {
    fn line(&mut self, text: &str, range: Range<usize>, line: usize) {
        let content = text.get(range.clone()).unwrap_or_default();
        if let Some(rest) = marker(content, "---") {
            self.close(range.start);
            self.directive = None;
            if has_content(rest) {
                self.open = Some(Slice { range: range.start..range.end, line });
            }
        } else if let Some(rest) = marker(content, "...") {
            self.close(range.start);
            self.end_of_directives();
            if has_content(rest) {
                self.findings.push(Finding::error(
                    "reckon::yaml::syntax",
                    range.start..range.start.saturating_add(3),
                    "text follows the end of a document on the same line",
                    "start the next document with `---` on a line of its own",
                ));
            }
        } else if self.open.is_none() && content.starts_with('%') {
            self.directive(content, range);
        } else if self.open.is_none() && has_content(content) {
            self.directive = None;
            self.open = Some(Slice { range, line });
        }
    }

    fn directive(&mut self, content: &str, range: Range<usize>) {
        let mut words = content.split_whitespace();
        let span = range.start..range.start.saturating_add(content.trim_end().len());
        self.directive = Some(span.clone());
        let known = words.next() == Some("%YAML") && matches!(words.next(), Some("1.1" | "1.2"));
        if !known {
            self.findings.push(Finding::error(
                "reckon::yaml::directive",
                span,
                "this directive is not supported",
                "remove the line",
            ));
        }
    }

    /// Reports a directive without a document: such a file is a mistake, not empty.
    fn end_of_directives(&mut self) {
        if let Some(span) = self.directive.take().filter(|_| self.open.is_none()) {
            self.findings.push(Finding::error(
                "reckon::yaml::directive",
                span,
                "no document follows this directive",
                "add `---` and a document below it, or remove the line",
            ));
        }
    }

    fn close(&mut self, end: usize) {
        let open = self.open.take();
        self.slices.extend(open.map(|open| Slice { range: open.range.start..end, ..open }));
    }
}

fn marker<'a>(content: &'a str, marker: &str) -> Option<&'a str> {
    let rest = content.strip_prefix(marker)?;
    (rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n'])).then_some(rest)
}

fn has_content(content: &str) -> bool {
    let content = content.trim_start();
    !content.is_empty() && !content.starts_with('#')
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

    fn slices(text: &str) -> Vec<(&str, usize)> {
        let (slices, _) = split(text);
        slices.iter().map(|slice| (&text[slice.range.clone()], slice.line)).collect()
    }

    #[test]
    fn documents_are_cut_at_marker_lines_and_empty_ones_are_left_out() {
        assert_eq!(
            slices("a: 1\n---\n# x\n\nb: 2\n...\n---\n---\nc: 3"),
            [("a: 1\n", 1), ("b: 2\n", 5), ("c: 3", 9),]
        );
        assert_eq!(slices("--- {a: 1}\r\n--- # x\rb: 1"), [("--- {a: 1}\r\n", 1), ("b: 1", 3)]);
        assert_eq!(slices("a: |\n  ---\n----\n"), [("a: |\n  ---\n----\n", 1)]);
        assert_eq!(slices("# nothing\n\n"), []);
    }

    #[test]
    fn directives_other_than_the_version_are_refused() {
        assert_eq!(split("%YAML 1.2\n---\na: 1\n").1, []);
        assert_eq!(split("%YAML 1.2\n---\n").1, []);
        for alone in ["%YAML 1.2\n", "%YAML 1.2\n# x\n...\n", "a: 1\n...\n%YAML 1.2\n"] {
            let findings = split(alone).1;
            assert_eq!(findings.len(), 1, "{alone}");
            assert_eq!(findings[0].message, "no document follows this directive");
        }
        let (slices, findings) = split("%TAG ! x\n---\na: 1\n");
        assert_eq!((slices.len(), findings.len()), (1, 1));
        assert_eq!(split("a: 1\n... b\n").1[0].code, "reckon::yaml::syntax");
    }
}
