//! The `Defaults` documents of a tree by folder, and the values that apply to each file.
//!
//! Guarantees: where a folder has two such documents, or one that cannot be read, the values of its
//! documents are uncertain. An uncertain value is never replaced by that of a folder further out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::spec::defaults::{EffectiveDefaults, FolderDefaults};

/// One `Defaults` document of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnDefaults {
    pub(crate) line: usize,
    /// `None` for a document that cannot be read and may be one.
    pub(crate) values: Option<Arc<FolderDefaults>>,
}

/// The `Defaults` documents of one folder, by file.
type OfFolder = BTreeMap<Arc<str>, Vec<OwnDefaults>>;
/// A file and a line.
type Spot<'a> = (&'a str, usize);

#[derive(Debug, Default)]
pub(crate) struct TreeDefaults {
    by_folder: BTreeMap<String, OfFolder>,
    /// Folders with an entry that cannot be read.
    unreadable: BTreeSet<String>,
    /// Folders whose documents may get other values than at the last reading.
    changed: BTreeSet<String>,
    /// True once the tree had such a document.
    used: bool,
}

impl TreeDefaults {
    /// Sets the documents of one file.
    pub(crate) fn set(&mut self, path: &Arc<str>, own: &[OwnDefaults]) {
        if own.is_empty() && self.by_folder.is_empty() {
            return;
        }
        let folder = parent(path);
        let known = self.by_folder.get(folder).and_then(|files| files.get(path));
        if known.map_or(&[][..], Vec::as_slice) == own {
            return;
        }
        self.used = true;
        self.changed.insert(folder.to_owned());
        let files = self.by_folder.entry(folder.to_owned()).or_default();
        if own.is_empty() {
            files.remove(path);
        } else {
            files.insert(path.clone(), own.to_vec());
        }
        if files.is_empty() {
            self.by_folder.remove(folder);
        }
    }

    /// Sets the paths that cannot be read.
    pub(crate) fn set_unreadable<'p>(&mut self, paths: impl Iterator<Item = &'p String>) {
        let now: BTreeSet<String> = paths.map(|path| parent(path).to_owned()).collect();
        if now != self.unreadable {
            self.changed.extend(now.symmetric_difference(&self.unreadable).cloned());
            self.unreadable = now;
        }
    }

    /// Returns the folders whose values changed since the last call.
    pub(crate) fn take_changed(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.changed)
    }

    /// Returns the values for the documents of a file; `None` where there are none.
    pub(crate) fn of(&self, path: &str) -> Option<Arc<EffectiveDefaults>> {
        if !self.used {
            return None;
        }
        let mut found = EffectiveDefaults::default();
        for folder in folders(path) {
            let documents: Vec<_> = self.of_folder(folder).flat_map(|(_, own)| own).collect();
            let valid = documents.iter().filter_map(|one| one.values.as_deref());
            valid.for_each(|values| found.values.add(values));
            found.uncertain |= documents.len() > 1 || self.unreadable.contains(folder);
            found.uncertain |= documents.iter().any(|one| one.values.is_none());
        }
        (found != EffectiveDefaults::default()).then(|| Arc::new(found))
    }

    /// Returns the files that hold the values for the documents of a file.
    pub(crate) fn files_of(&self, path: &str) -> impl Iterator<Item = &str> {
        let folders: Vec<&str> = if self.used { folders(path).collect() } else { Vec::new() };
        let files = folders.into_iter().filter_map(|folder| self.by_folder.get(folder));
        files.flat_map(BTreeMap::keys).map(|path| &**path)
    }

    fn of_folder(&self, folder: &str) -> impl Iterator<Item = (&Arc<str>, &Vec<OwnDefaults>)> {
        self.by_folder.get(folder).into_iter().flatten()
    }

    /// Returns every document of a folder but the first, each with the first.
    pub(crate) fn duplicates(&self) -> impl Iterator<Item = (Spot<'_>, Spot<'_>)> {
        self.by_folder.values().flat_map(|files| {
            let spots = files.iter().flat_map(|(path, own)| {
                own.iter().filter(|one| one.values.is_some()).map(move |one| (&**path, one.line))
            });
            let mut spots = spots;
            let first = spots.next();
            spots.filter_map(move |spot| Some((spot, first?)))
        })
    }
}

/// Returns the folder of a path; the root is empty.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the folders that hold a file, from the root inwards.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').filter_map(|(end, _)| path.get(..end));
    [""].into_iter().chain(ends)
}
