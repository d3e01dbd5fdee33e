//! Reads one document into a manifest, or into its problems.
//!
//! A clean document is parsed once, by [`serde_yaml`]. Every other one goes through the lint pass,
//! the header and the kind's own reader, in this order. Issues name paths; only a document with an
//! issue becomes a whole tree, to give its issues their places. A document whose header
//! names it keeps its key even when the rest is bad, so that its dependants are known.

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::base::hash::{Digest, canonical_object, sha256};
use crate::base::id::{Key, Name};
use crate::kinds::row::KindRow;
use crate::kinds::schema::kind::{CheckCx, DecodeError, DecodedSpec, InspectedFile, UniqueField};
use crate::model::issue::{Issue, Path, PlacedIssue, ProblemCounts, Severity, UnderlinedPart};
use crate::model::manifest::{Annotations, AttachedFile, DocumentPlace, Manifest, PackedManifest};
use crate::spec::default_fields::DEFAULTS;
use crate::spec::defaults::{FolderDefaults, is_defaults, read_defaults};
use crate::spec::header::{self, DocumentHead};
use crate::spec::lazy_source::LazySource;
use crate::spec::privacy::privacy_rules;
use crate::spec::text::clean::clean_value;
use crate::spec::text::decode::Finding;
use crate::spec::text::lint::{Keep, Linted, lint};
use crate::spec::text::mask::without_private_words;
use crate::spec::text::node::{Node, locate, nearest_span};
use crate::spec::text::source::{Slice, SourceText};

#[derive(Debug, Clone)]
pub struct ReadContext {
    pub kinds: &'static [KindRow],
    pub check: CheckCx,
}

const SPEC: &str = "spec";

#[derive(Debug, Clone)]
pub struct ParsedDocument {
    pub place: DocumentPlace,
    /// The key, where the header gives one.
    pub key: Option<Key>,
    /// The content, where it fits its kind; not to be used while there are errors.
    pub manifest: Option<Arc<PackedManifest>>,
    /// A property that only one document of a tree may have.
    pub unique_field: Option<&'static UniqueField>,
    /// The document's own problems; none beyond the bound of its file.
    pub problems: Vec<PlacedIssue>,
    /// The document's own problems beyond that bound.
    pub omitted: ProblemCounts,
    /// The files that the document names, in their state at reading.
    pub attached: Vec<InspectedFile>,
    /// The values of a valid `Defaults` document, which has no key.
    pub defaults: Option<Arc<FolderDefaults>>,
    /// True if the document leaves a value out that `Defaults` may give, which cannot be read.
    pub uncertain: bool,
}

impl ParsedDocument {
    /// Returns a document of which only the key, if any, and the problems are known.
    fn unread(
        place: DocumentPlace,
        key: Option<Key>,
        (problems, omitted): (Vec<PlacedIssue>, ProblemCounts),
    ) -> Self {
        let (manifest, unique_field, defaults) = (None, None, None);
        let (attached, uncertain) = (Vec::new(), false);
        Self {
            place,
            key,
            manifest,
            unique_field,
            problems,
            omitted,
            attached,
            defaults,
            uncertain,
        }
    }

    /// Returns a document without problems.
    pub(crate) fn of_manifest(
        place: DocumentPlace,
        key: Key,
        manifest: Arc<PackedManifest>,
    ) -> Self {
        let nothing = (Vec::new(), ProblemCounts::default());
        Self { manifest: Some(manifest), ..Self::unread(place, Some(key), nothing) }
    }

    /// Returns whether nothing but its text and the context of the reading decides about the document.
    pub(crate) fn depends_on_text_alone(&self) -> bool {
        let alone = self.attached.is_empty() && self.unique_field.is_none() && !self.uncertain;
        let is_clean = self.problems.is_empty() && self.omitted == ProblemCounts::default();
        alone && is_clean && self.defaults.is_none() && self.is_good()
    }

