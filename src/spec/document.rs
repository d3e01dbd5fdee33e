//! One document → a manifest, or what is wrong with it.
//!
//! The order: the lint pass, the header, the kind's own reader. Issues speak of paths; only a
//! document that has one becomes a whole tree, to give them their places. A document whose header
//! names it keeps its key even when the rest is bad, so that its dependants know.

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::base::hash::{Digest, canonical_object, sha256};
use crate::base::id::{Key, Name};
use crate::kinds::files::Looked;
use crate::kinds::register::KindRow;
use crate::kinds::{CheckCx, Misfit, Read, Sole};
use crate::model::issue::{At, Issue, Problem, Severity};
use crate::model::manifest::{Annotations, AttachedFile, Kept, Manifest, Place};
use crate::spec::finding::Finding;
use crate::spec::lines::Source;
use crate::spec::lint::{Keep, Linted, lint};
use crate::spec::mask::{Rules, clean, private_lines};
use crate::spec::node::{Node, locate};
use crate::spec::split::Slice;

mod annotations;
mod header;

pub use annotations::KNOWN as ANNOTATIONS;
pub use header::API_VERSION;

use header::Header;

/// What it takes to read a document.
#[derive(Debug, Clone)]
pub struct ReadCx {
    /// The kinds there are.
    pub kinds: &'static [KindRow],
    /// What their checks need.
    pub check: CheckCx,
}

/// One document as read.
#[derive(Debug, Clone)]
pub struct Document {
    /// Where it stands.
    pub place: Place,
    /// Its name, where the header gives one.
    pub key: Option<Key>,
    /// What it says, where it fits its kind; not to be used while there are errors.
    pub manifest: Option<Arc<Kept>>,
    /// What only one document of a tree may have, if it has such a thing.
    pub sole: Option<&'static Sole>,
    /// What is wrong with it by itself.
    pub problems: Vec<Problem>,
    /// The files that it names, as a look at them found them.
    pub looked: Vec<Looked>,
}

impl Document {
    /// Whether it may be used, as far as it goes by itself.
    pub fn is_good(&self) -> bool {
        let errors = self.problems.iter().any(|problem| problem.severity == Severity::Error);
        self.key.is_some() && self.manifest.is_some() && !errors
    }
}

/// Reads one document. `shift` is how many bytes stand before the text in the file.
pub fn read(cx: &ReadCx, source: &LazySource<'_>, slice: &Slice, shift: usize) -> Document {
    let place = Place {
        file: source.file.clone(),
        line: slice.line,
        offset: slice.range.start.saturating_add(shift),
        length: slice.range.len(),
    };
    let linted = lint(source.text, slice, Keep::Head);
    let header = header::read(cx.kinds, linted.root.as_ref());
    if linted.findings.is_empty() {
        return read_clean(cx, source, slice, header, place);
    }
    let problems = findings_with_places(cx, source, slice, &linted, &header);
    let looked = Vec::new();
    Document { place, key: header.key, manifest: None, sole: None, problems, looked }
}

/// A text whose lines are counted only when something is wrong.
#[derive(Debug)]
pub struct LazySource<'a> {
    /// The file's name in reports.
    pub file: Arc<str>,
    /// The text.
    pub text: &'a str,
}

impl LazySource<'_> {
    /// The text with its lines.
    pub fn source(&self) -> Source {
        Source::new(self.file.clone(), Arc::from(self.text))
    }
}

fn read_clean(
    cx: &ReadCx,
    source: &LazySource<'_>,
    slice: &Slice,
    header: Header,
    place: Place,
) -> Document {
    let Header { row, key, namespace, labels, annotations, mut issues, foreign } = header;
    let text = source.text.get(slice.range.clone()).unwrap_or_default();
    let namespace = namespace.unwrap_or_else(Name::default_namespace);
    // The kind's reader stops at a foreign field, of which the header has told.
    let read = row.filter(|_| !foreign).map(|row| (row.read)(text, &namespace, &cx.check));
    let mut misfit = None;
    let (mut manifest, mut sole, mut looked) = (None, None, Vec::new());
    match read {
        None => {}
        Some(Err(error)) => misfit = Some(error),
        Some(Ok(Read { spec, references, issues: own, files })) => {
            issues.extend(own);
            looked = files;
            let files: Vec<_> = looked.iter().filter_map(|one| one.found.clone()).collect();
            let digest = digest(&spec, &annotations, &files);
            manifest = key.clone().map(|key| {
                let place = place.clone();
                let manifest =
                    Manifest { key, labels, annotations, spec, references, files, digest, place };
                sole = row.and_then(|row| (row.sole)(&manifest));
                Arc::new(manifest.pack())
            });
        }
    }
    let problems = if issues.is_empty() && misfit.is_none() {
        Vec::new()
    } else {
        Placed::new(cx, &source.source(), slice).all(&issues, misfit.as_ref())
    };
    Document { place, key, manifest, sole, problems, looked }
}

