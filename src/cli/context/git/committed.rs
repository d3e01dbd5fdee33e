//! The documents of a commit by the very bytes that git keeps: no filter, no conversion, no index,
//! no work tree.
//!
//! Guarantees: [`Committed::digest`] equals the digest of a loaded tree (see [`SpecIndex`]) if
//! and only if the loader read these files and these bytes. So a judgement of the commit is one of
//! the loaded tree.
//!
//! [`SpecIndex`]: crate::spec::tree::index::SpecIndex

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::program::{self, Git, GitError};
use crate::base::hash::Digest;
use crate::spec::tree::files::{hash_of, is_spec_path};
use crate::spec::tree::index::digest_of;
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
