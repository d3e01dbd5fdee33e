//! Reads an existing backup: its manifest, and its files as read-only disks.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::copy::BackupError;
use super::folder;
use super::folder::MAGIC;
use super::manifest::{BackupFile, BackupManifest, VERSION};
use crate::store::disk::bytes::{to_u64, to_usize};
use crate::store::disk::traits::Disk;

/// File name of the manifest in a folder.
pub(crate) const MANIFEST: &str = "backup.json";

/// A backup whose manifest was read.
#[derive(Debug)]
pub struct ExistingBackup {
    pub manifest: BackupManifest,
    path: PathBuf,
    single: bool,
}

impl ExistingBackup {
    /// Opens the backup at `path` and reads its manifest.
    ///
    /// # Errors
    /// The manifest cannot be read, or has another version.
    pub fn open(path: &Path) -> Result<Self, BackupError> {
        let single = !path.is_dir();
        let manifest =
            if single { folder::read_manifest(path)? } else { read_folder_manifest(path)? };
        if manifest.version != VERSION {
            let why = format!(
                "its format has version {}; this program reads version {VERSION}",
                manifest.version
            );
            return Err(BackupError::Unreadable { path: path.display().to_string(), why });
        }
        Ok(Self { manifest, path: path.to_owned(), single })
    }

    /// A backup that is being written.
    pub(crate) fn being_written(manifest: BackupManifest, path: &Path, single: bool) -> Self {
        Self { manifest, path: path.to_owned(), single }
    }

    /// Returns the location of one of the backup's files.
    pub(crate) fn span(&self, entry: &BackupFile) -> FileSpan {
        if !self.single {
            return FileSpan { path: self.path.join(&entry.name), begins: 0, bytes: entry.bytes };
        }
        let before = self.manifest.files.iter().take_while(|file| file.name != entry.name);
        let begins = before.fold(to_u64(MAGIC.len()), |sum, file| sum.saturating_add(file.bytes));
        FileSpan { path: self.path.clone(), begins, bytes: entry.bytes }
    }

    /// Returns the files beneath a folder as a read-only disk.
    pub fn disk(&self, folder: &str) -> BackupDisk {
        let files = self.manifest.files.iter().filter_map(|entry| {
            let name = entry.name.strip_prefix(folder)?.strip_prefix('/')?;
            Some((name.to_owned(), self.span(entry)))
        });
        BackupDisk { files: files.collect() }
    }
}

fn read_folder_manifest(path: &Path) -> Result<BackupManifest, BackupError> {
    let file = path.join(MANIFEST);
    let text = std::fs::read(&file).map_err(BackupError::io("read", file.display()))?;
    serde_json::from_slice(&text).map_err(|error| BackupError::Unreadable {
        path: file.display().to_string(),
        why: error.to_string(),
    })
}

/// Location of a file's bytes.
#[derive(Debug, Clone)]
pub(crate) struct FileSpan {
    path: PathBuf,
    begins: u64,
    bytes: u64,
}

impl FileSpan {
    /// Reads up to `len` bytes from `offset`; fewer at the end.
    pub(crate) fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let left = self.bytes.saturating_sub(offset);
        let mut bytes = vec![0; len.min(to_usize(left))];
        let at = self.begins.saturating_add(offset);
        File::open(&self.path)?.read_exact_at(&mut bytes, at)?;
        Ok(bytes)
    }
}

/// Read-only disk over the files of a backup.
#[derive(Debug)]
pub struct BackupDisk {
    files: BTreeMap<String, FileSpan>,
}

impl BackupDisk {
    fn place(&self, name: &str) -> io::Result<&FileSpan> {
        self.files.get(name).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// The error of every write: a backup is never changed.
fn read_only_error() -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "a backup is read-only")
}

impl Disk for BackupDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.files.keys().cloned().collect())
    }

    fn len(&self, name: &str) -> io::Result<u64> {
        Ok(self.place(name)?.bytes)
    }

    fn read_at(&self, name: &str, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        self.place(name)?.read(offset, len)
    }

    fn write_at(&self, _: &str, _: u64, _: &[u8]) -> io::Result<()> {
        Err(read_only_error())
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        self.place(name).map(|_| ())
    }

    fn cut(&self, _: &str, _: u64) -> io::Result<()> {
        Err(read_only_error())
    }

    fn remove(&self, _: &str) -> io::Result<()> {
        Err(read_only_error())
    }

    fn replace(&self, _: &str, _: &[u8]) -> io::Result<()> {
        Err(read_only_error())
    }

    fn rename(&self, _: &str, _: &str) -> io::Result<()> {
        Err(read_only_error())
    }

    fn allocate(&self, _: &str, _: u64) -> io::Result<()> {
        Err(read_only_error())
    }
}
