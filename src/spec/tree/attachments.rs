//! The one folder beneath which specs may name files (`secrets.attachments`): no links, only plain
//! files, within the service's limits. Only a send reads a file as a whole.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::api::invoice::{FILE_BYTES_MAX, FILE_NAME_LENGTH_MAX};
use crate::base::folder::PathError;
use crate::base::folder_location::FolderLocation;
use crate::base::hash::Digest;
use crate::kinds::schema::kind::{AttachmentFiles, FileProblem, Stamp};
use crate::model::manifest::AttachedFile;

const PIECE_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone)]
pub struct AttachmentFolder {
    root: FolderLocation,
}

impl AttachmentFolder {
    /// Returns the folder at this path; it need not exist before a file in it is named.
    pub fn new(root: impl Into<FolderLocation>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the whole content of a file that was checked before.
    ///
    /// # Errors
    /// The file cannot be read, or has changed since.
    pub fn read(&self, path: &str, sha256: Digest) -> Result<Vec<u8>, String> {
        let trouble = |trouble: FileProblem| format!("{}: {}", trouble.message, trouble.help);
        let file = self.open(path).map_err(trouble)?;
        let mut bytes = Vec::new();
        let broken = |error: io::Error| format!("the file {path} cannot be read: {error}");
        file.take(FILE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes).map_err(broken)?;
        if crate::base::hash::sha256(&bytes) == sha256 {
            return Ok(bytes);
        }
        Err(format!(
            "the file {path} changed after its document was read; reckon reads it again soon"
        ))
    }

    /// Opens a plain file beneath the folder; links are refused.
    fn open(&self, path: &str) -> Result<File, FileProblem> {
        let root = self.root.open().map_err(|error| self.folder_problem(&error))?;
        root.file(path).map_err(|error| match error {
            PathError::NotPlain(_) => {
                let help = "write a path below the folder of `secrets.attachments`, without `..`";
                file_problem("reckon::file::path", error.to_string(), help)
            }
            PathError::Link { .. } | PathError::LeadsOutside(_) => {
                let message = format!("`{path}` cannot be attached: {error}");
                let help = "replace the link with the file itself";
                file_problem("reckon::file::symlink", message, help)
            }
            PathError::NotAFile { .. } => {
                file_problem("reckon::file::path", error.to_string(), "write the path of a file")
            }
            PathError::Io(error) => {
                let message = format!("`{path}` cannot be read: {error}");
                let help = format!("put the file beneath {}", self.root);
                file_problem("reckon::file::unreadable", message, &help)
            }
        })
    }

    fn folder_problem(&self, error: &PathError) -> FileProblem {
        let message = format!("the folder {} cannot be opened: {error}", self.root);
        if matches!(error, PathError::Link { .. }) {
            let help = "replace the link with the folder itself, or write the real path in `secrets.attachments`";
            return file_problem("reckon::file::symlink", message, help);
        }
        let help = "create the folder that `secrets.attachments` names";
        file_problem("reckon::file::unreadable", message, help)
    }
}

impl AttachmentFiles for AttachmentFolder {
    fn inspect(&self, path: &str) -> Result<AttachedFile, FileProblem> {
        let file = self.open(path)?;
        let (size, sha256) = digest(file).map_err(|error| {
            let message = format!("`{path}` cannot be read: {error}");
            file_problem("reckon::file::unreadable", message, "make the file readable")
        })?;
        let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        if size == 0 || size > FILE_BYTES_MAX {
            let message = format!("`{path}` has {size} bytes");
            let help = format!("attach a file of 1 to {FILE_BYTES_MAX} bytes");
            return Err(file_problem("reckon::file::size", message, &help));
        }
        if name.chars().count() > FILE_NAME_LENGTH_MAX || name.chars().any(char::is_control) {
            let message = "the file's name is too long, or holds a control character".to_owned();
            return Err(file_problem("reckon::file::name", message, "give the file a plain name"));
        }
        Ok(AttachedFile { path: path.to_owned(), name, size, sha256 })
    }

