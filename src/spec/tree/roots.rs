//! The folders of a tree, in their order, read as one; or the program that makes the tree of them.
//!
//! In a tree of one folder, the path of a file starts below that folder. In a tree of several
//! folders, it starts with the name of its folder. No folder lies in another one of the tree.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::base::folder::{Folder, PathError};
use crate::base::folder_location::FolderLocation;
use crate::spec::tree::files::{self, Listing, SourceProblem, WalkEntry};
use crate::spec::tree::rendered::{OUTPUT, RenderedTree};

#[derive(Debug, Clone)]
pub struct SpecRoots {
    folders: Arc<[SpecRoot]>,
    /// The program that makes the tree, if the folders hold its inputs.
    rendered: Option<Arc<RenderedTree>>,
}

#[derive(Debug)]
struct SpecRoot {
    /// The first part of its paths; empty where it is the only folder.
    name: String,
    place: FolderLocation,
}

impl From<FolderLocation> for SpecRoots {
    fn from(place: FolderLocation) -> Self {
        Self { folders: Arc::from([SpecRoot { name: String::new(), place }]), rendered: None }
    }
}

impl From<&FolderLocation> for SpecRoots {
    fn from(place: &FolderLocation) -> Self {
        Self::from(place.clone())
    }
}

impl From<PathBuf> for SpecRoots {
    fn from(path: PathBuf) -> Self {
        Self::from(FolderLocation::from(path))
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for SpecRoots {
    fn from(path: &P) -> Self {
        Self::from(FolderLocation::from(path))
    }
}

impl SpecRoots {
    /// Returns a tree of these folders, each with its name in paths. A single one needs no name.
    pub fn named(folders: impl IntoIterator<Item = (String, FolderLocation)>) -> Self {
        let mut roots: Vec<SpecRoot> =
            folders.into_iter().map(|(name, place)| SpecRoot { name, place }).collect();
        if let [only] = roots.as_mut_slice() {
            only.name.clear();
        }
        Self { folders: roots.into(), rendered: None }
    }

    /// Returns the tree that a program makes of these folders, where there is one.
    #[must_use]
    pub fn rendered_by(self, rendered: Option<Arc<RenderedTree>>) -> Self {
        Self { rendered, ..self }
    }

    pub fn is_rendered(&self) -> bool {
        self.rendered.is_some()
    }

    /// Begins a reading of the tree.
    pub(crate) fn begin_reading(&self) {
        if let Some(rendered) = &self.rendered {
            rendered.begin_reading();
        }
    }

    pub fn places(&self) -> impl Iterator<Item = &FolderLocation> {
        self.folders.iter().map(|root| &root.place)
    }

    /// Returns the number of the folder that holds a path, and the path below it.
    pub fn locate<'p>(&self, path: &'p str) -> Option<(usize, &'p str)> {
        if self.is_rendered() {
            return None;
        }
        let mut found = self.folders.iter().enumerate();
        found.find_map(|(number, root)| Some((number, below(path, &root.name)?)))
    }

    /// Returns the path of a file below the folder of this number.
    pub fn path_in(&self, number: usize, below: &str) -> String {
        self.folders.get(number).map_or_else(|| below.to_owned(), |root| root.path(below))
    }

    /// Returns the place of a path on disk.
    pub fn disk_path(&self, path: &str) -> PathBuf {
        let found = self.locate(path);
        let found = found.and_then(|(number, below)| Some((self.folders.get(number)?, below)));
        found.map_or_else(|| path.into(), |(root, below)| root.place.path().join(below))
    }

    /// Visits all at or below `at`, folder by folder, in no order within one.
    pub fn walk(&self, at: &str, visit: &mut dyn FnMut(WalkEntry<'_>)) {
        if let Some(rendered) = &self.rendered {
            return rendered.visit(visit);
        }
        for root in &*self.folders {
            if root.name.is_empty() {
                files::walk(&root.place, at, visit);
            } else if let Some(inside) = below(at, &root.name) {
                root.walk(inside, visit);
            } else if below(&root.name, at).is_some() {
                root.walk("", visit);
            }
        }
    }

    /// Lists everything at or below `at`; empty means all.
    pub fn list(&self, at: &str) -> Listing {
        Listing::gather(|visit| self.walk(at, visit))
    }

    pub fn open(&self) -> OpenedRoots<'_> {
        let opened = self.folders.iter().map(|root| root.place.open());
        OpenedRoots { roots: self, folders: opened.map(Result::ok).collect() }
    }

    /// Converts a caller's path (absolute, or below the only folder) to one of the tree; `None` for
    /// hidden and foreign ones.
    pub(crate) fn path_of(&self, path: &Path) -> Option<String> {
        if self.is_rendered() {
            // Any input may change the whole output.
            return Some(String::new());
        }
        let found =
            self.folders.iter().find_map(|root| Some(root.path(&plain(root.below(path)?)?)));
        found.or_else(|| plain(path).filter(|path| self.locate(path).is_some()))
    }
}

impl SpecRoot {
    fn path(&self, below: &str) -> String {
        match (self.name.as_str(), below) {
            ("", below) => below.to_owned(),
            (name, "") => name.to_owned(),
            (name, below) => format!("{name}/{below}"),
        }
    }

