//! The problems of the tree with their places, computed on request.
//!
//! Guarantees: work is linear in the files that have problems. At most [`PROBLEMS_OF_FILE_MAX`]
//! problems of a file and [`PROBLEMS_MAX`] in all get a place; the rest is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use crate::base::id::{Key, Kind, Name};
use crate::base::wording::nearest;
use crate::model::issue::{
    Issue, Path, PlacedIssue, ProblemCounts, Related, RelatedPlace, TreeProblems, UnderlinedPart,
};
use crate::spec::document::PlacedDocument;
use crate::spec::lazy_source::{LazySource, PROBLEMS_OF_FILE_MAX};
use crate::spec::privacy::private_ranges;
use crate::spec::text::decode::decode;
use crate::spec::text::mask::{MaskedSource, without_private_words};
use crate::spec::text::source::{Slice, SourceText, split};
use crate::spec::tree::file::{DocumentSpot, LinkIssue, SpecFile, problem_at};
use crate::spec::tree::files::SourceProblem;
use crate::spec::tree::loader::Loader;

pub(crate) const PROBLEMS_MAX: usize = 1000;
/// Missing references with a suggestion: each search passes over every name of the kind.
const SUGGESTIONS_MAX: usize = 100;

/// Link issues by file, each with the key that it concerns.
type ByFile<'a> = BTreeMap<&'a str, Vec<(&'a Key, &'a LinkIssue)>>;

impl Loader {
    /// Returns the problems of the whole tree, sorted by file and line.
    pub fn problems(&self) -> TreeProblems {
        self.problems_where(|_| true)
    }

    /// Returns the problems of the files whose names in reports are wanted.
    pub fn problems_where(&self, wanted: impl Fn(&str) -> bool) -> TreeProblems {
        let mut links = self.links_by_file();
        let mut texts = FileTexts::new(self);
        let mut found = TreeProblems::default();
        for SourceProblem { path, code, message, help } in self.source_problems.values() {
            let problem = problem_at(&self.name_of(path), 1, code, message, help);
            if wanted(&problem.file) {
                found.shown.push(problem);
            }
        }
        for (place, first) in self.defaults.duplicates() {
            let problem = self.duplicate_defaults(place, first);
            if wanted(&problem.file) {
                found.shown.push(problem);
            }
        }
        let own = self.files_with_problems.iter().map(|path| &**path);
        let paths: BTreeSet<&str> = own.chain(links.keys().copied()).collect();
        for path in paths {
            let links = links.remove(path).unwrap_or_default();
            if let Some(file) = self.files.get(path).filter(|_| wanted(&self.name_of(path))) {
                let room = PROBLEMS_MAX.saturating_sub(found.shown.len());
                let (shown, omitted) = self.problems_of_file(file, &links, room, &mut texts);
                found.shown.extend(shown);
                found.omitted = found.omitted.plus(omitted);
            }
        }
        if self.roots.is_rendered() {
            found.shown.iter_mut().for_each(|problem| self.name_document(problem));
        }
        found.shown.sort();
        found.shown.dedup();
        found
    }

    /// Adds the name of its document to a problem of rendered output, which has no file of a person.
    fn name_document(&self, problem: &mut PlacedIssue) {
        let documents = self.files.get(problem.file.as_str()).map(|file| &file.documents);
        let before = documents.iter().flat_map(|all| all.iter());
        let document = before.rev().find(|one| one.place.line <= problem.line);
        if let Some(key) = document.and_then(|one| one.key.as_ref()) {
            problem.message = format!("document {}: {}", key.short(), problem.message);
        }
    }

