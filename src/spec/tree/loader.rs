//! Loads a folder of files into [`Desired`] and problems, and keeps both up to date file by file.
//!
//! Guarantees:
//!
//! - The cost of a reload depends on the changed files, their documents and the dependants of
//!   these, and not on the size of the tree.
//! - A broken document blocks itself and its dependants, and no other document.
//! - [`TreeState::Complete`] holds only while every document of the tree is good (law 2).
//! - Neither a message nor a snippet shows a secret or personal value.
//!
//! Assumes one caller; holds no lock. Threads that read changed files end with the call.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::base::bulk::parallel::map_each;
use crate::base::folder::Stat;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::kinds::schema::kind::Stamp;
use crate::model::manifest::{Desired, TreeState};
use crate::spec::document::ReadContext;
use crate::spec::tree::defaults::TreeDefaults;
use crate::spec::tree::file::{
    DocumentSpot, FileReading, FileRequest, LinkIssue, SpecFile, read_all,
};
use crate::spec::tree::files::{Listing, SourceProblem};
use crate::spec::tree::index::{IndexEntry, SpecIndex, TICK_NS, digest_of};
use crate::spec::tree::links::Graph;
use crate::spec::tree::parsed;
use crate::spec::tree::roots::SpecRoots;
use crate::spec::tree::unique_fields::UniqueFields;

