//! One file of the tree: its documents, their places and their problems.
//!
//! Files are read from disk several at once where there are many. Reading and parsing one file
//! needs no other, and takes most of the time of a load.

use std::sync::Arc;

use crate::base::bulk::parallel::map_in_order;
use crate::base::folder::{PathError, Stat};
use crate::base::id::Key;
use crate::kinds::schema::kind::InspectedFile;
use crate::model::issue::{Issue, PlacedIssue, ProblemCounts, Severity};
use crate::spec::default_fields::DEFAULTS;
use crate::spec::defaults::EffectiveDefaults;
use crate::spec::document::{ParsedDocument, ReadContext, read};
use crate::spec::lazy_source::LazySource;
use crate::spec::text::decode::{BOM, DecodedText, Finding, decode};
use crate::spec::text::mask::without_private_words;
use crate::spec::text::source::split;
use crate::spec::tree::defaults::OwnDefaults;
use crate::spec::tree::roots::{OpenedRoots, SpecRoots};

#[derive(Debug)]
pub(crate) struct SpecFile {
    pub(crate) stat: Stat,
    pub(crate) hash: [u8; 32],
    pub(crate) documents: Box<[ParsedDocument]>,
    problems: Vec<PlacedIssue>,
    omitted: ProblemCounts,
    /// The values that its documents were read with.
    pub(crate) defaults: Option<Arc<EffectiveDefaults>>,
    /// Its own `Defaults` documents.
    pub(crate) own_defaults: Vec<OwnDefaults>,
}

/// The place of a document: its file, and its number there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DocumentSpot {
    /// The number of the folder, in the order of the configuration.
    pub(crate) folder: usize,
    pub(crate) path: Arc<str>,
    pub(crate) index: usize,
}

/// An issue between documents; its place is computed on request.
#[derive(Debug)]
pub(crate) struct LinkIssue {
    pub(crate) spot: DocumentSpot,
    pub(crate) issue: Issue,
    pub(crate) missing: Option<Key>,
}

impl LinkIssue {
    pub(crate) fn new(spot: &DocumentSpot, issue: Issue) -> Self {
        Self { spot: spot.clone(), issue, missing: None }
    }
}

impl SpecFile {
    pub(crate) fn read(
        cx: &ReadContext,
        wanted: &FileRequest<'_>,
        bytes: Vec<u8>,
        hash: [u8; 32],
    ) -> Self {
        let FileRequest { name, stat, defaults, .. } = wanted;
        let decoded = decode(bytes);
        let good = decoded.is_good();
        let DecodedText { text, bom, mut findings } = decoded;
        let source = LazySource::new(name.clone(), &text).with_defaults(defaults.clone());
        let (slices, more) = split(&text);
        let shift = if bom { BOM.len() } else { 0 };
        let mut documents = Vec::new();
        if good {
            findings.extend(more);
            documents.extend(slices.iter().map(|slice| read(cx, &source, slice, shift)));
        }
        let (findings, omitted) = source.admit(findings, |finding| finding.severity);
        let place =
            |finding: &Finding| without_private_words(source.source().problem(finding), &[]);
        let problems = findings.iter().map(place).collect();
        let own_defaults = if good || !text.contains(DEFAULTS) {
            own_defaults(&text, &documents, shift)
        } else {
            vec![OwnDefaults { line: 1, values: None }]
        };
        let (stat, defaults) = (*stat, defaults.clone());
        let documents = documents.into_boxed_slice();
        Self { stat, hash, documents, problems, omitted, defaults, own_defaults }
    }

    /// Returns a file without problems.
    pub(crate) fn of_parsed(stat: Stat, hash: [u8; 32], documents: Box<[ParsedDocument]>) -> Self {
        let (problems, omitted) = (Vec::new(), ProblemCounts::default());
        let (defaults, own_defaults) = (None, Vec::new());
        Self { stat, hash, documents, problems, omitted, defaults, own_defaults }
    }

