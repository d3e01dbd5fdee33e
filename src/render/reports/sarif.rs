//! Findings as SARIF 2.1.0, which code hosts and editors read. The rules of a run are the codes of
//! its findings, with their meaning and remedy from docs/reference/errors.md.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Serialize;
use serde_with::skip_serializing_none;

use crate::model::issue::{PlacedIssue, Severity};
use crate::render::reports::findings::{ReportFindings, message_text};
use crate::render::reports::fingerprint::Fingerprints;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const ERRORS: &str = include_str!("../../../docs/reference/errors.md");
/// Characters of a path that a relative URI does not permit, or gives a meaning of its own.
const OUTSIDE_PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b':')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The root of the log: one run of the program.
#[derive(Debug, Serialize)]
pub struct SarifLog {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [SarifRun; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRun {
    tool: SarifTool,
    column_kind: &'static str,
    results: Vec<SarifResult>,
}

#[derive(Debug, Serialize)]
struct SarifTool {
    driver: SarifDriver,
}

#[derive(Debug, Serialize)]
struct SarifDriver {
    name: &'static str,
    version: &'static str,
    rules: Vec<SarifRule>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRule {
    id: String,
    short_description: Option<SarifText>,
    help: Option<SarifText>,
}

#[derive(Debug, Serialize)]
struct SarifText {
    text: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: String,
    rule_index: usize,
    level: &'static str,
    message: SarifText,
    locations: [SarifLocation; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<SarifLocation>,
    partial_fingerprints: SarifFingerprints,
}

#[derive(Debug, Serialize)]
struct SarifFingerprints {
    #[serde(rename = "reckon/v1")]
    finding: String,
}

#[skip_serializing_none]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifLocation {
    physical_location: SarifPhysicalLocation,
    message: Option<SarifText>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifPhysicalLocation {
    artifact_location: SarifArtifactLocation,
    region: SarifRegion,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifArtifactLocation {
    uri: String,
    uri_base_id: &'static str,
}

#[skip_serializing_none]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRegion {
    start_line: usize,
    start_column: usize,
    end_column: Option<usize>,
}

pub fn log(findings: &ReportFindings) -> SarifLog {
    let mut codes: Vec<&str> = findings.items.iter().map(|item| item.code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    let mut known = Fingerprints::default();
    let results = findings.items.iter().map(|item| result(item, &codes, &mut known)).collect();
    let rules = codes.iter().map(|code| rule(code)).collect();
    let driver = SarifDriver { name: "reckon", version: env!("CARGO_PKG_VERSION"), rules };
    let column_kind = "unicodeCodePoints";
    let run = SarifRun { tool: SarifTool { driver }, column_kind, results };
    SarifLog { schema: SCHEMA, version: "2.1.0", runs: [run] }
}

fn rule(code: &str) -> SarifRule {
    let explained = explain(code);
    let text = |text: &str| SarifText { text: text.to_owned() };
    SarifRule {
        id: code.to_owned(),
        short_description: explained.map(|(meaning, _)| text(meaning)),
        help: explained.map(|(_, remedy)| text(remedy)),
    }
}

/// Returns the meaning and the remedy of a code, from the row of the table of all codes.
fn explain(code: &str) -> Option<(&'static str, &'static str)> {
    let start = format!("| `{code}` | ");
    let row = ERRORS.lines().find_map(|line| line.strip_prefix(&start))?;
    let (meaning, remedy) = row.trim_end().strip_suffix('|')?.split_once(" | ")?;
    Some((meaning.trim(), remedy.trim()))
}

fn result(item: &PlacedIssue, codes: &[&str], known: &mut Fingerprints) -> SarifResult {
    let place = |message: &str| Some(SarifText { text: message.to_owned() });
    let related = item.related.iter();
    let related =
        related.map(|one| location(&one.file, (one.line, one.column, 0), place(&one.message)));
    SarifResult {
        rule_id: item.code.clone(),
        rule_index: codes.binary_search(&item.code.as_str()).unwrap_or_default(),
        level: match item.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        message: SarifText { text: message_text(item) },
        locations: [location(&item.file, (item.line, item.column, item.length), None)],
        related_locations: related.collect(),
        partial_fingerprints: SarifFingerprints { finding: known.take(item) },
    }
}

/// Makes a location; lines and columns count from 1, the end column is behind the last character.
fn location(
    file: &str,
    (line, column, length): (usize, usize, usize),
    message: Option<SarifText>,
) -> SarifLocation {
    let start_column = column.max(1);
    let end_column = (length > 0).then(|| start_column.saturating_add(length));
    let region = SarifRegion { start_line: line.max(1), start_column, end_column };
    let uri = utf8_percent_encode(file, OUTSIDE_PATH).to_string();
    let artifact_location = SarifArtifactLocation { uri, uri_base_id: "%SRCROOT%" };
    SarifLocation {
        physical_location: SarifPhysicalLocation { artifact_location, region },
        message,
    }
}
