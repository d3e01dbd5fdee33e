//! Writes a backup: copies it beside its place, reads it back, and only then gives it its name.
//!
//! Why it exists: the journal cannot be rebuilt from the service.
//!
//! Guarantees: a backup holds the journal up to one head and every sealed value that the journal
//! names. A backup never holds the master key. It gets its name only when it is complete and was
//! read back. It may be taken while another process appends: the head is chosen first, and later
//! records and values that no record names yet are left out.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use sha2::{Digest as _, Sha256};

use crate::base::hash::Digest;
use crate::store::backup::manifest::{
    self, BackupError, BackupFile, BackupManifest, BackupProblem, ExistingBackup, MAGIC, MANIFEST,
    ProgressFn, VERSION, problem,
};
use crate::store::backup::restore::{VerifiedBackup, check_file, fold_in_memory};
use crate::store::disk::directory::{create_private, sync_dir};
use crate::store::disk::traits::{Disk, to_u64, to_usize};
use crate::store::journal::chain::Head;
use crate::store::journal::files::extent;
use crate::store::journal::read::JournalReader;
use crate::store::vault::frame::newest_generation;
use crate::store::vault::key::{MasterKey, folder_of};
use crate::store::vault::keys::{KEYS_FILE, state_identity};
use crate::store::vault::values;

const PIECE_BYTES: usize = 1 << 20;

