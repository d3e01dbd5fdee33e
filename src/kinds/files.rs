//! Files that documents name and do not hold, such as an invoice's attachments (design.md part 5).
//!
//! A kind says which files a spec names; they are looked at when the document is read, through [`Files`], and
//! never loaded: what is kept is a name, a size and a digest. A file that changes under an unchanged document
//! is like a secret behind an unchanged reference: what is on the service already stays as it is.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::issue::Issue;
use crate::model::manifest::AttachedFile;

/// Looks at files beneath the one folder that the operator opened.
pub trait Files: fmt::Debug + Send + Sync {
    /// The file at a path below the folder. Errors: it is not there, or may not be used.
    fn look(&self, path: &str) -> Result<AttachedFile, FileTrouble>;
    /// What tells a changed file from an unchanged one without reading it; `None` where there is none.
    fn stamp(&self, path: &str) -> Option<Stamp>;
}

/// What tells a changed file from an unchanged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// When its content last changed, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Which file it is.
    pub inode: u64,
}

/// Why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTrouble {
    /// The stable code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// A file that a spec names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRef {
    /// The field, such as `spec.attachments[0].file`.
    pub field: String,
    /// The path below the opened folder.
    pub path: String,
}

/// One look at a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// The path below the opened folder.
    pub path: String,
    /// How it stood just before the look.
    pub stamp: Option<Stamp>,
    /// What was found, where it may be used.
    pub found: Option<AttachedFile>,
}

/// Looks at every file that a spec names, and tells what is wrong with them. Without `files` none may be named.
pub(super) fn look(named: &[FileRef], files: Option<&dyn Files>) -> (Vec<Looked>, Vec<Issue>) {
    let (mut looked, mut issues) = (Vec::new(), Vec::new());
    for FileRef { field, path } in named {
        let stamp = files.and_then(|files| files.stamp(path));
        let found = files.map_or_else(|| Err(closed()), |files| files.look(path));
        let found = found.map_err(|FileTrouble { code, message, help }| {
            issues.push(Issue::error(code, field, message, &help));
        });
        looked.push(Looked { path: path.clone(), stamp, found: found.ok() });
    }
    (looked, issues)
}

/// No folder was opened.
fn closed() -> FileTrouble {
    FileTrouble {
        code: "reckon::file::closed",
        message: "no folder of attachments is open to specs".to_owned(),
        help: "write `secrets: {attachments: DIR}` in reckon.yaml, or the `fref_` id of an uploaded file"
            .to_owned(),
    }
}