    /// Returns the first problems of one file, and the count of the rest.
    fn problems_of_file<'l>(
        &'l self,
        file: &SpecFile,
        links: &[(&Key, &'l LinkIssue)],
        room: usize,
        texts: &mut FileTexts<'l>,
    ) -> (Vec<PlacedIssue>, ProblemCounts) {
        let mut omitted = file.omitted_counts();
        let mut shown: Vec<PlacedIssue> = file.problems().take(room).cloned().collect();
        file.problems().skip(room).for_each(|problem| omitted.add(problem.severity));
        let room = room.min(PROBLEMS_OF_FILE_MAX).saturating_sub(shown.len());
        for (place, (key, link)) in links.iter().enumerate() {
            if place < room {
                shown.push(self.link_problem(key, link, texts));
            } else {
                omitted.add(link.issue.severity);
            }
        }
        (shown, omitted)
    }

    fn duplicate_defaults(
        &self,
        (path, line): (&str, usize),
        (first, first_line): (&str, usize),
    ) -> PlacedIssue {
        let message = "the folder has a second `Defaults` document";
        let help = "keep one; documents of the folder that leave a value out are not used";
        let code = "reckon::defaults::duplicate";
        let file = self.name_of(first).to_string();
        let message_there = "the first one is here".to_owned();
        let there = RelatedPlace { file, line: first_line, column: 1, message: message_there };
        let problem = problem_at(&self.name_of(path), line, code, message, help);
        PlacedIssue { related: vec![there], ..problem }
    }

    fn links_by_file(&self) -> ByFile<'_> {
        let mut by_file = ByFile::new();
        for (key, issues) in &self.link_issues {
            for issue in issues {
                by_file.entry(&issue.spot.path).or_default().push((key, issue));
            }
        }
        for issues in by_file.values_mut() {
            issues.sort_by_key(|(_, issue)| issue.spot.index);
        }
        by_file
    }

    /// Returns a link issue with its place, and the nearest name of a missing one.
    fn link_problem<'l>(
        &'l self,
        key: &Key,
        link: &'l LinkIssue,
        texts: &mut FileTexts<'l>,
    ) -> PlacedIssue {
        let mut problem = self.placed_problem(&link.spot, &link.issue, texts);
        let missing = link.missing.as_ref().filter(|_| texts.may_suggest());
        if let Some(name) = missing.and_then(|missing| self.suggestion(key, missing)) {
            problem.help = format!("did you mean `{name}`?");
        }
        problem
    }

    /// Returns the existing name of the same kind that is most similar to the missing one.
    fn suggestion(&self, key: &Key, missing: &Key) -> Option<String> {
        let seen_from_key = |found: &Key| {
            if found.namespace == key.namespace {
                found.name.to_string()
            } else {
                format!("{}/{}", found.namespace, found.name)
            }
        };
        let first = first_key_of_kind(missing.kind.clone());
        let same_kind =
            self.by_key.range(first..).take_while(|(found, _)| found.kind == missing.kind);
        let names: Vec<String> = same_kind.map(|(found, _)| seen_from_key(found)).collect();
        nearest(&seen_from_key(missing), names.iter().map(String::as_str)).map(str::to_owned)
    }

    pub fn place_issue(&self, key: &Key, issue: &Issue) -> Option<PlacedIssue> {
        let (spot, _) = self.documents_of(key).next()?;
        Some(self.placed_problem(spot, issue, &mut FileTexts::new(self)))
    }

    fn placed_problem<'l>(
        &'l self,
        spot: &'l DocumentSpot,
        issue: &Issue,
        texts: &mut FileTexts<'l>,
    ) -> PlacedIssue {
        let placed = texts.with_placed(spot, |placed| placed.issue(issue));
        let mut problem = placed.unwrap_or_else(|| self.place_at_document(spot, issue));
        problem.severity = issue.severity;
        let related = issue.related.iter().filter_map(|related| self.place_related(related, texts));
        problem.related.extend(related.collect::<Vec<_>>());
        without_private_words(problem, &[])
    }

    /// Places the issue at its document's first line, where the file changed since it was loaded.
    fn place_at_document(&self, spot: &DocumentSpot, issue: &Issue) -> PlacedIssue {
        let document = self.files.get(&spot.path).and_then(|file| file.documents.get(spot.index));
        let line = document.map_or(1, |document| document.place.line);
        problem_at(&self.name_of(&spot.path), line, issue.code, &issue.message, &issue.help)
    }

    fn place_related<'l>(
        &'l self,
        related: &Related,
        texts: &mut FileTexts<'l>,
    ) -> Option<RelatedPlace> {
        let Related { key, path, message } = related;
        let (spot, _) = self.documents_of(key.as_ref()?).next()?;
        let (line, column) = texts.with_placed(spot, |placed| {
            placed.source.position(placed.span(path, UnderlinedPart::Value).start)
        })?;
        let file = self.name_of(&spot.path).to_string();
        Some(RelatedPlace { file, line, column, message: message.clone() })
    }

    /// Returns the masked texts of the files that these problems name, for their snippets. A file
    /// that changed since it was loaded has none.
    pub fn sources(&self, problems: &[PlacedIssue]) -> BTreeMap<String, MaskedSource> {
        let related = problems.iter().flat_map(|problem| &problem.related);
        let names: BTreeSet<&str> = problems
            .iter()
            .map(|problem| problem.file.as_str())
            .chain(related.map(|place| place.file.as_str()))
            .collect();
        let masked = |name: &str| Some((name.to_owned(), self.masked_source(self.path_of(name)?)?));
        names.into_iter().filter_map(masked).collect()
    }

    fn masked_source(&self, path: &str) -> Option<MaskedSource> {
        let source = self.source(path)?;
        let (slices, _) = split(&source.text);
        let hidden: Vec<_> = slices
            .iter()
            .flat_map(|slice| private_ranges(self.cx.kinds, &source.text, slice))
            .collect();
        Some(MaskedSource::new(&source, &hidden))
    }

    /// Returns the text of a file as it was loaded; `None` when the file changed since.
    fn source(&self, path: &str) -> Option<SourceText> {
        let file = self.files.get(path)?;
        let bytes = self.roots.open().read(path).ok()?;
        if *blake3::hash(&bytes).as_bytes() != file.hash {
            return None;
        }
        Some(LazySource::new(self.name_of(path), &decode(bytes).text).source().clone())
    }

    /// Returns the path of a file by its name in reports; `None` where the tree has no such file.
    pub fn path_of_file(&self, name: &str) -> Option<&str> {
        self.files.get_key_value(self.path_of(name)?).map(|(path, _)| &**path)
    }

    /// Returns the files whose `Defaults` may give values to the documents of this file.
    pub fn defaults_of(&self, path: &str) -> Vec<&str> {
        self.defaults.files_of(path).collect()
    }

    /// Returns the files from this path on, each with the hash of its content as it was read.
    pub fn content_hashes<'l>(
        &'l self,
        from: &'l str,
    ) -> impl Iterator<Item = (&'l str, [u8; 32])> {
        let files = self.files.range::<str, _>((Bound::Included(from), Bound::Unbounded));
        files.map(|(path, file)| (&**path, file.hash))
    }

    /// Returns the first and last line of each of these fields below `spec` in a resource's
    /// document. For a missing field, they are those of the part around it. Empty where the file
    /// changed since it was loaded.
    pub fn field_lines(&self, key: &Key, fields: &[&str]) -> Vec<(usize, usize)> {
        let Some((spot, _)) = self.documents_of(key).next() else { return Vec::new() };
        let paths: Vec<Path> =
            fields.iter().map(|field| Path::parse(&format!("spec.{field}"))).collect();
        let lines = FileTexts::new(self)
            .with_placed(spot, |placed| paths.iter().map(|path| placed.lines(path)).collect());
        lines.unwrap_or_default()
    }
}

