//! Renders problems for people and for programs.
//!
//! Text has one report per problem with its snippet, at most [`SHOWN_MAX`]. Each report names
//! `FILE:LINE:COLUMN`, whatever the terminal. JSON has all problems (design.md part 4). Snippets
//! come masked from [`MaskedSource`], and are found by line number without reading the text from
//! its start; this module reads no file.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError,
    MietteSpanContents, SourceCode, SourceSpan, SpanContents,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::model::issue::{PlacedIssue, ProblemCounts, RelatedPlace, Severity};
use crate::render::words::push_line;
use crate::spec::text::mask::MaskedSource;
use crate::spec::text::source::SourceText;

/// Problems shown; further ones are only counted. The loader lists no more than this for a tree.
pub const SHOWN_MAX: usize = 1000;
const JSON_VERSION: u32 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputStyle {
    pub color: bool,
    /// Allows our own characters beyond ASCII.
    pub unicode: bool,
    /// Columns of the output.
    pub width: usize,
}

/// Masked text of each file, by the file's name in problems.
pub type Sources = BTreeMap<String, MaskedSource>;

pub(super) fn source_of(name: &str, text: Arc<str>) -> (String, MaskedSource) {
    let text = SourceText::new(Arc::from(name), text);
    (name.to_owned(), MaskedSource::new(&text, &[]))
}

/// Problems of files: the output of `validate -o json` and `hooks check -o json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProblemsView<'a> {
    version: u32,
    /// Documents or scripts that were checked.
    documents: usize,
    problems: &'a [PlacedIssue],
    /// Problems that are not listed.
    #[serde(skip_serializing_if = "ProblemCounts::is_zero")]
    omitted: ProblemCounts,
}

impl<'a> ProblemsView<'a> {
    pub fn new(documents: usize, problems: &'a [PlacedIssue], omitted: ProblemCounts) -> Self {
        Self { version: JSON_VERSION, documents, problems, omitted }
    }
}

pub fn text(problems: &[PlacedIssue], sources: &Sources, look: OutputStyle) -> String {
    let handler = handler(look);
    let mut out = String::new();
    for problem in problems.iter().take(SHOWN_MAX) {
        render_problem(&handler, problem, sources, &mut out);
    }
    let more = problems.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        push_line!(out, "{more} more; `-o json` lists all");
    }
    out
}

fn handler(look: OutputStyle) -> GraphicalReportHandler {
    let theme = match (look.unicode, look.color) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::unicode_nocolor(),
        (false, _) => GraphicalTheme::none(),
    };
    GraphicalReportHandler::new_themed(theme).with_links(false).with_width(look.width)
}

fn render_problem(
    handler: &GraphicalReportHandler,
    problem: &PlacedIssue,
    sources: &Sources,
    out: &mut String,
) {
    let report = ProblemReport::new(problem, sources);
    let rendered = handler.render_report(out, &report);
    if rendered.is_err() || report.snippet.is_none() {
        let PlacedIssue { file, line, column, .. } = problem;
        push_line!(out, "  at {file}:{line}:{column}");
    }
    for RelatedPlace { file, line, column, message } in report.other_places() {
        push_line!(out, "  see {file}:{line}:{column}: {message}");
    }
    out.push('\n');
}

/// A problem in the form that miette takes.
#[derive(Debug, thiserror::Error)]
#[error("{}", .problem.message)]
struct ProblemReport<'a> {
    problem: &'a PlacedIssue,
    snippet: Option<Snippet<'a>>,
}

impl<'a> ProblemReport<'a> {
    fn new(problem: &'a PlacedIssue, sources: &'a Sources) -> Self {
        let snippet = sources.get(&problem.file).and_then(|source| Snippet::of(source, problem));
        Self { problem, snippet }
    }

    /// Returns the related places that the snippet does not show.
    fn other_places(&self) -> impl Iterator<Item = &'a RelatedPlace> {
        let shown = self.snippet.is_some();
        let file = &self.problem.file;
        self.problem.related.iter().filter(move |place| !shown || place.file != *file)
    }
}

impl Diagnostic for ProblemReport<'_> {
    fn code<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        Some(Box::new(&self.problem.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.problem.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        Some(Box::new(&self.problem.help))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self.snippet.as_ref()?)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let snippet = self.snippet.as_ref()?;
        let PlacedIssue { line, column, length, file, related, .. } = self.problem;
        let span = |range: Range<usize>| SourceSpan::from(range);
        let first = snippet.byte_range(*line, *column, *length);
        let primary = LabeledSpan::new_primary_with_span(None, span(first));
        let here = related.iter().filter(move |place| place.file == *file);
        let others = here.map(move |place| {
            let range = snippet.word_range(place.line, place.column);
            LabeledSpan::new_with_span(Some(place.message.clone()), span(range))
        });
        Some(Box::new(std::iter::once(primary).chain(others)))
    }
}

/// Bytes of the lines around a problem above which no snippet is shown.
const SHOWN_BYTES_MAX: usize = 2000;

/// Text around one problem.
#[derive(Debug)]
pub(crate) struct Snippet<'a>(&'a SourceText);

impl<'a> Snippet<'a> {
    /// Returns the snippet of a problem; `None` if there is no text or too much.
    pub(crate) fn of(masked: &'a MaskedSource, problem: &PlacedIssue) -> Option<Self> {
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
    pub(crate) fn byte_range(&self, line: usize, column: usize, length: usize) -> Range<usize> {
        let end_of_line = self.line_end(line);
        let start = self.0.byte(line, column).min(end_of_line);
        let end = self.0.byte(line, column.saturating_add(length)).min(end_of_line);
        start..end.max(start)
    }

    /// Returns the byte range of the word that starts there.
    pub(crate) fn word_range(&self, line: usize, column: usize) -> Range<usize> {
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

#[cfg(test)]
mod tests;
