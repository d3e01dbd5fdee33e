//! Files that documents name and do not contain, such as an invoice's attachments (design.md part
//! 5).
//!
//! A kind lists the files that a spec names. They are inspected through [`AttachmentFiles`] when the document
//! is read, and never loaded: only name, size and digest are kept. A file that changes under an
//! unchanged document resembles a secret behind an unchanged reference: objects already on the
//! service stay as they are.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::issue::Issue;
use crate::model::manifest::AttachedFile;

/// Inspects files beneath the one folder that the operator opened.
pub trait AttachmentFiles: fmt::Debug + Send + Sync {
    /// Returns the file at a path below the folder.
    ///
    /// # Errors
    ///
    /// The file is missing, or may not be used.
    fn inspect(&self, path: &str) -> Result<AttachedFile, FileProblem>;
    /// Returns the stamp of a file, without reading it; `None` if the file is missing.
    fn stamp(&self, path: &str) -> Option<Stamp>;
}

/// Stamp that distinguishes a changed file from an unchanged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// Last change of its content, in nanoseconds since 1970.
    pub mtime_ns: i64,
    pub inode: u64,
}

/// Reason why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// Stable code.
    pub code: &'static str,
    pub message: String,
    pub help: String,
}

/// File that a spec names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRef {
    /// The field, such as `spec.attachments[0].file`.
    pub field: String,
    /// The path below the opened folder.
    pub path: String,
}

/// Result of one inspection of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectedFile {
    /// The path below the opened folder.
    pub path: String,
    /// The stamp just before the inspection.
    pub stamp: Option<Stamp>,
    /// The file, if it may be used.
    pub file: Option<AttachedFile>,
}

/// Inspects every file that a spec names, and returns the problems. Without `files` a spec may name
/// none.
pub(crate) fn inspect_all(
    named: &[FileRef],
    files: Option<&dyn AttachmentFiles>,
) -> (Vec<InspectedFile>, Vec<Issue>) {
    let (mut looked, mut issues) = (Vec::new(), Vec::new());
    for FileRef { field, path } in named {
        let stamp = files.and_then(|files| files.stamp(path));
        let found = files.map_or_else(|| Err(no_folder()), |files| files.inspect(path));
        let found = found.map_err(|FileProblem { code, message, help }| {
            issues.push(Issue::error(code, field, message, &help));
        });
        looked.push(InspectedFile { path: path.clone(), stamp, file: found.ok() });
    }
    (looked, issues)
}

/// Returns the problem of a tree without an opened folder.
fn no_folder() -> FileProblem {
    FileProblem {
        code: "reckon::file::closed",
        message: "reckon.yaml opens no folder of attachments to specs".to_owned(),
        help: "write `secrets: {attachments: DIR}` in reckon.yaml, or the `fref_` id of an uploaded file"
            .to_owned(),
    }
}
