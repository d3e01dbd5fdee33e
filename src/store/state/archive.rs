//! The archive: segments that a compaction moved out of the journal, and their retention.
//!
//! A segment is kept while any of its records, or of its evidence about money, is young enough.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::base::id::IntentId;
use crate::model::record::Record;
use crate::store::disk::real::RealDisk;
use crate::store::disk::traits::Disk;
use crate::store::error::{OpenError, OpenResult};
use crate::store::journal::files;
use crate::store::journal::read::JournalReader;
use crate::store::writer::core::decoded;

/// Treatment of the records that a snapshot replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArchivePolicy {
    /// The records are archived.
    Keep,
    /// The records are archived. A segment is dropped once all of it is older than this, in
    /// seconds.
    KeepFor(i64),
    /// The records are dropped, and so is the present archive.
    Drop,
}

/// Place of archived segments; created with the first one.
#[derive(Debug)]
pub struct Archive {
    dir: PathBuf,
    disk: OnceLock<Arc<dyn Disk>>,
}

impl Archive {
    /// Returns the archive in this folder, which need not exist.
    pub fn in_folder(dir: PathBuf) -> Self {
        Self { dir, disk: OnceLock::new() }
    }

    pub fn over(disk: Arc<dyn Disk>) -> Self {
        Self { dir: PathBuf::new(), disk: OnceLock::from(disk) }
    }

    /// Returns the archive's disk, if it exists.
    pub(crate) fn open_existing(&self) -> OpenResult<Option<Arc<dyn Disk>>> {
        if self.disk.get().is_none() && !self.dir.is_dir() {
            return Ok(None);
        }
        self.open_or_create().map(Some)
    }

    /// Returns the archive's disk, and creates it if necessary.
    pub(crate) fn open_or_create(&self) -> OpenResult<Arc<dyn Disk>> {
        if let Some(disk) = self.disk.get() {
            return Ok(Arc::clone(disk));
        }
        let opened = RealDisk::open(&self.dir);
        let opened = opened.map_err(|source| OpenError::Io { dir: self.dir.clone(), source })?;
        Ok(Arc::clone(self.disk.get_or_init(|| Arc::new(opened))))
    }

    /// Drops the segments that `history` no longer keeps, oldest first, so that the rest has no
    /// gap; returns their number.
    pub(crate) fn drop_expired(
        &self,
        history: ArchivePolicy,
        now: DateTime<Utc>,
    ) -> OpenResult<usize> {
        let Some(disk) = self.open_existing()? else { return Ok(0) };
        let reader = JournalReader::over(Arc::clone(&disk));
        let segments = reader.segments()?;
        let mut dropped = 0_usize;
        let mut money = BTreeSet::new();
        for (first, last) in ranges(&segments) {
            if !is_expired(&reader, (first, last), (history, now), &mut money)? {
                break;
            }
            files::remove_segment(&*disk, first)?;
            dropped = dropped.saturating_add(1);
        }
        Ok(dropped)
    }
}

/// Returns the first and the last record of each segment; the newest one ends where its records
/// end.
fn ranges(segments: &[u64]) -> impl Iterator<Item = (u64, u64)> {
    let ends = segments.iter().skip(1).map(|next| next.saturating_sub(1));
    segments.iter().copied().zip(ends.chain([u64::MAX]))
}

/// Returns true if nothing in a segment must be kept.
fn is_expired(
    reader: &JournalReader,
    (first, last): (u64, u64),
    (history, now): (ArchivePolicy, DateTime<Utc>),
    money: &mut BTreeSet<IntentId>,
) -> OpenResult<bool> {
    let keep = match history {
        ArchivePolicy::Keep => return Ok(false),
        ArchivePolicy::Drop => return Ok(true),
        ArchivePolicy::KeepFor(seconds) => {
            TimeDelta::try_seconds(seconds).unwrap_or(TimeDelta::MAX)
        }
    };
    let mut age = SegmentAge::default();
    for record in decoded(reader.segment_records(first, last)?) {
        age.note(&record?.1, money);
    }
    Ok(age.is_expired(keep, now))
}

/// Minimum age of approvals and of intents that move money before they are dropped: six months.
const EVIDENCE: TimeDelta = TimeDelta::days(184);

/// The newest times that records name.
#[derive(Debug, Default)]
pub(crate) struct SegmentAge {
    newest: Option<DateTime<Utc>>,
    /// The newest time among evidence.
    evidence: Option<DateTime<Utc>>,
}

impl SegmentAge {
    /// Notes a record. `money` holds the intents so far that move money.
    pub(crate) fn note(&mut self, record: &Record, money: &mut BTreeSet<IntentId>) {
        let at = record.time();
        self.newest = self.newest.max(at);
        if is_evidence(record, money) {
            self.evidence = self.evidence.max(at);
        }
    }

    /// Returns true if all records are older than `keep`, and all evidence is also older than six
    /// months. A segment without any time is kept.
    pub(crate) fn is_expired(&self, keep: TimeDelta, now: DateTime<Utc>) -> bool {
        let older = |at: DateTime<Utc>, than: TimeDelta| {
            now.checked_sub_signed(than).is_some_and(|horizon| at < horizon)
        };
        let evidence = self.evidence.is_none_or(|at| older(at, keep.max(EVIDENCE)));
        self.newest.is_some_and(|at| older(at, keep)) && evidence
    }
}

fn is_evidence(record: &Record, money: &mut BTreeSet<IntentId>) -> bool {
    if let Record::Intent(intent) = record
        && !intent.exposure.moves.is_empty()
    {
        money.insert(intent.id);
    }
    matches!(record, Record::Approval(_) | Record::PlanApproval(_))
        || record.intent_id().is_some_and(|id| money.contains(&id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::Mode;
    use crate::base::money::{Currency, Money};
    use crate::model::effect::{Exposure, RecordedMove};
    use crate::model::intent::Intent;
    use crate::store::tests::support::old_intent;

    fn day(days: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH.checked_add_signed(TimeDelta::days(days)).unwrap()
    }

    /// Closes K11: records of moved money stay for six months, all others for the given time.
    #[test]
    fn money_is_kept_for_six_months_whatever_is_said() {
        let over = |records: &[Record], keep: i64, now: i64| {
            let (mut age, mut money) = (SegmentAge::default(), BTreeSet::new());
            for record in records {
                age.note(record, &mut money);
            }
            age.is_expired(TimeDelta::days(keep), day(now))
        };
        let hold = |at| Record::OnHold {
            key: "Contact/jane".parse().unwrap(),
            reason: "x".into(),
            at: day(at),
        };
        assert!(!over(&[], 1, 1000), "no time is known");
        assert!(over(&[hold(1), hold(5)], 10, 16) && !over(&[hold(1), hold(5)], 10, 15));
        let still =
            Record::Intent(Box::new(Intent { at: day(0), ..old_intent(1, "a", "m", Mode::Test) }));
        assert!(over(&[still, hold(0)], 10, 20), "it moves nothing");
        let moved = RecordedMove { amount: Money::new(100, Currency::USD), meaning: "paid".into() };
        let stake = Exposure { moves: vec![moved], ..Exposure::default() };
        let intent = Intent { at: day(0), exposure: stake, ..old_intent(1, "a", "m", Mode::Test) };
        let money = [Record::Intent(Box::new(intent)), hold(0)];
        assert!(!over(&money, 10, 184) && over(&money, 10, 185) && !over(&money, 400, 300));
    }
}
