//! Turns the bytes of the file into [`Config`], or into its problems.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use super::settings::{Config, FILE_NAME};
use crate::config::reader::ConfigReader;
use crate::kinds::schema::kind::{Mutability, Privacy, SpecField};
use crate::model::issue::{PlacedIssue, Severity};
use crate::spec::documents::document::without_private_words;
use crate::spec::text::decode::decode;
use crate::spec::text::lines::SourceText;
use crate::spec::text::lint::{Keep, lint};
use crate::spec::text::mask::{MaskedSource, PrivacyRules, private_lines};
use crate::spec::text::node::NodeValue;
use crate::spec::text::split::split;

const fn secret(path: &'static str, doc: &'static str) -> SpecField {
    SpecField { path, privacy: Privacy::Secret, mutability: Mutability::LocalOnly, doc }
}

const PRIVATE: &[SpecField] = &[
    secret("partner.client_secret", "The partner's client secret."),
    secret("secrets.key", "The key of the vault."),
    secret(
        "notify.url",
        "The address of a chat or program; the address alone is enough to write there.",
    ),
    secret("notify.password", "The password of a mail server."),
];

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file is missing, or may not be read.
    #[error("failed to read {}: {source}", .file.display())]
    Unreadable { file: PathBuf, source: io::Error },
    #[error("{} is invalid (problems: {})", .0.file, .0.problems.len())]
    Invalid(Box<InvalidConfig>),
}

/// The problems of a file, and its text for the snippets.
#[derive(Debug)]
pub struct InvalidConfig {
    /// The file's name in the problems.
    pub file: Arc<str>,
    pub problems: Vec<PlacedIssue>,
    /// The text with private values masked.
    pub source: MaskedSource,
}

impl Config {
    /// Reads the file.
    ///
    /// # Errors
    /// The file is missing, or has a mistake.
    pub fn load(file: &Path) -> Result<Self, LoadError> {
        let bytes = fs::read(file)
            .map_err(|source| LoadError::Unreadable { file: file.to_owned(), source })?;
        let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty());
        let name = file.file_name().map_or_else(|| FILE_NAME.into(), |name| name.to_string_lossy());
        Self::parse(&name, dir.unwrap_or(Path::new(".")), bytes)
            .map_err(|broken| LoadError::Invalid(Box::new(broken)))
    }

    /// Parses the file's bytes. `name` is the file's name in problems; paths start from `dir`.
    pub fn parse(name: &str, dir: &Path, bytes: Vec<u8>) -> Result<Self, InvalidConfig> {
        parse(name, dir, bytes)
    }
}

fn parse(name: &str, dir: &Path, bytes: Vec<u8>) -> Result<Config, InvalidConfig> {
    let decoded = decode(bytes);
    let source = SourceText::new(Arc::from(name), Arc::from(decoded.text.as_str()));
    let mut reader = ConfigReader {
        source: &source,
        dir: Arc::from(dir),
        findings: decoded.findings.clone(),
        variables: BTreeSet::new(),
    };
    let config = if decoded.is_good() { reader.file() } else { None };
    let ConfigReader { findings, variables, .. } = reader;
    let (hidden, words) = private_ranges(&source);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut problems: Vec<PlacedIssue> = findings
        .iter()
        .map(|finding| without_private_words(source.problem(finding), &words))
        .collect();
    problems.sort();
    let good = problems.iter().all(|problem| problem.severity == Severity::Warning);
    match config {
        Some(config) if good => Ok(Config { warnings: problems, variables, ..config }),
        _ => {
            let source = MaskedSource::new(&source, &hidden);
            Err(InvalidConfig { file: Arc::from(name), problems, source })
        }
    }
}

/// Returns the ranges to mask, and their texts.
fn private_ranges(source: &SourceText) -> (Vec<Range<usize>>, Vec<String>) {
    let rules = PrivacyRules::flat(PRIVATE);
    let (mut hidden, mut words) = (Vec::new(), Vec::new());
    for slice in split(&source.text).0 {
        let linted = lint(&source.text, &slice, Keep::All);
        match &linted.root {
            Some(root) if linted.complete => {
                for (range, word) in rules.private_leaves(root) {
                    hidden.push(range);
                    words.push(word.to_owned());
                }
            }
            _ => hidden.extend(private_lines(&source.text, &slice.range, rules.names(), &(0..0))),
        }
    }
    (hidden, words)
}

const EMPTY_HELP: &str = "start it with `apiVersion: reckon.dev/v1` and `kind: Config`";

impl ConfigReader<'_> {
    fn file(&mut self) -> Option<Config> {
        let (slices, findings) = split(&self.source.text);
        self.findings.extend(findings);
        let [first, others @ ..] = slices.as_slice() else {
            self.report("reckon::config::empty", 0..0, "the file is empty", EMPTY_HELP);
            return None;
        };
        for other in others {
            let start = other.range.start;
            let (message, help) = ("the file has a second document", "keep one document");
            self.report(
                "reckon::config::second_document",
                start..start.saturating_add(1),
                message,
                help,
            );
        }
        let linted = lint(&self.source.text, first, Keep::All);
        let clean = linted.findings.is_empty();
        self.findings.extend(linted.findings);
        let root = linted.root.filter(|_| clean)?;
        if !matches!(root.value, NodeValue::Map(_)) {
            self.report(
                "reckon::config::not_a_mapping",
                root.span,
                "the file is not a mapping",
                EMPTY_HELP,
            );
            return None;
        }
        Some(self.config(&root))
    }
}