    fn stamp(&self, path: &str) -> Option<Stamp> {
        Some(self.root.open().ok()?.metadata(path).ok()?.stat)
    }
}

/// Returns length and digest of a file, read in pieces; of one that is too long, up to the limit.
fn digest(file: File) -> io::Result<(u64, Digest)> {
    let mut rest = file.take(FILE_BYTES_MAX.saturating_add(1));
    let (mut hash, mut size) = (Sha256::new(), 0_u64);
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = rest.read(&mut piece)?;
        if read == 0 {
            return Ok((size, Digest::from_bytes(hash.finalize().into())));
        }
        hash.update(piece.get(..read).unwrap_or_default());
        size = size.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
    }
}

fn file_problem(code: &'static str, message: String, help: &str) -> FileProblem {
    FileProblem { code, message, help: help.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::base::hash::sha256;

    fn folder() -> (tempfile::TempDir, AttachmentFolder) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("letters")).unwrap();
        fs::write(dir.path().join("letters/a.txt"), "Dear Jane").unwrap();
        let folder = AttachmentFolder::new(dir.path());
        (dir, folder)
    }

    #[test]
    fn a_file_is_known_by_name_size_and_digest_and_read_only_as_it_was() {
        let (dir, folder) = folder();
        let found = folder.inspect("letters/a.txt").unwrap();
        let sha256 = sha256(b"Dear Jane");
        let path = "letters/a.txt".to_owned();
        assert_eq!(found, AttachedFile { path, name: "a.txt".to_owned(), size: 9, sha256 });
        assert_eq!(folder.read("letters/a.txt", sha256).unwrap(), b"Dear Jane");
        let before = folder.stamp("letters/a.txt");
        fs::write(dir.path().join("letters/a.txt"), "Dear Jane!").unwrap();
        assert_ne!(folder.stamp("letters/a.txt"), before);
        assert!(folder.read("letters/a.txt", sha256).unwrap_err().contains("changed"));
        assert_eq!(folder.stamp("gone"), None);
    }

    #[test]
    fn nothing_outside_the_folder_and_nothing_behind_a_link_is_looked_at() {
        let (dir, folder) = folder();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "x").unwrap();
        symlink(outside.path(), dir.path().join("out")).unwrap();
        symlink("letters/a.txt", dir.path().join("b.txt")).unwrap();
        fs::write(dir.path().join("empty"), "").unwrap();
        let code = |path: &str| folder.inspect(path).unwrap_err().code;
        let up = format!("../{}/secret", outside.path().file_name().unwrap().display());
        for (path, expect) in [
            (up.as_str(), "path"),
            ("/etc/passwd", "path"),
            ("", "path"),
            ("letters", "path"),
            ("out/secret", "symlink"),
            ("b.txt", "symlink"),
            ("gone.txt", "unreadable"),
            ("empty", "size"),
        ] {
            assert_eq!(code(path), format!("reckon::file::{expect}"), "{path}");
        }
    }

    #[test]
    fn a_file_that_the_service_would_refuse_is_refused_here() {
        let (dir, folder) = folder();
        let large = File::create(dir.path().join("large")).unwrap();
        large.set_len(FILE_BYTES_MAX).unwrap();
        assert_eq!(folder.inspect("large").unwrap().size, FILE_BYTES_MAX);
        large.set_len(FILE_BYTES_MAX + 1).unwrap();
        assert_eq!(folder.inspect("large").unwrap_err().code, "reckon::file::size");
    }

    /// Closes S4: the folder itself is no link, and a FIFO in it is not waited for.
    #[test]
    fn s4_an_attachments_folder_that_is_a_link_holds_nothing() {
        let (dir, _) = folder();
        symlink("letters", dir.path().join("attachments")).unwrap();
        let place = FolderLocation::from_config(dir.path(), &dir.path().join("attachments"));
        let trouble = AttachmentFolder::new(place).inspect("a.txt").unwrap_err();
        assert_eq!(trouble.code, "reckon::file::symlink");
        assert!(
            trouble.message.contains("`attachments` is a symbolic link"),
            "{}",
            trouble.message
        );
        let pipe = dir.path().join("letters/pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, pipe, rustix::fs::Mode::RUSR).unwrap();
        let place = FolderLocation::from_config(dir.path(), &dir.path().join("letters"));
        let trouble = AttachmentFolder::new(place).inspect("pipe").unwrap_err();
        assert!(trouble.message.contains("a FIFO"), "{}", trouble.message);
    }
}