    fn walk(&self, inside: &str, visit: &mut dyn FnMut(WalkEntry<'_>)) {
        files::walk(&self.place, inside, &mut |found| match found {
            WalkEntry::File(path, stat) => visit(WalkEntry::File(&self.path(path), stat)),
            WalkEntry::Problem(problem) => {
                let path = self.path(&problem.path);
                visit(WalkEntry::Problem(SourceProblem { path, ..problem }));
            }
        });
    }

    fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let place = self.place.path();
        let real = || place.canonicalize().ok();
        path.strip_prefix(&place).ok().or_else(|| path.strip_prefix(real()?).ok())
    }
}

/// Returns the rest of a path at or below `at`.
fn below<'p>(path: &'p str, at: &str) -> Option<&'p str> {
    if at.is_empty() {
        return Some(path);
    }
    let rest = path.strip_prefix(at)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// Returns a path without dots and without its root, as text.
fn plain(path: &Path) -> Option<String> {
    let parts = path.components().map(|part| match part {
        Component::Normal(part) => part.to_str(),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            None
        }
    });
    parts.collect::<Option<Vec<_>>>().map(|parts| parts.join("/"))
}

/// The folders of a tree, each opened once. A folder that cannot be opened has no files.
#[derive(Debug)]
pub struct OpenedRoots<'r> {
    roots: &'r SpecRoots,
    folders: Vec<Option<Folder>>,
}

impl OpenedRoots<'_> {
    /// Reads a file of the tree, at most one byte more than is accepted.
    ///
    /// # Errors
    /// The file cannot be read, leads out of its folder, or is no plain file.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, PathError> {
        let absent = || PathError::Io(std::io::ErrorKind::NotFound.into());
        if let Some(rendered) = &self.roots.rendered {
            let text = rendered.text().filter(|_| path == OUTPUT);
            return text.map(|text| text.to_vec()).ok_or_else(absent);
        }
        let (number, below) = self.roots.locate(path).ok_or_else(absent)?;
        let folder = self.folders.get(number).and_then(Option::as_ref).ok_or_else(absent)?;
        files::read(folder, below)
    }

    /// Returns BLAKE3 of the result of [`Self::read`].
    pub fn hash(&self, path: &str) -> Result<[u8; 32], PathError> {
        Ok(files::hash_of(&self.read(path)?))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn two(dir: &Path) -> SpecRoots {
        let folder = |name: &str| (name.to_owned(), FolderLocation::from(&dir.join(name)));
        SpecRoots::named([folder("base"), folder("overlays/live")])
    }

    #[test]
    fn several_folders_are_one_tree_with_their_names_in_its_paths() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["base/a.yaml", "base/x/b.yaml", "overlays/live/a.yaml", "overlays/no.yaml"] {
            fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
            fs::write(dir.path().join(path), path).unwrap();
        }
        let roots = two(dir.path());
        let names = |at: &str| roots.list(at).files.into_keys().collect::<Vec<_>>();
        assert_eq!(names(""), ["base/a.yaml", "base/x/b.yaml", "overlays/live/a.yaml"]);
        assert_eq!(names("base/x"), ["base/x/b.yaml"]);
        assert_eq!(names("overlays"), ["overlays/live/a.yaml"]);
        assert_eq!(names("bas"), Vec::<String>::new());
        assert_eq!(roots.open().read("overlays/live/a.yaml").unwrap(), b"overlays/live/a.yaml");
        assert!(roots.open().read("overlays/no.yaml").is_err());
        assert_eq!(roots.locate("overlays/live/a.yaml"), Some((1, "a.yaml")));
        let path = |path: &str| roots.path_of(&dir.path().join(path));
        assert_eq!(path("overlays/live/a.yaml").as_deref(), Some("overlays/live/a.yaml"));
        assert_eq!(path("overlays/no.yaml"), None);
    }

    #[test]
    fn one_missing_folder_is_a_problem_under_its_name_and_hides_no_other() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("base")).unwrap();
        fs::write(dir.path().join("base/a.yaml"), "a").unwrap();
        let listing = two(dir.path()).list("");
        assert_eq!(listing.files.keys().collect::<Vec<_>>(), ["base/a.yaml"]);
        assert_eq!(listing.problems.keys().collect::<Vec<_>>(), ["overlays/live"]);
    }
}
