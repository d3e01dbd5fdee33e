//! Opens a state directory: lock, key, journal, vault, and the index folded up to the head.
//!
//! Guarantees: untrusted parts of the index are rebuilt from the journal, which sends nothing. Any
//! untrusted part of the journal stops the opening with its reason.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::id::Key;
use crate::model::intent::StoredBody;
use crate::model::record::{Record, StateOwner};
use crate::store::disk::directory::{LockOwner, RealDisk, StateLock};
use crate::store::disk::traits::Disk;
use crate::store::error::{OpenError, OpenReport, OpenResult};
use crate::store::index::ordered::{Batch, Index, IndexResult};
use crate::store::journal::chain::{Head, Position};
use crate::store::journal::files::JournalOptions;
use crate::store::journal::log::Journal;
use crate::store::journal::read::JournalReader;
use crate::store::projection::fold::{IndexFold, StateWriter};
use crate::store::read_model::model::{ReadModel, ReadResult};
use crate::store::read_model::resources::{FOLD_VERSION, FoldProgress};
use crate::store::state::compact::{
    Archive, CompactionLock, CompactionRequest, CompactionResult, Compactor,
};
use crate::store::state::index::{BOOT, CLEAN, close_state, mark_open, open_index, read_mark};
use crate::store::state::rollback::{MarkOptions, StateMark};
use crate::store::state::{index, snapshot};
use crate::store::vault::frame::VaultError;
use crate::store::vault::key::{MasterKey, VaultRef};
use crate::store::vault::values::Vault;
use crate::store::writer::core::{Commit, decoded};
use crate::store::writer::handle::Writer;

/// A file in a state directory while a backup is being restored into it.
pub const RESTORING: &str = "restoring";

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

#[derive(Debug)]
pub struct OpenState {
    pub writer: Arc<StateWriter>,
    pub facts: ReadModel,
    pub vault: Vault,
    pub found: OpenReport,
    compactor: Arc<Compactor>,
    index: Arc<dyn Index>,
    reader: JournalReader,
    _lock: StateLock,
}

impl OpenState {
    /// Opens a state directory, or creates it.
    pub fn open(opening: &StateOptions, key: &MasterKey) -> OpenResult<Self> {
        if opening.dir.join(RESTORING).exists() {
            return Err(OpenError::Interrupted { dir: opening.dir.clone() });
        }
        Self::open_as(opening, key, false)
    }

    /// Opens a state. While a backup is restored into it, its mark is that of the state before.
    pub(crate) fn open_as(
        opening: &StateOptions,
        key: &MasterKey,
        restoring: bool,
    ) -> OpenResult<Self> {
        let io = |source| OpenError::Io { dir: opening.dir.clone(), source };
        let disk = |part| RealDisk::open(&opening.dir.join(part)).map_err(io);
        let journal_disk: Arc<dyn Disk> = Arc::new(disk("journal")?);
        let vault_disk: Arc<dyn Disk> = Arc::new(disk("vault")?);
        let lock = StateLock::acquire(&opening.dir, &opening.owner)?;
        let mut found = OpenReport::default();
        let index = open_index(&opening.dir, &mut found)?;
        let marking = opening.marking.as_ref();
        let watch =
            marking.map(|one| one.watch(&opening.dir, restoring, &mut found)).transpose()?;
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
            slots: Box::new(index::IndexFolders::of(&opening.dir)),
            journal: journal_disk,
            vault_disk,
            vault: vault.clone(),
            archive: Archive::in_folder(opening.dir.join("archive")),
            turn: CompactionLock::default(),
        });
        Ok(Self { writer, facts, vault, found, compactor, index, reader, _lock: lock })
    }

    pub async fn check_owner(&self, binding: &StateOwner) -> OpenResult {
        check_owner(&self.writer, &self.facts, binding).await
    }

    /// Verifies every record of the journal, the first included, and returns its head.
    pub fn verify(&self) -> OpenResult<Head> {
        let durable = self.writer.head();
        let mut head = Head::EMPTY;
        if let Some(base) = self.reader.base()? {
            snapshot::is_named(&self.reader, &base, durable.sequence)?;
            self.reader.body(&base)?;
            head = base.head;
        }
        let first = head.sequence.saturating_add(1);
        for record in decoded(self.reader.records(first, durable.sequence)) {
            head = record?.0;
        }
        Ok(head)
    }

    /// Returns the record behind which the journal begins: 0 unless it was compacted.
    pub fn base_sequence(&self) -> OpenResult<u64> {
        Ok(self.reader.base()?.map_or(0, |base| base.head.sequence))
    }

    pub fn compactor(&self) -> Arc<Compactor> {
        Arc::clone(&self.compactor)
    }

    /// Returns the index, for values that are no part of the state.
    pub fn index(&self) -> &Arc<dyn Index> {
        &self.index
    }

    pub async fn compact(self, wanted: &CompactionRequest) -> OpenResult<CompactionResult> {
        let done = self.compactor().compact(wanted).await;
        self.close().await?;
        done
    }

    /// Closes the state cleanly, after ending a compaction: the next opening starts from here.
    pub async fn close(self) -> OpenResult<Head> {
        self.compactor.stop().await;
        close_state(&self.writer, &*self.index).await
    }
}

