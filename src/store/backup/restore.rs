//! Verifies a backup by reading all of it, and restores it in place of a state with a new epoch.
//!
//! Guarantees: one verification reports every problem of digests, the chain of records, the fold of
//! the records, and the vault. Nothing is touched before the complete backup was read and verified.
//! The former state is moved aside and never deleted. An interrupted restore leaves a state that does
//! not open before it is restored again. The new epoch's record is durable before any use.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs};

use chrono::{DateTime, Utc};
use sha2::{Digest as _, Sha256};

use crate::base::hash::Digest;
use crate::model::record::{Record, StateOwner};
use crate::model::state::lifecycle::{Release, Restored};
use crate::store::backup::manifest::{
    BackupError, BackupFile, BackupProblem, ExistingBackup, ProgressFn, problem,
};
use crate::store::disk::directory::{RealDisk, StateLock, private_dir, sync_dir};
use crate::store::disk::traits::{Disk, to_u64};
use crate::store::error::{OpenError, OpenReport};
use crate::store::index::ordered::{Index, MemoryIndex};
use crate::store::read_model::model::{ReadModel, ReadResult};
use crate::store::state::open::{OpenState, RESTORING, StateOptions, StateParts, assemble};
use crate::store::state::rollback::next_epoch;
use crate::store::vault::key::MasterKey;
use crate::store::vault::values::Vault;
use crate::store::writer::core::Commit;

/// Entries of a state directory that are part of the state.
const PARTS: [&str; 6] = ["archive", "journal", "sled", "sled.newer", "sled.next", "vault"];
const PIECE_BYTES: usize = 1 << 20;

