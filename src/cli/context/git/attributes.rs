//! Attributes that make git store other text than a file holds, or merge it in another way.

use std::fs;
use std::path::{Path, PathBuf};

use super::program::{Git, GitError};

/// Attributes that change a file's bytes on their way into a commit, and the one that names a
/// program to merge with.
const REFUSED: [&str; 4] = ["working-tree-encoding", "filter", "ident", "merge"];
/// Size of an attributes file that is read, at most.
const BYTES_MAX: usize = 1 << 20;

/// An attribute that must not be set.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ForbiddenAttribute {
    /// The file that the attribute applies to, from the top of the repository.
    pub path: String,
    /// As an attributes file writes it.
    pub attribute: String,
    /// The file and line that set the attribute, as far as they are found.
    pub place: Option<String>,
}

/// Returns the first of these files that has such an attribute.
///
/// # Errors
/// Git cannot be run.
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

/// Returns the place that sets an attribute of a file: the last line that names the attribute in
/// the file of the highest precedence.
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