#[derive(Debug, Clone)]
pub struct BackupSource {
    pub journal: Arc<dyn Disk>,
    /// Segments that a compaction archived, if the folder exists.
    pub archive: Option<Arc<dyn Disk>>,
    pub vault: Arc<dyn Disk>,
    /// The last record that goes into the backup; it must be durable.
    pub head: Head,
    /// Time at which the head was chosen.
    pub at: DateTime<Utc>,
    /// The compactions before the head was chosen; `None` if no compaction can run meanwhile.
    pub compactions: Option<Compactions>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compactions {
    /// The record behind which the journal begins.
    begins: u64,
    vault: u64,
}

impl Compactions {
    pub fn of(journal: &Arc<dyn Disk>, vault: &Arc<dyn Disk>) -> Result<Self, BackupError> {
        let base = JournalReader::over(Arc::clone(journal)).base()?;
        let vault = newest_generation(&**vault).map_err(BackupError::io("list", "vault"))?;
        Ok(Self { begins: base.map_or(0, |base| base.head.sequence), vault })
    }
}

impl BackupSource {
    /// Refuses a copy made during a compaction, since some of its files are older than others.
    fn refuse_if_compacted(&self) -> Result<(), BackupError> {
        let Some(before) = self.compactions else { return Ok(()) };
        let compacted = Compactions::of(&self.journal, &self.vault)? != before;
        if compacted { Err(BackupError::Compacted) } else { Ok(()) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupLayout {
    File,
    Folder,
}

impl BackupLayout {
    /// Returns `Folder` for a folder, a trailing slash, or a name without an extension.
    pub fn of(path: &Path) -> Self {
        let slash = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        if slash || path.is_dir() || path.extension().is_none() { Self::Folder } else { Self::File }
    }
}

/// Writes a backup to an unoccupied place.
///
/// # Errors
/// The backup cannot be written or does not verify; then nothing is left behind.
pub fn write(
    source: &BackupSource,
    to: &Path,
    key: &MasterKey,
    progress: ProgressFn<'_>,
) -> Result<(BackupManifest, VerifiedBackup), BackupError> {
    if source.head.sequence == 0 {
        return Err(BackupError::Empty);
    }
    let form = BackupLayout::of(to);
    let taken = if to.is_dir() {
        fs::read_dir(to).is_ok_and(|mut all| all.next().is_some())
    } else {
        to.exists()
    };
    if taken {
        return Err(BackupError::Occupied { path: to.display().to_string() });
    }
    let beside = temporary_path(to)?;
    let copied = copy_and_verify(source, &beside, form, key, progress);
    let written = source.refuse_if_compacted().and(copied).and_then(|done| {
        fs::rename(&beside, to).map_err(BackupError::io("name", to.display()))?;
        sync_dir(folder_of(to)).map_err(BackupError::io("sync", folder_of(to).display()))?;
        Ok(done)
    });
    if written.is_err() {
        // A partial backup is worthless; failing to remove it changes nothing.
        let is_file = form == BackupLayout::File;
        drop(if is_file { fs::remove_file(&beside) } else { fs::remove_dir_all(&beside) });
    }
    written
}

fn temporary_path(to: &Path) -> Result<PathBuf, BackupError> {
    let name =
        to.file_name().ok_or_else(|| BackupError::Occupied { path: to.display().to_string() })?;
    Ok(folder_of(to).join(format!(".{}.partial-{}", name.to_string_lossy(), std::process::id())))
}

/// Copies, folds the copy, adds the manifest, and reads everything back.
fn copy_and_verify(
    source: &BackupSource,
    beside: &Path,
    form: BackupLayout,
    key: &MasterKey,
    progress: ProgressFn<'_>,
) -> Result<(BackupManifest, VerifiedBackup), BackupError> {
    let plan = files_to_copy(source)?;
    let mut target = BackupTarget::new(beside, form)?;
    let total = plan.iter().fold(0_u64, |sum, copy| sum.saturating_add(copy.bytes));
    let mut files = Vec::new();
    let mut done = 0_u64;
    for copy in &plan {
        files.push(target.copy_file(copy, &mut |bytes| {
            done = done.saturating_add(bytes);
            progress(done, total);
        })?);
    }
    let manifest = BackupManifest {
        version: VERSION,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        partner: String::new(),
        key: key.fingerprint(),
        epoch: 0,
        sequence: source.head.sequence,
        head: Digest::from_bytes(source.head.hash),
        state_digest: Digest::ZERO,
        at: source.at,
        files,
    };
    let mut kept =
        ExistingBackup { manifest, path: beside.to_owned(), single: form == BackupLayout::File };
    let unproved = |wrong| BackupError::Unverified { wrong };
    // The key may have been exchanged meanwhile, or the daemon has a newer one than this process.
    state_identity(&kept.disk("vault"), key)
        .map_err(|error| unproved(vec![problem("vault", error)]))?;
    let proof = fold_in_memory(&kept).map_err(|wrong| unproved(vec![wrong]))?;
    let bound = proof.binding.clone();
    kept.manifest.partner = bound.as_ref().map(|bound| bound.partner.clone()).unwrap_or_default();
    kept.manifest.epoch = bound.map_or(0, |bound| bound.epoch);
    kept.manifest.state_digest = proof.state_digest;
    target.finish(&kept.manifest)?;
    let wrong: Vec<BackupProblem> =
        kept.manifest.files.iter().filter_map(|entry| check_file(&kept, entry)).collect();
    if wrong.is_empty() { Ok((kept.manifest, proof)) } else { Err(unproved(wrong)) }
}

struct FileCopy<'a> {
    disk: &'a dyn Disk,
    file: String,
    name: String,
    bytes: u64,
}

/// Lists the files to copy, in order. The values that records name are older than the records, so
/// the vault follows the journal. A subject's key is older than its values and is read last, so
/// every copied value has its key.
fn files_to_copy(source: &BackupSource) -> Result<Vec<FileCopy<'_>>, BackupError> {
    let copy = |folder: &str, disk, file: String, bytes| {
        let name = format!("{folder}/{file}");
        FileCopy { disk, file, name, bytes }
    };
    let mut plan = Vec::new();
    if let Some(archive) = source.archive.as_deref() {
        let mut files = archive.list().map_err(BackupError::io("list", "archive"))?;
        files.sort();
        for file in files {
            let bytes = archive.len(&file).map_err(BackupError::io("read", &file))?;
            plan.push(copy("archive", archive, file, bytes));
        }
    }
    let journal = source.journal.as_ref();
    for (file, bytes) in extent(journal, source.head)? {
        plan.push(copy("journal", journal, file, bytes));
    }
    let vault = source.vault.as_ref();
    for file in values::files(vault).map_err(BackupError::io("list", "vault"))? {
        match vault.len(&file) {
            Ok(bytes) => plan.push(copy("vault", vault, file, bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(BackupError::io("read", format!("vault/{file}"))(error)),
        }
    }
    Ok(plan)
}

/// Returns the contents of a backup by `FOLDER/FILE`, for the simulator with its disks in memory.
pub(crate) fn contents(source: &BackupSource) -> Result<BTreeMap<String, Vec<u8>>, BackupError> {
    let mut held = BTreeMap::new();
    for copy in files_to_copy(source)? {
        let bytes = copy.disk.read_at(&copy.file, 0, to_usize(copy.bytes));
        held.insert(copy.name.clone(), bytes.map_err(BackupError::io("read", &copy.name))?);
    }
    Ok(held)
}

struct BackupTarget<'a> {
    path: &'a Path,
    single: Option<File>,
}

impl<'a> BackupTarget<'a> {
    fn new(path: &'a Path, form: BackupLayout) -> Result<Self, BackupError> {
        let io = || BackupError::io("make", path.display());
        if form == BackupLayout::Folder {
            DirBuilder::new().mode(0o700).create(path).map_err(io())?;
            return Ok(Self { path, single: None });
        }
        let mut file = create_private(path).map_err(io())?;
        file.write_all(&MAGIC).map_err(io())?;
        Ok(Self { path, single: Some(file) })
    }

    fn copy_file(
        &mut self,
        copy: &FileCopy<'_>,
        copied: &mut dyn FnMut(u64),
    ) -> Result<BackupFile, BackupError> {
        let io = |doing| BackupError::io(doing, &copy.name);
        let own = self.single.is_none().then(|| self.create_part(&copy.name));
        let mut own = own.transpose().map_err(io("make"))?;
        let out = own.as_mut().or(self.single.as_mut()).ok_or(BackupError::Empty)?;
        let mut hasher = Sha256::new();
        let mut at = 0_u64;
        loop {
            let piece = read_piece(copy, at).map_err(io("read"))?;
            if piece.is_empty() {
                break;
            }
            out.write_all(&piece).map_err(io("write"))?;
            hasher.update(&piece);
            let bytes = to_u64(piece.len());
            at = at.saturating_add(bytes);
            copied(bytes);
        }
        if let Some(own) = own {
            own.sync_all().map_err(io("sync"))?;
        }
        let sha256 = Digest::from_bytes(hasher.finalize().into());
        Ok(BackupFile { name: copy.name.clone(), bytes: at, sha256 })
    }

    fn create_part(&self, name: &str) -> std::io::Result<File> {
        let path = self.path.join(name);
        if let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) {
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        create_private(&path)
    }

    /// Adds the manifest and makes everything durable.
    fn finish(&mut self, manifest: &BackupManifest) -> Result<(), BackupError> {
        let text = serde_json::to_vec_pretty(manifest).map_err(|error| {
            BackupError::Unreadable { path: MANIFEST.to_owned(), why: error.to_string() }
        })?;
        let io = || BackupError::io("write", MANIFEST);
        if let Some(single) = self.single.as_mut() {
            single.write_all(&manifest::footer(&text)).map_err(io())?;
            return single.sync_all().map_err(io());
        }
        let mut file = create_private(&self.path.join(MANIFEST)).map_err(io())?;
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(io())?;
        for folder in ["archive", "journal", "vault"].map(|folder| self.path.join(folder)) {
            if folder.is_dir() {
                sync_dir(&folder).map_err(io())?;
            }
        }
        sync_dir(self.path).map_err(io())
    }
}

/// Reads the next bytes of a file; the file of keys at once, since it may be replaced at any time.
fn read_piece(copy: &FileCopy<'_>, at: u64) -> std::io::Result<Vec<u8>> {
    if copy.file == KEYS_FILE {
        return if at == 0 { copy.disk.read_at(&copy.file, 0, usize::MAX) } else { Ok(Vec::new()) };
    }
    copy.disk.read_at(&copy.file, at, to_usize(copy.bytes.saturating_sub(at)).min(PIECE_BYTES))
}
