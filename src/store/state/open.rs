//! Opens a state directory: lock, key, journal, vault, and the index folded up to the head.
//!
//! Guarantees: untrusted parts of the index are rebuilt from the journal, which sends nothing. Any
//! untrusted part of the journal stops the opening with its reason.

use std::path::PathBuf;
use std::sync::Arc;

use super::assemble::{AssembledState, StateParts, assemble, decode};
use super::compact::{Archive, CompactionLock, Compactor};
use super::error::StoreError;
use super::marks::close;
use super::peek::open_index;
use super::watch::{MarkOptions, RollbackDetected};
use super::{base, slots};
use crate::model::record::{Record, StateOwner};
use crate::store::disk::lock::{LockError, LockOwner, StateLock};
use crate::store::disk::real::RealDisk;
use crate::store::disk::traits::Disk;
use crate::store::index::ordered::{Index, IndexError};
use crate::store::journal::error::JournalError;
use crate::store::journal::log::Head;
use crate::store::journal::open::{CutTail, JournalOptions};
use crate::store::journal::read::JournalReader;
use crate::store::projection::fold::IndexFold;
use crate::store::read_model::model::{ReadModel, ReadModelError};
use crate::store::vault::error::VaultError;
use crate::store::vault::key::{MasterKey, MasterKeyError};
use crate::store::vault::values::Vault;
use crate::store::writer::handle::{Commit, Writer};

/// A file in a state directory while a backup is being restored into it.
pub const RESTORING: &str = "restoring";

/// Parameters of opening a state.
#[derive(Debug, Clone)]
pub struct StateOptions {
    pub dir: PathBuf,
    /// The process that opens the state, named in the error message of others.
    pub owner: LockOwner,
    /// The id of this boot: an index left open under another one is not trusted.
    pub boot: String,
    /// Rebuilds the index in any case.
    pub rebuild: bool,
    /// Location of the mark outside the state directory; `None` for a state that needs none.
    pub marking: Option<MarkOptions>,
}

/// An open state.
#[derive(Debug)]
pub struct OpenState {
    pub writer: Arc<Writer<Record, IndexFold>>,
    pub facts: ReadModel,
    pub vault: Vault,
    pub found: OpenReport,
    compactor: Arc<Compactor>,
    index: Arc<dyn Index>,
    reader: JournalReader,
    _lock: StateLock,
}

/// Findings and repairs of an opening.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenReport {
    /// A torn tail that was cut.
    pub cut: Option<CutTail>,
    /// The reason for rebuilding the index.
    pub rebuilt: Option<String>,
    /// New place of a damaged index.
    pub moved_aside: Option<PathBuf>,
    /// The number of records that were folded.
    pub folded: u64,
    /// Set if the state is older than its mark, or another one: a new epoch began.
    pub put_back: Option<RollbackDetected>,
    /// Set if a state with records has no mark, or a new one, with the reason.
    pub unmarked: Option<String>,
}

/// Error of opening a state. All of these are exit code 4.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has the state open.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The key cannot be read or created.
    #[error(transparent)]
    Key(#[from] MasterKeyError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The index cannot be opened or folded.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Fact(#[from] ReadModelError),
    #[error("open the state directory {}: {source}", dir.display())]
    Io { dir: PathBuf, source: std::io::Error },
    /// The mark outside the state directory cannot be used.
    #[error("use the mark of the state in {}: {source}", place.display())]
    Mark {
        /// The folder, or the file that names the state.
        place: PathBuf,
        source: std::io::Error,
    },
    /// A restore of a backup into the state was interrupted.
    #[error(
        "open the state {}: a restore of a backup was interrupted; run `reckon store restore` again",
        dir.display()
    )]
    Interrupted { dir: PathBuf },
    /// A compaction was ended because the state is being closed.
    #[error("compact the state: it is being closed; the next compaction does the rest")]
    Closing,
    /// The state belongs to another partner, client or key.
    #[error(
        "open the state: it belongs to another {what}; use the state directory of this partner, or another one"
    )]
    Foreign {
        /// The part of the ownership that differs.
        what: &'static str,
    },
}

impl OpenState {
    /// Opens a state directory, or creates it.
    pub fn open(opening: &StateOptions, key: &MasterKey) -> Result<Self, OpenError> {
        if opening.dir.join(RESTORING).exists() {
            return Err(OpenError::Interrupted { dir: opening.dir.clone() });
        }
        Self::open_as(opening, key, false)
    }

