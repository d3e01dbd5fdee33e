//! Scripts folder: every script, module, template and case file in it, read through one handle.

use std::io;
use std::io::Read;
use std::sync::Arc;

use super::language::source;
use super::language::source::{ENDING, ScriptSource};
use super::language::template::is_template;
use crate::base::folder;
use crate::base::folder::{EntryType, PathError};
use crate::base::folder_location::FolderLocation;
use crate::model::issue::PlacedIssue;
use crate::scripting::tools::testcases;

/// Ends of the names of files that may be of use.
const ENDINGS: [&str; 4] = [ENDING, testcases::ENDING, ".txt", ".html"];
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
    pub problems: Vec<PlacedIssue>,
}

impl ScriptFolder {
    /// Returns the number of scripts. Files in subfolders are modules, which scripts import.
    pub fn script_count(&self) -> usize {
        let is_script = |path: &str| path.ends_with(ENDING) && !path.contains('/');
        self.scripts.iter().filter(|source| is_script(&source.path)).count()
    }
}

/// Reads a folder; a missing folder is empty. Links are refused. `shown` is the folder's name in
/// problems.
///
/// # Errors
///
/// The folder is a link, cannot be listed, or holds too much.
pub fn read(root: &FolderLocation, shown: &str) -> Result<ScriptFolder, PathError> {
    let mut folder = ScriptFolder::default();
    let mut paths = Vec::new();
    let root = match root.open() {
        Err(error) if error.is_absent() => return Ok(folder),
        root => root?,
    };
    list_files(&root, "", 0, &mut paths)?;
    paths.sort();
    for inside in paths {
        let is_script = inside.ends_with(ENDING) || inside.ends_with(testcases::ENDING);
        if !is_script && !is_template(&inside) {
            continue;
        }
        let name = format!("{}/{inside}", shown.trim_end_matches('/'));
        let bytes = match read_bytes(&root, &inside) {
            Err(error @ (PathError::Link { .. } | PathError::NotAFile { .. })) => {
                Err(error.to_string())
            }
            bytes => Ok(bytes?),
        };
        let text = bytes.as_ref().ok().cloned().flatten();
        let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
        let source = ScriptSource {
            path: inside,
            display_path: name,
            text: Arc::from(text.as_deref().map(source::without_bom).unwrap_or_default()),
        };
        if let Err(message) = &bytes {
            let help = "replace it by the file itself";
            folder.problems.push(source.problem((1, 1), "file", message, help));
        } else if text.is_none() {
            let message = format!("the file is not UTF-8 text of at most {FILE_MAX} bytes");
            folder.problems.push(source.problem((1, 1), "file", &message, "save it as UTF-8"));
        }
        let into = if source.path.ends_with(testcases::ENDING) {
            &mut folder.cases
        } else {
            &mut folder.scripts
        };
        into.push(source);
    }
    Ok(folder)
}

fn list_files(
    folder: &folder::Folder,
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
fn read_bytes(root: &folder::Folder, path: &str) -> Result<Option<Vec<u8>>, PathError> {
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
        let found = read(&place("scripts"), "scripts").unwrap();
        let told: Vec<&str> = found.problems.iter().map(|one| one.message.as_str()).collect();
        assert!(told[0].contains("`b.rhai` is a symbolic link"), "{told:?}");
        assert!(told[1].contains("`c.rhai` is a FIFO"), "{told:?}");
        assert!(found.scripts.iter().all(|source| source.text.is_empty()));
        symlink("scripts", dir.path().join("linked")).unwrap();
        assert!(matches!(read(&place("linked"), "linked"), Err(PathError::Link { .. })));
        assert_eq!(read(&place("none"), "none").unwrap().script_count(), 0);
    }
}
