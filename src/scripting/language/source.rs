//! The scripts folder: every script, module, template and case file in it, read through one handle;
//! and positions in the text of a file.

use std::io::{self, Read};
use std::sync::Arc;

use rhai::Position;

use crate::base::folder::{EntryType, Folder, PathError};
use crate::base::folder_location::FolderLocation;
use crate::base::hash::{Digest, sha256};
use crate::model::issue::{PlacedIssue, RelatedPlace, Severity};

/// End of the names of scripts and modules.
const ENDING: &str = ".rhai";
/// End of the names of case files.
pub const CASES_ENDING: &str = ".test.yaml";
/// Folder of the templates within the scripts folder, and the ends of their names.
pub(super) const TEMPLATES: &str = "templates/";
pub(super) const TEXT: &str = ".txt";
pub(super) const HTML: &str = ".html";

/// A line and a column, from 1.
pub type Place = (usize, usize);

/// Problems of one or more files.
pub type Issues = Vec<PlacedIssue>;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScriptSource {
    /// Path within the scripts folder, with slashes: `dunning.rhai`, `lib/dates.rhai`.
    pub path: String,
    /// Name in problems: the path from the folder of `reckon.yaml`.
    pub display_path: String,
    pub text: Arc<str>,
}

impl ScriptSource {
    /// Returns a file whose path is also its name in problems.
    pub(crate) fn named(name: &str, text: &str) -> Self {
        Self { path: name.to_owned(), display_path: name.to_owned(), text: text.into() }
    }

    /// Returns the path without `.rhai`: the name of a script, or of a module in an `import`.
    pub fn name(&self) -> &str {
        self.path.strip_suffix(ENDING).unwrap_or(&self.path)
    }

    /// Returns true for a module, which is imported and handles no event.
    pub fn is_module(&self) -> bool {
        self.path.contains('/')
    }

    /// Returns a problem at a line and column, both from 1; the word at that place is underlined.
    pub(crate) fn problem(
        &self,
        (line, column): Place,
        code: &str,
        message: &str,
        help: &str,
    ) -> PlacedIssue {
        PlacedIssue {
            file: self.display_path.clone(),
            line,
            column,
            length: self.word_length((line, column)),
            code: format!("reckon::hooks::{code}"),
            severity: Severity::Error,
            message: message.to_owned(),
            help: help.to_owned(),
            related: Vec::new(),
        }
    }

    /// Returns a place of this file that belongs to a problem at another one.
    pub(crate) fn related(&self, (line, column): Place, message: &str) -> RelatedPlace {
        RelatedPlace { file: self.display_path.clone(), line, column, message: message.to_owned() }
    }

    /// Returns the word at a place if a colon follows it.
    pub(crate) fn key_at(&self, (line, column): Place) -> Option<String> {
        let line = self.text.lines().nth(line.saturating_sub(1))?;
        let rest: String = line.chars().skip(column.saturating_sub(1)).collect();
        let word: String =
            rest.chars().take_while(|one| one.is_alphanumeric() || *one == '_').collect();
        let behind = rest.strip_prefix(word.as_str())?.trim_start();
        let is_key = behind.starts_with(':') && !behind.starts_with("::") && !word.is_empty();
        is_key.then_some(word)
    }

    /// Returns the length in characters of the word or quoted text at a place; at least 1.
    fn word_length(&self, (line, column): Place) -> usize {
        let line = self.text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        let rest: Vec<char> = line.chars().skip(column.saturating_sub(1)).collect();
        let length = if rest.first().is_some_and(|first| ['"', '`', '\''].contains(first)) {
            let end = rest.iter().skip(1).position(|found| rest.first() == Some(found));
            end.map_or(rest.len(), |end| end.saturating_add(2))
        } else {
            rest.iter().take_while(|found| found.is_alphanumeric() || **found == '_').count()
        };
        length.max(1)
    }

    /// Returns the place of the name in `fn NAME`, searched upwards from a line.
    pub(crate) fn definition(&self, name: &str, line: usize) -> Place {
        let before: Vec<&str> = self.text.lines().take(line).collect();
        let found =
            before.iter().enumerate().rev().find_map(|(index, text)| {
                Some((index.saturating_add(1), name_column(text, name)?))
            });
        found.unwrap_or((line.max(1), 1))
    }
}

/// Returns the column of the name if the line defines the function.
fn name_column(line: &str, name: &str) -> Option<usize> {
    let (before, after) = line.split_once("fn ")?;
    let trimmed = after.trim_start();
    let end = trimmed.strip_prefix(name)?;
    let skipped = after.chars().count().saturating_sub(trimmed.chars().count());
    (!end.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
        .then(|| before.chars().count().saturating_add(skipped).saturating_add(4))
}

/// Returns the functions that a text defines, judged by the starts of its lines.
pub(crate) fn defined_functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let name = line.strip_prefix("private ").unwrap_or(line).strip_prefix("fn ")?.trim_start();
        name.split(|found: char| !found.is_alphanumeric() && found != '_').next()
    })
}

pub(crate) fn place(position: Position) -> Option<Place> {
    Some((position.line()?, position.position().unwrap_or(1).max(1)))
}

/// Converts a position to line and column; the start of the file if there is none.
pub(crate) fn place_or_start(position: Position) -> Place {
    place(position).unwrap_or((1, 1))
}

pub(crate) fn is_template(path: &str) -> bool {
    path.starts_with(TEMPLATES) && (path.ends_with(TEXT) || path.ends_with(HTML))
}

/// Ends of the names of files that may be of use.
const ENDINGS: [&str; 4] = [ENDING, CASES_ENDING, TEXT, HTML];
/// Bytes of one file.
const FILE_MAX: u64 = 256 << 10;
/// Files of one folder.
const FILES_MAX: usize = 1000;
/// Nested folders.
const DEPTH_MAX: usize = 8;

