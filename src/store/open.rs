//! A state directory is opened: lock, key, journal, vault, and the index folded up to the head.
//!
//! Guarantees: what cannot be trusted in the index is made again from the journal, and nothing is
//! sent for it; what cannot be trusted in the journal stops everything and says why.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::record::{Binding, Record};
use crate::store::disk::Disk;
use crate::store::error::StoreError;
use crate::store::facts::{AppliedMark, FOLD_VERSION, FactError, Facts};
use crate::store::fold::IndexFold;
use crate::store::index::{Batch, Index, IndexError};
use crate::store::journal::{CutTail, Head, Journal, JournalError, Options, Position, Reader};
use crate::store::key::{KeyError, MasterKey};
use crate::store::lock::{LockError, Owner, StateLock};
use crate::store::real_disk::RealDisk;
use crate::store::sled::SledIndex;
use crate::store::vault::{Vault, VaultError};
use crate::store::writer::{Commit, Fold, Writer};

/// Under which boot the index was last open; gone after a clean stop.
const BOOT: &[u8] = b"x/boot";
/// Where the journal stood at a clean stop.
const CLEAN: &[u8] = b"x/clean";
/// Records folded in one transaction while catching up.
const BATCH_RECORDS_MAX: usize = 512;

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
        let io = |source| OpenError::Io { dir: opening.dir.clone(), source };
        let journal_disk = RealDisk::open(&opening.dir.join("journal")).map_err(io)?;
        let vault_disk = RealDisk::open(&opening.dir.join("vault")).map_err(io)?;
        let lock = StateLock::acquire(&opening.dir, &opening.owner)?;
        let mut found = Found::default();
        let index = open_index(&opening.dir.join("sled"), &mut found)?;
        let pieces = Pieces {
            journal: Arc::new(journal_disk),
            vault: Arc::new(vault_disk),
            index: index.clone(),
            boot: opening.boot.clone(),
            rebuild: opening.rebuild,
            segment_bytes: Options::default().segment_bytes,
        };
        let Assembled { journal, fold, vault, found } = assemble(pieces, key, found)?;
        let reader = journal.reader();
        let writer = Arc::new(Writer::threaded(journal, vault.clone(), fold)?);
        let facts = Facts::new(index.clone());
        Ok(Self { writer, facts, vault, found, index, reader, _lock: lock })
    }

    /// Checks whose state this is; a state without an owner becomes this one's.
    pub async fn bind(&self, binding: &Binding) -> Result<(), OpenError> {
        bind(&self.writer, &self.facts, binding).await
    }

    /// Verifies every record of the journal, the first included, and answers its head.
    pub fn verify(&self) -> Result<Head, OpenError> {
        let durable = self.writer.head();
        let mut head = Head::EMPTY;
        for record in self.reader.records(1, durable.sequence) {
            let record = record?;
            decode(record.sequence, &record.body)?;
            head = Head { sequence: record.sequence, hash: record.hash };
        }
        Ok(head)
    }

    /// The index, for values that are no part of the state.
    pub fn index(&self) -> &Arc<dyn Index> {
        &self.index
    }

    /// Ends cleanly: what is open next starts from here.
    pub async fn close(self) -> Result<Head, OpenError> {
        close(&self.writer, &*self.index).await
    }
}

/// The disks and the index that a state is put together from; the simulator brings its own.
#[derive(Debug)]
pub struct Pieces {
    /// Where the journal is.
    pub journal: Arc<dyn Disk>,
    /// Where the vault is.
    pub vault: Arc<dyn Disk>,
    /// What was folded before, or nothing.
    pub index: Arc<dyn Index>,
    /// The id of this boot: an index left open under another one is not trusted.
    pub boot: String,
    /// Makes the index again in any case.
    pub rebuild: bool,
    /// The length of a new segment of the journal, in bytes.
    pub segment_bytes: u64,
}

/// A state put together, before it has a writer.
#[derive(Debug)]
pub struct Assembled {
    /// The journal, whole.
    pub journal: Journal,
    /// The fold, up to the journal's head.
    pub fold: IndexFold,
    /// The vault.
    pub vault: Vault,
    /// What opening found and did.
    pub found: Found,
}

