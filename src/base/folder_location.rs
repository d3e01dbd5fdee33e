//! Location of a configured folder: its base, its relative path, and the links that it may contain.
//!
//! A relative path of the configuration may hold no link at all. In an absolute path the operator's
//! own links are followed. A link in a git work tree is not, since a pull request may add it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat};
use rustix::io::Errno;

use super::folder::{FOLDER, Folder, PathError, open_by_kernel, open_by_parts};

#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
#[display("{}", self.path().display())]
pub struct FolderLocation {
    base: PathBuf,
    relative: PathBuf,
}

impl<P: AsRef<Path> + ?Sized> From<&P> for FolderLocation {
    /// Takes a trusted folder: links to it are followed, outside of git work trees.
    fn from(path: &P) -> Self {
        Self { base: path.as_ref().to_owned(), relative: PathBuf::new() }
    }
}

impl From<PathBuf> for FolderLocation {
    fn from(path: PathBuf) -> Self {
        Self::from(&path)
    }
}

impl From<&FolderLocation> for FolderLocation {
    fn from(place: &FolderLocation) -> Self {
        place.clone()
    }
}

impl FolderLocation {
    /// Takes a folder of a configuration in `dir`; `path` is its name joined to `dir`, or absolute.
    pub fn from_config(dir: &Path, path: &Path) -> Self {
        match path.strip_prefix(dir) {
            Ok(relative) => Self { base: dir.to_owned(), relative: relative.to_owned() },
            Err(_) => Self::from(path),
        }
    }

    pub fn path(&self) -> PathBuf {
        // Joining an empty path would leave a separator at the end.
        if self.relative.as_os_str().is_empty() {
            return self.base.clone();
        }
        self.base.join(&self.relative)
    }

    /// Opens the folder.
    ///
    /// # Errors
    /// There is no folder, or a component is a forbidden link.
    pub fn open(&self) -> Result<Folder, PathError> {
        let base = if self.base.as_os_str().is_empty() { Path::new(".") } else { &self.base };
        if self.relative.as_os_str().is_empty() {
            if let Some(link) = link_in_work_tree(base) {
                return Err(PathError::Link { component: link.display().to_string() });
            }
            return Ok(Folder(Arc::new(open_following_links(base)?)));
        }
        let base = open_following_links(base)?;
        let found = open_by_kernel(base.as_fd(), &self.relative, FOLDER, ResolveFlags::empty())
            .unwrap_or_else(|| open_by_parts(base.as_fd(), &self.relative, FOLDER));
        found.map(|fd| Folder(Arc::new(fd))).map_err(|errno| {
            let first = Folder(Arc::new(base)).first_link(&self.relative);
            first.map_or_else(
                || PathError::Io(errno.into()),
                |component| PathError::Link { component },
            )
        })
    }
}

fn open_following_links(path: &Path) -> Result<OwnedFd, io::Error> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty()).map_err(|errno: Errno| errno.into())
}

/// Returns the first component of a path that is a link and is kept in a git work tree.
fn link_in_work_tree(path: &Path) -> Option<PathBuf> {
    let mut here = PathBuf::new();
    for part in path.components() {
        let before = here.clone();
        here.push(part);
        let named = matches!(part, Component::Normal(_));
        if named && here.is_symlink() && in_work_tree(&before) {
            return Some(here);
        }
    }
    None
}

fn in_work_tree(folder: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    real.ancestors().any(|above| above.join(".git").exists())
}