/// The number of times that a tree which changes during reading is read.
const ROUNDS_MAX: usize = 5;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadChange {
    /// Keys that appeared, disappeared, became good or broken, or whose content or place changed. A
    /// document whose dependency changed is not among them for that alone.
    pub touched: BTreeSet<Key>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangeEvidence {
    Metadata,
    Contents,
}

#[derive(Debug)]
pub struct Loader {
    pub(crate) roots: SpecRoots,
    prefix: String,
    pub(crate) cx: ReadContext,
    pub(crate) files: BTreeMap<Arc<str>, SpecFile>,
    /// Files with a problem that belongs to no key.
    bad_files: BTreeSet<Arc<str>>,
    /// Files with any problem of their own.
    pub(crate) files_with_problems: BTreeSet<Arc<str>>,
    pub(crate) source_problems: BTreeMap<String, SourceProblem>,
    pub(crate) defaults: TreeDefaults,
    /// In order. Almost every name has one: a list takes less memory than a set.
    pub(crate) by_key: BTreeMap<Key, Vec<DocumentSpot>>,
    pub(crate) graph: Graph,
    pub(crate) unique_fields: UniqueFields,
    pub(crate) link_issues: BTreeMap<Key, Vec<LinkIssue>>,
    /// Shared: a caller that holds it keeps the earlier state.
    pub(crate) desired: Arc<Desired>,
    /// The digest of all files; computed at the first request after a change.
    digest: OnceLock<Digest>,
    loaded: bool,
    /// True while every file is as a caller of [`Loader::preload`] gave it.
    is_preloaded: bool,
    /// Keys of files that were preloaded and not yet checked.
    preloaded: BTreeSet<Key>,
}

impl Loader {
    /// Returns a loader without any files. `roots` are the folders of specs. `prefix` precedes
    /// the paths of files in reports: a single folder's path from the directory of `reckon.yaml`.
    pub fn new(roots: impl Into<SpecRoots>, prefix: &str, cx: ReadContext) -> Self {
        Self {
            roots: roots.into(),
            prefix: prefix.trim_end_matches('/').to_owned(),
            cx,
            files: BTreeMap::new(),
            bad_files: BTreeSet::new(),
            files_with_problems: BTreeSet::new(),
            source_problems: BTreeMap::new(),
            defaults: TreeDefaults::default(),
            by_key: BTreeMap::new(),
            graph: Graph::default(),
            unique_fields: UniqueFields::default(),
            link_issues: BTreeMap::new(),
            desired: Arc::default(),
            digest: OnceLock::new(),
            loaded: false,
            is_preloaded: false,
            preloaded: BTreeSet::new(),
        }
    }

    /// Takes files that an earlier loader of the same context read (see [`Loader::parsed_files`]). The
    /// next load reads only those whose metadata changed since. Every part is decoded by itself.
    pub fn preload(&mut self, parts: &[Vec<u8>]) {
        let decoded = map_each(parts, |part| parsed::decode(part, |path| self.name_of(path)));
        let mut preloaded = std::mem::take(&mut self.preloaded);
        for (path, file) in decoded.into_iter().flatten() {
            self.replace(&path, Some(file), &mut preloaded);
        }
        self.preloaded = preloaded;
        self.is_preloaded = true;
    }

    /// Returns whether the preloaded files are all files, and none changed since.
    pub fn is_as_preloaded(&self) -> bool {
        self.is_preloaded
    }

    /// Returns the files in the form that [`Loader::preload`] takes, in parts; a file without it is read
    /// again each time. The time `read_at_ns` is before the load, in nanoseconds since 1970.
    pub fn parsed_files(&self, read_at_ns: i64) -> Vec<Vec<u8>> {
        parsed::encode(self.files.iter(), read_at_ns.saturating_sub(TICK_NS))
    }

    /// Checks every file and reads those that changed.
    pub fn load_all(&mut self) -> LoadChange {
        self.loaded = true;
        self.refresh(&[String::new()], ChangeEvidence::Metadata)
    }

    /// Reads every file again, whatever its size and time.
    pub fn verify(&mut self) -> LoadChange {
        self.loaded = true;
        self.refresh(&[String::new()], ChangeEvidence::Contents)
    }

    /// Checks these paths alone (absolute, or below the root), files or folders, existing or not.
    pub fn reload(&mut self, paths: &[PathBuf]) -> LoadChange {
        let below: BTreeSet<String> =
            paths.iter().filter_map(|path| self.roots.path_of(path)).collect();
        self.refresh(&Vec::from_iter(below), ChangeEvidence::Metadata)
    }

    pub fn desired(&self) -> &Desired {
        &self.desired
    }

    pub fn shared_desired(&self) -> Arc<Desired> {
        self.desired.clone()
    }

    /// Returns the number of documents, good or not.
    pub fn documents(&self) -> usize {
        self.files.values().map(|file| file.documents.len()).sum()
    }

    /// Returns the packed index of the files as they were read. `read_at_ns` is the time before the
    /// load began, in nanoseconds since 1970.
    pub fn index(&self, read_at_ns: i64) -> SpecIndex {
        let entry = |(path, file): (&'_ Arc<str>, &SpecFile)| (path.clone(), file.stat, file.hash);
        let entries: Vec<_> = self.files.iter().map(entry).collect();
        let packed =
            entries.iter().map(|(path, stat, hash)| IndexEntry { path, stat: *stat, hash: *hash });
        SpecIndex::pack(packed, read_at_ns)
    }

    /// Returns a digest of all paths and contents as read; equal to that of [`SpecIndex`].
    pub fn digest(&self) -> Digest {
        let files = self.files.iter().map(|(path, file)| (&**path, &file.hash));
        *self.digest.get_or_init(|| digest_of(files))
    }

    /// Returns the files that documents name, with their state when they were checked.
    pub fn attached_files(&self) -> Vec<(String, Option<Stamp>)> {
        let looked = self.files.values().flat_map(SpecFile::attached_files);
        looked.map(|one| (one.path.clone(), one.stamp)).collect()
    }

    fn refresh(&mut self, below: &[String], believe: ChangeEvidence) -> LoadChange {
        let mut touched = std::mem::take(&mut self.preloaded);
        self.digest = OnceLock::new();
        self.roots.begin_reading();
        let mut before: Vec<Listing> = below.iter().map(|path| self.roots.list(path)).collect();
        let mut settled = false;
        for _ in 0..ROUNDS_MAX {
            let mut changed = false;
            for (path, listing) in below.iter().zip(&before) {
                changed |= self.apply_listing(path, listing, believe, &mut touched);
            }
            if !changed {
                settled = true;
                break;
            }
            let after: Vec<Listing> = below.iter().map(|path| self.roots.list(path)).collect();
            settled = after == before;
            if settled {
                break;
            }
            before = after;
        }
        if !settled {
            self.source_problems.insert(String::new(), unsettled_problem());
        }
        self.update_verdicts(&touched)
    }

    /// Returns whether anything differed from what was known, so that it may still be changing.
    fn apply_listing(
        &mut self,
        below: &str,
        listing: &Listing,
        believe: ChangeEvidence,
        touched: &mut BTreeSet<Key>,
    ) -> bool {
        self.source_problems.retain(|path, _| !is_below(path, below));
        self.source_problems.extend(listing.problems.clone());
        let mut gone: Vec<Arc<str>> = self.known_paths(below);
        gone.retain(|path| !listing.files.contains_key(&**path));
        for path in &gone {
            self.replace(path, None, touched);
        }
        let changed = |(path, stat): &(&String, &Stat)| {
            let known = self.files.get(path.as_str());
            let changed = |file: &SpecFile| file.stat != **stat || self.names_changed(file);
            believe == ChangeEvidence::Contents || known.is_none_or(changed)
        };
        let changed: Vec<_> = listing.files.iter().filter(changed).collect();
        let wanted: Vec<_> =
            changed.iter().map(|(path, stat)| self.file_request(path, **stat)).collect();
        let is_same = gone.is_empty() && wanted.is_empty() && listing.problems.is_empty();
        let readings = read_all(&self.cx, &self.roots, &wanted);
        for ((path, stat), reading) in changed.into_iter().zip(readings) {
            self.apply_reading(path, *stat, reading, touched);
        }
        self.read_with_new_defaults(touched);
        !is_same
    }

    /// Reads the files again whose documents now get other values from `Defaults`.
    fn read_with_new_defaults(&mut self, touched: &mut BTreeSet<Key>) {
        // A program that fails leaves its last output in use.
        let unreadable = self.source_problems.keys();
        let unreadable = unreadable.filter(|path| !self.files.contains_key(path.as_str()));
        self.defaults.set_unreadable(unreadable);
        for folder in self.defaults.take_changed() {
            let known = self.known_paths(&folder).into_iter();
            let known = known.filter_map(|path| Some((self.files.get(&path)?, path)));
            let stale = known.filter(|(file, path)| file.defaults != self.defaults.of(path));
            let stale: Vec<_> = stale.map(|(file, path)| (file.stat, path)).collect();
            let wanted = stale.iter().map(|(stat, path)| self.file_request(path, *stat));
            let wanted: Vec<_> =
                wanted.map(|request| FileRequest { known: None, ..request }).collect();
            let readings = read_all(&self.cx, &self.roots, &wanted);
            for ((stat, path), reading) in stale.iter().zip(readings) {
                self.apply_reading(path, *stat, reading, touched);
            }
        }
    }

    fn known_paths(&self, below: &str) -> Vec<Arc<str>> {
        let from = self.files.range::<str, _>((Bound::Included(below), Bound::Unbounded));
        let starts = from.take_while(|(path, _)| path.starts_with(below));
        starts.map(|(path, _)| path.clone()).filter(|path| is_below(path, below)).collect()
    }

    fn file_request<'p>(&self, path: &'p str, stat: Stat) -> FileRequest<'p> {
        let known = self.files.get(path).filter(|file| !self.names_changed(file));
        let known = known.map(|file| file.hash);
        FileRequest {
            path,
            name: self.name_of(path),
            stat,
            known,
            defaults: self.defaults.of(path),
        }
    }

    /// Returns whether a file that this one's documents name has changed.
    fn names_changed(&self, file: &SpecFile) -> bool {
        let files = self.cx.check.files.as_deref();
        file.attached_files().any(|one| files.and_then(|files| files.stamp(&one.path)) != one.stamp)
    }

    fn apply_reading(
        &mut self,
        path: &str,
        stat: Stat,
        reading: FileReading,
        touched: &mut BTreeSet<Key>,
    ) {
        match reading {
            FileReading::Unchanged => {
                if let Some(file) = self.files.get_mut(path) {
                    file.stat = stat;
                }
            }
            FileReading::Changed(file) => self.replace(&Arc::from(path), Some(*file), touched),
            FileReading::Unreadable(error) => {
                let message = format!("the file cannot be read: {error}");
                let problem = SourceProblem::unreadable(path, message);
                self.source_problems.insert(path.to_owned(), problem);
                self.replace(&Arc::from(path), None, touched);
            }
        }
    }

    fn replace(&mut self, path: &Arc<str>, file: Option<SpecFile>, touched: &mut BTreeSet<Key>) {
        self.is_preloaded = false;
        let folder = self.roots.locate(path).map_or(0, |(folder, _)| folder);
        let spot = |index| DocumentSpot { folder, path: path.clone(), index };
        let gone = self.files.remove(path);
        let gone: BTreeSet<&Key> =
            gone.iter().flat_map(SpecFile::keys).map(|(_, key)| key).collect();
        for key in gone {
            if let Some(spots) = self.by_key.get_mut(key) {
                spots.retain(|known| known.path != *path);
            }
            touched.insert(key.clone());
        }
        self.bad_files.remove(path);
        self.files_with_problems.remove(path);
        self.defaults.set(path, file.as_ref().map_or(&[], |file| &file.own_defaults));
        let Some(file) = file else { return };
        for (index, key) in file.keys() {
            let spots = self.by_key.entry(key.clone()).or_insert_with(|| Vec::with_capacity(1));
            if let Err(place) = spots.binary_search(&spot(index)) {
                spots.insert(place, spot(index));
            }
            touched.insert(key.clone());
        }
        if file.has_keyless_problem() {
            self.bad_files.insert(path.clone());
        }
        if file.has_problem() {
            self.files_with_problems.insert(path.clone());
        }
        self.files.insert(path.clone(), file);
    }

    pub(crate) fn coverage(&self) -> TreeState {
        let clean = self.source_problems.is_empty() && self.bad_files.is_empty();
        let clean = clean && self.defaults.duplicates().next().is_none();
        if self.loaded && clean && self.desired.broken.is_empty() {
            TreeState::Complete
        } else {
            TreeState::Incomplete
        }
    }

    pub(crate) fn name_of(&self, path: &str) -> Arc<str> {
        match (self.prefix.as_str(), path) {
            ("" | ".", path) => Arc::from(path),
            (prefix, "") => Arc::from(prefix),
            (prefix, path) => Arc::from(format!("{prefix}/{path}")),
        }
    }

    pub(crate) fn path_of<'n>(&self, name: &'n str) -> Option<&'n str> {
        match self.prefix.as_str() {
            "" | "." => Some(name),
            prefix => name.strip_prefix(prefix)?.strip_prefix('/'),
        }
    }
}

/// Returns whether `path` is `below` or lies in the folder of that name.
fn is_below(path: &str, below: &str) -> bool {
    let rest = path.strip_prefix(below);
    below.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn unsettled_problem() -> SourceProblem {
    let message = "files change while they are read";
    let help = "run the command again when no program writes to the folder";
    SourceProblem::new("", "reckon::source::unsettled", message, help)
}
