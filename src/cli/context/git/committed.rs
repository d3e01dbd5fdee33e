//! The documents of a commit by the very bytes that git keeps: no filter, no conversion, no index,
//! no work tree. [`TrackedSpecs`] are the loaded specs with the commit that is checked out.
//!
//! Guarantees: [`Committed::digest`] equals the digest of a loaded tree (see [`SpecIndex`]) if
//! and only if the loader read these files and these bytes. So a judgement of the commit is one of
//! the loaded tree. A file counts as committed only where the bytes that were read equal its blob in
//! the commit. Before a file counts as uncommitted, the commit is read again: a checkout writes its
//! files first.
//!
//! [`SpecIndex`]: crate::spec::tree::index::SpecIndex

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::program::{self, Git, GitError};
use crate::base::folder_location::FolderLocation;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::engine::known::files::SpecSource;
use crate::model::issue::{Issue, PlacedIssue, TreeProblems};
use crate::model::manifest::{Desired, Provenance};
use crate::spec::tree::files::{hash_of, is_spec_path};
use crate::spec::tree::index::digest_of;
use crate::spec::tree::loader::Loader;
use crate::spec::tree::roots::{OpenedRoots, SpecRoots};

/// Prefix of git's modes of plain files; links and submodules have others.
const FILE: &str = "100";

/// The files of a commit beneath one folder that a loader would read.
#[derive(Debug, Default)]
pub(crate) struct Committed {
    files: BTreeMap<String, [u8; 32]>,
    odd: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub path: String,
    /// True if only the line ends differ.
    pub line_ends: bool,
}

impl Committed {
    /// Reads the files beneath `folder`, a path from the top of the repository.
    ///
    /// # Errors
    /// Git cannot be run, or the clone lacks an object.
    pub(crate) fn read(git: &Git, commit: &str, folder: &str) -> Result<Self, GitError> {
        let mut found = Self::default();
        found.add(git, commit, folder, &|path| path.to_owned())?;
        Ok(found)
    }

    /// Reads the files beneath several folders, from the top, as the tree of `roots` names them.
    ///
    /// # Errors
    /// Git cannot be run, or the clone lacks an object.
    pub(crate) fn read_tree(
        git: &Git,
        commit: &str,
        folders: &[String],
        roots: &SpecRoots,
    ) -> Result<Self, GitError> {
        let mut found = Self::default();
        for (number, folder) in folders.iter().enumerate() {
            found.add(git, commit, folder, &|path| roots.path_in(number, path))?;
        }
        Ok(found)
    }

    /// Adds the files beneath one folder; `name` makes a path of the tree of one below the folder.
    fn add(
        &mut self,
        git: &Git,
        commit: &str,
        folder: &str,
        name: &dyn Fn(&str) -> String,
    ) -> Result<(), GitError> {
        let prefix = format!("{folder}/");
        let said =
            git.output(&["ls-tree", "-r", "-z", "--full-tree", commit, "--", &prefix], &[])?;
        let said = String::from_utf8_lossy(&said);
        let mut paths: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for entry in said.split('\0') {
            let Some((about, path)) = entry.split_once('\t') else { continue };
            let Some(path) = path.strip_prefix(&prefix).filter(|path| is_spec_path(path)) else {
                continue;
            };
            let path = name(path);
            let mut about = about.split(' ');
            let plain = about.next().is_some_and(|mode| mode.starts_with(FILE));
            match about.nth(1).filter(|_| plain) {
                Some(id) => paths.entry(id).or_default().push(path),
                None => self.odd.push(path),
            }
        }
        let ids: Vec<&str> = paths.keys().copied().collect();
        let mut missing = None;
        program::for_each(git, &ids, &mut |id, bytes| match bytes.map(hash_of) {
            Some(hash) => self.take(paths.get(id), hash),
            None => missing = Some(format!("the clone lacks the object {id}")),
        })?;
        missing.map_or(Ok(()), |why| Err(GitError::new("cat-file", why)))
    }

    fn take(&mut self, paths: Option<&Vec<String>>, hash: [u8; 32]) {
        self.files.extend(paths.into_iter().flatten().map(|path| (path.clone(), hash)));
    }

    /// Returns the first entry that a loader could read and that is no plain file.
    pub(crate) fn odd(&self) -> Option<&str> {
        self.odd.first().map(String::as_str)
    }

    /// Returns the paths of the files below the folder.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns the digest of a loader that read just these files.
    pub(crate) fn digest(&self) -> Digest {
        digest_of(self.files.iter().map(|(path, hash)| (path.as_str(), hash)))
    }

    /// Returns the first file of the tree that differs from its commit, is missing on disk, or
    /// is missing in the commit.
    pub(crate) fn difference(&self, roots: &SpecRoots) -> Option<Difference> {
        let listing = roots.list("");
        let plain = |path: &String| Difference { path: path.clone(), line_ends: false };
        let gone = self.files.keys().find(|path| !listing.files.contains_key(*path));
        if let Some(path) = listing.problems.keys().next().or(gone) {
            return Some(plain(path));
        }
        let opened = roots.open();
        listing.files.keys().find_map(|path| self.differs(&opened, path))
    }

