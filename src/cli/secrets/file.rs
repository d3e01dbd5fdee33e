//! Secrets in files: beneath one folder, no links, no more than a secret needs.

use std::fs::{File, symlink_metadata};
use std::io::{self, Read};
use std::path::{Component, Path};

use zeroize::Zeroizing;

use crate::base::secret::Secret;

/// A secret in a file is at most so long.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Reads a file beneath a folder; no link leads out of it. `closed` is a file that no spec may name, wherever it
/// stands. Errors: why not, in words that say nothing of the content.
pub(super) fn beneath(folder: &Path, name: &str, closed: Option<&Path>) -> Result<Secret, String> {
    let path = Path::new(name);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(format!("the file {name} is not a plain path below secrets.files"));
    }
    let broken = |error: io::Error| format!("the file {name}: {error}");
    if has_link(folder, path).map_err(broken)? {
        return Err(format!("the file {name} is, or stands behind, a symbolic link"));
    }
    let place = folder.join(path);
    if closed.is_some_and(|closed| is_same(closed, &place)) {
        return Err(format!("the file {name} is the identity of secrets.age, which no spec reads"));
    }
    let text = text(&place).map_err(|why| format!("the file {name} {why}"))?;
    let text = text.trim_end_matches(['\n', '\r']).to_owned();
    if text.is_empty() { Err(format!("the file {name} is empty")) } else { Ok(Secret::from(text)) }
}

/// A small text file. Errors: why not, to follow the file's name.
pub(super) fn text(path: &Path) -> Result<Zeroizing<String>, String> {
    let broken = |error: io::Error| format!("cannot be read: {error}");
    let file = File::open(path).map_err(broken)?;
    if !file.metadata().map_err(broken)?.is_file() {
        return Err("is no plain file".to_owned());
    }
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(FILE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes).map_err(broken)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX {
        return Err(format!("is longer than {FILE_BYTES_MAX} bytes"));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| "is no UTF-8 text".to_owned())?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// Whether two paths lead to one file.
fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(one).is_some_and(|one| Some(one) == real(other))
}

/// Whether any part of a path below a folder is a symbolic link.
fn has_link(folder: &Path, path: &Path) -> io::Result<bool> {
    let mut place = folder.to_owned();
    for part in path.components() {
        place.push(part);
        if symlink_metadata(&place)?.file_type().is_symlink() {
            return Ok(true);
        }
    }
    Ok(false)
}