    /// Returns whether nothing but its text and the context of the reading decides about the file.
    pub(crate) fn depends_on_text_alone(&self) -> bool {
        let is_clean = self.problems.is_empty() && self.omitted == ProblemCounts::default();
        let alone = self.defaults.is_none() && self.own_defaults.is_empty();
        is_clean && alone && self.documents.iter().all(ParsedDocument::depends_on_text_alone)
    }

    /// Returns the files that its documents name, in their state at reading.
    pub(crate) fn attached_files(&self) -> impl Iterator<Item = &InspectedFile> {
        self.documents.iter().flat_map(|document| &document.attached)
    }

    /// Returns the keys of the documents that have one, with their places in the file.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (usize, &Key)> {
        let keys = self.documents.iter().map(|document| document.key.as_ref());
        keys.enumerate().filter_map(|(index, key)| key.map(|key| (index, key)))
    }

    /// Returns the problems of the file and of each document by itself.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &PlacedIssue> {
        self.problems.iter().chain(self.documents.iter().flat_map(|document| &document.problems))
    }

    /// Returns whether the file or one of its documents has a problem by itself.
    pub(crate) fn has_problem(&self) -> bool {
        self.problems().next().is_some() || self.omitted_counts() != ProblemCounts::default()
    }

    /// Counts the problems without a place.
    pub(crate) fn omitted_counts(&self) -> ProblemCounts {
        self.documents.iter().fold(self.omitted, |sum, document| sum.plus(document.omitted))
    }

    pub(crate) fn has_keyless_problem(&self) -> bool {
        let errors = self.problems.iter().any(|problem| problem.severity == Severity::Error);
        errors
            || self.omitted.errors > 0
            || self.documents.iter().any(|one| one.key.is_none() && one.defaults.is_none())
    }
}

/// Returns the `Defaults` documents of a file, and those that cannot be read and may be some.
fn own_defaults(text: &str, documents: &[ParsedDocument], shift: usize) -> Vec<OwnDefaults> {
    let own = |document: &ParsedDocument| {
        let start = document.place.offset.saturating_sub(shift);
        let text = text.get(start..start.saturating_add(document.place.length));
        let may_be = document.key.is_none() && text.is_some_and(|text| text.contains(DEFAULTS));
        let values = document.defaults.clone();
        may_be.then_some(OwnDefaults { line: document.place.line, values })
    };
    documents.iter().filter_map(own).collect()
}

pub(crate) fn problem_at(
    file: &str,
    line: usize,
    code: &str,
    message: &str,
    help: &str,
) -> PlacedIssue {
    PlacedIssue {
        file: file.to_owned(),
        line,
        column: 1,
        length: 1,
        code: code.to_owned(),
        severity: Severity::Error,
        message: message.to_owned(),
        help: help.to_owned(),
        related: Vec::new(),
    }
}

pub(crate) struct FileRequest<'a> {
    pub(crate) path: &'a str,
    pub(crate) name: Arc<str>,
    pub(crate) stat: Stat,
    /// The hash of the content read before, if any.
    pub(crate) known: Option<[u8; 32]>,
    /// The values for its documents.
    pub(crate) defaults: Option<Arc<EffectiveDefaults>>,
}

pub(crate) enum FileReading {
    Unchanged,
    Changed(Box<SpecFile>),
    Unreadable(PathError),
}

/// Checks files of the tree; the results have the order of `wanted`.
pub(crate) fn read_all(
    cx: &ReadContext,
    roots: &SpecRoots,
    wanted: &[FileRequest<'_>],
) -> Vec<FileReading> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let opened = roots.open();
    map_in_order(wanted, |one| read_one(cx, &opened, one))
}

fn read_one(cx: &ReadContext, opened: &OpenedRoots<'_>, wanted: &FileRequest<'_>) -> FileReading {
    let bytes = match opened.read(wanted.path) {
        Ok(bytes) => bytes,
        Err(error) => return FileReading::Unreadable(error),
    };
    let hash = *blake3::hash(&bytes).as_bytes();
    if wanted.known == Some(hash) {
        return FileReading::Unchanged;
    }
    let file = SpecFile::read(cx, wanted, bytes, hash);
    FileReading::Changed(Box::new(file))
}
