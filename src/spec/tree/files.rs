//! Lists a folder of YAML files, with the metadata that reveals a change.
//!
//! Accepts regular `*.yaml` and `*.yml` files. Skips hidden names and entries that are no file. The
//! root is opened once a walk, and everything is read through that handle. A symlink is followed to
//! a file inside the root and never anywhere else. One that leads out, or to a folder, is trouble
//! and not skipped; so is a FIFO, socket or device with such a name. Otherwise an unseen file would
//! look removed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io;
use std::io::Read;

use crate::base::folder::{EntryMeta, EntryType, Folder, PathError, Stat};
use crate::base::folder_location::FolderLocation;
use crate::spec::text::decode::FILE_BYTES_MAX;

/// A place of the tree that cannot be read as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceProblem {
    /// The path below the root; empty for the root itself.
    pub path: String,
    /// Stable for ever.
    pub code: &'static str,
    pub message: String,
    pub help: String,
}

impl SourceProblem {
    pub(crate) fn new(
        path: &str,
        code: &'static str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { path: path.to_owned(), code, message: message.into(), help: help.into() }
    }

    pub(crate) fn unreadable(path: &str, message: String) -> Self {
        let help = "make it readable, or move it out of the specs folder";
        Self::new(path, "reckon::source::unreadable", message, help)
    }
}

#[derive(Debug)]
pub enum WalkEntry<'a> {
    /// A file, by its path below the root with `/` between the parts.
    File(&'a str, Stat),
    Problem(SourceProblem),
}

/// All files and obstacles below a root, sorted by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    pub files: BTreeMap<String, Stat>,
    pub problems: BTreeMap<String, SourceProblem>,
}

impl Listing {
    /// Lists everything at or below `below`, a path below `root`; empty means all.
    pub fn of(root: &FolderLocation, below: &str) -> Self {
        Self::gather(|visit| walk(root, below, visit))
    }

