//! Renders the check of scripts, and the results of their test cases: for people, for programs, and
//! as the XML that build servers read; and the scripts that the state knows, with their quotas.

mod doc;
pub mod doc_view;
pub mod runs;
pub mod views;

use std::sync::Arc;

pub use doc::{markdown, terminal_doc};

use crate::base::wording::{count_noun, count_verb};
use crate::engine::protocol::hooks::{QuotasView, ScriptView};
use crate::model::events::hook_run::FAILED_MAX;
use crate::model::events::scripts::{BYTES_MAX, KEYS_MAX};
use crate::model::issue::{PlacedIssue, Severity};
use crate::render::diagnostic::{self, OutputStyle};
use crate::render::hooks::views::failed_count;
use crate::render::reports::junit::{self, TestCase, TestOutcome};
use crate::render::words::{clean, push_line};
use crate::scripting::language::source::ScriptFolder;
use crate::scripting::tools::testcases::CaseResult;

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

/// Renders one suite, with one `testcase` for each case.
pub fn junit(verdicts: &[CaseResult]) -> String {
    let case = |CaseResult { script, case, difference }: &CaseResult| TestCase {
        class: script.clone(),
        name: case.clone(),
        outcome: match difference {
            None => TestOutcome::Passed,
            Some(text) => TestOutcome::Failed("not as expected", text.clone()),
        },
    };
    junit::suite("hooks", &verdicts.iter().map(case).collect::<Vec<_>>())
}

/// Renders all scripts, one line each; an absent or stopped one also with the way out.
pub fn script_lines(known: &[ScriptView]) -> String {
    let mut out = String::new();
    for one in known {
        if !attention_lines(&mut out, one) {
            let (name, waiting, kept) = (clean(&one.script), waiting_events(one), stored_size(one));
            push_line!(out, "{name}  in use since {}, {waiting}; {kept}", one.since);
        }
    }
    if out.is_empty() {
        push_line!(out, "There are no scripts.");
    }
    out
}

/// Returns true if a script needs a person: its file is missing, or too many of its runs failed.
pub fn needs_attention(known: &[ScriptView]) -> bool {
    known.iter().any(|one| one.absent.is_some() || one.stopped > 0)
}

/// Renders only the absent and stopped scripts.
pub fn needing_attention(out: &mut String, known: &[ScriptView]) {
    for one in known {
        attention_lines(out, one);
    }
}

/// Renders an absent or stopped script; returns false for any other.
fn attention_lines(out: &mut String, one: &ScriptView) -> bool {
    match &one.absent {
        Some(absent) => absent_lines(out, one, absent),
        None if one.stopped > 0 => stopped_lines(out, one),
        None => return false,
    }
    true
}

fn stopped_lines(out: &mut String, one: &ScriptView) {
    let name = clean(&one.script);
    let merchants = count_noun(usize::try_from(one.stopped).unwrap_or(usize::MAX), "merchant");
    let (waiting, kept) = (waiting_events(one), stored_size(one));
    push_line!(out, "{name}  STOPPED for {merchants}: {FAILED_MAX} runs failed, {waiting}; {kept}");
    push_line!(
        out,
        "    correct it and run `reckon events replay --script {name}`, or drop the failed \
            runs: `reckon events failed --ack-script {name}`"
    );
}

fn absent_lines(out: &mut String, one: &ScriptView, absent: &str) {
    let name = clean(&one.script);
    push_line!(out, "{name}  ABSENT since {absent}, {}; {}", waiting_events(one), stored_size(one));
    push_line!(out, "    put its file back, or run `reckon hooks forget {name}`");
}

fn waiting_events(one: &ScriptView) -> String {
    count_verb(one.waiting, "event waits", "events wait")
}

fn stored_size(one: &ScriptView) -> String {
    let (keys, bytes) = (one.kept_keys, one.kept_bytes);
    format!("keeps {keys} of {KEYS_MAX} keys, {bytes} of {BYTES_MAX} bytes")
}

/// Renders the data that is lost with a forgotten script.
pub fn forget_request(script: &ScriptView) -> String {
    let name = clean(&script.script);
    let (waiting, keys) = (waiting_events(script), count_noun(script.kept_keys, "kept key"));
    format!(
        "`{name}` is absent: {waiting} for it. Forgetting it drops its position in the events and \
        {keys}; a later script of this name is a new one."
    )
}

/// Renders one line for the stored values of scripts, and one for the events of each merchant.
pub fn quota_lines(quotas: &QuotasView) -> String {
    let QuotasView { kept, kept_max, .. } = quotas;
    let mut out = String::new();
    let keys = format!("{} of {} keys", kept.keys, kept_max.keys);
    let bytes = format!("{} of {} bytes", kept.bytes, kept_max.bytes);
    push_line!(out, "All scripts together keep {keys}, {bytes}.");
    for one in &quotas.merchants {
        let (held, dropped) = (one.held, one.dropped);
        let (waiting, failed) = (one.waiting, one.failed);
        let horizon = one.horizon.as_ref();
        let horizon = horizon.map(|at| format!("; settled ones up to {at} are dropped"));
        push_line!(
            out,
            "{}: events held {held}, dropped {dropped}; actions waiting {waiting}; hooks failed {failed}{}",
            clean(&one.merchant),
            horizon.unwrap_or_default()
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::hooks::MerchantQuota;
    use crate::model::events::scripts::ScriptValuesSize;

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

    /// Closes K11: a script that was stopped after too many failed runs is shown with both ways
    /// out, in `hooks list` and in `events failed`. A running script is only in the list.
    #[test]
    fn k11_a_stopped_script_is_shown_with_its_ways_out() {
        let script = |name: &str, stopped: u64| ScriptView {
            script: name.to_owned(),
            since: "2026-11-22T10:00:00.000Z".to_owned(),
            absent: None,
            stopped,
            waiting: stopped,
            kept_keys: 0,
            kept_bytes: 0,
        };
        let known = [script("runs", 0), script("fails", 1)];
        let mut dead = String::new();
        needing_attention(&mut dead, &known);
        insta::assert_snapshot!(dead, @"
        fails  STOPPED for 1 merchant: 500 runs failed, 1 event waits; keeps 0 of 10000 keys, 0 of 8388608 bytes
            correct it and run `reckon events replay --script fails`, or drop the failed runs: `reckon events failed --ack-script fails`
        ");
        let all = script_lines(&known);
        assert_eq!(all.split_once('\n').map(|(_, rest)| rest), Some(&*dead), "{all}");
        assert!(all.starts_with("runs  in use since "), "{all}");
        assert!(needs_attention(&known) && !needs_attention(&known[..1]));
    }

    /// Closes K11: quotas are shown with their limits.
    #[test]
    fn quotas_are_told_with_their_bounds_and_each_merchant_s_horizon() {
        let merchants = vec![MerchantQuota {
            merchant: "Merchant/acme".to_owned(),
            held: 7,
            dropped: 2,
            waiting: 1,
            failed: 3,
            horizon: Some("2026-11-22T10:00:00.000Z".to_owned()),
        }];
        let kept = ScriptValuesSize { keys: 4, bytes: 90 };
        let kept_max = ScriptValuesSize { keys: 100, bytes: 1000 };
        let quotas = QuotasView { kept, kept_max, merchants, ..QuotasView::default() };
        insta::assert_snapshot!(quota_lines(&quotas), @r"
        All scripts together keep 4 of 100 keys, 90 of 1000 bytes.
        Merchant/acme: events held 7, dropped 2; actions waiting 1; hooks failed 3; settled ones up to 2026-11-22T10:00:00.000Z are dropped
        ");
    }
}
