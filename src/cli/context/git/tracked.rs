//! The specs with their revision: each reload also reads the commit that is checked out.
//!
//! Guarantees: a file counts as committed only where the bytes that were read equal its blob in the
//! commit, without filters. Before a file counts as uncommitted, the commit is read again: a
//! checkout writes its files first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

use super::program;
use super::program::Git;
use crate::base::folder_location::FolderLocation;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::engine::known::files::SpecSource;
use crate::model::issue::{Issue, PlacedIssue, TreeProblems};
use crate::model::manifest::{Desired, Provenance};
use crate::spec::tree::files::hash_of;
use crate::spec::tree::loader::Loader;

/// Files whose blobs are read at once.
const FILES: usize = 256;

/// A loader and the repository of its files.
#[derive(Debug)]
pub(crate) struct TrackedSpecs {
    loader: Loader,
    /// The folder of the specs; `None` where the files are not those of a repository on this
    /// machine.
    folder: Option<FolderLocation>,
    known: Mutex<KnownCommit>,
}

/// A commit, and the digests of its files that were needed so far.
#[derive(Debug, Default)]
struct KnownCommit {
    commit: Option<String>,
    blobs: BTreeMap<String, Option<[u8; 32]>>,
}

impl TrackedSpecs {
    /// Follows the repository that contains this folder of specs.
    pub(crate) fn of(loader: Loader, folder: FolderLocation) -> Self {
        let known = Mutex::new(KnownCommit::now(&folder));
        Self { loader, folder: Some(folder), known }
    }

    /// Holds the files of one commit that another machine has checked out.
    pub(crate) fn at(loader: Loader, commit: Option<String>) -> Self {
        let known = KnownCommit { commit, ..KnownCommit::default() };
        Self { loader, folder: None, known: Mutex::new(known) }
    }

    /// Reads the commit that is checked out.
    fn read_commit(&self) {
        let Some(folder) = &self.folder else { return };
        let now = KnownCommit::now(folder);
        let mut known = self.known.lock();
        if known.commit != now.commit {
            *known = now;
        }
    }

    /// Returns true if the loaded bytes of a file equal those of the known commit.
    fn is_committed(&self, folder: &FolderLocation, path: &str) -> bool {
        let mut known = self.known.lock();
        if !known.blobs.contains_key(path) {
            known.read(folder, self.loader.content_hashes(path).map(|(path, _)| path).take(FILES));
        }
        let read = self.loader.content_hashes(path).next().filter(|(read, _)| *read == path);
        let blob = known.blobs.get(path).copied().flatten();
        blob.is_some() && blob == read.map(|(_, hash)| hash)
    }
}

impl KnownCommit {
    fn now(folder: &FolderLocation) -> Self {
        let commit = folder.open().ok().and_then(|_| program::commit(&folder.path()));
        Self { commit, blobs: BTreeMap::new() }
    }

    /// Reads the blobs of these files. An unreadable blob counts as absent.
    fn read<'p>(&mut self, folder: &FolderLocation, paths: impl Iterator<Item = &'p str>) {
        let Some(commit) = &self.commit else { return };
        let paths: Vec<&str> = paths.collect();
        let plain = paths.iter().filter(|path| !path.contains(['\n', '\r']));
        let names: BTreeMap<String, &str> =
            plain.map(|path| (format!("{commit}:./{path}"), *path)).collect();
        let ids: Vec<&str> = names.keys().map(String::as_str).collect();
        let mut found = BTreeMap::new();
        let asked = program::for_each(&Git::at(folder.path()), &ids, &mut |id, bytes| {
            found.insert(id, bytes.map(hash_of));
        });
        if let Err(trouble) = asked {
            tracing::warn!("{trouble}");
        }
        let blob = |path: &str| found.get(format!("{commit}:./{path}").as_str()).copied().flatten();
        let blobs: Vec<_> = paths.iter().map(|path| ((*path).to_owned(), blob(path))).collect();
        self.blobs.extend(blobs);
    }
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
        let (Some(folder), Some(path), Some(_)) = (&self.folder, path, self.commit()) else {
            return Provenance { commit: self.commit(), uncommitted: false };
        };
        let mut committed = self.is_committed(folder, path);
        if !committed {
            self.read_commit();
            committed = self.is_committed(folder, path);
        }
        Provenance { commit: self.commit(), uncommitted: !committed }
    }
}
