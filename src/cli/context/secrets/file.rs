//! Secrets in files: beneath one folder, without links, of limited size.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use zeroize::Zeroizing;

use crate::base::folder::{FolderLocation, PathError, open_file};
use crate::base::secret::Secret;

/// Bytes of a secret in a file, at most.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Reads a file beneath a folder; no link leads out of the folder. `closed` is a file that no spec
/// may name, wherever it is.
///
/// # Errors
/// The reason, which contains nothing of the content.
pub(super) fn read_beneath(
    folder: &FolderLocation,
    name: &str,
    closed: Option<&Path>,
) -> Result<Secret, String> {
    let root = folder.open().map_err(|error| {
        format!(
            "the folder {folder} of secrets.files cannot be opened: {error}; write its real \
            path, without links"
        )
    })?;
    let file = root.file(name).map_err(|error| match error {
        PathError::NotPlain(_) => {
            format!("the file {name} is not a plain path below secrets.files")
        }
        PathError::Link { .. }
        | PathError::LeadsOutside(_)
        | PathError::NotAFile { .. }
        | PathError::Io(_) => {
            format!("the file {name}: {error}")
        }
    })?;
    if closed.is_some_and(|closed| is_same(closed, &file)) {
        return Err(format!(
            "the file {name} is the identity of secrets.age: a spec cannot read it"
        ));
    }
    let text = content(file).map_err(|why| format!("the file {name} {why}"))?;
    let text = text.trim_end_matches(['\n', '\r']).to_owned();
    if text.is_empty() { Err(format!("the file {name} is empty")) } else { Ok(Secret::from(text)) }
}

/// Reads a small text file of the operator.
///
/// # Errors
/// The reason, to follow the file's name.
pub(super) fn text(path: &Path) -> Result<Zeroizing<String>, String> {
    content(open_file(path).map_err(|error| format!("cannot be read: {error}"))?)
}

/// Reads the text of a small file.
///
/// # Errors
/// As for [`text`].
fn content(file: File) -> Result<Zeroizing<String>, String> {
    let broken = |error: io::Error| format!("cannot be read: {error}");
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(FILE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes).map_err(broken)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX {
        return Err(format!("is longer than {FILE_BYTES_MAX} bytes"));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| "is not valid UTF-8".to_owned())?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// Returns true if a path leads to this file.
fn is_same(path: &Path, file: &File) -> bool {
    let id = |found: &Metadata| (found.dev(), found.ino());
    let named = path.metadata().ok();
    named.zip(file.metadata().ok()).is_some_and(|(one, other)| id(&one) == id(&other))
}
