//! Results of tests and checks as the XML of `JUnit`.

use crate::model::issue::{PlacedIssue, Severity};
use crate::render::reports::findings::{ReportFindings, message_text};

/// One case of a suite.
#[derive(Debug)]
pub(in crate::render) struct TestCase {
    pub(in crate::render) class: String,
    pub(in crate::render) name: String,
    pub(in crate::render) outcome: TestOutcome,
}

#[derive(Debug)]
pub(in crate::render) enum TestOutcome {
    Passed,
    /// Passed, with text for people.
    Noted(String),
    /// A sentence, and the details.
    Failed(&'static str, String),
}

/// Renders one suite.
pub(in crate::render) fn suite(name: &str, cases: &[TestCase]) -> String {
    let failed =
        cases.iter().filter(|case| matches!(case.outcome, TestOutcome::Failed(..))).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{name}\" tests=\"{}\" failures=\"{failed}\">\n",
        cases.len()
    );
    for TestCase { class, name, outcome } in cases {
        let begin = format!(
            "  <testcase classname=\"{}\" name=\"{}\"",
            escape_xml(class),
            escape_xml(name)
        );
        out.push_str(&begin);
        let content = match outcome {
            TestOutcome::Passed => "/>\n".to_owned(),
            TestOutcome::Noted(text) => {
                format!(">\n    <system-out>{}</system-out>\n  </testcase>\n", escape_xml(text))
            }
            TestOutcome::Failed(message, text) => format!(
                ">\n    <failure message=\"{message}\">{}</failure>\n  </testcase>\n",
                escape_xml(text)
            ),
        };
        out.push_str(&content);
    }
    out.push_str("</testsuite>\n");
    out
}

/// Renders findings: each is a case, which fails unless it is a warning.
pub fn report(findings: &ReportFindings) -> String {
    let passed = findings.passed.iter().map(|name| TestCase {
        class: findings.command.to_owned(),
        name: name.clone(),
        outcome: TestOutcome::Passed,
    });
    let cases: Vec<TestCase> = findings.items.iter().map(case).chain(passed).collect();
    suite(findings.command, &cases)
}

fn case(item: &PlacedIssue) -> TestCase {
    let PlacedIssue { file, line, column, code, severity, .. } = item;
    let outcome = match severity {
        Severity::Error => TestOutcome::Failed("a problem", message_text(item)),
        Severity::Warning => TestOutcome::Noted(message_text(item)),
    };
    TestCase { class: file.clone(), name: format!("{line}:{column} {code}"), outcome }
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
