//! A folder of YAML files: which there are, and whether they changed.
//!
//! Takes regular `*.yaml` and `*.yml` files. Skips hidden names and what is no file. A symlink is
//! followed to a file inside the root and never anywhere else; one that leads out, or to a folder,
//! is trouble and not silence, because what is not seen would look removed.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::spec::decode::FILE_BYTES_MAX;

const NANOS: i64 = 1_000_000_000;

/// What tells a changed file from an unchanged one without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Bytes.
    pub size: u64,
    /// When its content last changed, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Which file it is.
    pub inode: u64,
}

impl Stat {
    fn of(metadata: &Metadata) -> Self {
        let mtime_ns = metadata.mtime().saturating_mul(NANOS).saturating_add(metadata.mtime_nsec());
        Self { size: metadata.size(), mtime_ns, inode: metadata.ino() }
    }
}

/// A place of the tree that cannot be read as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The path below the root; empty for the root itself.
    pub path: String,
    /// The stable code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: &'static str,
}

/// One thing that the walk came by.
#[derive(Debug)]
pub enum Found<'a> {
    /// A file, by its path below the root with `/` between the parts.
    File(&'a str, Stat),
    /// Something that stands in the way.
    Trouble(Trouble),
}

/// Everything that stands below a root, sorted by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The files.
    pub files: BTreeMap<String, Stat>,
    /// What stands in the way.
    pub troubles: BTreeMap<String, Trouble>,
}