    fn differs(&self, opened: &OpenedRoots<'_>, path: &str) -> Option<Difference> {
        let committed = self.files.get(path);
        let bytes = opened.read(path).ok();
        if bytes.as_deref().is_some_and(|bytes| committed == Some(&hash_of(bytes))) {
            return None;
        }
        let same = |bytes: &[u8]| committed == Some(&hash_of(&without_returns(bytes)));
        Some(Difference { path: path.to_owned(), line_ends: bytes.as_deref().is_some_and(same) })
    }
}

/// Returns the bytes with the line ends that git keeps.
fn without_returns(bytes: &[u8]) -> Vec<u8> {
    let next = bytes.iter().skip(1).map(Some).chain([None]);
    let kept = bytes.iter().zip(next);
    let kept = kept.filter(|(one, next)| !(**one == b'\r' && *next == Some(&b'\n')));
    kept.map(|(one, _)| *one).collect()
}

/// Attributes that change a file's bytes on their way into a commit, or name a merge program.
const REFUSED: [&str; 4] = ["working-tree-encoding", "filter", "ident", "merge"];
const BYTES_MAX: usize = 1 << 20;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ForbiddenAttribute {
    /// The file that the attribute applies to, from the top of the repository.
    pub path: String,
    /// As an attributes file writes it.
    pub attribute: String,
    /// The file and line that set the attribute, as far as they are found.
    pub place: Option<String>,
}

pub(crate) fn first_forbidden<'a>(
    git: &Git,
    paths: impl Iterator<Item = &'a str>,
) -> Result<Option<ForbiddenAttribute>, GitError> {
    let input: Vec<u8> = paths.flat_map(|path| path.bytes().chain([0])).collect();
    if input.is_empty() {
        return Ok(None);
    }
    let said = git.output(&[&["check-attr", "-z", "--stdin"], &REFUSED[..]].concat(), &input)?;
    let said = String::from_utf8_lossy(&said);
    let mut words = said.split('\0');
    while let (Some(path), Some(name), Some(value)) = (words.next(), words.next(), words.next()) {
        if let Some(attribute) = forbidden_form(name, value) {
            let place = place(git, path, name);
            return Ok(Some(ForbiddenAttribute { path: path.to_owned(), attribute, place }));
        }
    }
    Ok(None)
}

/// Returns the attribute as it is written, if this value changes anything.
fn forbidden_form(name: &str, value: &str) -> Option<String> {
    match (name, value) {
        ("merge", "unset") => Some(format!("-{name}")),
        (_, "unspecified" | "unset") | ("merge", "set" | "text") => None,
        (_, "set") => Some(name.to_owned()),
        (_, value) => Some(format!("{name}={value}")),
    }
}

/// Returns the last line that names an attribute, in the file of the highest precedence.
fn place(git: &Git, path: &str, name: &str) -> Option<String> {
    let info = git.line(&["rev-parse", "--git-path", "info/attributes"]).ok();
    let mut folders: Vec<&Path> = Path::new(path).ancestors().skip(1).collect();
    folders.dedup();
    let beside = folders.into_iter().map(|folder| folder.join(".gitattributes"));
    let global = git.line(&["config", "--type=path", "--get", "core.attributesFile"]).ok();
    let files = info.map(PathBuf::from).into_iter().chain(beside).chain(global.map(PathBuf::from));
    files.into_iter().find_map(|file| {
        let line = line_of(&git.top.join(&file), name)?;
        Some(format!("{}:{line}", file.display()))
    })
}

/// Returns the last line of an attributes file that names this attribute, from 1.
fn line_of(file: &Path, name: &str) -> Option<usize> {
    fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file)?;
    let bytes = fs::read(file).ok().filter(|bytes| bytes.len() <= BYTES_MAX)?;
    let text = String::from_utf8_lossy(&bytes);
    let speaks = |line: &str| {
        let words = line.split_whitespace().skip(1);
        let mut names = words.map(|word| word.trim_start_matches(['-', '!']));
        names.any(|word| word.split('=').next() == Some(name))
    };
    let last = text.lines().enumerate().filter(|(_, line)| speaks(line)).last();
    last.map(|(index, _)| index.saturating_add(1))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_returns_before_line_ends_are_left_out() {
        assert_eq!(without_returns(b"a\r\nb\rc\r\r\n\r"), b"a\nb\rc\r\n\r");
    }
}

#[cfg(test)]
mod attributes_tests {
    use super::*;

    #[test]
    fn attributes_are_refused_that_change_bytes_or_merges() {
        for (name, value, expect) in [
            ("filter", "unspecified", None),
            ("filter", "unset", None),
            ("filter", "lfs", Some("filter=lfs")),
            ("ident", "set", Some("ident")),
            ("merge", "text", None),
            ("merge", "union", Some("merge=union")),
            ("merge", "unset", Some("-merge")),
        ] {
            assert_eq!(forbidden_form(name, value).as_deref(), expect, "{name} {value}");
        }
    }

    #[test]
    fn the_last_line_that_names_an_attribute_is_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(".gitattributes");
        fs::write(&file, "filter ident\n*.yaml text filter=x\n*.yml -merge\n").unwrap();
        assert_eq!(line_of(&file, "filter"), Some(2));
        assert_eq!(line_of(&file, "merge"), Some(3));
        assert_eq!(line_of(&file, "working-tree-encoding"), None);
    }
}
