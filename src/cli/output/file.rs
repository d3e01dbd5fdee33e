//! Writes files at paths that a person names: each is complete or absent, and never written through
//! a link.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Writes a file in place of an existing one; a link of that name is replaced, and its target stays
/// as it is.
///
/// # Errors
/// The folder cannot be written to.
pub(crate) fn write(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let fresh = temporary_path(path);
    drop(fs::remove_file(&fresh));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&fresh)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let done = written.and_then(|()| fs::rename(&fresh, path));
    if done.is_err() {
        drop(fs::remove_file(&fresh));
    }
    done
}

/// Returns the temporary name of a file until it is complete.
fn temporary_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Closes S4: a report is not written through a link that a pull request brought.
    #[test]
    fn s4_a_link_is_replaced_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (outside, report) = (dir.path().join("outside"), dir.path().join("report.xml"));
        fs::write(&outside, "theirs").unwrap();
        symlink(&outside, &report).unwrap();
        write(&report, "ours", 0o644).unwrap();
        assert_eq!(fs::read_to_string(&outside).unwrap(), "theirs");
        assert_eq!(fs::read_to_string(&report).unwrap(), "ours");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
