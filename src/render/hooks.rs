//! Renders scripts, their test cases and the host functions, for people, for programs and as a
//! file.

pub mod comparison;
mod doc;
pub(crate) mod junit;
pub mod quotas;
pub mod scripts;
pub mod tried;
pub mod typed;

use super::diagnostic;
use super::diagnostic::{OutputStyle, Sources};
use crate::base::wording::count_noun;
use crate::model::issue::{PlacedIssue, Severity};
use crate::scripting::folder::ScriptFolder;
use crate::scripting::tools::testcases::CaseResult;
use crate::spec::text::lines;
use crate::spec::text::mask::MaskedSource;
pub use doc::{doc_json, markdown, terminal_doc};
pub use junit::junit;
use serde_json::{Value, json};
use std::sync::Arc;

/// Renders the result of a check, with snippets.
pub fn check_report(folder: &ScriptFolder, problems: &[PlacedIssue], look: OutputStyle) -> String {
    let count = folder.script_count();
    let scripts = count_noun(count, "script");
    if problems.is_empty() {
        return format!("{scripts}, no problems");
    }
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    let warnings = problems.len().saturating_sub(errors);
    let report = problem_report(folder, problems, look);
    let (errors, warnings) = (count_noun(errors, "error"), count_noun(warnings, "warning"));
    format!("{report}\n{scripts}, {errors}, {warnings}")
}

/// Renders problems with snippets of their files.
pub fn problem_report(
    folder: &ScriptFolder,
    problems: &[PlacedIssue],
    look: OutputStyle,
) -> String {
    let guilty = |name: &str| problems.iter().any(|problem| problem.file == name);
    let files =
        folder.scripts.iter().chain(&folder.cases).filter(|source| guilty(&source.display_path));
    let sources: Sources = files
        .map(|source| {
            let text = lines::SourceText::new(
                Arc::from(source.display_path.as_str()),
                Arc::clone(&source.text),
            );
            (source.display_path.clone(), MaskedSource::new(&text, &[]))
        })
        .collect();
    diagnostic::text(problems, &sources, look)
}

/// Renders the results of cases for people: each failed case with its differences.
pub fn case_results(verdicts: &[CaseResult]) -> String {
    let mut out = String::new();
    for CaseResult { script, case, difference: trouble } in verdicts {
        let word = if trouble.is_some() { "FAILED" } else { "ok" };
        let line = format!("{word:6}  {script}: {case}\n");
        out.push_str(&line);
        for line in trouble.iter().flat_map(|text| text.lines()) {
            out.extend(["        ", line, "\n"]);
        }
    }
    let failed = failed_count(verdicts);
    let sum = format!("\n{}, {failed} failed", count_noun(verdicts.len(), "case"));
    out.push_str(&sum);
    out
}

/// Renders the results of cases for programs.
pub fn case_results_json(verdicts: &[CaseResult]) -> Value {
    json!({ "version": 1, "cases": verdicts.len(), "failed": failed_count(verdicts), "items": verdicts })
}

fn failed_count(verdicts: &[CaseResult]) -> usize {
    verdicts.iter().filter(|verdict| verdict.difference.is_some()).count()
}
