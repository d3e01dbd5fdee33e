//! Fault-tolerant parser: an error in one function does not hide the errors in the next.

use std::collections::BTreeSet;

use rhai::{AST, Engine, ParseErrorType};

use super::syntax;
use crate::model::spec::issue::PlacedIssue;
use crate::scripting::load::source::{ScriptSource, defined_functions};
use crate::scripting::run::failure::place;

/// Errors after which a file is not parsed further.
const ERRORS_MAX: usize = 20;

/// Readable part of a file.
pub(super) struct Parsed {
    /// Tree of the readable part.
    pub(super) tree: Option<AST>,
    /// Names of functions that cannot be parsed.
    pub(super) unparsed: BTreeSet<String>,
}

/// Parses a file. Each unparsable piece is reported and removed, and the rest is parsed again.
pub(super) fn parse(
    engine: &Engine,
    source: &ScriptSource,
    problems: &mut Vec<PlacedIssue>,
) -> Parsed {
    let mut parts = split_parts(&source.text);
    let mut lost = BTreeSet::new();
    for _ in 0..ERRORS_MAX {
        let text: String = parts.iter().map(|part| part.text.as_str()).collect();
        let error = match engine.compile(&text) {
            Ok(tree) => return Parsed { tree: Some(tree), unparsed: lost },
            Err(error) => error,
        };
        problems.push(syntax::problem(source, &error));
        let line = place(error.position()).map(|(line, _)| line);
        let open = matches!(error.err_type(), ParseErrorType::WrongFnDefinition);
        let Some(part) = failed_part(&mut parts, line, open) else { break };
        lost.extend(defined_functions(&part.text).map(str::to_owned));
        part.text = blank_lines(&part.text);
    }
    Parsed { tree: None, unparsed: lost }
}

/// One piece of a file: from the line where an item begins to the line where the next one does.
struct SourcePart {
    first: usize,
    text: String,
}

/// Splits a text into pieces; functions begin at the start of a line, as is usual.
fn split_parts(text: &str) -> Vec<SourcePart> {
    let mut parts: Vec<SourcePart> = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let begins = ["fn ", "private fn ", "import ", "const "];
        let begins = begins.iter().any(|word| line.starts_with(word));
        match parts.last_mut().filter(|_| !begins) {
            Some(part) => part.text.push_str(line),
            None => {
                parts.push(SourcePart { first: index.saturating_add(1), text: line.to_owned() });
            }
        }
    }
    parts
}

/// Returns the piece that holds an error. With `open`, the piece before it, which was not closed.
fn failed_part(
    parts: &mut [SourcePart],
    line: Option<usize>,
    open: bool,
) -> Option<&mut SourcePart> {
    let line = line.unwrap_or(usize::MAX);
    let written = |part: &SourcePart| !part.text.trim().is_empty();
    let before = |part: &SourcePart| if open { part.first < line } else { part.first <= line };
    parts.iter_mut().rev().find(|part| before(part) && written(part))
}

/// Returns the same number of empty lines.
fn blank_lines(text: &str) -> String {
    text.chars().filter(|found| *found == '\n').collect()
}
