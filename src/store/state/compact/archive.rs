//! The archive: segments that a compaction moved out of the journal, and their retention.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::super::assemble::decode;
use super::age::SegmentAge;
use crate::base::id::IntentId;
use crate::store::disk::real::RealDisk;
use crate::store::disk::traits::Disk;
use crate::store::journal::compact;
use crate::store::journal::read::JournalReader;
use crate::store::state::open::OpenError;

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

    /// Returns the archive on this disk.
    pub fn over(disk: Arc<dyn Disk>) -> Self {
        Self { dir: PathBuf::new(), disk: OnceLock::from(disk) }
    }

    /// Returns the archive's disk, if it exists.
    pub(super) fn open_existing(&self) -> Result<Option<Arc<dyn Disk>>, OpenError> {
        if self.disk.get().is_none() && !self.dir.is_dir() {
            return Ok(None);
        }
        self.open_or_create().map(Some)
    }

    /// Returns the archive's disk, and creates it if necessary.
    pub(super) fn open_or_create(&self) -> Result<Arc<dyn Disk>, OpenError> {
        if let Some(disk) = self.disk.get() {
            return Ok(Arc::clone(disk));
        }
        let opened = RealDisk::open(&self.dir);
        let opened = opened.map_err(|source| OpenError::Io { dir: self.dir.clone(), source })?;
        Ok(Arc::clone(self.disk.get_or_init(|| Arc::new(opened))))
    }

    /// Drops the segments that `history` no longer keeps, oldest first, so that the rest has no
    /// gap; returns their number.
    pub(super) fn drop_expired(
        &self,
        history: ArchivePolicy,
        now: DateTime<Utc>,
    ) -> Result<usize, OpenError> {
        let Some(disk) = self.open_existing()? else { return Ok(0) };
        let reader = JournalReader::over(Arc::clone(&disk));
        let segments = reader.segments()?;
        let mut dropped = 0_usize;
        let mut money = BTreeSet::new();
        for (first, last) in ranges(&segments) {
            if !is_expired(&reader, (first, last), (history, now), &mut money)? {
                break;
            }
            compact::remove_segment(&*disk, first)?;
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
) -> Result<bool, OpenError> {
    let keep = match history {
        ArchivePolicy::Keep => return Ok(false),
        ArchivePolicy::Drop => return Ok(true),
        ArchivePolicy::KeepFor(seconds) => {
            TimeDelta::try_seconds(seconds).unwrap_or(TimeDelta::MAX)
        }
    };
    let mut age = SegmentAge::default();
    for record in reader.segment_records(first, last)? {
        let record = record?;
        age.note(&decode(record.sequence, &record.body)?, money);
    }
    Ok(age.is_expired(keep, now))
}
