//! Renders scripts, their test cases and the host functions, for people, for programs and as a
//! file.

mod doc;
mod junit;
pub mod quotas;
pub mod roster;
pub mod shadow;
pub mod tried;
pub mod typed;

use std::sync::Arc;

use serde_json::{Value, json};

pub use doc::{doc, doc_json, markdown};
pub use junit::junit;

use super::diagnostic::{self, Look, Sources};
use crate::base::counted::counted;
use crate::hooks::cases::Verdict;
use crate::hooks::folder::Folder;
use crate::model::issue::{Problem, Severity};
use crate::spec::lines;
use crate::spec::mask::MaskedSource;

/// Renders the result of a check, with snippets.
pub fn checked(folder: &Folder, problems: &[Problem], look: Look) -> String {
    let count = folder.count();
    let scripts = counted(count, "script");
    if problems.is_empty() {
        return format!("{scripts}, no problems");
    }
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    let warnings = problems.len().saturating_sub(errors);
    let report = self::problems(folder, problems, look);
    let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
    format!("{report}\n{scripts}, {errors}, {warnings}")
}

/// Renders problems with snippets of their files.
pub fn problems(folder: &Folder, problems: &[Problem], look: Look) -> String {
    let guilty = |name: &str| problems.iter().any(|problem| problem.file == name);
    let files = folder.scripts.iter().chain(&folder.cases).filter(|source| guilty(&source.shown));
    let sources: Sources = files
        .map(|source| {
            let text =
                lines::Source::new(Arc::from(source.shown.as_str()), Arc::clone(&source.text));
            (source.shown.clone(), MaskedSource::new(&text, &[]))
        })
        .collect();
    diagnostic::text(problems, &sources, look)
}

/// Renders the results of cases for people: each failed case with its differences.
pub fn verdicts(verdicts: &[Verdict]) -> String {
    let mut out = String::new();
    for Verdict { script, case, trouble } in verdicts {
        let word = if trouble.is_some() { "FAILED" } else { "ok" };
        let line = format!("{word:6}  {script}: {case}\n");
        out.push_str(&line);
        for line in trouble.iter().flat_map(|text| text.lines()) {
            out.extend(["        ", line, "\n"]);
        }
    }
    let failed = failed(verdicts);
    let sum = format!("\n{}, {failed} failed", counted(verdicts.len(), "case"));
    out.push_str(&sum);
    out
}

/// Renders the results of cases for programs.
pub fn verdicts_json(verdicts: &[Verdict]) -> Value {
    json!({ "version": 1, "cases": verdicts.len(), "failed": failed(verdicts), "items": verdicts })
}

fn failed(verdicts: &[Verdict]) -> usize {
    verdicts.iter().filter(|verdict| verdict.trouble.is_some()).count()
}
