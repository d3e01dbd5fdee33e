//! Problems for people and for programs.
//!
//! Text: one report per problem with its snippet, at most [`SHOWN_MAX`]; `FILE:LINE:COLUMN` stands
//! in each, whatever the terminal. JSON: all of them (design.md part 4). Snippets come masked from
//! [`MaskedSource`]; nothing here sees a file.

use std::collections::BTreeMap;
use std::fmt;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceSpan};
use serde_json::{Value, json};

use crate::model::issue::{Problem, RelatedPlace, Severity};
use crate::spec::mask::MaskedSource;

mod snippet;

use snippet::Snippet;

/// More problems are counted, not shown. The loader lists no more than this for a tree.
pub const SHOWN_MAX: usize = 1000;

/// The version of the JSON form.
const JSON_VERSION: u32 = 1;

/// How the output may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Whether it may have colours.
    pub color: bool,
    /// Whether it may have characters beyond ASCII of our own.
    pub unicode: bool,
    /// How wide it may be, in columns.
    pub width: usize,
}

/// The masked text of each file, by the name that problems use.
pub type Sources = BTreeMap<String, MaskedSource>;

/// All problems for a program.
pub fn json(documents: usize, problems: &[Problem]) -> Value {
    json!({ "version": JSON_VERSION, "documents": documents, "problems": problems })
}

/// The first problems for people, and how many more there are.
pub fn text(problems: &[Problem], sources: &Sources, look: Look) -> String {
    let handler = handler(look);
    let mut out = String::new();
    for problem in problems.iter().take(SHOWN_MAX) {
        one(&handler, problem, sources, &mut out);
    }
    let more = problems.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        let line = format!("{more} more; the JSON form has all of them\n");
        out.push_str(&line);
    }
    out
}

fn handler(look: Look) -> GraphicalReportHandler {
    let theme = match (look.unicode, look.color) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::unicode_nocolor(),
        (false, _) => GraphicalTheme::none(),
    };
    GraphicalReportHandler::new_themed(theme).with_links(false).with_width(look.width)
}

fn one(handler: &GraphicalReportHandler, problem: &Problem, sources: &Sources, out: &mut String) {
    let report = Report::of(problem, sources);
    let rendered = handler.render_report(out, &report);
    if rendered.is_err() || report.snippet.is_none() {
        let Problem { file, line, column, .. } = problem;
        let place = format!("  at {file}:{line}:{column}\n");
        out.push_str(&place);
    }
    for RelatedPlace { file, line, column, message } in report.elsewhere() {
        let place = format!("  see {file}:{line}:{column}: {message}\n");
        out.push_str(&place);
    }
    out.push('\n');
}

/// A problem as miette takes it.
struct Report<'a> {
    problem: &'a Problem,
    snippet: Option<Snippet<'a>>,
}

impl<'a> Report<'a> {
    fn of(problem: &'a Problem, sources: &'a Sources) -> Self {
        let snippet = sources.get(&problem.file).and_then(|source| Snippet::of(source, problem));
        Self { problem, snippet }
    }

    /// The second places that the snippet does not show.
    fn elsewhere(&self) -> impl Iterator<Item = &'a RelatedPlace> {
        let shown = self.snippet.is_some();
        let file = &self.problem.file;
        self.problem.related.iter().filter(move |place| !shown || place.file != *file)
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem.message)
    }
}

impl fmt::Debug for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Report<'_> {}

impl Diagnostic for Report<'_> {
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

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.snippet.as_ref().map(|snippet| {
            let source: &dyn miette::SourceCode = snippet;
            source
        })
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let snippet = self.snippet.as_ref()?;
        let Problem { line, column, length, file, related, .. } = self.problem;
        let span = |range: std::ops::Range<usize>| SourceSpan::from(range);
        let first = snippet.bytes(*line, *column, *length);
        let primary = LabeledSpan::new_primary_with_span(None, span(first));
        let here = related.iter().filter(move |place| place.file == *file);
        let others = here.map(move |place| {
            let range = snippet.word(place.line, place.column);
            LabeledSpan::new_with_span(Some(place.message.clone()), span(range))
        });
        Some(Box::new(std::iter::once(primary).chain(others)))
    }
}

#[cfg(test)]
mod real;
#[cfg(test)]
mod tests;
