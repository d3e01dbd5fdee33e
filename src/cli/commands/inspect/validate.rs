//! `validate`, `explain` and `schema`: check documents offline, with all problems in one run, and
//! describe their fields.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::base::id::Key;
use crate::base::wording;
use crate::base::wording::count_noun;
use crate::cli::args::options::{ExplainArgs, Output, PathArgs, SchemaArgs};
use crate::cli::context::machine::below;
use crate::cli::context::open::Context;
use crate::cli::context::selection::check_paths;
use crate::cli::exit::{CommandFailure, Exit};
use crate::cli::print::Printer;
use crate::config;
use crate::config::schema::CONFIG;
use crate::kinds::planning::step::MERCHANT;
use crate::kinds::register::{KINDS, KindRow};
use crate::model::issue::{Issue, PlacedIssue, ProblemCounts, TreeProblems};
use crate::render;
use crate::render::diagnostic;
use crate::render::diagnostic::OutputStyle;
use crate::spec::documents::{explain, schema};
use crate::spec::tree::loader::Loader;

/// Output of `validate -o json` (design.md part 4).
#[derive(Debug, Serialize)]
struct ValidateOutput<'a> {
    version: u32,
    documents: usize,
    problems: &'a [PlacedIssue],
    /// The count of the problems that are not listed.
    #[serde(skip_serializing_if = "ProblemCounts::is_zero")]
    omitted: ProblemCounts,
}

/// Runs the command.
pub(crate) fn run(setup: &Context, args: &PathArgs, out: Printer) -> Result<Exit, CommandFailure> {
    check_paths(setup, &args.paths)?;
    let mut loader = setup.loader();
    loader.load_all();
    let mut problems = problems_in(setup, &loader, &args.paths);
    problems.shown.extend(live_warnings(setup, &loader, &args.paths));
    let TreeProblems { shown, omitted } = &problems;
    let documents = loader.documents();
    let report = ValidateOutput { version: 1, documents, problems: shown, omitted: *omitted };
    out.result(&report, || text(&loader, &problems, out))?;
    let verdict = verdict(problems.has_errors());
    // The process ends now, and its memory with it: freeing a large tree first takes time.
    std::mem::forget(loader);
    Ok(verdict)
}

/// Returns the exit code for trees with or without errors.
pub(crate) fn verdict(errors: bool) -> Exit {
    if errors { Exit::Input } else { Exit::Done }
}

/// Formats problems for people, with their places and snippets.
pub(crate) fn text(loader: &Loader, problems: &TreeProblems, out: Printer) -> String {
    let documents = count_noun(loader.documents(), "document");
    let total = problems.total();
    if total.is_zero() {
        return format!("{documents}, no problems");
    }
    let sources = loader.sources(&problems.shown);
    let color = out.color && out.form == Output::Text;
    let errors = count_noun(total.errors, "error");
    let warnings = count_noun(total.warnings, "warning");
    let look = OutputStyle { color, unicode: true, width: out.width };
    let report = diagnostic::text(&problems.shown, &sources, look);
    let rest = omitted_line(problems.omitted);
    format!("{report}{rest}\n{documents}, {errors}, {warnings}")
}

/// Formats the count of the problems that are not listed, as a line of its own.
fn omitted_line(omitted: ProblemCounts) -> String {
    if omitted.is_zero() {
        return String::new();
    }
    let ProblemCounts { errors, warnings } = omitted;
    format!("not listed: {}, {}\n", count_noun(errors, "error"), count_noun(warnings, "warning"))
}

/// Returns a warning at the mode of each live merchant that this configuration does not let act;
/// `plan` blocks these merchants.
fn live_warnings(setup: &Context, loader: &Loader, paths: &[PathBuf]) -> Vec<PlacedIssue> {
    let manifests = loader.desired().manifests.iter();
    let live: Vec<&Key> = manifests
        .filter(|(key, _)| key.kind.as_str() == MERCHANT)
        .filter(|(_, kept)| kept.unpack().spec.get("mode").is_some_and(|mode| mode == "live"))
        .map(|(key, _)| key)
        .collect();
    let why = if live.is_empty() { None } else { setup.live_refused() };
    let Some(why) = why else { return Vec::new() };
    let help = "keep reckon.yaml outside this repository and name it with --config FILE";
    let issue = Issue::error("reckon::merchant::live_refused", "spec.mode", why, help).as_warning();
    let found = live.into_iter().filter_map(|key| loader.place_issue(key, &issue));
    found.filter(|problem| is_chosen(setup, paths, &problem.file)).collect()
}

/// Returns the problems in these files and folders; all of them where none is named.
fn problems_in(setup: &Context, loader: &Loader, paths: &[PathBuf]) -> TreeProblems {
    loader.problems_where(|file| is_chosen(setup, paths, file))
}

/// Returns true if a file is in one of these files and folders; for every file where none is named.
fn is_chosen(setup: &Context, paths: &[PathBuf], file: &str) -> bool {
    paths.is_empty()
        || paths.iter().any(|path| Path::new(file).starts_with(below(&setup.root, path)))
}

// `explain` and `schema`: the fields of documents, for people and for editors. Neither needs a
// configuration.

/// Runs `explain`.
pub(crate) fn explain(args: &ExplainArgs, out: Printer) -> Result<Exit, CommandFailure> {
    let (kind, path) = args.what.split_once('.').unwrap_or((&args.what, ""));
    let (name, explained) = if kind.eq_ignore_ascii_case(CONFIG) {
        (CONFIG, config::explain::explain(path))
    } else {
        let row = row(kind)?;
        (row.name, explain::explain(row, path))
    };
    let explained = explained.map_err(|help| {
        let what = format!("{name} has no field {path:?}");
        CommandFailure::input("reckon::usage::field", what).help(help)
    })?;
    out.result(&explained, || render::explain::explanation(&explained, out.color))?;
    Ok(Exit::Done)
}

/// Runs `schema`. Prints JSON in every form but YAML.
pub(crate) fn schema(args: &SchemaArgs, out: Printer) -> Result<Exit, CommandFailure> {
    let schema = match &args.kind {
        Some(kind) if kind.eq_ignore_ascii_case(CONFIG) => config::schema::schema(),
        Some(kind) => schema::of_kind(row(kind)?),
        None => schema::document(KINDS),
    };
    out.result(&schema, || render::json(&schema))?;
    Ok(Exit::Done)
}

/// Returns the kind of this name, in any case.
fn row(name: &str) -> Result<&'static KindRow, CommandFailure> {
    let found = KINDS.iter().find(|row| row.name.eq_ignore_ascii_case(name));
    found.ok_or_else(|| {
        CommandFailure::input("reckon::usage::kind", format!("there is no kind {name:?}"))
            .help(wording::suggestion_help(name, KINDS.iter().map(|row| row.name).chain([CONFIG])))
    })
}
