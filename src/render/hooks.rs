//! Renders the check of scripts, and the results of their test cases: for people, for programs, and
//! as the XML that build servers read.

pub mod known_scripts;
pub mod runs;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::base::wording::count_noun;
use crate::model::issue::{PlacedIssue, Severity};
use crate::render::diagnostic;
use crate::render::diagnostic::OutputStyle;
use crate::render::words::push_line;
use crate::scripting::language::source::ScriptFolder;
use crate::scripting::tools::testcases::CaseResult;

pub use doc::{doc_json, markdown, terminal_doc};

mod doc;

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
    let sources = files
        .map(|source| diagnostic::source_of(&source.display_path, Arc::clone(&source.text)))
        .collect();
    diagnostic::text(problems, &sources, look)
}

/// Renders the results of cases for people: each failed case with its differences.
pub fn case_results(verdicts: &[CaseResult]) -> String {
    let mut out = String::new();
    for CaseResult { script, case, difference: trouble } in verdicts {
        let word = if trouble.is_some() { "FAILED" } else { "ok" };
        push_line!(out, "{word:6}  {script}: {case}");
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

/// Renders one suite, with one `testcase` for each case.
pub fn junit(verdicts: &[CaseResult]) -> String {
    let failed = failed_count(verdicts);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"hooks\" tests=\"{}\" failures=\"{failed}\">\n",
        verdicts.len()
    );
    for CaseResult { script, case, difference: trouble } in verdicts {
        let (script, case) = (escape_xml(script), escape_xml(case));
        let line = match trouble {
            None => format!("  <testcase classname=\"{script}\" name=\"{case}\"/>\n"),
            Some(text) => format!(
                "  <testcase classname=\"{script}\" name=\"{case}\">\n    <failure message=\"not as expected\">{}</failure>\n  \
                 </testcase>\n",
                escape_xml(text)
            ),
        };
        out.push_str(&line);
    }
    out.push_str("</testsuite>\n");
    out
}

/// Escapes characters that XML reserves, and replaces those that it cannot hold.
fn escape_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for found in text.chars() {
        match found {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(found),
            _ if found.is_control() => out.push('\u{fffd}'),
            _ => out.push(found),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_keeps_for_itself_is_written_otherwise() {
        let verdict = |trouble: Option<&str>| CaseResult {
            script: "a".to_owned(),
            case: "<b> & \"c\"".to_owned(),
            difference: trouble.map(str::to_owned),
        };
        let text = junit(&[verdict(None), verdict(Some("- x\n+ \u{1b}<y>"))]);
        assert!(text.contains("tests=\"2\" failures=\"1\""), "{text}");
        assert!(text.contains("name=\"&lt;b&gt; &amp; &quot;c&quot;\"/>"), "{text}");
        assert!(text.contains("- x\n+ \u{fffd}&lt;y&gt;</failure>"), "{text}");
    }
}
