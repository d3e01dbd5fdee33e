//! Findings as annotations of a change: workflow commands of GitHub, and Code Quality of GitLab.

use serde::Serialize;

use crate::model::issue::{PlacedIssue, Severity};
use crate::render::reports::findings::{ReportFindings, message_text};
use crate::render::reports::fingerprint::Fingerprints;
use crate::render::words::push_line;

/// Renders one workflow command for each finding.
pub fn github(findings: &ReportFindings) -> String {
    let mut out = String::new();
    for item in &findings.items {
        let PlacedIssue { file, line, column, length, code, severity, .. } = item;
        let word = match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let (file, title) = (escape_property(file), escape_property(code));
        let last = column.saturating_add(length.saturating_sub(1));
        let message = escape_data(&message_text(item));
        push_line!(
            out,
            "::{word} file={file},line={line},col={column},endColumn={last},title={title}::{message}"
        );
    }
    out
}

/// Escapes the message of a workflow command.
fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// One entry of a Code Quality report.
#[derive(Debug, Serialize)]
pub struct CodeQualityIssue {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: CodeQualityLocation,
}

#[derive(Debug, Serialize)]
struct CodeQualityLocation {
    path: String,
    lines: CodeQualityLines,
}

#[derive(Debug, Serialize)]
struct CodeQualityLines {
    begin: usize,
}

pub fn gitlab(findings: &ReportFindings) -> Vec<CodeQualityIssue> {
    let mut known = Fingerprints::default();
    let entry = |item: &PlacedIssue| CodeQualityIssue {
        description: message_text(item),
        check_name: item.code.clone(),
        fingerprint: known.take(item),
        severity: match item.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
        },
        location: CodeQualityLocation {
            path: item.file.clone(),
            lines: CodeQualityLines { begin: item.line.max(1) },
        },
    };
    findings.items.iter().map(entry).collect()
}