    /// Returns whether the document may be used, apart from its dependencies.
    pub fn is_good(&self) -> bool {
        let errors = self.problems.iter().any(|problem| problem.severity == Severity::Error);
        let read = self.key.is_some() && self.manifest.is_some() && !self.uncertain;
        read && !errors && self.omitted.errors == 0
    }
}

/// Reads one document. `shift` is the number of bytes before the text in the file.
pub fn read(
    cx: &ReadContext,
    source: &LazySource<'_>,
    slice: &Slice,
    shift: usize,
) -> ParsedDocument {
    let place = DocumentPlace {
        file: source.file.clone(),
        line: slice.line,
        offset: slice.range.start.saturating_add(shift),
        length: slice.range.len(),
    };
    if source.text.get(slice.range.clone()).is_some_and(|text| text.contains(DEFAULTS))
        && let Some(document) = defaults_document(cx, source, slice, &place)
    {
        return document;
    }
    match read_once(cx, source, slice) {
        Some((header, spec, uncertain)) => {
            let read = Some(Ok(spec));
            ParsedDocument { uncertain, ..checked(cx, source, slice, header, read, place) }
        }
        None => read_with_places(cx, source, slice, place),
    }
}

/// Reads a document that calls itself `Defaults`; `None` for every other one.
fn defaults_document(
    cx: &ReadContext,
    source: &LazySource<'_>,
    slice: &Slice,
    place: &DocumentPlace,
) -> Option<ParsedDocument> {
    let linted = lint(source.text, slice, Keep::All);
    let root = linted.root.as_ref().filter(|root| is_defaults(root))?;
    if !linted.findings.is_empty() {
        let found = findings_with_places(cx, source, slice, &linted, &DocumentHead::default());
        return Some(ParsedDocument::unread(place.clone(), None, found));
    }
    let (values, issues) = read_defaults(root);
    let defaults = issues.is_empty().then(|| Arc::new(values));
    let found = with_places(cx, source, slice, issues, Vec::new());
    Some(ParsedDocument { defaults, ..ParsedDocument::unread(place.clone(), None, found) })
}

fn read_with_places(
    cx: &ReadContext,
    source: &LazySource<'_>,
    slice: &Slice,
    place: DocumentPlace,
) -> ParsedDocument {
    let linted = lint(source.text, slice, Keep::Head);
    let header = header::read_head(cx.kinds, linted.root.as_ref());
    if linted.findings.is_empty() {
        let read = header.row.map(|row| read_text(cx, source, slice, (row, &header)));
        let (read, uncertain) = read.unzip();
        let document = checked(cx, source, slice, header, read, place);
        return ParsedDocument { uncertain: uncertain.unwrap_or_default(), ..document };
    }
    let found = findings_with_places(cx, source, slice, &linted, &header);
    ParsedDocument::unread(place, header.key, found)
}

type ReadSpec = Result<DecodedSpec, Vec<DecodeError>>;

/// Reads a spec from its text, with the values that it leaves out. Also returns true if such a value
/// is uncertain.
fn read_text(
    cx: &ReadContext,
    source: &LazySource<'_>,
    slice: &Slice,
    (row, header): (&KindRow, &DocumentHead),
) -> (ReadSpec, bool) {
    let text = source.text.get(slice.range.clone()).unwrap_or_default();
    let namespace = header.namespace.clone().unwrap_or_else(Name::default_namespace);
    let (added, uncertain) = source.defaults.as_ref().map_or((None, false), |defaults| {
        let linted = lint(source.text, slice, Keep::All);
        let root = linted.root.as_ref();
        root.map_or((None, false), |root| {
            defaults.add_to_text(row, (root, text, slice.range.start))
        })
    });
    let Some(added) = added else { return ((row.read)(text, &namespace, &cx.check), uncertain) };
    let elsewhere = |misfit| DecodeError { offset: None, ..misfit };
    let read = (row.read)(&added, &namespace, &cx.check);
    (read.map_err(|misfits| misfits.into_iter().map(elsewhere).collect()), uncertain)
}

