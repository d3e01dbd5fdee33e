//! Snippets of a masked text, found by line number without reading the text from its start.

use std::ops::Range;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use crate::model::issue::PlacedIssue;
use crate::spec::text::lines::SourceText;
use crate::spec::text::mask::MaskedSource;

/// Bytes of the lines around a problem above which no snippet is shown.
const SHOWN_BYTES_MAX: usize = 2000;

/// Text around one problem.
#[derive(Debug)]
pub(super) struct Snippet<'a>(&'a SourceText);

impl<'a> Snippet<'a> {
    /// Returns the snippet of a problem; `None` if there is no text or too much.
    pub(super) fn of(masked: &'a MaskedSource, problem: &PlacedIssue) -> Option<Self> {
        let source = masked.source();
        let inside = problem.line <= source.count() && !source.text.is_empty();
        let here = problem.related.iter().filter(|place| place.file == problem.file);
        let mut lines = here.map(|place| place.line).chain([problem.line]);
        let short = lines.all(|line| {
            let after = source.start(line.saturating_add(2));
            after.saturating_sub(source.start(line.saturating_sub(1))) <= SHOWN_BYTES_MAX
        });
        (inside && short).then_some(Self(source))
    }

    /// Returns the byte range of `length` characters, at most to the end of the line.
    pub(super) fn byte_range(&self, line: usize, column: usize, length: usize) -> Range<usize> {
        let end_of_line = self.line_end(line);
        let start = self.0.byte(line, column).min(end_of_line);
        let end = self.0.byte(line, column.saturating_add(length)).min(end_of_line);
        start..end.max(start)
    }

    /// Returns the byte range of the word that starts there.
    pub(super) fn word_range(&self, line: usize, column: usize) -> Range<usize> {
        let Range { start, end } = self.byte_range(line, column, usize::MAX);
        let rest = self.0.text.get(start..end).unwrap_or_default();
        let stop = rest.find([' ', ',', ':', '}', ']']);
        start..start.saturating_add(stop.unwrap_or(rest.len()))
    }

    /// Returns the byte after a line's last character.
    fn line_end(&self, line: usize) -> usize {
        let range = self.0.start(line)..self.0.start(line.saturating_add(1));
        let text = self.0.text.get(range.clone()).unwrap_or_default();
        range.start.saturating_add(text.trim_end_matches(['\n', '\r']).len())
    }
}

impl SourceCode for Snippet<'_> {
    fn read_span<'b>(
        &'b self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'b> + 'b>, MietteError> {
        let Self(source) = self;
        let last = span.offset().saturating_add(span.len().saturating_sub(1));
        let (line, column) = source.position(span.offset());
        let (last_line, _) = source.position(last);
        let first_line = line.saturating_sub(before).max(1);
        let start = if before == 0 { span.offset() } else { source.start(first_line) };
        let end = self.line_end(last_line.saturating_add(after).min(source.count())).max(start);
        let data = source.text.as_bytes().get(start..end).ok_or(MietteError::OutOfBounds)?;
        Ok(Box::new(MietteSpanContents::new_named(
            source.file.to_string(),
            data,
            (start, data.len()).into(),
            first_line.saturating_sub(1),
            if before == 0 { column.saturating_sub(1) } else { 0 },
            last_line.saturating_add(after).saturating_sub(first_line),
        )))
    }
}
