//! A state directory is opened: lock, key, journal, vault, and the index folded up to the head.
//!
//! Guarantees: what cannot be trusted in the index is made again from the journal, and nothing is
//! sent for it; what cannot be trusted in the journal stops everything and says why.

mod assemble;
mod base;
mod compact;
mod marks;
mod peek;
mod slots;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;

use crate::model::record::{Binding, Record};
use crate::store::disk::Disk;
use crate::store::error::StoreError;
use crate::store::facts::{FactError, Facts};
use crate::store::fold::IndexFold;
use crate::store::index::{Index, IndexError};
use crate::store::journal::{CutTail, Head, JournalError, Options, Reader};
use crate::store::key::{KeyError, MasterKey};
use crate::store::lock::{LockError, Owner, StateLock};
use crate::store::real_disk::RealDisk;
use crate::store::vault::{Vault, VaultError};
use crate::store::writer::{Commit, Writer};

pub use assemble::{Assembled, Pieces, assemble, decode};
pub use compact::{Archive, Compacting, Compactor, History, Shorter, Sizes, Turn};
pub use marks::close;
pub use peek::{Peek, peek, private_index};
pub use slots::{InMemory, Slots};
pub use watch::{Marking, PutBack, Watch};

use peek::open_index;

/// A file in a state directory while a backup is being restored into it.
pub const RESTORING: &str = "restoring";

/// What opening needs to know.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The state directory.
    pub dir: PathBuf,
    /// Who opens it, for the message of those who cannot.
    pub owner: Owner,
    /// The id of this boot: an index left open under another one is not trusted.
    pub boot: String,
    /// Makes the index again in any case.
    pub rebuild: bool,
    /// Where the mark outside the state directory is; none for a state that needs none.
    pub marking: Option<Marking>,
}

/// An open state.
#[derive(Debug)]
pub struct State {
    /// The door for appends.
    pub writer: Arc<Writer<Record, IndexFold>>,
    /// Typed reads of the fold.
    pub facts: Facts,
    /// Seals and opens blobs.
    pub vault: Vault,
    /// What opening found and did.
    pub found: Found,
    compactor: Arc<Compactor>,
    index: Arc<dyn Index>,
    reader: Reader,
    _lock: StateLock,
}

/// What opening found and did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// A torn tail that was cut.
    pub cut: Option<CutTail>,
    /// Why the index was made again.
    pub rebuilt: Option<String>,
    /// Where a damaged index was moved to.
    pub moved_aside: Option<PathBuf>,
    /// How many records were folded.
    pub folded: u64,
    /// The state is older than its mark, or another one: a new epoch began.
    pub put_back: Option<PutBack>,
    /// Why no mark, or a new one, watches over a state that holds records.
    pub unmarked: Option<String>,
}

/// Why a state cannot be opened. All of these are exit code 4.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Its key cannot be had.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The journal cannot be opened.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The vault cannot be opened.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The index cannot be opened or folded.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index cannot be opened.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The index cannot be read.
    #[error(transparent)]
    Fact(#[from] FactError),
    /// The directory cannot be used.
    #[error("open the state directory {}: {source}", dir.display())]
    Io {
        /// The directory.
        dir: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The mark outside the state directory cannot be used.
    #[error("use the mark of the state in {}: {source}", place.display())]
    Mark {
        /// The folder, or the file that names the state.
        place: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A backup was being restored into it.
    #[error(
        "open the state {}: a restore of a backup was interrupted; run `reckon store restore` again",
        dir.display()
    )]
    Interrupted {
        /// The directory.
        dir: PathBuf,
    },
    /// A compaction was ended because the state is being closed.
    #[error("compact the state: it is being closed; the next compaction does the rest")]
    Closing,
    /// The state belongs to another partner, client or key.
    #[error(
        "open the state: it belongs to another {what}; use the state directory of this partner, or another one"
    )]
    Foreign {
        /// Which part of the binding differs.
        what: &'static str,
    },
}

