//! Socket addresses in folders with long names.
//!
//! The address of a Unix socket has room for about a hundred bytes, and a work tree of a build
//! machine has longer paths. Such a path is replaced by the short name of the open folder under
//! `/proc`.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Bytes of a path that surely fit an address; 107 do on Linux, 103 elsewhere.
const BYTES_MAX: usize = 100;

/// An address that is short enough; valid while this value lives.
pub(crate) struct ShortAddress {
    pub(crate) path: PathBuf,
    _folder: Option<File>,
}

/// Returns a short address of the socket at `path`.
///
/// # Errors
/// The folder cannot be opened.
pub(crate) fn short_address(path: &Path) -> io::Result<ShortAddress> {
    let long = path.as_os_str().len() > BYTES_MAX;
    let (Some(folder), Some(name), true) = (path.parent(), path.file_name(), long) else {
        return Ok(ShortAddress { path: path.to_owned(), _folder: None });
    };
    let folder = File::open(folder)?;
    let short = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
    Ok(ShortAddress { path: short, _folder: Some(folder) })
}
