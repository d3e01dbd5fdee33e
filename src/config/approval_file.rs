//! Reads a file that approves a plan, in a signed commit; reports each mistake with its place.
//!
//! The form is that of `reckon.yaml`, but without variables: the signed text alone counts.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};

use crate::base::clock::timestamp;
use crate::base::money::Money;
use crate::config::reader::ConfigReader;
use crate::config::setting::{FromText, InvalidValue, Setting};
use crate::model::issue::{PlacedIssue, Severity};
use crate::spec::documents::header::API_VERSION;
use crate::spec::text::decode::decode;
use crate::spec::text::lines::SourceText;
use crate::spec::text::lint::{Keep, lint};
use crate::spec::text::node::{Node, NodeValue};
use crate::spec::text::split::split;

/// The head of an approval file.
const FILE_HEAD: &str = "apiVersion: reckon.dev/v1\nkind: PlanApproval\n";

const KIND: &str = "PlanApproval";
const KEYS: [&str; 5] = ["apiVersion", "kind", "plan", "ceilings", "expires"];
/// Length of a checksum, in characters.
const CHECKSUM: usize = 64;

/// The content of an approval file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalFile {
    /// The checksum of the plan.
    pub plan: String,
    /// The largest amount that the plan may move in each currency; none sets no ceiling.
    pub ceilings: Vec<Money>,
    /// The end of the approval.
    pub expires: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone)]
struct Checksum(String);

impl FromText for Checksum {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let whole = text.len() == CHECKSUM && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let wrong = || {
            let message =
                format!("`{text}` is not the checksum of a plan, which has {CHECKSUM} characters");
            InvalidValue::new(message, "write the file with `reckon approve CHECKSUM --write FILE`")
        };
        whole.then(|| Self(text.to_ascii_lowercase())).ok_or_else(wrong)
    }
}

#[derive(Debug, Clone)]
struct ExpiryTime(DateTime<Utc>);

impl FromText for ExpiryTime {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let date = || text.parse::<NaiveDate>().ok().map(|date| date.and_time(NaiveTime::MIN));
        let moment = text.parse::<DateTime<Utc>>().ok();
        let moment = moment.or_else(|| Some(date()?.and_utc()));
        moment.map(Self).ok_or_else(|| {
            let help =
                "write a moment such as 2026-11-30T12:00:00Z, or a date: its first moment in UTC";
            InvalidValue::new(format!("`{text}` is not a time"), help)
        })
    }
}

impl ApprovalFile {
    /// Parses the file. `name` is the file's name in problems.
    ///
    /// # Errors
    /// Every mistake, each with its place.
    pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Self, Vec<PlacedIssue>> {
        let decoded = decode(bytes);
        let source = SourceText::new(Arc::from(name), Arc::from(decoded.text.as_str()));
        let mut reader = ConfigReader {
            source: &source,
            dir: Arc::from(Path::new("")),
            findings: decoded.findings.clone(),
            variables: BTreeSet::new(),
        };
        let read = if decoded.is_good() { reader.read_approval() } else { None };
        let problems = reader.findings.iter().map(|finding| source.problem(finding));
        let mut problems: Vec<PlacedIssue> = problems.collect();
        problems.sort();
        let good = problems.iter().all(|problem| problem.severity == Severity::Warning);
        read.filter(|_| good).ok_or(problems)
    }

    /// Returns the text of such a file.
    pub fn text(&self) -> String {
        let Self { plan, ceilings, expires } = self;
        let ceilings: Vec<String> = ceilings.iter().map(|one| format!("\"{one}\"")).collect();
        let ceilings = match ceilings.as_slice() {
            [] => String::new(),
            all => format!("ceilings: [{}]\n", all.join(", ")),
        };
        let expires = expires.map(|at| format!("expires: {}\n", timestamp(&at)));
        format!("{FILE_HEAD}plan: \"{plan}\"\n{ceilings}{}", expires.unwrap_or_default())
    }
}

