//! A text → its tree, although parts of it cannot be read: what is wrong in one function hides nothing of the next.

use std::collections::BTreeSet;

use rhai::{AST, Engine, ParseErrorType};

use super::syntax;
use crate::hooks::failure::place;
use crate::hooks::source::{Source, defines};
use crate::model::issue::Problem;

/// More errors of one file are not looked for.
const ERRORS_MAX: usize = 20;

/// What could be read of a file.
pub(super) struct Parsed {
    /// The tree of what could be read.
    pub(super) tree: Option<AST>,
    /// The names of functions that could not be read.
    pub(super) lost: BTreeSet<String>,
}

/// Reads a file. What cannot be read is told, left out, and the rest read again.
pub(super) fn parse(engine: &Engine, source: &Source, problems: &mut Vec<Problem>) -> Parsed {
    let mut parts = parts(&source.text);
    let mut lost = BTreeSet::new();
    for _ in 0..ERRORS_MAX {
        let text: String = parts.iter().map(|part| part.text.as_str()).collect();
        let error = match engine.compile(&text) {
            Ok(tree) => return Parsed { tree: Some(tree), lost },
            Err(error) => error,
        };
        problems.push(syntax::problem(source, &error));
        let line = place(error.position()).map(|(line, _)| line);
        let open = matches!(error.err_type(), ParseErrorType::WrongFnDefinition);
        let Some(part) = guilty(&mut parts, line, open) else { break };
        lost.extend(defines(&part.text).map(str::to_owned));
        part.text = blank(&part.text);
    }
    Parsed { tree: None, lost }
}

/// One piece of a file: from the line where something begins to that where the next does.
struct Part {
    first: usize,
    text: String,
}

/// The pieces of a text: functions begin at the edge of a line, as they are written everywhere.
fn parts(text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let begins = ["fn ", "private fn ", "import ", "const "];
        let begins = begins.iter().any(|word| line.starts_with(word));
        match parts.last_mut().filter(|_| !begins) {
            Some(part) => part.text.push_str(line),
            None => parts.push(Part { first: index.saturating_add(1), text: line.to_owned() }),
        }
    }
    parts
}

/// The piece that an error is in. `open`: the piece before it, which was not closed.
fn guilty(parts: &mut [Part], line: Option<usize>, open: bool) -> Option<&mut Part> {
    let line = line.unwrap_or(usize::MAX);
    let written = |part: &Part| !part.text.trim().is_empty();
    let before = |part: &Part| if open { part.first < line } else { part.first <= line };
    parts.iter_mut().rev().find(|part| before(part) && written(part))
}

/// As many lines of nothing.
fn blank(text: &str) -> String {
    text.chars().filter(|found| *found == '\n').collect()
}
