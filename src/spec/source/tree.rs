//! Lists a folder of YAML files, with the metadata that reveals a change.
//!
//! Accepts regular `*.yaml` and `*.yml` files. Skips hidden names and entries that are no file. The
//! root is opened once a walk, and everything is read through that handle. A symlink is followed to
//! a file inside the root and never anywhere else. One that leads out, or to a folder, is trouble
//! and not skipped; so is a FIFO, socket or device with such a name. Otherwise an unseen file would
//! look removed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Read};

use crate::base::folder::{Folder, Meta, PathError, Place, Sort};
use crate::spec::decode::FILE_BYTES_MAX;

/// The metadata that distinguishes a changed file from an unchanged one without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Bytes.
    pub size: u64,
    /// The time of the last change of the content, in nanoseconds since 1970.
    pub mtime_ns: i64,
    pub inode: u64,
}

impl Stat {
    fn of(found: &Meta) -> Self {
        Self { size: found.size, mtime_ns: found.mtime_ns, inode: found.inode }
    }
}

/// A place of the tree that cannot be read as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The path below the root; empty for the root itself.
    pub path: String,
    /// Stable for ever.
    pub code: &'static str,
    pub message: String,
    /// The remedy.
    pub help: String,
}

/// One entry found by the walk.
#[derive(Debug)]
pub enum Found<'a> {
    /// A file, by its path below the root with `/` between the parts.
    File(&'a str, Stat),
    /// An obstacle to reading the tree.
    Trouble(Trouble),
}

/// All files and obstacles below a root, sorted by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    pub files: BTreeMap<String, Stat>,
    pub troubles: BTreeMap<String, Trouble>,
}

impl Listing {
    /// Lists everything at or below `below`, a path below `root`; empty means all.
    pub fn of(root: &Place, below: &str) -> Self {
        let mut listing = Self::default();
        walk(root, below, &mut |found| match found {
            Found::File(path, stat) => {
                listing.files.insert(path.to_owned(), stat);
            }
            Found::Trouble(trouble) => {
                listing.troubles.insert(trouble.path.clone(), trouble);
            }
        });
        listing
    }
}

