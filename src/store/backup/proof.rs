//! Verifies a backup by reading all of it: digests, the chain of records, the fold of the records,
//! and the vault. One run reports every problem.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::kept::{BackupFile, ExistingBackup};
use crate::base::hash::Digest;
use crate::model::record::StateOwner;
use crate::store::backup::error::{BackupProblem, ProgressFn, problem};
use crate::store::index::ordered::{Index, MemoryIndex};
use crate::store::read_model::model::ReadModel;
use crate::store::state::assemble::{StateParts, assemble};
use crate::store::state::error::OpenReport;
use crate::store::vault::key::MasterKey;
use crate::store::vault::values::Vault;

/// Bytes read at once.
const PIECE_BYTES: usize = 1 << 20;

/// Contents of a backup that was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedBackup {
    /// The owner of the state.
    pub binding: Option<StateOwner>,
    /// The digest of the fold of the records.
    pub state_digest: Digest,
    /// The number of observed resources.
    pub resources: usize,
    /// The number of intents that were not settled.
    pub open_intents: usize,
}

/// Reads and verifies all of a backup.
///
/// # Errors
/// Returns every problem found.
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
    let missing = ["vault/keys"].iter().filter(|name| !has_file(kept, name));
    wrong.extend(missing.map(|name| problem(name, "missing in the backup")));
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

fn has_file(kept: &ExistingBackup, name: &str) -> bool {
    kept.manifest.files.iter().any(|file| file.name == name)
}

/// Returns the problem of a file's bytes, if any.
pub(crate) fn check_file(kept: &ExistingBackup, entry: &BackupFile) -> Option<BackupProblem> {
    match digest(kept, entry) {
        Ok(found) if found == entry.sha256 => None,
        Ok(_) => Some(problem(&entry.name, "its content differs from its digest")),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            Some(problem(&entry.name, format!("it is shorter than {} bytes", entry.bytes)))
        }
        Err(error) => Some(problem(&entry.name, error)),
    }
}

fn digest(kept: &ExistingBackup, entry: &BackupFile) -> std::io::Result<Digest> {
    let place = kept.span(entry);
    let mut hasher = Sha256::new();
    let mut at = 0;
    while at < entry.bytes {
        let piece = place.read(at, PIECE_BYTES)?;
        hasher.update(&piece);
        at = at.saturating_add(crate::store::disk::bytes::to_u64(piece.len()));
    }
    Ok(Digest::from_bytes(hasher.finalize().into()))
}

/// Folds the records into memory and checks that the chain is intact and ends at the manifest's
/// head. The vault is verified separately.
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
    let facts = ReadModel::new(index);
    let proof = summarise(&facts).map_err(|error| wrong(&error))?;
    Ok(proof)
}

/// Summarises a fold.
fn summarise(
    facts: &ReadModel,
) -> Result<VerifiedBackup, crate::store::read_model::model::ReadModelError> {
    let mut resources = 0_usize;
    facts.each_observed(|_, _| {
        resources = resources.saturating_add(1);
        Ok(())
    })?;
    Ok(VerifiedBackup {
        binding: facts.state_owner()?,
        state_digest: facts.digest()?,
        resources,
        open_intents: facts.open_intents()?.len(),
    })
}