impl State {
    /// Opens a state directory, or makes it.
    pub fn open(opening: &Opening, key: &MasterKey) -> Result<Self, OpenError> {
        if opening.dir.join(RESTORING).exists() {
            return Err(OpenError::Interrupted { dir: opening.dir.clone() });
        }
        Self::open_as(opening, key, false)
    }

    /// Opens a state that a backup is being restored into: its mark is that of the state before.
    pub(super) fn open_restoring(opening: &Opening, key: &MasterKey) -> Result<Self, OpenError> {
        Self::open_as(opening, key, true)
    }

    fn open_as(opening: &Opening, key: &MasterKey, restoring: bool) -> Result<Self, OpenError> {
        let io = |source| OpenError::Io { dir: opening.dir.clone(), source };
        let journal_disk = RealDisk::open(&opening.dir.join("journal")).map_err(io)?;
        let vault_disk = RealDisk::open(&opening.dir.join("vault")).map_err(io)?;
        let lock = StateLock::acquire(&opening.dir, &opening.owner)?;
        let mut found = Found::default();
        let index = open_index(&opening.dir, &mut found)?;
        let marking = opening.marking.as_ref();
        let watch =
            marking.map(|one| one.watch(&opening.dir, restoring, &mut found)).transpose()?;
        let (journal_disk, vault_disk): (Arc<dyn Disk>, Arc<dyn Disk>) =
            (Arc::new(journal_disk), Arc::new(vault_disk));
        let pieces = Pieces {
            watch: watch.flatten(),
            journal: Arc::clone(&journal_disk),
            vault: Arc::clone(&vault_disk),
            index: index.clone(),
            boot: opening.boot.clone(),
            rebuild: opening.rebuild,
            segment_bytes: Options::default().segment_bytes,
        };
        let Assembled { journal, fold, vault, found } = assemble(pieces, key, found)?;
        let reader = journal.reader();
        let writer = Arc::new(Writer::threaded(journal, vault.clone(), fold)?);
        let facts = Facts::new(index.clone());
        let compactor = Arc::new(Compactor {
            writer: writer.clone(),
            index: index.clone(),
            slots: Box::new(slots::Folders::of(&opening.dir)),
            journal: journal_disk,
            vault_disk,
            vault: vault.clone(),
            archive: Archive::in_folder(opening.dir.join("archive")),
            turn: Turn::default(),
        });
        Ok(Self { writer, facts, vault, found, compactor, index, reader, _lock: lock })
    }

    /// Checks whose state this is; a state without an owner becomes this one's.
    pub async fn bind(&self, binding: &Binding) -> Result<(), OpenError> {
        bind(&self.writer, &self.facts, binding).await
    }

    /// Verifies every record of the journal, the first included, and answers its head.
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

    /// The record behind which the journal begins: 0 unless it was compacted.
    pub fn begins_behind(&self) -> Result<u64, OpenError> {
        Ok(self.reader.base()?.map_or(0, |base| base.head.sequence))
    }

    /// Makes the state smaller while it is in use.
    pub fn compactor(&self) -> Arc<Compactor> {
        Arc::clone(&self.compactor)
    }

    /// The index, for values that are no part of the state.
    pub fn index(&self) -> &Arc<dyn Index> {
        &self.index
    }

    /// Ends cleanly: what is open next starts from here. A compaction that goes on is ended first.
    pub async fn close(self) -> Result<Head, OpenError> {
        self.compactor.end().await;
        close(&self.writer, &*self.index).await
    }
}

/// Checks whose state this is; a state without an owner becomes this one's.
pub async fn bind(
    writer: &Writer<Record, IndexFold>,
    facts: &Facts,
    binding: &Binding,
) -> Result<(), OpenError> {
    let Some(bound) = facts.binding()? else {
        writer.append(Commit::of(vec![Record::Bound(binding.clone())])).await?;
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
