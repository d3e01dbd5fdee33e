//! Approvals in signed commits: `policy.approvals.signed`, their source and allowed signers, and
//! the file that approves a plan.
//!
//! The form of the file is that of `reckon.yaml`, but without variables: the signed text alone
//! counts. Each mistake is reported with its place.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use schemars::JsonSchema;

use crate::base::clock::timestamp;
use crate::base::money::Money;
use crate::config::reader::{ConfigReader, Section, section, sorted};
use crate::config::setting::{
    ConfigError, EnvSource, FromText, InvalidValue, Placed, Setting, resolve_optional, words,
};
use crate::model::issue::PlacedIssue;
use crate::spec::header::API_VERSION;
use crate::spec::text::decode::decode;
use crate::spec::text::node::Node;
use crate::spec::text::source::{SourceText, split};

/// Approvals in signed commits.
#[derive(Debug, Clone, Default, JsonSchema)]
pub struct SignedSection {
    /// The folder of the approvals; none: `approvals` beside the specs.
    folder: Option<Setting<PathBuf>>,
    /// The file of allowed signers, in the form of `ssh-keygen`.
    #[schemars(with = "Setting<PathBuf>")]
    signers: Option<Placed<Setting<PathBuf>>>,
    /// The evidence for the author of a document: the signatures of the commits that changed it, or
    /// the names in those commits, which anyone can write.
    #[schemars(extend("default" = "signed"))]
    authors: Option<Setting<AuthorEvidence>>,
}

section!(SignedSection: folder, signers, authors);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AuthorEvidence {
    /// By the signatures of the commits that changed it.
    #[default]
    Signed,
    /// By the names in those commits, which anyone can write.
    Named,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedRules {
    /// The folder of the approvals; none: `approvals` beside the specs.
    pub folder: Option<PathBuf>,
    pub signers: PathBuf,
    pub authors: AuthorEvidence,
    /// The place where the section names the signers, such as `reckon.yaml:14`.
    pub place: String,
}

words!(AuthorEvidence: "signed" => Signed, "named" => Named);

impl SignedSection {
    /// Returns the rules, or `None` where the section has a mistake that is reported elsewhere.
    pub fn get(&self, env: &dyn EnvSource) -> Result<Option<SignedRules>, ConfigError> {
        let Some(signers) = &self.signers else { return Ok(None) };
        let authors = resolve_optional(self.authors.as_ref(), env)?;
        Ok(Some(SignedRules {
            folder: resolve_optional(self.folder.as_ref(), env)?,
            signers: signers.value.get(env)?,
            authors: authors.unwrap_or_default(),
            place: signers.place.to_string(),
        }))
    }
}

impl ConfigReader<'_> {
    pub(crate) fn read_signed_section(&mut self, approvals: &Node) -> Option<SignedSection> {
        let node = self.section(approvals, "signed", SignedSection::KEYS)?;
        if node.present("signers").is_none() {
            let help = "write `signers: /etc/reckon/signers`, a file of allowed signers as ssh-keygen reads it";
            let message = "`signers` is missing, so no person can sign an approval";
            self.missing(node.span.clone(), message, help);
        }
        Some(SignedSection::read_keys(self, node, SignedSection::default()))
    }
}

const FILE_HEAD: &str = "apiVersion: reckon.dev/v1\nkind: PlanApproval\n";
const KIND: &str = "PlanApproval";
const FORM: &str = "reckon::approval::form";
const FILE_KEYS: [&str; 5] = ["apiVersion", "kind", "plan", "ceilings", "expires"];
const CHECKSUM: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalFile {
    pub plan: String,
    /// The largest amount that the plan may move in each currency; none sets no ceiling.
    pub ceilings: Vec<Money>,
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
        let moment = text.parse::<DateTime<Utc>>().ok().or_else(|| Some(date()?.and_utc()));
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
        let mut reader = ConfigReader::new(&source, Path::new(""), &decoded);
        let read = if decoded.is_good() { reader.read_approval() } else { None };
        let problems = reader.findings.iter().map(|finding| source.problem(finding));
        let (problems, good) = sorted(problems.collect());
        read.filter(|_| good).ok_or(problems)
    }

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
            self.report(FORM, 0..0, "an approval file must have exactly one document", help);
            return None;
        };
        let root = self.root(slice, FORM, "an approval must be a mapping", help)?;
        self.report_unknown_keys(&root, &FILE_KEYS);
        self.expect_constant(&root, "apiVersion", API_VERSION);
        self.expect_constant(&root, "kind", KIND);
        if root.present("plan").is_none() {
            let first = root.span.start..root.span.start.saturating_add(1);
            self.report(FORM, first, "`plan` is missing", help);
        }
        let ceilings = self.items(&root, "ceilings").iter();
        let ceilings: Vec<Option<Money>> = ceilings.map(|one| self.literal(one)).collect();
        let expires = match root.present("expires") {
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
                self.report(FORM, node.span.clone(), message, "write the value itself");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings::Config;

    fn check(signed: &str) -> Result<SignedRules, Vec<String>> {
        let head = "apiVersion: reckon.dev/v1\nkind: Config\npolicy:\n  approvals:\n    signed:";
        let text = format!("{head} {signed}\n").into_bytes();
        match Config::parse("reckon.yaml", Path::new("/etc/reckon"), text) {
            Ok(config) => {
                Ok(config.policy.approvals.signed.unwrap().get(&|_: &str| None).unwrap().unwrap())
            }
            Err(broken) => Err(broken.problems.iter().map(|one| one.message.clone()).collect()),
        }
    }

    #[test]
    fn names_are_believed_only_where_the_operator_says_so() {
        let rules = check("{signers: signers}").unwrap();
        let place = "reckon.yaml:5".to_owned();
        let signers = PathBuf::from("/etc/reckon/signers");
        assert_eq!(
            rules,
            SignedRules { folder: None, signers, authors: AuthorEvidence::Signed, place }
        );
        let rules = check("{signers: /s, folder: /b/approvals, authors: named}").unwrap();
        assert_eq!(
            (rules.authors, rules.folder),
            (AuthorEvidence::Named, Some("/b/approvals".into()))
        );
    }

    #[test]
    fn what_is_wrong_is_told() {
        assert_eq!(check("{signers: s, authors: any, keys: 1}").unwrap_err().len(), 2);
        let missing = check("{folder: approvals}").unwrap_err();
        assert_eq!(missing, ["`signers` is missing, so no person can sign an approval"]);
    }
}

#[cfg(test)]
mod approval_file_tests {
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