impl Listing {
    /// Looks at everything at or below `below`, a path below `root`; empty means all.
    pub fn of(root: &Path, below: &str) -> Self {
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

/// Visits everything at or below `below`, in no order. A path that is not there is not trouble,
/// unless it is the root.
pub fn walk(root: &Path, below: &str, visit: &mut dyn FnMut(Found<'_>)) {
    let Ok(real_root) = root.canonicalize() else {
        let trouble = unreadable("", "the folder of specs is not there");
        return visit(Found::Trouble(trouble));
    };
    let mut walk = Walk { root: real_root, folders: Vec::new(), path: String::new() };
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
    root: PathBuf,
    folders: Vec<String>,
    /// One buffer for all paths.
    path: String,
}

impl Walk {
    /// Begins in the middle of the tree, as if the walk had come by.
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
            let Ok(metadata) = fs::symlink_metadata(self.root.join(&path)) else {
                return false;
            };
            let last = parts.peek().is_none();
            if last || metadata.is_symlink() {
                self.path.clone_from(&path);
                self.entry(&metadata, visit);
                return true;
            }
        }
        false
    }

    fn folder(&mut self, folder: &str, visit: &mut dyn FnMut(Found<'_>)) {
        let entries = match fs::read_dir(self.root.join(folder)) {
            Ok(entries) => entries,
            Err(error) => return visit(Found::Trouble(unreadable(folder, &error.to_string()))),
        };
        for entry in entries {
            match entry {
                Ok(entry) => self.child(folder, &entry, visit),
                Err(error) => visit(Found::Trouble(unreadable(folder, &error.to_string()))),
            }
        }
    }

    fn child(&mut self, folder: &str, entry: &DirEntry, visit: &mut dyn FnMut(Found<'_>)) {
        let name = entry.file_name();
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
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            Err(error) => return visit(Found::Trouble(unreadable(&self.path, &error.to_string()))),
        };
        if kind.is_file() && !is_yaml(&self.path) {
            return;
        }
        if name.to_str().is_none() && (kind.is_dir() || is_yaml(&self.path)) {
            return visit(Found::Trouble(unreadable(&self.path, "its name is not UTF-8")));
        }
        match entry.metadata() {
            Ok(metadata) => self.entry(&metadata, visit),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => visit(Found::Trouble(unreadable(&self.path, &error.to_string()))),
        }
    }

    /// What stands at `self.path`.
    fn entry(&mut self, metadata: &Metadata, visit: &mut dyn FnMut(Found<'_>)) {
        if metadata.is_dir() {
            self.folders.push(self.path.clone());
        } else if metadata.is_file() {
            if is_yaml(&self.path) {
                visit(Found::File(&self.path, Stat::of(metadata)));
            }
        } else if metadata.is_symlink() {
            self.link(visit);
        }
    }

    fn link(&self, visit: &mut dyn FnMut(Found<'_>)) {
        let target = self.root.join(&self.path).canonicalize();
        let target = target.and_then(|target| target.metadata().map(|found| (target, found)));
        let yaml = is_yaml(&self.path);
        match target {
            Err(_) if !yaml => {}
            Err(error) => visit(Found::Trouble(unreadable(&self.path, &error.to_string()))),
            Ok((_, found)) if !yaml && !found.is_dir() => {}
            Ok((target, _)) if !target.starts_with(&self.root) => {
                visit(Found::Trouble(self.refused("the symlink leads out of the specs folder")));
            }
            Ok((_, found)) if found.is_dir() => {
                visit(Found::Trouble(self.refused("a symlink to a folder is not followed")));
            }
            Ok((_, found)) if found.is_file() => {
                visit(Found::File(&self.path, Stat::of(&found)));
            }
            Ok(_) => {}
        }
    }

    fn refused(&self, message: &str) -> Trouble {
        Trouble {
            path: self.path.clone(),
            code: "reckon::source::symlink",
            message: message.to_owned(),
            help: "put the files themselves here",
        }
    }
}

fn unreadable(path: &str, message: &str) -> Trouble {
    Trouble {
        path: path.to_owned(),
        code: "reckon::source::unreadable",
        message: format!("it cannot be read: {message}"),
        help: "make it readable, or move it out of the specs folder",
    }
}

fn is_yaml(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "yaml" | "yml"))
}

/// A new buffer holds as much, in bytes: most files are read at one go.
const BUFFER_BYTES: usize = 4096;

/// Reads a file of the tree; at most one byte more than is accepted, so that its length tells.
pub fn read(root: &Path, path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(BUFFER_BYTES);
    File::open(root.join(path))?.take(FILE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// BLAKE3 of what [`read`] gives.
pub fn hash(root: &Path, path: &str) -> io::Result<[u8; 32]> {
    Ok(*blake3::hash(&read(root, path)?).as_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "a: 1\n").unwrap();
        }
        dir
    }

    fn names(listing: &Listing) -> Vec<&str> {
        listing.files.keys().map(String::as_str).collect()
    }

    #[test]
    fn only_visible_yaml_files_are_taken_sorted_by_path() {
        let dir = tree(&["b.yml", "a.yaml", "x/c.yaml", ".h.yaml", ".git/d.yaml", "e.txt", "yaml"]);
        assert_eq!(names(&Listing::of(dir.path(), "")), ["a.yaml", "b.yml", "x/c.yaml"]);
        assert_eq!(names(&Listing::of(dir.path(), "x")), ["x/c.yaml"]);
        assert_eq!(names(&Listing::of(dir.path(), "x/c.yaml")), ["x/c.yaml"]);
        for none in [".git/d.yaml", "../a.yaml", "e.txt", "gone.yaml", "x/gone"] {
            assert_eq!(Listing::of(dir.path(), none), Listing::default(), "{none}");
        }
    }

    #[test]
    fn a_symlink_is_followed_to_a_file_inside_the_root_only() {
        let outside = tree(&["o.yaml"]);
        let dir = tree(&["..data/a.yaml", "x/c.yaml"]);
        symlink("..data/a.yaml", dir.path().join("a.yaml")).unwrap();
        symlink(outside.path().join("o.yaml"), dir.path().join("o.yaml")).unwrap();
        symlink(outside.path(), dir.path().join("out")).unwrap();
        symlink("x", dir.path().join("in")).unwrap();
        symlink("nowhere", dir.path().join("dangling.yaml")).unwrap();
        symlink("nowhere", dir.path().join("dangling.txt")).unwrap();
        let listing = Listing::of(dir.path(), "");
        assert_eq!(names(&listing), ["a.yaml", "x/c.yaml"]);
        let troubles: Vec<_> = listing.troubles.keys().map(String::as_str).collect();
        assert_eq!(troubles, ["dangling.yaml", "in", "o.yaml", "out"]);
        assert_eq!(Listing::of(dir.path(), "out/o.yaml").troubles.len(), 1);
    }

    #[test]
    fn a_missing_root_is_trouble() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Listing::of(&dir.path().join("gone"), "").troubles.len(), 1);
    }
}
