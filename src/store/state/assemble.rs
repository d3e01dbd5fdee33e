//! Assembles a state from its disks; untrusted parts of the index are rebuilt from the journal.

use std::sync::Arc;

use super::index::{BOOT, CLEAN, get, mark_open};
use super::snapshot;
use super::snapshot::BATCH_RECORDS_MAX;
use super::watch::StateMark;
use crate::store::disk::traits::Disk;
use crate::store::index::ordered::{Batch, Index, IndexError};
use crate::store::journal::chain::{Head, Position};
use crate::store::journal::log::Journal;
use crate::store::journal::open::JournalOptions;
use crate::store::projection::fold::IndexFold;
use crate::store::read_model::model::{FOLD_VERSION, FoldProgress, ReadModel};
use crate::store::state::error::{OpenError, OpenReport};
use crate::store::vault::key::MasterKey;
use crate::store::vault::values::Vault;
use crate::store::writer::core::decode;
use crate::store::writer::parts::Fold;

/// The disks and the index that a state is assembled from; the simulator brings its own.
#[derive(Debug)]
pub struct StateParts {
    pub journal: Arc<dyn Disk>,
    pub vault: Arc<dyn Disk>,
    /// The index as folded before; possibly empty.
    pub index: Arc<dyn Index>,
    /// The id of this boot: an index left open under another one is not trusted.
    pub boot: String,
    /// Rebuilds the index in any case.
    pub rebuild: bool,
    /// The length of a new segment of the journal, in bytes.
    pub segment_bytes: u64,
    /// The mark outside the state directory; `None` for a copy that sends nothing.
    pub watch: Option<StateMark>,
}

/// An assembled state, before it has a writer.
#[derive(Debug)]
pub struct AssembledState {
    /// The verified journal.
    pub journal: Journal,
    /// The fold, up to the journal's head.
    pub fold: IndexFold,
    pub vault: Vault,
    pub found: OpenReport,
}

/// Assembles a state: opens the vault, verifies the journal, and folds the index up to the
/// journal's head.
pub fn assemble(
    pieces: StateParts,
    key: &MasterKey,
    mut found: OpenReport,
) -> Result<AssembledState, OpenError> {
    let StateParts { journal, vault, index, boot, rebuild, segment_bytes, watch } = pieces;
    let vault = Vault::open(vault, key)?;
    let trust = check_trust(&*index, &boot, rebuild, &mut found)?;
    let marked = watch.as_ref().and_then(StateMark::expected_head);
    let options = JournalOptions { segment_bytes, marked, ..JournalOptions::default() };
    let ((mut journal, behind), mut fold) = catch_up(journal, &index, trust, options, &mut found)?;
    if let Some(watch) = watch {
        watch.begin(&mut journal, &mut fold, (&index, behind), &mut found)?;
    }
    mark_open(&*index, &boot)?;
    Ok(AssembledState { journal, fold, vault, found })
}

/// The trusted progress of an index.
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
) -> Result<IndexTrust, OpenError> {
    let applied = ReadModel::progress_of(index).unwrap_or(None);
    let clean: Option<Position> = get(index, CLEAN);
    let boot: Option<String> = get(index, BOOT);
    let why = match applied {
        None => None,
        Some(_) if rebuild => Some("as requested".to_owned()),
        Some(mark) if mark.version != FOLD_VERSION => {
            Some("it was made by another program version".to_owned())
        }
        Some(_) if clean.is_none() && boot.as_deref() != Some(opened_under) => {
            Some("the machine stopped while it was open".to_owned())
        }
        Some(mark) => {
            return Ok(IndexTrust { applied: Some(mark), clean });
        }
    };
    clear(index)?;
    found.rebuilt = found.rebuilt.take().or(why);
    Ok(IndexTrust::default())
}

fn clear(index: &dyn Index) -> Result<(), IndexError> {
    let mut batch = Batch::new();
    for (key, _) in index.scan(b"")? {
        batch.remove(key);
    }
    index.apply(batch)
}

/// Opens the journal and folds the records that the index lacks.
fn catch_up(
    disk: Arc<dyn Disk>,
    index: &Arc<dyn Index>,
    trust: IndexTrust,
    options: JournalOptions,
    found: &mut OpenReport,
) -> Result<((Journal, Option<Head>), IndexFold), OpenError> {
    let known = trust.applied.map(|mark| Head { sequence: mark.sequence, hash: mark.hash });
    let known = known.filter(|head| head.sequence > 0);
    let trusted = trust.clean.filter(|clean| Some(clean.head) == known);
    let (journal, opened) = Journal::open(disk, JournalOptions { trusted, known, ..options })?;
    found.cut = opened.cut;
    let known = load_base(&journal, index, known, found)?;
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
    Ok(((journal, opened.missed_mark), fold))
}

/// Loads the journal's snapshot if the index lacks records that the journal no longer holds;
/// returns the head of the index.
fn load_base(
    journal: &Journal,
    index: &Arc<dyn Index>,
    known: Option<Head>,
    found: &mut OpenReport,
) -> Result<Option<Head>, OpenError> {
    let Some(base) = journal.base()? else { return Ok(known) };
    if known.is_some_and(|known| known.sequence >= base.head.sequence) {
        return Ok(known);
    }
    if known.is_some() {
        let why = "it is older than the snapshot that the journal begins at".to_owned();
        found.rebuilt = found.rebuilt.take().or(Some(why));
        clear(&**index)?;
    }
    snapshot::load(journal, &base, &**index)?;
    Ok(Some(base.head))
}