/// Reads a document without any issue from its values; `None` for every other one. Only where a
/// number replaces a text, whose form is lost, the text is parsed again.
fn read_once(
    cx: &ReadContext,
    source: &LazySource<'_>,
    slice: &Slice,
) -> Option<(DocumentHead, DecodedSpec, bool)> {
    let text = source.text.get(slice.range.clone())?;
    let mut value = clean_value(text)?;
    let header = header::read_head(cx.kinds, Some(&Node::of_values(&value, SPEC)?));
    let namespace = header.namespace.clone()?;
    let row = header.row?;
    let spec = value.get_mut(SPEC)?;
    let defaults = source.defaults.as_ref();
    let uncertain = defaults.is_some_and(|defaults| defaults.add_to_values(row, spec));
    let spec = (row.read_values)(spec, &namespace, &cx.check);
    let spec = spec.or_else(|| read_text(cx, source, slice, (row, &header)).0.ok())?;
    let clean = header.issues.is_empty() && spec.issues.is_empty();
    clean.then_some((header, spec, uncertain))
}

/// Returns the document of a header and its spec. `read` is `None` for an unknown kind.
fn checked(
    cx: &ReadContext,
    source: &LazySource<'_>,
    slice: &Slice,
    header: DocumentHead,
    read: Option<Result<DecodedSpec, Vec<DecodeError>>>,
    place: DocumentPlace,
) -> ParsedDocument {
    let DocumentHead { row, key, namespace: _, labels, annotations, mut issues } = header;
    let labels = match &source.defaults {
        Some(defaults) => defaults.labels(labels),
        None => labels,
    };
    let mut misfits = Vec::new();
    let (mut manifest, mut sole, mut looked) = (None, None, Vec::new());
    match read {
        None => {}
        Some(Err(errors)) => misfits = header::without_mistyped_spec(errors, &issues),
        Some(Ok(DecodedSpec { spec, references, issues: own, files })) => {
            issues.extend(own);
            looked = files;
            let files: Vec<_> = looked.iter().filter_map(|one| one.file.clone()).collect();
            let digest = digest(&spec, &annotations, &files);
            manifest = key.clone().map(|key| {
                let place = place.clone();
                let manifest =
                    Manifest { key, labels, annotations, spec, references, files, digest, place };
                sole = row.and_then(|row| (row.unique_field)(&manifest));
                Arc::new(manifest.pack())
            });
        }
    }
    let (problems, omitted) = with_places(cx, source, slice, issues, misfits);
    let read = ParsedDocument::unread(place, key, (problems, omitted));
    ParsedDocument { manifest, unique_field: sole, attached: looked, ..read }
}

/// Places the issues while there is room, and counts the rest.
fn with_places(
    cx: &ReadContext,
    source: &LazySource<'_>,
    slice: &Slice,
    issues: Vec<Issue>,
    misfits: Vec<DecodeError>,
) -> (Vec<PlacedIssue>, ProblemCounts) {
    let misfits = misfits.into_iter().map(DocumentFault::Decode);
    let faults = misfits.chain(issues.into_iter().map(DocumentFault::Issue)).collect();
    let (faults, omitted) = source.admit(faults, DocumentFault::severity);
    if faults.is_empty() {
        return (Vec::new(), omitted);
    }
    (PlacedDocument::new(cx, source.source(), slice).all(&faults), omitted)
}

enum DocumentFault {
    Issue(Issue),
    Decode(DecodeError),
}

impl DocumentFault {
    fn severity(&self) -> Severity {
        match self {
            Self::Issue(issue) => issue.severity,
            Self::Decode(_) => Severity::Error,
        }
    }
}

