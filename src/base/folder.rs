//! A folder that is opened once; every file beneath it is read through that handle.
//!
//! Guarantees: below the handle no component is a symbolic link, no path leads out, and only plain
//! files are read. A FIFO, a socket or a device is refused by name and never waited for. The kernel
//! resolves paths (`openat2`). Where the kernel cannot, each component is opened by itself without
//! following links.
//!
//! Owns no path of the operator: [`FolderLocation`](super::folder_location::FolderLocation) finds a configured folder.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, openat, statat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

pub(super) const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);
/// Flags for files: a FIFO without a writer is opened at once, and then refused.
const FILE: OFlags =
    OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);
/// Maximum tries for a path that changes while the kernel follows it.
const TRIES: usize = 8;
/// Maximum number of links that [`Folder::resolve_links`] follows, the same as the operating system's.
const LINKS_MAX: usize = 40;
const NANOS: i64 = 1_000_000_000;

/// Reasons why an entry beneath a folder is not read.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The path is absolute, empty, or holds `..`.
    #[error("`{0}` is not a plain path below the folder")]
    NotPlain(String),
    #[error("`{component}` is a symbolic link")]
    Link { component: String },
    #[error("the symbolic link `{0}` leads out of the folder")]
    LeadsOutside(String),
    /// The entry is neither a file nor the expected sort of entry.
    #[error("`{path}` is {what}, not a plain file")]
    NotAFile { path: String, what: &'static str },
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl PathError {
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryType {
    File,
    Folder,
    Link,
    /// An entry that is never read; holds its sort with the article.
    Special(&'static str),
}

impl EntryType {
    fn of(found: FileType) -> Self {
        match found {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            FileType::Fifo => Self::Special("a FIFO"),
            FileType::Socket => Self::Special("a socket"),
            FileType::CharacterDevice | FileType::BlockDevice => Self::Special("a device"),
            FileType::Unknown => Self::Special("of an unknown sort"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryMeta {
    pub entry_type: EntryType,
    pub stat: Stat,
}

/// The metadata that distinguishes a changed file from an unchanged one without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// In bytes.
    pub size: u64,
    /// Last change of the content, in nanoseconds since 1970.
    pub mtime_ns: i64,
    pub inode: u64,
}

impl EntryMeta {
    fn of(found: &rustix::fs::Stat) -> Self {
        let seconds = found.st_mtime.saturating_mul(NANOS);
        let mtime_ns = seconds.saturating_add(i64::try_from(found.st_mtime_nsec).unwrap_or(0));
        let size = u64::try_from(found.st_size).unwrap_or(0);
        Self {
            entry_type: EntryType::of(FileType::from_raw_mode(found.st_mode)),
            stat: Stat { size, mtime_ns, inode: found.st_ino },
        }
    }
}

#[derive(Debug, Clone)]
pub struct Folder(pub(super) Arc<OwnedFd>);

impl Folder {
    /// Opens a file beneath the folder for reading; no component may be a link.
    ///
    /// # Errors
    /// The path is not plain, a component is a link, there is no file, or the entry is no plain file.
    pub fn file(&self, path: &str) -> Result<File, PathError> {
        let fd = open_beneath(self.0.as_fd(), check_plain(path)?, FILE);
        plain_file(fd.map_err(|errno| self.error(path, errno))?, path)
    }

    /// Opens a folder beneath this one; empty means this one. No component may be a link.
    ///
    /// # Errors
    /// The path is not plain, a component is a link, or there is no folder.
    pub fn folder(&self, path: &str) -> Result<Self, PathError> {
        if path.is_empty() {
            return Ok(self.clone());
        }
        let fd = open_beneath(self.0.as_fd(), check_plain(path)?, FOLDER);
        Ok(Self(Arc::new(fd.map_err(|errno| self.error(path, errno))?)))
    }

    /// Reads the metadata of an entry by its path, without opening or following it.
    pub fn metadata(&self, path: impl AsRef<OsStr>) -> io::Result<EntryMeta> {
        Ok(EntryMeta::of(&statat(&*self.0, path.as_ref(), AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Visits the entries of this folder, in no order, without `.` and `..`.
    pub fn for_each_entry(&self, visit: &mut dyn FnMut(&OsStr, EntryType)) -> io::Result<()> {
        for entry in Dir::read_from(&*self.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let known = entry.file_type();
            let sort = if known == FileType::Unknown {
                self.metadata(name).map_or(EntryType::of(known), |one| one.entry_type)
            } else {
                EntryType::of(known)
            };
            visit(name, sort);
        }
        Ok(())
    }

    /// Resolves a path beneath the folder to the link-free path of its target.
    ///
    /// # Errors
    /// A link leads out, there are too many links, or the target does not exist.
    pub fn resolve_links(&self, path: &str) -> Result<String, PathError> {
        let mut rest: Vec<String> = reversed_parts(check_plain(path)?);
        let (mut done, mut links) = (Vec::<String>::new(), 0_usize);
        while let Some(part) = rest.pop() {
            if part == ".." {
                done.pop().ok_or_else(|| PathError::LeadsOutside(path.to_owned()))?;
                continue;
            }
            done.push(part);
            let here = done.join("/");
            if self.metadata(&here)?.entry_type == EntryType::Link {
                links = links.saturating_add(1);
                let target = rustix::fs::readlinkat(&*self.0, &here, Vec::new());
                let target = target.map_err(io::Error::from)?.into_string().unwrap_or_default();
                if links > LINKS_MAX || target.is_empty() || target.starts_with('/') {
                    return Err(PathError::LeadsOutside(path.to_owned()));
                }
                done.pop();
                rest.extend(reversed_parts(Path::new(&target)));
            }
        }
        Ok(done.join("/"))
    }

    /// Returns whether a path leads to a folder, inside or outside of this one. Opens nothing.
    pub fn leads_to_folder(&self, path: &str) -> bool {
        let found = statat(&*self.0, path, AtFlags::empty());
        found.is_ok_and(|found| EntryMeta::of(&found).entry_type == EntryType::Folder)
    }

    /// Returns the reason why a path was not opened, with the component at fault.
    fn error(&self, path: &str, errno: Errno) -> PathError {
        if let Some(component) = self.first_link(Path::new(path)) {
            return PathError::Link { component };
        }
        match self.metadata(path).map(|found| found.entry_type) {
            Ok(sort @ EntryType::Special(_)) => not_a_file(path, sort),
            Ok(EntryType::File | EntryType::Folder | EntryType::Link) | Err(_) => {
                PathError::Io(errno.into())
            }
        }
    }

    /// Returns the path up to the first component that is a link.
    pub(super) fn first_link(&self, path: &Path) -> Option<String> {
        let mut here = PathBuf::new();
        path.components().find_map(|part| {
            here.push(part);
            let link = self.metadata(&here).is_ok_and(|found| found.entry_type == EntryType::Link);
            link.then(|| here.to_string_lossy().into_owned())
        })
    }
}

/// Opens a plain file by one of the operator's paths, following links. Never waits for a FIFO.
///
/// # Errors
/// There is no file, or it is no plain one.
pub fn open_file(path: &Path) -> Result<File, PathError> {
    let flags = FILE.difference(OFlags::NOFOLLOW);
    let fd = openat(rustix::fs::CWD, path, flags, Mode::empty()).map_err(io::Error::from)?;
    plain_file(fd, &path.display().to_string())
}

/// Returns an opened entry if it is a plain file.
fn plain_file(fd: OwnedFd, path: &str) -> Result<File, PathError> {
    match EntryMeta::of(&fstat(&fd).map_err(io::Error::from)?).entry_type {
        EntryType::File => Ok(File::from(fd)),
        other @ (EntryType::Folder | EntryType::Link | EntryType::Special(_)) => {
            Err(not_a_file(path, other))
        }
    }
}

/// Splits a path into its components, last one first, for popping.
fn reversed_parts(path: &Path) -> Vec<String> {
    let parts = path.components().filter(|part| !matches!(part, Component::CurDir));
    let mut parts: Vec<String> =
        parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    parts.reverse();
    parts
}

fn not_a_file(path: &str, sort: EntryType) -> PathError {
    let what = match sort {
        EntryType::Folder => "a folder",
        EntryType::Special(what) => what,
        EntryType::Link => "a symbolic link",
        EntryType::File => "another file",
    };
    PathError::NotAFile { path: path.to_owned(), what }
}

/// Checks that a path consists of names alone.
fn check_plain(path: &str) -> Result<&Path, PathError> {
    let found = Path::new(path);
    let names = found.components().all(|part| matches!(part, Component::Normal(_)));
    if names && !path.is_empty() { Ok(found) } else { Err(PathError::NotPlain(path.to_owned())) }
}

/// Opens a path beneath a folder for reading, without links.
fn open_beneath(folder: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    open_by_kernel(folder, path, flags, ResolveFlags::BENEATH)
        .unwrap_or_else(|| open_by_parts(folder, path, flags))
}

/// Opens a path with `openat2`; `None` if the kernel lacks it or a system call filter forbids it.
pub(super) fn open_by_kernel(
    folder: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    resolve: ResolveFlags,
) -> Option<Result<OwnedFd, Errno>> {
    let resolve = resolve | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let mut found = Err(Errno::AGAIN);
    for _ in 0..TRIES {
        found = rustix::fs::openat2(folder, path, flags, Mode::empty(), resolve);
        match found {
            Err(Errno::AGAIN) => {}
            Err(Errno::NOSYS | Errno::PERM) => return None,
            Ok(_) | Err(_) => break,
        }
    }
    Some(found)
}

/// Opens one component after the other, each without following links.
pub(super) fn open_by_parts(
    folder: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let way = OFlags::PATH | FOLDER;
    let mut here: Option<OwnedFd> = None;
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let flags = if parts.peek().is_none() { flags | OFlags::NOFOLLOW } else { way };
        let from = here.as_ref().map_or(folder, AsFd::as_fd);
        here = Some(openat(from, part.as_os_str(), flags, Mode::empty())?);
    }
    here.ok_or(Errno::NOENT)
}

#[cfg(test)]
mod tests;