    /// Opens a state that a backup is being restored into: its mark is that of the state before.
    pub(crate) fn open_restoring(
        opening: &StateOptions,
        key: &MasterKey,
    ) -> Result<Self, OpenError> {
        Self::open_as(opening, key, true)
    }

    fn open_as(
        opening: &StateOptions,
        key: &MasterKey,
        restoring: bool,
    ) -> Result<Self, OpenError> {
        let io = |source| OpenError::Io { dir: opening.dir.clone(), source };
        let journal_disk = RealDisk::open(&opening.dir.join("journal")).map_err(io)?;
        let vault_disk = RealDisk::open(&opening.dir.join("vault")).map_err(io)?;
        let lock = StateLock::acquire(&opening.dir, &opening.owner)?;
        let mut found = OpenReport::default();
        let index = open_index(&opening.dir, &mut found)?;
        let marking = opening.marking.as_ref();
        let watch =
            marking.map(|one| one.watch(&opening.dir, restoring, &mut found)).transpose()?;
        let (journal_disk, vault_disk): (Arc<dyn Disk>, Arc<dyn Disk>) =
            (Arc::new(journal_disk), Arc::new(vault_disk));
        let pieces = StateParts {
            watch: watch.flatten(),
            journal: Arc::clone(&journal_disk),
            vault: Arc::clone(&vault_disk),
            index: index.clone(),
            boot: opening.boot.clone(),
            rebuild: opening.rebuild,
            segment_bytes: JournalOptions::default().segment_bytes,
        };
        let AssembledState { journal, fold, vault, found } = assemble(pieces, key, found)?;
        let reader = journal.reader();
        let writer = Arc::new(Writer::on_thread(journal, vault.clone(), fold)?);
        let facts = ReadModel::new(index.clone());
        let compactor = Arc::new(Compactor {
            writer: writer.clone(),
            index: index.clone(),
            slots: Box::new(slots::IndexFolders::of(&opening.dir)),
            journal: journal_disk,
            vault_disk,
            vault: vault.clone(),
            archive: Archive::in_folder(opening.dir.join("archive")),
            turn: CompactionLock::default(),
        });
        Ok(Self { writer, facts, vault, found, compactor, index, reader, _lock: lock })
    }

    /// Checks the owner of this state; a state without an owner gets this one.
    pub async fn check_owner(&self, binding: &StateOwner) -> Result<(), OpenError> {
        check_owner(&self.writer, &self.facts, binding).await
    }

    /// Verifies every record of the journal, the first included, and returns its head.
    pub fn verify(&self) -> Result<Head, OpenError> {
        let durable = self.writer.head();
        let mut head = Head::EMPTY;
        if let Some(base) = self.reader.base()? {
            base::is_named(&self.reader, &base, durable.sequence)?;
            self.reader.body(&base)?;
            head = base.head;
        }
        let first = head.sequence.saturating_add(1);
        for record in self.reader.records(first, durable.sequence) {
            let record = record?;
            decode(record.sequence, &record.body)?;
            head = Head { sequence: record.sequence, hash: record.hash };
        }
        Ok(head)
    }

    /// Returns the record behind which the journal begins: 0 unless it was compacted.
    pub fn base_sequence(&self) -> Result<u64, OpenError> {
        Ok(self.reader.base()?.map_or(0, |base| base.head.sequence))
    }

    /// Returns the compactor, which works while the state is in use.
    pub fn compactor(&self) -> Arc<Compactor> {
        Arc::clone(&self.compactor)
    }

    /// Returns the index, for values that are no part of the state.
    pub fn index(&self) -> &Arc<dyn Index> {
        &self.index
    }

    /// Closes the state cleanly, so that the next opening starts from here. A running compaction is
    /// ended first.
    pub async fn close(self) -> Result<Head, OpenError> {
        self.compactor.stop().await;
        close(&self.writer, &*self.index).await
    }
}

/// Checks the owner of this state; a state without an owner gets this one.
pub async fn check_owner(
    writer: &Writer<Record, IndexFold>,
    facts: &ReadModel,
    binding: &StateOwner,
) -> Result<(), OpenError> {
    let Some(bound) = facts.state_owner()? else {
        writer.append(Commit::of(vec![Record::StateOwner(binding.clone())])).await?;
        return Ok(());
    };
    let differs = [
        (bound.partner != binding.partner, "partner (partner.name)"),
        (bound.key != binding.key, "key"),
        (bound.client != binding.client, "client (partner.client_id)"),
    ];
    match differs.iter().find(|(differs, _)| *differs) {
        Some((_, what)) => Err(OpenError::Foreign { what }),
        None => Ok(()),
    }
}
