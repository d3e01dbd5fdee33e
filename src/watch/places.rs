//! Resolution of a path: the folder that it leads to, and the folders whose entries decide that.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Maximum number of followed symlinks, the same as the operating system's.
const HOPS_MAX: usize = 40;

/// The target of the root. Equal until another entry replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RootPlaces {
    /// The root without symlinks, as far as it exists.
    real: PathBuf,
    /// Folders with an entry on the way to the root that could be replaced.
    around: BTreeSet<PathBuf>,
    /// Device and inode of the root; `None` when it does not exist.
    identity: Option<(u64, u64)>,
}

impl RootPlaces {
    /// Follows a path from the root of the file system.
    pub(super) fn of(full: &Path) -> Self {
        let mut around = BTreeSet::new();
        let mut here = full.to_owned();
        for _ in 0..HOPS_MAX {
            let Some((link, rest)) = first_link(&here) else { break };
            let folder = link.parent().unwrap_or(Path::new("/")).to_owned();
            let Ok(target) = fs::read_link(&link) else { break };
            here = folder.join(target).join(rest);
            around.insert(folder);
        }
        let real = here.canonicalize().unwrap_or(here);
        around.extend(real.parent().map(Path::to_owned));
        around.retain(|folder| folder.is_dir());
        let found = fs::metadata(&real).ok().filter(fs::Metadata::is_dir);
        Self { real, around, identity: found.map(|root| (root.dev(), root.ino())) }
    }

    /// Returns the root without symlinks.
    pub(super) fn real(&self) -> &Path {
        &self.real
    }

    /// Returns whether the root exists.
    pub(super) fn exists(&self) -> bool {
        self.identity.is_some()
    }

    /// Returns the folders to watch besides the root, without their subfolders.
    pub(super) fn around(&self) -> impl Iterator<Item = &Path> {
        self.around.iter().map(PathBuf::as_path)
    }
}

/// Returns the first part of a path that is a symlink, and the rest behind it.
fn first_link(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let mut parts = path.components();
    let mut here = PathBuf::new();
    while let Some(part) = parts.next() {
        here.push(part);
        if fs::symlink_metadata(&here).is_ok_and(|found| found.is_symlink()) {
            return Some((here, parts.as_path().to_owned()));
        }
    }
    None
}

/// Returns whether a path is a folder, or a symlink to one.
pub(super) fn leads_to_folder(path: &Path) -> bool {
    path.is_dir()
}
