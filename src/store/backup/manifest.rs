//! An existing backup: its manifest, its files as read-only disks, its errors and problems.
//!
//! A backup is a folder of files, or one file:
//!
//! ```text
//! magic 8 · the files one after the other · the manifest (JSON) · its length 8 · magic 8
//! ```

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::store::disk::traits::{Disk, to_u64, to_usize};
use crate::store::journal::chain::{Head, JournalError};

pub(crate) const MANIFEST: &str = "backup.json";

#[derive(Debug)]
pub struct ExistingBackup {
    pub manifest: BackupManifest,
    pub(crate) path: PathBuf,
    pub(crate) single: bool,
}

impl ExistingBackup {
    pub fn open(path: &Path) -> Result<Self, BackupError> {
        let single = !path.is_dir();
        let manifest = if single { read_manifest(path)? } else { read_folder_manifest(path)? };
        if manifest.version != VERSION {
            let why = format!(
                "its format has version {}; this program reads version {VERSION}",
                manifest.version
            );
            return Err(BackupError::unreadable(path, why));
        }
        Ok(Self { manifest, path: path.to_owned(), single })
    }

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
    serde_json::from_slice(&text).map_err(|error| BackupError::unreadable(&file, error))
}

#[derive(Debug, Clone)]
pub(crate) struct FileSpan {
    path: PathBuf,
    begins: u64,
    bytes: u64,
}

impl FileSpan {
    /// Reads up to `len` bytes from `offset`; fewer at the end.
    pub(crate) fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len.min(to_usize(self.bytes.saturating_sub(offset)))];
        File::open(&self.path)?.read_exact_at(&mut bytes, self.begins.saturating_add(offset))?;
        Ok(bytes)
    }
}

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

/// The first and the last bytes of the file.
pub const MAGIC: [u8; 8] = *b"RECKONB\n";
/// Maximum length of the manifest in bytes: enough for a hundred thousand segments.
const MANIFEST_BYTES_MAX: u64 = 32 << 20;
const FOOTER_BYTES: u64 = 16;

pub(crate) fn footer(manifest: &[u8]) -> Vec<u8> {
    [manifest, &to_u64(manifest.len()).to_le_bytes(), &MAGIC].concat()
}

pub(crate) fn read_manifest(path: &Path) -> Result<BackupManifest, BackupError> {
    let unreadable = |why: &str| BackupError::unreadable(path, why);
    let io = |source| BackupError::io("read", path.display())(source);
    let file = File::open(path).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    let footer_at =
        length.checked_sub(FOOTER_BYTES).ok_or_else(|| unreadable("it is too short"))?;
    let mut footer = [0; 16];
    file.read_exact_at(&mut footer, footer_at).map_err(io)?;
    let (size, magic) = footer.split_at(8);
    if magic != MAGIC {
        return Err(unreadable("its end mark is missing: it is truncated, or not a backup"));
    }
    let size = u64::from_le_bytes(size.try_into().unwrap_or_default());
    let begins = footer_at.checked_sub(size).filter(|_| size <= MANIFEST_BYTES_MAX);
    let begins = begins.ok_or_else(|| unreadable("the length of its manifest is missing"))?;
    let mut text = vec![0; to_usize(size)];
    file.read_exact_at(&mut text, begins).map_err(io)?;
    serde_json::from_slice(&text).map_err(|error| unreadable(&error.to_string()))
}

pub const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackupManifest {
    pub version: u32,
    pub program: String,
    /// `partner.name`; empty if the state had no owner yet.
    pub partner: String,
    /// The fingerprint of the key that opens its vault. The key itself is in no backup.
    pub key: String,
    pub epoch: u32,
    pub sequence: u64,
    /// The hash of the last record.
    pub head: Digest,
    /// The digest of the fold of the records.
    pub state_digest: Digest,
    /// Time at which the head was chosen.
    pub at: DateTime<Utc>,
    /// Every file, in the order in which they were copied.
    pub files: Vec<BackupFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackupFile {
    /// `journal/…`, `archive/…` or `vault/…`.
    pub name: String,
    pub bytes: u64,
    /// SHA-256 of the content.
    pub sha256: Digest,
}

impl BackupManifest {
    pub fn head(&self) -> Head {
        Head { sequence: self.sequence, hash: *self.head.as_bytes() }
    }

    pub fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }
}

/// Callback that receives the bytes done and the total.
pub type ProgressFn<'a> = &'a mut dyn FnMut(u64, u64);

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{doing} {path}: {source}")]
    Io { doing: &'static str, path: String, source: io::Error },
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("the state is empty: there is nothing to back up yet")]
    Empty,
    #[error("{path} already exists; choose a path that does not exist")]
    Occupied { path: String },
    /// The place holds no backup, or one of a later program version.
    #[error("{path} is not a readable backup: {why}")]
    Unreadable { path: String, why: String },
    #[error("the state was compacted during the copy; nothing was kept: run the backup again")]
    Compacted,
    #[error("the backup failed its verification: {}; nothing was kept", list_problems(.wrong))]
    Unverified { wrong: Vec<BackupProblem> },
}

impl BackupError {
    pub(crate) fn io(doing: &'static str, path: impl Display) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_string(), source }
    }

    fn unreadable(path: &Path, why: impl Display) -> Self {
        Self::Unreadable { path: path.display().to_string(), why: why.to_string() }
    }
}

fn list_problems(wrong: &[BackupProblem]) -> String {
    let all: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    all.join("; ")
}

#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
#[display("{what}: {why}")]
pub struct BackupProblem {
    pub what: String,
    pub why: String,
}

pub(crate) fn problem(what: &str, why: impl Display) -> BackupProblem {
    BackupProblem { what: what.to_owned(), why: why.to_string() }
}
