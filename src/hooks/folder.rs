//! The scripts folder: every script, module and file of cases beneath it.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use super::source::{ENDING, Source};
use super::template::is_template;
use super::{cases, source};
use crate::model::issue::Problem;

/// How files end that may be of use.
const ENDINGS: [&str; 4] = [ENDING, cases::ENDING, ".txt", ".html"];
/// Bytes of one file.
const FILE_MAX: u64 = 256 << 10;
/// Files of one folder.
const FILES_MAX: usize = 1000;
/// Folders within folders.
const DEPTH_MAX: usize = 8;

/// What a folder holds.
#[derive(Debug, Default)]
pub struct Folder {
    /// Scripts, modules and templates, in the order of their names.
    pub scripts: Vec<Source>,
    /// Files of cases, in the order of their names.
    pub cases: Vec<Source>,
    /// Files that cannot be read.
    pub problems: Vec<Problem>,
}

impl Folder {
    /// How many of them are scripts or modules.
    pub fn count(&self) -> usize {
        self.scripts.iter().filter(|source| source.path.ends_with(ENDING)).count()
    }
}

/// Reads a folder; one that is not there holds nothing. Links are not followed. `shown`: what problems call it.
///
/// # Errors
/// The folder cannot be listed, or holds too much.
pub fn read(root: &Path, shown: &str) -> io::Result<Folder> {
    let mut folder = Folder::default();
    let mut paths = Vec::new();
    if root.exists() {
        list(root, 0, &mut paths)?;
    }
    paths.sort();
    for path in paths {
        let inside = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        let is_script = inside.ends_with(ENDING) || inside.ends_with(cases::ENDING);
        if !is_script && !is_template(&inside) {
            continue;
        }
        let name = format!("{}/{inside}", shown.trim_end_matches('/'));
        let bytes = bytes(&path)?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let source = Source {
            path: inside,
            shown: name,
            text: Arc::from(text.as_deref().map(source::without_mark).unwrap_or_default()),
        };
        if text.is_none() {
            let message = format!("the file is no UTF-8 text of at most {FILE_MAX} bytes");
            folder.problems.push(source.problem((1, 1), "file", &message, "save it as UTF-8"));
        }
        let into = if source.path.ends_with(cases::ENDING) {
            &mut folder.cases
        } else {
            &mut folder.scripts
        };
        into.push(source);
    }
    Ok(folder)
}

fn list(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, sort) = (entry.path(), entry.file_type()?);
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        if sort.is_dir() && depth < DEPTH_MAX {
            list(&path, depth.saturating_add(1), paths)?;
        } else if sort.is_file() && ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            paths.push(path);
        }
        if paths.len() > FILES_MAX {
            return Err(io::Error::other(format!("more than {FILES_MAX} files")));
        }
    }
    Ok(())
}

/// The bytes of a file; `None` where there are too many.
fn bytes(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(FILE_MAX.saturating_add(1)).read_to_end(&mut bytes)?;
    let fits = u64::try_from(bytes.len()).unwrap_or(u64::MAX) <= FILE_MAX;
    Ok(fits.then_some(bytes))
}
