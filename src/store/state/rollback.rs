//! Compares the mark outside the state with the journal: an older or another one opens a new epoch.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use chrono::{DateTime, Utc};
use data_encoding::HEXLOWER;

use crate::base::hash::Digest;
use crate::model::record::Record;
use crate::model::state::lifecycle::Restored;
use crate::store::disk::directory::{RealDisk, sync_dir};
use crate::store::disk::traits::Disk;
use crate::store::error::{OpenError, OpenReport, OpenResult, RollbackDetected};
use crate::store::index::ordered::Index;
use crate::store::journal::chain::Head;
use crate::store::journal::log::{HighWater, Journal};
use crate::store::projection::fold::IndexFold;
use crate::store::read_model::model::ReadModel;
use crate::store::writer::core::{Fold, decoded, encode};

/// The file that holds the id of a state; its mark has the same name.
const ID_FILE: &str = "id";
/// Maximum of records searched for the last time in an older journal.
const RECORDS_MAX: u64 = 512;

/// Location of a state's mark, and the author of the epoch's record if the state was put back.
#[derive(Debug, Clone)]
pub struct MarkOptions {
    pub folder: PathBuf,
    /// True if the configuration names the folder: then it must be usable for the state to open.
    pub required: bool,
    /// The id for a state that has none yet.
    pub fresh: [u8; 16],
    pub at: DateTime<Utc>,
    pub actor: String,
}

#[derive(Debug)]
pub struct StateMark {
    pub mark: HighWater,
    /// True if the state had an id before, so that it should have a mark.
    pub named: bool,
    /// True if a backup is being restored: the mark is that of the state before.
    pub restoring: bool,
    pub at: DateTime<Utc>,
    pub actor: String,
}

impl MarkOptions {
    /// Reads the mark of the state; `None` if the folder cannot be used and is not required.
    pub(crate) fn watch(
        &self,
        dir: &Path,
        restoring: bool,
        found: &mut OpenReport,
    ) -> OpenResult<Option<StateMark>> {
        let (id, named) = self.id(dir)?;
        let failed = |source| OpenError::Mark { place: self.folder.clone(), source };
        let mark = match RealDisk::open(&self.folder) {
            Ok(disk) => HighWater::open(Arc::new(disk), &id).map_err(failed)?,
            Err(error) if self.required => return Err(failed(error)),
            Err(error) => {
                let place = self.folder.display();
                found.unmarked =
                    Some(format!("cannot keep the mark of the state in {place}: {error}"));
                return Ok(None);
            }
        };
        let (at, actor) = (self.at, self.actor.clone());
        Ok(Some(StateMark { mark, named, restoring, at, actor }))
    }

    /// Returns the head that the mark of this state names, if it has one; creates nothing.
    pub(crate) fn peek(&self, dir: &Path) -> OpenResult<Option<Head>> {
        let Ok(id) = fs::read_to_string(dir.join(ID_FILE)) else { return Ok(None) };
        if !self.folder.is_dir() || !is_id(id.trim()) {
            return Ok(None);
        }
        let failed = |source| OpenError::Mark { place: self.folder.clone(), source };
        let disk = RealDisk::open(&self.folder).map_err(failed)?;
        Ok(HighWater::open(Arc::new(disk), id.trim()).map_err(failed)?.head())
    }

    /// Returns the id of a state, and true if it existed before.
    fn id(&self, dir: &Path) -> OpenResult<(String, bool)> {
        let path = dir.join(ID_FILE);
        let wrong = |source| OpenError::Mark { place: path.clone(), source };
        match fs::read_to_string(&path) {
            Ok(id) if is_id(id.trim()) => Ok((id.trim().to_owned(), true)),
            Ok(_) => Err(wrong(io::Error::other("not an id; remove the file to begin a new mark"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let id = HEXLOWER.encode(&self.fresh);
                let disk = RealDisk::open(dir).map_err(wrong)?;
                disk.replace(ID_FILE, id.as_bytes()).map_err(wrong)?;
                sync_dir(dir).map_err(wrong)?;
                Ok((id, false))
            }
            Err(error) => Err(wrong(error)),
        }
    }
}

fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl StateMark {
    /// Makes the mark follow the journal. A journal that does not run through it begins a new
    /// epoch, durable before anything else.
    pub(crate) fn begin(
        self,
        journal: &mut Journal,
        fold: &mut IndexFold,
        (index, behind): (&Arc<dyn Index>, Option<Head>),
        found: &mut OpenReport,
    ) -> OpenResult {
        let Self { mark, named, restoring, at, actor } = self;
        let head = journal.head();
        if mark.head().is_none() && head.sequence > 0 && !restoring {
            found.unmarked = Some(if named { MISSING } else { NEW }.to_owned());
        }
        journal.mark = Some(mark);
        let Some(marked) = behind else { return Ok(()) };
        let last = last_time(journal)?.unwrap_or(at);
        let facts = ReadModel::new(index.clone());
        let epoch = Restored { put_back: true, ..next_epoch(&facts, (head, last), (at, actor))? };
        let (marked, head) = (marked.sequence, head.sequence);
        found.put_back = Some(RollbackDetected { marked, head, epoch: epoch.epoch });
        let record = Record::Restored(Box::new(epoch));
        let sequences = journal.append(&[encode(&record)?])?;
        journal.sync()?;
        journal.sync_mark()?;
        fold.apply(&[(sequences.start, record)], journal.head())?;
        Ok(())
    }
}

const MISSING: &str = "the mark of the state is missing, and a new one begins: if this state was \
    copied or put back, it does not know the effects sent since";
const NEW: &str = "the state gets a mark outside its directory from now on, which detects an \
    older copy that is put back";

/// Returns the latest time in the last records; `None` if none of them names one.
fn last_time(journal: &Journal) -> OpenResult<Option<DateTime<Utc>>> {
    let from = journal.head().sequence.saturating_sub(RECORDS_MAX);
    let from = from.max(journal.base()?.map_or(0, |base| base.head.sequence)).saturating_add(1);
    let mut last = None;
    for record in decoded(journal.read_from(from)) {
        last = last.max(time_of(&record?.1));
    }
    Ok(last)
}

/// Returns the time of a record that shows how far the state had gone.
fn time_of(record: &Record) -> Option<DateTime<Utc>> {
    let counts = matches!(
        record,
        Record::Intent(_)
            | Record::Progress { .. }
            | Record::OnHold { .. }
            | Record::Observation(_)
            | Record::Polled(_)
            | Record::Restored(_)
    );
    record.time().filter(|_| counts)
}

/// Returns the epoch that a restore begins: of a backup with this head and time, at the time `at`,
/// by `actor`.
pub(crate) fn next_epoch(
    facts: &ReadModel,
    (head, backup_at): (Head, DateTime<Utc>),
    (at, actor): (DateTime<Utc>, String),
) -> OpenResult<Restored> {
    let epoch = facts.state_owner()?.map_or(0, |bound| bound.epoch).saturating_add(1);
    let (backup_sequence, backup_head) = (head.sequence, Digest::from_bytes(head.hash));
    Ok(Restored { epoch, backup_sequence, backup_head, backup_at, at, actor, put_back: false })
}