/// Visits everything at or below `below`, in no order. A missing path is no trouble, unless it is
/// the root.
pub fn walk(root: &Place, below: &str, visit: &mut dyn FnMut(Found<'_>)) {
    let opened = match root.open() {
        Ok(opened) => opened,
        Err(error) => return visit(Found::Trouble(unopened(root, &error))),
    };
    let mut walk = Walk { root: opened, folders: Vec::new(), path: String::new() };
    if below.is_empty() {
        walk.folders.push(String::new());
    } else if !walk.start(below, visit) {
        return;
    }
    while let Some(folder) = walk.folders.pop() {
        walk.folder(&folder, visit);
    }
}

struct Walk {
    root: Folder,
    folders: Vec<String>,
    /// One buffer for all paths.
    path: String,
}

impl Walk {
    /// Begins in the middle of the tree, as if the walk had reached that path.
    fn start(&mut self, below: &str, visit: &mut dyn FnMut(Found<'_>)) -> bool {
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
            let Ok(found) = self.root.meta(&path) else { return false };
            if parts.peek().is_none() || found.sort == Sort::Link {
                self.path.clone_from(&path);
                self.entry(&found, visit);
                return true;
            }
        }
        false
    }

    fn folder(&mut self, folder: &str, visit: &mut dyn FnMut(Found<'_>)) {
        let opened = match self.root.folder(folder) {
            Ok(opened) => opened,
            Err(error) if error.is_absent() && !folder.is_empty() => return,
            Err(error) => return visit(Found::Trouble(unreadable(folder, &error.to_string()))),
        };
        let listed =
            opened.each(&mut |name, sort| self.child(folder, &opened, (name, sort), visit));
        if let Err(error) = listed {
            visit(Found::Trouble(unreadable(folder, &error.to_string())));
        }
    }

    fn child(
        &mut self,
        folder: &str,
        opened: &Folder,
        (name, sort): (&OsStr, Sort),
        visit: &mut dyn FnMut(Found<'_>),
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
        if sort == Sort::File && !is_yaml(&self.path) {
            return;
        }
        if name.to_str().is_none() && (sort == Sort::Folder || is_yaml(&self.path)) {
            return visit(Found::Trouble(unreadable(&self.path, "its name is not UTF-8")));
        }
        match opened.meta(name) {
            Ok(found) => self.entry(&found, visit),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => visit(Found::Trouble(unreadable(&self.path, &error.to_string()))),
        }
    }

    /// Handles the entry at `self.path`.
    fn entry(&mut self, found: &Meta, visit: &mut dyn FnMut(Found<'_>)) {
        match found.sort {
            Sort::Folder => self.folders.push(self.path.clone()),
            Sort::File if is_yaml(&self.path) => visit(Found::File(&self.path, Stat::of(found))),
            Sort::Odd(what) if is_yaml(&self.path) => visit(Found::Trouble(self.odd(what))),
            Sort::File | Sort::Odd(_) => {}
            Sort::Link => self.link(visit),
        }
    }

    fn link(&self, visit: &mut dyn FnMut(Found<'_>)) {
        let yaml = is_yaml(&self.path);
        let real = self.root.behind(&self.path);
        let target = real.and_then(|real| Ok(self.root.meta(real)?));
        let trouble = match target {
            Ok(found) if found.sort == Sort::File && yaml => {
                return visit(Found::File(&self.path, Stat::of(&found)));
            }
            Ok(Meta { sort: Sort::Folder, .. }) => {
                self.refused("a symlink to a folder is not followed")
            }
            Ok(Meta { sort: Sort::Odd(what), .. }) if yaml => self.odd(what),
            Ok(_) => return,
            Err(PathError::Out(_)) if yaml || self.root.leads_to_folder(&self.path) => {
                self.refused("the symlink leads out of the specs folder")
            }
            Err(_) if !yaml => return,
            Err(error) => unreadable(&self.path, &error.to_string()),
        };
        visit(Found::Trouble(trouble));
    }

    fn refused(&self, message: &str) -> Trouble {
        Trouble {
            path: self.path.clone(),
            code: "reckon::source::symlink",
            message: message.to_owned(),
            help: "put the files themselves here".to_owned(),
        }
    }

    fn odd(&self, what: &str) -> Trouble {
        Trouble {
            path: self.path.clone(),
            code: "reckon::source::odd",
            message: format!("this is {what}, not a plain file: it is not read"),
            help: "put a plain file here, or give it another ending".to_owned(),
        }
    }
}

/// Returns the trouble of a root that cannot be opened.
fn unopened(root: &Place, error: &PathError) -> Trouble {
    let PathError::Link { component } = error else {
        let why = if error.is_absent() {
            "the folder of specs is not there".to_owned()
        } else {
            error.to_string()
        };
        return unreadable("", &why);
    };
    Trouble {
        path: String::new(),
        code: "reckon::source::symlink",
        message: format!(
            "the folder {root} is reached through `{component}`, a symbolic link, so that nothing beneath it is read"
        ),
        help: format!(
            "put the folder itself at `{component}`, or write the real path: `specs: /PATH/TO/SPECS`"
        ),
    }
}

fn unreadable(path: &str, message: &str) -> Trouble {
    Trouble {
        path: path.to_owned(),
        code: "reckon::source::unreadable",
        message: format!("it cannot be read: {message}"),
        help: "make it readable, or move it out of the specs folder".to_owned(),
    }
}

fn is_yaml(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "yaml" | "yml"))
}

/// The initial capacity of a buffer, in bytes: most files fit.
const BUFFER_BYTES: usize = 4096;

/// Reads a file of the tree; at most one byte more than is accepted, so that an excess shows in the
/// length.
///
/// # Errors
/// The file cannot be read, leads out of the tree, or is no plain file.
pub fn read(root: &Folder, path: &str) -> Result<Vec<u8>, PathError> {
    let file = match root.file(path) {
        Err(PathError::Link { .. }) => root.file(&root.behind(path)?)?,
        file => file?,
    };
    let mut bytes = Vec::with_capacity(BUFFER_BYTES);
    file.take(FILE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns BLAKE3 of the result of [`read`].
///
/// # Errors
/// As for [`read`].
pub fn hash(root: &Folder, path: &str) -> Result<[u8; 32], PathError> {
    Ok(hash_of(&read(root, path)?))
}

/// Returns BLAKE3 of the result of [`read`] for a file with these bytes.
pub fn hash_of(bytes: &[u8]) -> [u8; 32] {
    let most = usize::try_from(FILE_BYTES_MAX.saturating_add(1)).unwrap_or(usize::MAX);
    *blake3::hash(bytes.get(..most).unwrap_or(bytes)).as_bytes()
}

/// Returns whether a walk accepts a plain file at this path below the root.
pub fn takes(path: &str) -> bool {
    is_yaml(path) && !path.split('/').any(|part| part.starts_with('.'))
}

#[cfg(test)]
mod tests;