pub(crate) struct FileTexts<'l> {
    loader: &'l Loader,
    read: BTreeMap<&'l str, Option<(SourceText, Vec<Slice>)>>,
    suggestions: usize,
}

impl<'l> FileTexts<'l> {
    pub(crate) fn new(loader: &'l Loader) -> Self {
        Self { loader, read: BTreeMap::new(), suggestions: 0 }
    }

    /// Passes the document at a spot as it was loaded; `None` when its file changed since.
    pub(crate) fn with_placed<T>(
        &mut self,
        spot: &'l DocumentSpot,
        make: impl FnOnce(&PlacedDocument<'_>) -> T,
    ) -> Option<T> {
        let loader = self.loader;
        let read = self.read.entry(&spot.path).or_insert_with(|| {
            let source = loader.source(&spot.path)?;
            let (slices, _) = split(&source.text);
            Some((source, slices))
        });
        let (source, slices) = read.as_ref()?;
        Some(make(&PlacedDocument::new(&loader.cx, source, slices.get(spot.index)?)))
    }

    /// Counts one more suggestion; false beyond the bound.
    fn may_suggest(&mut self) -> bool {
        self.suggestions = self.suggestions.saturating_add(1);
        self.suggestions <= SUGGESTIONS_MAX
    }
}

/// Returns a key that sorts before every other one of its kind.
fn first_key_of_kind(kind: Kind) -> Key {
    let name: Name = "0".parse().unwrap_or_else(|_| Name::default_namespace());
    Key::new(kind, &name, &name)
}