impl ConfigReader<'_> {
    fn read_approval(&mut self) -> Option<ApprovalFile> {
        let help = "write the file with `reckon approve CHECKSUM --write FILE`";
        let (slices, findings) = split(&self.source.text);
        self.findings.extend(findings);
        let [slice] = slices.as_slice() else {
            self.report(
                "reckon::approval::form",
                0..0,
                "an approval file must have exactly one document",
                help,
            );
            return None;
        };
        let linted = lint(&self.source.text, slice, Keep::All);
        let clean = linted.findings.is_empty();
        self.findings.extend(linted.findings);
        let root = linted.root.filter(|_| clean)?;
        if !matches!(root.value, NodeValue::Map(_)) {
            self.report("reckon::approval::form", root.span, "an approval must be a mapping", help);
            return None;
        }
        self.report_unknown_keys(&root, &KEYS);
        self.expect_constant(&root, "apiVersion", API_VERSION);
        self.expect_constant(&root, "kind", KIND);
        if root.entry("plan").is_none_or(|entry| entry.value.is_null()) {
            let first = root.span.start..root.span.start.saturating_add(1);
            self.report("reckon::approval::form", first, "`plan` is missing", help);
        }
        let ceilings = self.items(&root, "ceilings").iter();
        let ceilings: Vec<Option<Money>> = ceilings.map(|one| self.literal(one)).collect();
        let expires = match root.entry("expires").filter(|entry| !entry.value.is_null()) {
            Some(entry) => Some(self.literal::<ExpiryTime>(&entry.value)?.0),
            None => None,
        };
        let Checksum(plan) = self.literal(root.get("plan")?)?;
        Some(ApprovalFile { plan, ceilings: ceilings.into_iter().collect::<Option<_>>()?, expires })
    }

    /// Returns a value that is written in the file itself.
    fn literal<T: FromText>(&mut self, node: &Node) -> Option<T> {
        match self.scalar(node, node.span.clone())? {
            Setting::Literal(value) => Some(value),
            Setting::Env(_) => {
                let message = "an approval cannot name a variable: only the signed text counts";
                let help = "write the value itself";
                self.report("reckon::approval::form", node.span.clone(), message, help);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<ApprovalFile, Vec<String>> {
        let read = ApprovalFile::parse("approvals/a.yaml", text.as_bytes().to_vec());
        read.map_err(|problems| {
            let told = |one: &PlacedIssue| format!("{}:{} {}", one.line, one.column, one.message);
            problems.iter().map(told).collect()
        })
    }

    #[test]
    fn what_was_written_is_read_back() {
        let file = ApprovalFile {
            plan: "ab".repeat(32),
            ceilings: vec!["12.50 USD".parse().unwrap(), "3.00 EUR".parse().unwrap()],
            expires: Some("2030-01-02T03:04:05Z".parse().unwrap()),
        };
        assert_eq!(check(&file.text()).as_ref(), Ok(&file));
        let least = ApprovalFile { ceilings: Vec::new(), expires: None, ..file };
        assert_eq!(check(&least.text()).as_ref(), Ok(&least));
    }

    #[test]
    fn every_mistake_has_its_place() {
        let plan = "0".repeat(64);
        for (body, expect) in [
            ("plam: 1", "3:1"),
            ("plan: abc", "3:7"),
            (&format!("plan: \"{plan}\"\nceilings: [\"12.50\"]"), "4:12"),
            (&format!("plan: \"{plan}\"\nceilings: 3.00 EUR"), "4:11"),
            (&format!("plan: \"{plan}\"\nexpires: soon"), "4:10"),
            (&format!("plan: \"{plan}\"\nexpires: {{env: WHEN}}"), "4:10"),
            (&format!("plan: \"{plan}\"\nplan: \"{plan}\""), "4:1"),
            ("plan: {env: PLAN}", "3:7"),
        ] {
            let told = check(&format!("{FILE_HEAD}{body}\n")).unwrap_err();
            assert!(told.iter().any(|one| one.starts_with(expect)), "{body}: {told:?}");
        }
        let (two, open) = (format!("{FILE_HEAD}---\na: 1\n"), format!("{FILE_HEAD}plan: [\n"));
        for text in ["", "plan: abc", "- 1", "\u{0}", &two, &open] {
            assert!(check(text).is_err(), "{text:?}");
        }
    }
}