fn digest(spec: &Value, annotations: &Annotations, files: &[AttachedFile]) -> Digest {
    let annotations = json!(annotations);
    let attached: Value = files.iter().map(|file| json!([file.path, file.sha256])).collect();
    let whole = [("spec", spec), ("annotations", &annotations)];
    let files = (!files.is_empty()).then_some(("files", &attached));
    sha256(&canonical_object(whole.into_iter().chain(files)))
}

/// A document with an issue: its tree, and what must not be told of it.
pub(crate) struct Placed<'a> {
    source: &'a Source,
    slice: &'a Slice,
    root: Option<Node>,
    kinds: &'static [KindRow],
}

impl<'a> Placed<'a> {
    pub(crate) fn new(cx: &ReadCx, source: &'a Source, slice: &'a Slice) -> Self {
        let root = lint(&source.text, slice, Keep::All).root;
        Self { source, slice, root, kinds: cx.kinds }
    }

    fn all(&self, issues: &[Issue], misfit: Option<&Misfit>) -> Vec<Problem> {
        let mut problems: Vec<_> = issues.iter().map(|issue| self.issue(issue)).collect();
        problems.extend(misfit.map(|misfit| self.misfit(misfit)));
        problems.sort();
        problems.dedup();
        problems
    }

    /// The issue with its place; related places of other documents are left out.
    pub(crate) fn issue(&self, issue: &Issue) -> Problem {
        let mut finding = self.finding(issue);
        for related in issue.related.iter().filter(|related| related.key.is_none()) {
            let span = self.span(&related.path, At::Value);
            finding.related.push((span, related.message.clone()));
        }
        self.problem(&finding)
    }

    fn finding(&self, issue: &Issue) -> Finding {
        Finding {
            code: issue.code,
            severity: issue.severity,
            span: self.span(&issue.path, issue.at),
            message: issue.message.clone(),
            help: issue.help.clone(),
            related: Vec::new(),
        }
    }

    /// The bytes of a path.
    pub(crate) fn span(&self, path: &crate::model::issue::Path, at: At) -> Range<usize> {
        match &self.root {
            Some(root) => locate(root, &self.source.text, path, at),
            None => self.slice.range.clone(),
        }
    }

    fn misfit(&self, misfit: &Misfit) -> Problem {
        let issue = misfit.issue();
        let mut finding = self.finding(&issue);
        let offset = misfit.offset.filter(|_| issue.path.0.is_empty());
        if let Some(offset) = offset {
            let at = self.slice.range.start.saturating_add(offset).min(self.slice.range.end);
            let rest = self.source.text.get(at..self.slice.range.end).unwrap_or_default();
            let length = rest.find([' ', '\n', '\r', ',', ':']).unwrap_or(rest.len());
            finding.span = at..at.saturating_add(length);
        }
        self.problem(&finding)
    }

    fn problem(&self, finding: &Finding) -> Problem {
        let rules = rules(self.kinds, self.root.as_ref());
        let private = self.root.iter().flat_map(|root| rules.private(root));
        let words: Vec<_> = private.map(|(_, word)| word).collect();
        cleaned(self.source.problem(finding), &words)
    }
}

fn findings_with_places(
    cx: &ReadCx,
    source: &LazySource<'_>,
    slice: &Slice,
    linted: &Linted,
    header: &Header,
) -> Vec<Problem> {
    let source = source.source();
    let mut problems: Vec<_> =
        linted.findings.iter().map(|finding| cleaned(source.problem(finding), &[])).collect();
    if linted.complete {
        problems.extend(Placed::new(cx, &source, slice).all(&header.issues, None));
    }
    problems
}

/// The problem without private words in what it says.
pub(crate) fn cleaned(mut problem: Problem, words: &[&str]) -> Problem {
    problem.message = clean(&problem.message, words);
    problem.help = clean(&problem.help, words);
    for related in &mut problem.related {
        related.message = clean(&related.message, words);
    }
    problem
}

fn rules(kinds: &'static [KindRow], root: Option<&Node>) -> Rules<'static> {
    let kind = root.and_then(|root| root.get("kind")).and_then(Node::text);
    let row = kinds.iter().find(|row| Some(row.name) == kind);
    Rules::manifest(row.map(|row| row.fields), kinds.iter().map(|row| row.fields))
}

/// The bytes of one document that must not be shown.
pub fn private(kinds: &'static [KindRow], text: &str, slice: &Slice) -> Vec<Range<usize>> {
    let linted = lint(text, slice, Keep::All);
    let rules = rules(kinds, linted.root.as_ref());
    match &linted.root {
        Some(root) if linted.complete => {
            rules.private(root).into_iter().map(|(range, _)| range).collect()
        }
        root => {
            let metadata = root.as_ref().and_then(|root| root.get("metadata"));
            let open = metadata.map_or(0..0, |node| node.span.clone());
            private_lines(text, &slice.range, rules.names(), &open)
        }
    }
}