    /// Lists everything that a walk visits.
    pub(crate) fn gather(walk: impl FnOnce(&mut dyn FnMut(WalkEntry<'_>))) -> Self {
        let mut listing = Self::default();
        walk(&mut |found| match found {
            WalkEntry::File(path, stat) => {
                listing.files.insert(path.to_owned(), stat);
            }
            WalkEntry::Problem(trouble) => {
                listing.problems.insert(trouble.path.clone(), trouble);
            }
        });
        listing
    }
}

/// Visits all at or below `below`, in no order. A missing path is no trouble, except the root.
pub fn walk(root: &FolderLocation, below: &str, visit: &mut dyn FnMut(WalkEntry<'_>)) {
    let opened = match root.open() {
        Ok(opened) => opened,
        Err(error) => return visit(WalkEntry::Problem(root_problem(root, &error))),
    };
    let mut walk = TreeWalk { root: opened, folders: Vec::new(), path: String::new() };
    if below.is_empty() {
        walk.folders.push(String::new());
    } else if !walk.start(below, visit) {
        return;
    }
    while let Some(folder) = walk.folders.pop() {
        walk.visit_folder(&folder, visit);
    }
}

struct TreeWalk {
    root: Folder,
    folders: Vec<String>,
    path: String,
}

impl TreeWalk {
    /// Begins in the middle of the tree, as if the walk had reached that path.
    fn start(&mut self, below: &str, visit: &mut dyn FnMut(WalkEntry<'_>)) -> bool {
        let mut parts = below.split('/').peekable();
        let mut path = String::new();
        while let Some(part) = parts.next() {
            if part.is_empty() || part.starts_with('.') {
                return false;
            }
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(part);
            let Ok(found) = self.root.metadata(&path) else { return false };
            if parts.peek().is_none() || found.entry_type == EntryType::Link {
                self.path.clone_from(&path);
                self.visit_entry(&found, visit);
                return true;
            }
        }
        false
    }

    fn visit_folder(&mut self, folder: &str, visit: &mut dyn FnMut(WalkEntry<'_>)) {
        let opened = match self.root.folder(folder) {
            Ok(opened) => opened,
            Err(error) if error.is_absent() && !folder.is_empty() => return,
            Err(error) => {
                return visit(WalkEntry::Problem(unreadable_problem(folder, error)));
            }
        };
        let listed = opened.for_each_entry(&mut |name, sort| {
            self.visit_child(folder, &opened, (name, sort), visit);
        });
        if let Err(error) = listed {
            visit(WalkEntry::Problem(unreadable_problem(folder, error)));
        }
    }

    fn visit_child(
        &mut self,
        folder: &str,
        opened: &Folder,
        (name, sort): (&OsStr, EntryType),
        visit: &mut dyn FnMut(WalkEntry<'_>),
    ) {
        let shown = name.to_string_lossy();
        if shown.starts_with('.') {
            return;
        }
        self.path.clear();
        self.path.push_str(folder);
        if !folder.is_empty() {
            self.path.push('/');
        }
        self.path.push_str(&shown);
        if sort == EntryType::File && !is_yaml(&self.path) {
            return;
        }
        if name.to_str().is_none() && (sort == EntryType::Folder || is_yaml(&self.path)) {
            return visit(WalkEntry::Problem(unreadable_problem(
                &self.path,
                "the name is not UTF-8",
            )));
        }
        match opened.metadata(name) {
            Ok(found) => self.visit_entry(&found, visit),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                visit(WalkEntry::Problem(unreadable_problem(&self.path, error)));
            }
        }
    }

    fn visit_entry(&mut self, found: &EntryMeta, visit: &mut dyn FnMut(WalkEntry<'_>)) {
        match found.entry_type {
            EntryType::Folder => self.folders.push(self.path.clone()),
            EntryType::File if is_yaml(&self.path) => {
                visit(WalkEntry::File(&self.path, found.stat));
            }
            EntryType::Special(what) if is_yaml(&self.path) => {
                visit(WalkEntry::Problem(self.special_file_problem(what)));
            }
            EntryType::File | EntryType::Special(_) => {}
            EntryType::Link => self.visit_link(visit),
        }
    }

    fn visit_link(&self, visit: &mut dyn FnMut(WalkEntry<'_>)) {
        let yaml = is_yaml(&self.path);
        let real = self.root.resolve_links(&self.path);
        let target = real.and_then(|real| Ok(self.root.metadata(real)?));
        let trouble = match target {
            Ok(found) if found.entry_type == EntryType::File && yaml => {
                return visit(WalkEntry::File(&self.path, found.stat));
            }
            Ok(EntryMeta { entry_type: EntryType::Folder, .. }) => {
                self.symlink_problem("a symlink to a folder is not followed")
            }
            Ok(EntryMeta { entry_type: EntryType::Special(what), .. }) if yaml => {
                self.special_file_problem(what)
            }
            Ok(_) => return,
            Err(PathError::LeadsOutside(_)) if yaml || self.root.leads_to_folder(&self.path) => {
                self.symlink_problem("the symlink leads out of the specs folder")
            }
            Err(_) if !yaml => return,
            Err(error) => unreadable_problem(&self.path, error),
        };
        visit(WalkEntry::Problem(trouble));
    }

    fn symlink_problem(&self, message: &str) -> SourceProblem {
        let help = "replace the link with the files themselves";
        SourceProblem::new(&self.path, "reckon::source::symlink", message, help)
    }

    fn special_file_problem(&self, what: &str) -> SourceProblem {
        let message = format!("not read: {what} instead of a plain file");
        let help = "put a plain file here, or give the entry another extension";
        SourceProblem::new(&self.path, "reckon::source::odd", message, help)
    }
}

fn root_problem(root: &FolderLocation, error: &PathError) -> SourceProblem {
    let PathError::Link { component } = error else {
        let why = if error.is_absent() {
            "the specs folder does not exist".to_owned()
        } else {
            error.to_string()
        };
        return unreadable_problem("", why);
    };
    let message = format!(
        "the folder {root} is reached through `{component}`, a symbolic link, so no file in it is read"
    );
    let help = format!(
        "put the folder itself at `{component}`, or write the real path: `specs: /PATH/TO/SPECS`"
    );
    SourceProblem::new("", "reckon::source::symlink", message, help)
}

fn unreadable_problem(path: &str, message: impl Display) -> SourceProblem {
    SourceProblem::unreadable(path, format!("cannot be read: {message}"))
}

fn is_yaml(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "yaml" | "yml"))
}

/// The initial capacity of a buffer, in bytes: most files fit.
const BUFFER_BYTES: usize = 4096;

/// Reads a file of the tree, at most one byte more than is accepted: an excess shows in the length.
///
/// # Errors
/// The file cannot be read, leads out of the tree, or is no plain file.
pub fn read(root: &Folder, path: &str) -> Result<Vec<u8>, PathError> {
    let file = match root.file(path) {
        Err(PathError::Link { .. }) => root.file(&root.resolve_links(path)?)?,
        file => file?,
    };
    let mut bytes = Vec::with_capacity(BUFFER_BYTES);
    file.take(FILE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns BLAKE3 of the result of [`read`] for a file with these bytes.
pub fn hash_of(bytes: &[u8]) -> [u8; 32] {
    let most = usize::try_from(FILE_BYTES_MAX.saturating_add(1)).unwrap_or(usize::MAX);
    *blake3::hash(bytes.get(..most).unwrap_or(bytes)).as_bytes()
}

/// Returns whether a walk accepts a plain file at this path below the root.
pub fn is_spec_path(path: &str) -> bool {
    is_yaml(path) && !path.split('/').any(|part| part.starts_with('.'))
}

#[cfg(test)]
mod tests;