/// Puts a state together: the vault is opened, the journal is verified, and the index is folded up
/// to its head.
pub fn assemble(pieces: Pieces, key: &MasterKey, mut found: Found) -> Result<Assembled, OpenError> {
    let Pieces { journal, vault, index, boot, rebuild, segment_bytes } = pieces;
    let vault = Vault::open(vault, key)?;
    let trust = trust(&*index, &boot, rebuild, &mut found)?;
    let (journal, fold) = catch_up(journal, &index, trust, segment_bytes, &mut found)?;
    mark_open(&*index, &boot)?;
    Ok(Assembled { journal, fold, vault, found })
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

/// Ends cleanly: what is open next starts from here.
pub async fn close(
    writer: &Writer<Record, IndexFold>,
    index: &dyn Index,
) -> Result<Head, OpenError> {
    let parts = writer.close().await?;
    let position = parts.journal.position();
    let mut batch = Batch::new();
    put(&mut batch, CLEAN, &position)?;
    batch.remove(BOOT);
    index.apply(batch)?;
    index.flush()?;
    Ok(position.head)
}

/// A look at the index of a state that was closed cleanly, without opening its journal.
#[derive(Debug)]
pub struct Peek {
    /// The index; only values that are no part of the state are to be read.
    pub index: Arc<dyn Index>,
    /// The journal's head at the clean stop.
    pub head: Head,
    _lock: StateLock,
}

/// Looks into a state, `None` if it was not closed cleanly or is not there. Nothing is written.
pub fn peek(dir: &Path, owner: &Owner) -> Result<Option<Peek>, OpenError> {
    if !dir.join("sled").join("db").exists() {
        return Ok(None);
    }
    let lock = StateLock::acquire(dir, owner)?;
    let index: Arc<dyn Index> = Arc::new(SledIndex::open(&dir.join("sled"))?);
    let clean: Option<Position> = get(&*index, CLEAN);
    Ok(clean.map(|clean| Peek { index, head: clean.head, _lock: lock }))
}

/// An index of one's own, beside any state: what it was told survives the end of the process, but
/// not a power cut.
pub fn private_index(dir: &Path) -> Result<Arc<dyn Index>, IndexError> {
    Ok(Arc::new(SledIndex::open(dir)?.unsynced()))
}

/// How much of the index is believed.
#[derive(Debug, Clone, Copy, Default)]
struct Trust {
    applied: Option<AppliedMark>,
    clean: Option<Position>,
}

/// Opens sled; a damaged one is moved aside, never deleted.
fn open_index(path: &Path, found: &mut Found) -> Result<Arc<dyn Index>, OpenError> {
    match SledIndex::open(path) {
        Ok(index) => Ok(Arc::new(index)),
        Err(error @ IndexError::Corrupt { .. }) => {
            let aside = free_name(path);
            std::fs::rename(path, &aside)
                .map_err(|source| OpenError::Io { dir: path.to_owned(), source })?;
            found.rebuilt = Some(error.to_string());
            found.moved_aside = Some(aside);
            Ok(Arc::new(SledIndex::open(path)?))
        }
        Err(error) => Err(error.into()),
    }
}

/// A name beside a folder that nothing has yet.
fn free_name(path: &Path) -> PathBuf {
    let name = |number: u32| path.with_extension(format!("damaged-{number}"));
    (1..u32::MAX).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(0))
}

/// Decides how much of the index is believed, and empties it if none of it is.
fn trust(
    index: &dyn Index,
    opened_under: &str,
    rebuild: bool,
    found: &mut Found,
) -> Result<Trust, OpenError> {
    let applied = Facts::applied_of(index).unwrap_or(None);
    let clean: Option<Position> = get(index, CLEAN);
    let boot: Option<String> = get(index, BOOT);
    let why = match applied {
        None => None,
        Some(_) if rebuild => Some("it was asked for".to_owned()),
        Some(mark) if mark.version != FOLD_VERSION => Some("another version made it".to_owned()),
        Some(_) if clean.is_none() && boot.as_deref() != Some(opened_under) => {
            Some("the machine went down while it was open".to_owned())
        }
        Some(mark) => {
            return Ok(Trust { applied: Some(mark), clean });
        }
    };
    empty(index)?;
    found.rebuilt = found.rebuilt.take().or(why);
    Ok(Trust::default())
}

/// Removes every entry.
fn empty(index: &dyn Index) -> Result<(), IndexError> {
    let mut batch = Batch::new();
    for (key, _) in index.scan(b"")? {
        batch.remove(key);
    }
    index.apply(batch)
}

/// Opens the journal and folds what the index has not seen.
fn catch_up(
    disk: Arc<dyn Disk>,
    index: &Arc<dyn Index>,
    trust: Trust,
    segment_bytes: u64,
    found: &mut Found,
) -> Result<(Journal, IndexFold), OpenError> {
    let known = trust.applied.map(|mark| Head { sequence: mark.sequence, hash: mark.hash });
    let known = known.filter(|head| head.sequence > 0);
    let trusted = trust.clean.filter(|clean| Some(clean.head) == known);
    let (journal, opened) = Journal::open(disk, Options { segment_bytes, trusted, known })?;
    found.cut = opened.cut;
    let mut fold = IndexFold::new(index.clone());
    let from = known.map_or(0, |head| head.sequence).saturating_add(1);
    let mut batch = Vec::new();
    let mut head = known.unwrap_or(Head::EMPTY);
    for record in journal.read_from(from) {
        let record = record?;
        head = Head { sequence: record.sequence, hash: record.hash };
        batch.push((record.sequence, decode(record.sequence, &record.body)?));
        found.folded = found.folded.saturating_add(1);
        if batch.len() >= BATCH_RECORDS_MAX {
            fold.apply(&std::mem::take(&mut batch), head)?;
        }
    }
    if !batch.is_empty() {
        fold.apply(&batch, head)?;
    }
    Ok((journal, fold))
}

/// One record of the journal.
pub fn decode(sequence: u64, body: &[u8]) -> Result<Record, StoreError> {
    ciborium::from_reader(body)
        .map_err(|error| StoreError::Decode { sequence, why: error.to_string() })
}

/// Notes under which boot the index is open: until a clean stop, a power cut may leave anything.
fn mark_open(index: &dyn Index, boot: &str) -> Result<(), OpenError> {
    let mut batch = Batch::new();
    put(&mut batch, BOOT, &boot)?;
    batch.remove(CLEAN);
    index.apply(batch)?;
    index.flush()?;
    Ok(())
}

/// Reads an entry about the index itself; an unreadable one is none.
fn get<T: for<'a> Deserialize<'a>>(index: &dyn Index, key: &[u8]) -> Option<T> {
    let bytes = index.get(key).ok()??;
    ciborium::from_reader(&*bytes).ok()
}

/// Writes an entry about the index itself.
fn put<T: Serialize>(batch: &mut Batch, key: &[u8], value: &T) -> Result<(), StoreError> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes)
        .map_err(|error| StoreError::Encode { why: error.to_string() })?;
    batch.put(key, bytes);
    Ok(())
}