fn digest(spec: &Value, annotations: &Annotations, files: &[AttachedFile]) -> Digest {
    let annotations = json!(annotations);
    let attached: Value = files.iter().map(|file| json!([file.path, file.sha256])).collect();
    let whole = [("spec", spec), ("annotations", &annotations)];
    let files = (!files.is_empty()).then_some(("files", &attached));
    sha256(&canonical_object(whole.into_iter().chain(files)))
}

/// A document with an issue: its tree, and its private words.
pub(crate) struct PlacedDocument<'a> {
    pub(crate) source: &'a SourceText,
    slice: &'a Slice,
    root: Option<Node>,
    private: Vec<String>,
}

impl<'a> PlacedDocument<'a> {
    pub(crate) fn new(cx: &ReadContext, source: &'a SourceText, slice: &'a Slice) -> Self {
        let root = lint(&source.text, slice, Keep::All).root;
        let rules = privacy_rules(cx.kinds, root.as_ref());
        let words = root.iter().flat_map(|root| rules.private_leaves(root));
        let private = words.map(|(_, word)| word.to_owned()).collect();
        Self { source, slice, root, private }
    }

    fn all(&self, faults: &[DocumentFault]) -> Vec<PlacedIssue> {
        let placed = |fault: &DocumentFault| match fault {
            DocumentFault::Issue(issue) => self.issue(issue),
            DocumentFault::Decode(misfit) => self.decode_problem(misfit),
        };
        let mut problems: Vec<_> = faults.iter().map(placed).collect();
        problems.sort();
        problems.dedup();
        problems
    }

    /// Returns the issue with its place; related places of other documents are left out.
    pub(crate) fn issue(&self, issue: &Issue) -> PlacedIssue {
        let mut finding = self.finding(issue);
        for related in issue.related.iter().filter(|related| related.key.is_none()) {
            let span = self.span(&related.path, UnderlinedPart::Value);
            finding.related.push((span, related.message.clone()));
        }
        self.problem(&finding)
    }

    fn finding(&self, issue: &Issue) -> Finding {
        Finding {
            code: issue.code,
            severity: issue.severity,
            span: self.span(&issue.path, issue.underlined),
            message: issue.message.clone(),
            help: issue.help.clone(),
            related: Vec::new(),
        }
    }

    pub(crate) fn span(&self, path: &Path, at: UnderlinedPart) -> Range<usize> {
        match &self.root {
            Some(root) => locate(root, &self.source.text, path, at),
            None => self.slice.range.clone(),
        }
    }

    /// Returns the first and last line of a path, or of the smallest existing part around it.
    pub(crate) fn lines(&self, path: &Path) -> (usize, usize) {
        let span = match &self.root {
            Some(root) => nearest_span(root, path),
            None => self.slice.range.clone(),
        };
        let text = self.source.text.get(span.clone()).unwrap_or_default().trim_end();
        let last = span.start.saturating_add(text.len());
        (self.source.position(span.start).0, self.source.position(last).0)
    }

    fn decode_problem(&self, misfit: &DecodeError) -> PlacedIssue {
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

    fn problem(&self, finding: &Finding) -> PlacedIssue {
        let words: Vec<_> = self.private.iter().map(String::as_str).collect();
        without_private_words(self.source.problem(finding), &words)
    }
}

fn findings_with_places(
    cx: &ReadContext,
    source: &LazySource<'_>,
    slice: &Slice,
    linted: &Linted,
    header: &DocumentHead,
) -> (Vec<PlacedIssue>, ProblemCounts) {
    let (found, omitted) =
        source.admit(linted.findings.iter().collect(), |finding| finding.severity);
    let place = |finding: &Finding| without_private_words(source.source().problem(finding), &[]);
    let mut problems: Vec<_> = found.into_iter().map(place).collect();
    if !linted.complete {
        return (problems, omitted);
    }
    let (more, rest) = with_places(cx, source, slice, header.issues.clone(), Vec::new());
    problems.extend(more);
    (problems, omitted.plus(rest))
}

#[cfg(test)]
mod tests;