#[derive(Debug, Default)]
pub struct ScriptFolder {
    /// Scripts, modules and templates, sorted by name.
    pub scripts: Vec<ScriptSource>,
    /// Case files, sorted by name.
    pub cases: Vec<ScriptSource>,
    /// Problems with files that cannot be read.
    pub problems: Issues,
}

impl ScriptFolder {
    /// Returns the number of scripts. Files in subfolders are modules, which scripts import.
    pub fn script_count(&self) -> usize {
        let is_script = |path: &str| path.ends_with(ENDING) && !path.contains('/');
        self.scripts.iter().filter(|source| is_script(&source.path)).count()
    }

    /// Returns the SHA-256 over the names and texts of all scripts.
    pub fn digest(&self) -> Digest {
        let mut all = Vec::new();
        for source in &self.scripts {
            for part in [source.path.as_bytes(), source.text.as_bytes()] {
                all.extend(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
                all.extend(part);
            }
        }
        sha256(&all)
    }
}

/// Reads a folder; a missing one is empty. Links are refused. `shown` is its name in problems.
///
/// # Errors
/// The folder is a link, cannot be listed, or holds too much.
pub fn read_folder(root: &FolderLocation, shown: &str) -> Result<ScriptFolder, PathError> {
    let mut folder = ScriptFolder::default();
    let mut paths = Vec::new();
    let root = match root.open() {
        Err(error) if error.is_absent() => return Ok(folder),
        root => root?,
    };
    list_files(&root, "", 0, &mut paths)?;
    paths.sort();
    for inside in paths {
        let is_script = inside.ends_with(ENDING) || inside.ends_with(CASES_ENDING);
        if !is_script && !is_template(&inside) {
            continue;
        }
        let name = format!("{}/{inside}", shown.trim_end_matches('/'));
        let text = match read_bytes(&root, &inside) {
            Err(error @ (PathError::Link { .. } | PathError::NotAFile { .. })) => {
                Err((error.to_string(), "replace it by the file itself"))
            }
            bytes => {
                let message = format!("the file is not UTF-8 text of at most {FILE_MAX} bytes");
                let text = bytes?.and_then(|bytes| String::from_utf8(bytes).ok());
                text.ok_or((message, "save it as UTF-8"))
            }
        };
        // Editors may write a byte order mark.
        let content = text.as_deref().unwrap_or_default();
        let content = content.strip_prefix('\u{feff}').unwrap_or(content);
        let source = ScriptSource { path: inside, display_path: name, text: Arc::from(content) };
        if let Err((message, help)) = &text {
            folder.problems.push(source.problem((1, 1), "file", message, help));
        }
        let is_case = source.path.ends_with(CASES_ENDING);
        let into = if is_case { &mut folder.cases } else { &mut folder.scripts };
        into.push(source);
    }
    Ok(folder)
}

fn list_files(
    folder: &Folder,
    below: &str,
    depth: usize,
    paths: &mut Vec<String>,
) -> Result<(), PathError> {
    let mut folders = Vec::new();
    folder.for_each_entry(&mut |name, sort| {
        let name = name.to_string_lossy();
        let path = if below.is_empty() { name.to_string() } else { format!("{below}/{name}") };
        if name.starts_with('.') {
            return;
        }
        if sort == EntryType::Folder {
            folders.push((name.to_string(), path));
        } else if ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            paths.push(path);
        }
    })?;
    if paths.len() > FILES_MAX {
        return Err(io::Error::other(format!("more than {FILES_MAX} files")).into());
    }
    for (name, path) in folders.into_iter().filter(|_| depth < DEPTH_MAX) {
        list_files(&folder.folder(&name)?, &path, depth.saturating_add(1), paths)?;
    }
    Ok(())
}

/// Returns the bytes of a file, or `None` if it is too large.
fn read_bytes(root: &Folder, path: &str) -> Result<Option<Vec<u8>>, PathError> {
    let mut bytes = Vec::new();
    root.file(path)?.take(FILE_MAX.saturating_add(1)).read_to_end(&mut bytes)?;
    let fits = u64::try_from(bytes.len()).unwrap_or(u64::MAX) <= FILE_MAX;
    Ok(fits.then_some(bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Closes S4: folder and scripts must not be links, and reading never waits for a FIFO.
    #[test]
    fn s4_scripts_are_plain_files_of_a_plain_folder() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("scripts/lib")).unwrap();
        fs::write(dir.path().join("scripts/lib/a.rhai"), "").unwrap();
        fs::write(dir.path().join("outside.rhai"), "secret").unwrap();
        symlink("../outside.rhai", dir.path().join("scripts/b.rhai")).unwrap();
        let pipe = dir.path().join("scripts/c.rhai");
        rustix::fs::mkfifoat(rustix::fs::CWD, pipe, rustix::fs::Mode::RUSR).unwrap();
        let place = |name: &str| FolderLocation::from_config(dir.path(), &dir.path().join(name));
        let found = read_folder(&place("scripts"), "scripts").unwrap();
        let told: Vec<&str> = found.problems.iter().map(|one| one.message.as_str()).collect();
        assert!(told[0].contains("`b.rhai` is a symbolic link"), "{told:?}");
        assert!(told[1].contains("`c.rhai` is a FIFO"), "{told:?}");
        assert!(found.scripts.iter().all(|source| source.text.is_empty()));
        symlink("scripts", dir.path().join("linked")).unwrap();
        assert!(matches!(read_folder(&place("linked"), "linked"), Err(PathError::Link { .. })));
        assert_eq!(read_folder(&place("none"), "none").unwrap().script_count(), 0);
    }
}