/// Checks the owner of this state; a state without an owner gets this one.
pub async fn check_owner(
    writer: &StateWriter,
    facts: &ReadModel,
    binding: &StateOwner,
) -> OpenResult {
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnreadableValue {
    pub key: Key,
    /// The fact or the request that holds the value.
    pub what: String,
    /// The reason why the value cannot be unsealed, with the remedy.
    pub why: String,
}

/// Returns every sealed value that is known of a resource, or that an open intent would send again,
/// and that cannot be unsealed. A value that was destroyed on purpose is not included.
pub fn unreadable_values(facts: &ReadModel, vault: &Vault) -> ReadResult<Vec<UnreadableValue>> {
    let mut ills = Vec::new();
    facts.each_observed(|key, known| {
        for (name, fact) in known.facts.as_object().into_iter().flatten() {
            let reference = fact.get("sealed").and_then(serde_json::Value::as_str);
            let why = reference.and_then(|reference| unseal_failure(vault, reference));
            let ill = |why| UnreadableValue { key: key.clone(), what: name.clone(), why };
            ills.extend(why.map(ill));
        }
        Ok(())
    })?;
    for open in facts.open_intents()? {
        if let StoredBody::Sealed { reference, digest: _ } = &open.intent.request.body {
            let what = format!("the request of {}", open.intent.id);
            let why = unseal_failure(vault, reference);
            ills.extend(why.map(|why| UnreadableValue { key: open.intent.key.clone(), what, why }));
        }
    }
    Ok(ills)
}

fn unseal_failure(vault: &Vault, reference: &str) -> Option<String> {
    let reference: VaultRef = match reference.parse() {
        Ok(reference) => reference,
        Err(error) => return Some(format!("{error}")),
    };
    match vault.unseal(&reference) {
        Ok(_) | Err(VaultError::Erased { .. }) => None,
        Err(error) => Some(error.to_string()),
    }
}

/// The disks and the index that a state is assembled from; the simulator brings its own.
#[derive(Debug)]
pub struct StateParts {
    pub journal: Arc<dyn Disk>,
    pub vault: Arc<dyn Disk>,
    /// The index as folded before; possibly empty.
    pub index: Arc<dyn Index>,
    pub boot: String,
    pub rebuild: bool,
    pub segment_bytes: u64,
    /// The mark outside the state directory; `None` for a copy that sends nothing.
    pub watch: Option<StateMark>,
}

#[derive(Debug)]
pub struct AssembledState {
    pub journal: Journal,
    /// The fold, up to the journal's head.
    pub fold: IndexFold,
    pub vault: Vault,
    pub found: OpenReport,
}

/// Assembles a state: opens the vault, verifies the journal, and folds the index up to its head.
pub fn assemble(
    pieces: StateParts,
    key: &MasterKey,
    mut found: OpenReport,
) -> OpenResult<AssembledState> {
    let StateParts { journal, vault, index, boot, rebuild, segment_bytes, watch } = pieces;
    let vault = Vault::open(vault, key)?;
    let trust = check_trust(&*index, &boot, rebuild, &mut found)?;
    let marked = watch.as_ref().and_then(|watch| watch.mark.head().filter(|_| !watch.restoring));
    let options = JournalOptions { segment_bytes, marked, ..JournalOptions::default() };
    let ((mut journal, behind), mut fold) = catch_up(journal, &index, trust, options, &mut found)?;
    if let Some(watch) = watch {
        watch.begin(&mut journal, &mut fold, (&index, behind), &mut found)?;
    }
    mark_open(&*index, &boot)?;
    Ok(AssembledState { journal, fold, vault, found })
}

#[derive(Debug, Clone, Copy, Default)]
struct IndexTrust {
    applied: Option<FoldProgress>,
    clean: Option<Position>,
}

/// Decides how much of the index is trusted, and empties it if none of it is.
fn check_trust(
    index: &dyn Index,
    opened_under: &str,
    rebuild: bool,
    found: &mut OpenReport,
) -> OpenResult<IndexTrust> {
    let applied = ReadModel::progress_of(index).unwrap_or(None);
    let clean: Option<Position> = read_mark(index, CLEAN);
    let boot: Option<String> = read_mark(index, BOOT);
    let why = match applied {
        None => None,
        Some(_) if rebuild => Some("as requested".to_owned()),
        Some(mark) if mark.version != FOLD_VERSION => {
            Some("it was made by another program version".to_owned())
        }
        Some(_) if clean.is_none() && boot.as_deref() != Some(opened_under) => {
            Some("the machine stopped while it was open".to_owned())
        }
        Some(mark) => return Ok(IndexTrust { applied: Some(mark), clean }),
    };
    clear_index(index)?;
    found.rebuilt = found.rebuilt.take().or(why);
    Ok(IndexTrust::default())
}

fn clear_index(index: &dyn Index) -> IndexResult {
    let mut batch = Batch::new();
    for (key, _) in index.scan(b"")? {
        batch.remove(key);
    }
    index.apply(batch)
}

fn catch_up(
    disk: Arc<dyn Disk>,
    index: &Arc<dyn Index>,
    trust: IndexTrust,
    options: JournalOptions,
    found: &mut OpenReport,
) -> OpenResult<((Journal, Option<Head>), IndexFold)> {
    let known = trust.applied.map(|mark| Head { sequence: mark.sequence, hash: mark.hash });
    let known = known.filter(|head| head.sequence > 0);
    let trusted = trust.clean.filter(|clean| Some(clean.head) == known);
    let (journal, opened) = Journal::open(disk, JournalOptions { trusted, known, ..options })?;
    found.cut = opened.cut;
    let mut fold = IndexFold::new(index.clone());
    let known = load_base(&journal, index, known, found)?.unwrap_or(Head::EMPTY);
    let records = journal.read_from(known.sequence.saturating_add(1));
    let head = snapshot::fold_records(&mut fold, records, known, &|| Ok(()))?;
    found.folded = head.sequence.saturating_sub(known.sequence);
    Ok(((journal, opened.missed_mark), fold))
}

/// Loads the journal's snapshot if the index lacks records that the journal no longer holds;
/// returns the head of the index.
fn load_base(
    journal: &Journal,
    index: &Arc<dyn Index>,
    known: Option<Head>,
    found: &mut OpenReport,
) -> OpenResult<Option<Head>> {
    let Some(base) = journal.base()? else { return Ok(known) };
    if known.is_some_and(|known| known.sequence >= base.head.sequence) {
        return Ok(known);
    }
    if known.is_some() {
        let why = "it is older than the snapshot that the journal begins at".to_owned();
        found.rebuilt = found.rebuilt.take().or(Some(why));
        clear_index(&**index)?;
    }
    snapshot::load(&journal.reader(), &base, journal.head().sequence, &**index)?;
    Ok(Some(base.head))
}