#[derive(Debug, Clone)]
pub struct RestoreRequest {
    /// The state directory, and the process that opens it.
    pub opening: StateOptions,
    /// The partner that must own the state, if known.
    pub partner: Option<String>,
    /// True if an existing state may be moved aside.
    pub replace: bool,
    /// True if a person says that nothing was sent since the backup.
    pub nothing_since: bool,
    pub at: DateTime<Utc>,
    pub actor: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreResult {
    pub epoch: Restored,
    /// The folder that now holds the former state.
    pub aside: Option<PathBuf>,
    pub sequence: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error(transparent)]
    Backup(#[from] BackupError),
    #[error("the backup is invalid; nothing was changed:\n{}", lines(.wrong))]
    Unverified { wrong: Vec<BackupProblem> },
    #[error("{} already holds a state; nothing was changed", dir.display())]
    Occupied { dir: PathBuf },
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("{doing} {}: {source}; the restore is not complete: run it again", path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
}

fn lines(wrong: &[BackupProblem]) -> String {
    let all: Vec<String> = wrong.iter().map(|wrong| format!("  {wrong}")).collect();
    all.join("\n")
}

fn restore_error(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> RestoreError {
    let path = path.to_owned();
    move |source| RestoreError::Io { doing, path, source }
}

pub async fn restore(
    kept: &ExistingBackup,
    wanted: &RestoreRequest,
    key: &MasterKey,
    progress: ProgressFn<'_>,
) -> Result<RestoreResult, RestoreError> {
    let dir = &wanted.opening.dir;
    let lock = StateLock::acquire(dir, &wanted.opening.owner).map_err(OpenError::from)?;
    let marker = dir.join(RESTORING);
    let is_filled = fs::read_dir(dir.join("journal")).is_ok_and(|mut files| files.next().is_some());
    if is_filled && !wanted.replace && !marker.exists() {
        return Err(RestoreError::Occupied { dir: dir.clone() });
    }
    let mut wrong: Vec<_> = foreign_partner(kept, wanted).into_iter().collect();
    wrong.extend(verify(kept, key, progress).err().unwrap_or_default());
    if !wrong.is_empty() {
        return Err(RestoreError::Unverified { wrong });
    }
    fs::write(&marker, b"").map_err(restore_error("write", &marker))?;
    sync_dir(dir).map_err(restore_error("sync", dir))?;
    let aside = move_aside(dir)?;
    copy_files(kept, dir, progress)?;
    drop(lock);
    let (began, sequence) = begin_restored_epoch(kept, wanted, key).await?;
    fs::remove_file(&marker).map_err(restore_error("remove", &marker))?;
    sync_dir(dir).map_err(restore_error("sync", dir))?;
    Ok(RestoreResult { epoch: began, aside, sequence })
}

/// Returns the problem that the backup belongs to another partner, if it does.
fn foreign_partner(kept: &ExistingBackup, wanted: &RestoreRequest) -> Option<BackupProblem> {
    let found = &kept.manifest.partner;
    let partner = wanted.partner.as_ref().filter(|partner| *partner != found)?;
    Some(problem("partner", format!("it belongs to {found:?}, but partner.name is {partner:?}")))
}

/// Moves the parts of a state into a folder beside them.
fn move_aside(dir: &Path) -> Result<Option<PathBuf>, RestoreError> {
    let there: Vec<&str> = PARTS.into_iter().filter(|part| dir.join(part).exists()).collect();
    if there.is_empty() {
        return Ok(None);
    }
    let names = (1..u32::MAX).map(|number| dir.join(format!("replaced-{number}")));
    let mut free = names.filter(|path| !path.exists());
    let aside = free.next().unwrap_or_else(|| dir.join("replaced"));
    private_dir(&aside).map_err(restore_error("make", &aside))?;
    for part in there {
        fs::rename(dir.join(part), aside.join(part))
            .map_err(restore_error("move", &dir.join(part)))?;
    }
    sync_dir(&aside).map_err(restore_error("sync", &aside))?;
    sync_dir(dir).map_err(restore_error("sync", dir))?;
    Ok(Some(aside))
}

fn copy_files(
    kept: &ExistingBackup,
    dir: &Path,
    progress: ProgressFn<'_>,
) -> Result<(), RestoreError> {
    let (total, mut done) = (kept.manifest.bytes(), 0_u64);
    for part in PARTS {
        let from = kept.disk(part);
        let mut files = from.list().map_err(restore_error("list", &dir.join(part)))?;
        files.sort();
        if files.is_empty() {
            continue;
        }
        let to = RealDisk::open(&dir.join(part)).map_err(restore_error("make", &dir.join(part)))?;
        for file in files {
            let copied = copy_file(&from, &to, &file, &mut |bytes| {
                done = done.saturating_add(bytes);
                progress(done, total);
            });
            copied.map_err(restore_error("copy", &dir.join(part).join(&file)))?;
        }
    }
    Ok(())
}

fn copy_file(
    from: &dyn Disk,
    to: &dyn Disk,
    file: &str,
    copied: &mut dyn FnMut(u64),
) -> std::io::Result<()> {
    to.allocate(file, 0)?;
    let mut at = 0_u64;
    loop {
        let piece = from.read_at(file, at, PIECE_BYTES)?;
        if piece.is_empty() {
            return to.sync(file);
        }
        to.write_at(file, at, &piece)?;
        let bytes = to_u64(piece.len());
        at = at.saturating_add(bytes);
        copied(bytes);
    }
}

async fn begin_restored_epoch(
    kept: &ExistingBackup,
    wanted: &RestoreRequest,
    key: &MasterKey,
) -> Result<(Restored, u64), RestoreError> {
    let state = OpenState::open_as(&wanted.opening, key, true)?;
    let backup = (kept.manifest.head(), kept.manifest.at);
    let began = next_epoch(&state.facts, backup, (wanted.at, wanted.actor.clone()))?;
    let mut records = vec![Record::Restored(Box::new(began.clone()))];
    if wanted.nothing_since {
        let (at, actor) = (wanted.at, wanted.actor.clone());
        let release = Release { keys: Vec::new(), done: false, at, actor };
        records.push(Record::Released(Box::new(release)));
    }
    let written = state.writer.append(Commit::of(records)).await;
    let closed = state.close().await;
    let sequence = written.map_err(OpenError::from)?;
    closed?;
    Ok((began, sequence))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedBackup {
    pub binding: Option<StateOwner>,
    pub state_digest: Digest,
    pub resources: usize,
    pub open_intents: usize,
}

/// Reads and verifies all of a backup; the error holds every problem found.
pub fn verify(
    kept: &ExistingBackup,
    key: &MasterKey,
    progress: ProgressFn<'_>,
) -> Result<VerifiedBackup, Vec<BackupProblem>> {
    let mut wrong = Vec::new();
    let (total, mut done) = (kept.manifest.bytes(), 0_u64);
    for entry in &kept.manifest.files {
        wrong.extend(check_file(kept, entry));
        done = done.saturating_add(entry.bytes);
        progress(done, total);
    }
    if !kept.manifest.files.iter().any(|file| file.name == "vault/keys") {
        wrong.push(problem("vault/keys", "missing in the backup"));
    }
    if key.fingerprint() != kept.manifest.key {
        let why = format!(
            "it was sealed under the key {}, but the given key is {}; a backup from before \
            `reckon store rekey` needs the older key",
            kept.manifest.key,
            key.fingerprint()
        );
        wrong.push(problem("vault", why));
    } else if let Err(error) = Vault::open(Arc::new(kept.disk("vault")), key) {
        wrong.push(problem("vault", error));
    }
    match fold_in_memory(kept) {
        Ok(proof) if proof.state_digest != kept.manifest.state_digest => {
            wrong.push(problem("journal", "its records do not produce the state of the manifest"));
        }
        Ok(proof) if wrong.is_empty() => return Ok(proof),
        Ok(_) => {}
        Err(one) => wrong.push(one),
    }
    Err(wrong)
}

pub(crate) fn check_file(kept: &ExistingBackup, entry: &BackupFile) -> Option<BackupProblem> {
    match file_digest(kept, entry) {
        Ok(found) if found == entry.sha256 => None,
        Ok(_) => Some(problem(&entry.name, "its content differs from its digest")),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            Some(problem(&entry.name, format!("it is shorter than {} bytes", entry.bytes)))
        }
        Err(error) => Some(problem(&entry.name, error)),
    }
}

fn file_digest(kept: &ExistingBackup, entry: &BackupFile) -> std::io::Result<Digest> {
    let place = kept.span(entry);
    let mut hasher = Sha256::new();
    let mut at = 0;
    while at < entry.bytes {
        let piece = place.read(at, PIECE_BYTES)?;
        hasher.update(&piece);
        at = at.saturating_add(to_u64(piece.len()));
    }
    Ok(Digest::from_bytes(hasher.finalize().into()))
}

/// Folds the records into memory; their chain must be intact and end at the manifest's head.
pub(crate) fn fold_in_memory(kept: &ExistingBackup) -> Result<VerifiedBackup, BackupProblem> {
    let wrong = |error: &dyn fmt::Display| problem("journal", error);
    let index: Arc<dyn Index> = Arc::new(MemoryIndex::new());
    let pieces = StateParts {
        watch: None,
        journal: Arc::new(kept.disk("journal")),
        vault: Arc::new(crate::store::disk::traits::MemoryDisk::new()),
        index: index.clone(),
        boot: String::new(),
        rebuild: false,
        segment_bytes: 0,
    };
    let nobody = MasterKey::new([0; 32]);
    let state = assemble(pieces, &nobody, OpenReport::default()).map_err(|error| wrong(&error))?;
    if state.journal.head() != kept.manifest.head() {
        let found = state.journal.head().sequence;
        let why = format!("it ends at record {found}, not at {}", kept.manifest.sequence);
        return Err(problem("journal", why));
    }
    summarise(&ReadModel::new(index)).map_err(|error| wrong(&error))
}

fn summarise(facts: &ReadModel) -> ReadResult<VerifiedBackup> {
    let mut resources = 0_usize;
    facts.each_observed(|_, _| {
        resources = resources.saturating_add(1);
        Ok(())
    })?;
    let (binding, state_digest) = (facts.state_owner()?, facts.digest()?);
    let open_intents = facts.open_intents()?.len();
    Ok(VerifiedBackup { binding, state_digest, resources, open_intents })
}

#[cfg(test)]
mod tests;
