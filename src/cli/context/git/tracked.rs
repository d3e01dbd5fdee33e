//! The loaded specs with the commit that is checked out.
//!
//! Guarantees: a file counts as committed only where the bytes that were read equal its blob in the
//! commit. Before a file counts as uncommitted, the commit is read again: a checkout writes its
//! files first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

use super::program::{self, Git};
use crate::base::folder_location::FolderLocation;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::engine::known::files::SpecSource;
use crate::model::issue::{Issue, PlacedIssue, TreeProblems};
use crate::model::manifest::{Desired, Provenance};
use crate::spec::tree::files::hash_of;
use crate::spec::tree::loader::Loader;
use crate::spec::tree::roots::SpecRoots;

/// Files whose blobs are read at once.
const FILES: usize = 256;

#[derive(Debug)]
pub(crate) struct TrackedSpecs {
    loader: Loader,
    /// The folders of the specs; `None` where the files are not of a repository on this machine.
    roots: Option<SpecRoots>,
    known: Mutex<KnownCommit>,
}

/// A commit, and the digests of its files that were needed so far.
#[derive(Debug, Default)]
struct KnownCommit {
    commit: Option<String>,
    blobs: BTreeMap<String, Option<[u8; 32]>>,
}

impl TrackedSpecs {
    /// Follows the repository that contains these folders of specs.
    pub(crate) fn of(loader: Loader, roots: SpecRoots) -> Self {
        let known = Mutex::new(KnownCommit::now(&roots));
        Self { loader, roots: Some(roots), known }
    }

    /// Holds the files of one commit that another machine has checked out.
    pub(crate) fn at(loader: Loader, commit: Option<String>) -> Self {
        let known = KnownCommit { commit, ..KnownCommit::default() };
        Self { loader, roots: None, known: Mutex::new(known) }
    }

    fn read_commit(&self) {
        let Some(roots) = &self.roots else { return };
        let now = KnownCommit::now(roots);
        let mut known = self.known.lock();
        if known.commit != now.commit {
            *known = now;
        }
    }

    fn is_committed(&self, roots: &SpecRoots, path: &str) -> bool {
        let mut known = self.known.lock();
        if !known.blobs.contains_key(path) {
            known.read(roots, self.loader.content_hashes(path).map(|(path, _)| path).take(FILES));
        }
        let read = self.loader.content_hashes(path).next().filter(|(read, _)| *read == path);
        let blob = known.blobs.get(path).copied().flatten();
        blob.is_some() && blob == read.map(|(_, hash)| hash)
    }
}

impl KnownCommit {
    fn now(roots: &SpecRoots) -> Self {
        Self { commit: program::commit_of(roots), blobs: BTreeMap::new() }
    }

    /// Reads the blobs of these files. An unreadable blob counts as absent.
    fn read<'p>(&mut self, roots: &SpecRoots, paths: impl Iterator<Item = &'p str>) {
        let Some(commit) = self.commit.clone() else { return };
        let mut by_folder: BTreeMap<usize, Vec<(&str, &str)>> = BTreeMap::new();
        for path in paths {
            let Some((number, below)) = roots.locate(path) else { continue };
            by_folder.entry(number).or_default().push((path, below));
        }
        for (number, place) in roots.places().enumerate() {
            let paths = by_folder.remove(&number).unwrap_or_default();
            self.blobs.extend(blobs(&Git::at(place.path()), &commit, &paths));
        }
    }
}

/// Returns the digests of files in a commit; each file has its path of the tree, and the one below
/// the folder of `git`.
fn blobs(git: &Git, commit: &str, paths: &[(&str, &str)]) -> Vec<(String, Option<[u8; 32]>)> {
    let name = |below: &str| format!("{commit}:./{below}");
    let plain = paths.iter().filter(|(_, below)| !below.contains(['\n', '\r']));
    let names: BTreeSet<String> = plain.map(|(_, below)| name(below)).collect();
    let ids: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut found = BTreeMap::new();
    let asked = program::for_each(git, &ids, &mut |id, bytes| {
        found.insert(id, bytes.map(hash_of));
    });
    if let Err(trouble) = asked {
        tracing::warn!("{trouble}");
    }
    let blob = |below: &str| found.get(name(below).as_str()).copied().flatten();
    paths.iter().map(|(path, below)| ((*path).to_owned(), blob(below))).collect()
}

impl SpecSource for TrackedSpecs {
    fn desired(&self) -> Arc<Desired> {
        self.loader.shared_desired()
    }

    fn reload(&mut self, paths: &[PathBuf]) -> BTreeSet<Key> {
        let touched = SpecSource::reload(&mut self.loader, paths);
        self.read_commit();
        touched
    }

    fn verify(&mut self) -> BTreeSet<Key> {
        let touched = SpecSource::verify(&mut self.loader);
        self.read_commit();
        touched
    }

    fn problems(&self) -> TreeProblems {
        self.loader.problems()
    }

    fn digest(&self) -> Option<Digest> {
        Some(self.loader.digest())
    }

    fn place(&self, key: &Key, issue: &Issue) -> Option<PlacedIssue> {
        self.loader.place_issue(key, issue)
    }

    fn lines(&self, key: &Key, fields: &[&str]) -> Vec<(usize, usize)> {
        self.loader.field_lines(key, fields)
    }

    fn commit(&self) -> Option<String> {
        self.known.lock().commit.clone()
    }

    fn provenance(&self, file: &str) -> Provenance {
        let path = self.loader.path_of_file(file);
        let (Some(roots), Some(path), Some(_)) = (&self.roots, path, self.commit()) else {
            return Provenance { commit: self.commit(), uncommitted: false };
        };
        if roots.is_rendered() {
            let clean = |folder: &FolderLocation| program::is_dirty(&folder.path()) == Some(false);
            return Provenance { commit: self.commit(), uncommitted: !roots.places().all(clean) };
        }
        // Values of its `Defaults` are part of a document.
        let parts = || [path].into_iter().chain(self.loader.defaults_of(path));
        let mut committed = parts().all(|path| self.is_committed(roots, path));
        if !committed {
            self.read_commit();
            committed = parts().all(|path| self.is_committed(roots, path));
        }
        Provenance { commit: self.commit(), uncommitted: !committed }
    }
}
