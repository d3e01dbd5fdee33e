//! `validate`: everything that can be checked offline, all problems in one run.

use std::path::PathBuf;

use serde::Serialize;

use super::args::{Output, Paths};
use super::exit::{Exit, Failure};
use super::out::Out;
use super::setup::Setup;
use super::specs::below;
use crate::model::issue::{Problem, Severity};
use crate::render::diagnostic::{self, Look};
use crate::spec::loader::Loader;

/// What `validate -o json` prints (design.md part 4).
#[derive(Debug, Serialize)]
struct Report<'a> {
    version: u32,
    documents: usize,
    problems: &'a [Problem],
}

/// Runs the command.
pub(super) fn run(setup: &Setup, args: &Paths, out: Out) -> Result<Exit, Failure> {
    let mut loader = setup.loader();
    loader.load_all();
    let problems = within(setup, loader.problems(), &args.paths);
    let report = Report { version: 1, documents: loader.documents(), problems: &problems };
    out.result(&report, || text(&loader, &problems, out))?;
    let verdict = verdict(&problems);
    // The process ends now, and its memory with it: to take a large tree apart first takes time.
    std::mem::forget(loader);
    Ok(verdict)
}

/// The exit code that problems deserve.
pub(super) fn verdict(problems: &[Problem]) -> Exit {
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        Exit::Input
    } else {
        Exit::Done
    }
}

/// Problems for people, with their places and snippets.
pub(super) fn text(loader: &Loader, problems: &[Problem], out: Out) -> String {
    let documents = loader.documents();
    if problems.is_empty() {
        return format!("{documents} documents, no problems");
    }
    let sources = loader.sources(problems);
    let color = out.color && out.form == Output::Text;
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    let warnings = problems.len().saturating_sub(errors);
    let look = Look { color, unicode: true, width: out.width };
    let report = diagnostic::text(problems, &sources, look);
    format!("{report}\n{documents} documents, {errors} errors, {warnings} warnings")
}

/// The problems in these files and folders; all of them where none is named.
fn within(setup: &Setup, problems: Vec<Problem>, paths: &[PathBuf]) -> Vec<Problem> {
    if paths.is_empty() {
        return problems;
    }
    let places: Vec<PathBuf> = paths.iter().map(|path| below(&setup.root, path)).collect();
    let inside = |problem: &Problem| {
        places.iter().any(|place| std::path::Path::new(&problem.file).starts_with(place))
    };
    problems.into_iter().filter(inside).collect()
}
