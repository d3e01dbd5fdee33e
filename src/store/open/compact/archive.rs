//! The archive: segments that a compaction put aside, and how long they stay there.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::super::OpenError;
use super::super::assemble::decode;
use super::age::Age;
use crate::base::id::IntentId;
use crate::store::disk::Disk;
use crate::store::journal::{self, Reader};
use crate::store::real_disk::RealDisk;

/// What becomes of the records that a snapshot replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum History {
    /// They are put aside.
    Keep,
    /// They are put aside, and dropped once all of a segment is so old, in seconds.
    KeepFor(i64),
    /// They are dropped, and so is what was put aside before.
    Drop,
}

/// Where segments are put aside; made when the first one is.
#[derive(Debug)]
pub struct Archive {
    dir: PathBuf,
    disk: OnceLock<Arc<dyn Disk>>,
}

impl Archive {
    /// The archive in this folder, which need not be there.
    pub fn in_folder(dir: PathBuf) -> Self {
        Self { dir, disk: OnceLock::new() }
    }

    /// The archive on this disk.
    pub fn over(disk: Arc<dyn Disk>) -> Self {
        Self { dir: PathBuf::new(), disk: OnceLock::from(disk) }
    }

    /// Its disk, if there is one.
    pub(super) fn there(&self) -> Result<Option<Arc<dyn Disk>>, OpenError> {
        if self.disk.get().is_none() && !self.dir.is_dir() {
            return Ok(None);
        }
        self.made().map(Some)
    }

    /// Its disk, made if there is none.
    pub(super) fn made(&self) -> Result<Arc<dyn Disk>, OpenError> {
        if let Some(disk) = self.disk.get() {
            return Ok(Arc::clone(disk));
        }
        let opened = RealDisk::open(&self.dir);
        let opened = opened.map_err(|source| OpenError::Io { dir: self.dir.clone(), source })?;
        Ok(Arc::clone(self.disk.get_or_init(|| Arc::new(opened))))
    }

    /// Drops what is too old, oldest first, so that what is left has no gap; answers how many segments that were.
    pub(super) fn thin(&self, history: History, now: DateTime<Utc>) -> Result<usize, OpenError> {
        let Some(disk) = self.there()? else { return Ok(0) };
        let reader = Reader::over(Arc::clone(&disk));
        let segments = reader.segments()?;
        let mut dropped = 0_usize;
        let mut money = BTreeSet::new();
        for (first, last) in ranges(&segments) {
            if !goes(&reader, (first, last), (history, now), &mut money)? {
                break;
            }
            journal::forget(&*disk, first)?;
            dropped = dropped.saturating_add(1);
        }
        Ok(dropped)
    }
}

/// The first and the last record of each segment; the end of the newest one is where its records end.
fn ranges(segments: &[u64]) -> impl Iterator<Item = (u64, u64)> {
    let ends = segments.iter().skip(1).map(|next| next.saturating_sub(1));
    segments.iter().copied().zip(ends.chain([u64::MAX]))
}

/// Whether nothing of a segment has to be kept.
fn goes(
    reader: &Reader,
    (first, last): (u64, u64),
    (history, now): (History, DateTime<Utc>),
    money: &mut BTreeSet<IntentId>,
) -> Result<bool, OpenError> {
    let keep = match history {
        History::Keep => return Ok(false),
        History::Drop => return Ok(true),
        History::KeepFor(seconds) => TimeDelta::try_seconds(seconds).unwrap_or(TimeDelta::MAX),
    };
    let mut age = Age::default();
    for record in reader.within(first, last)? {
        let record = record?;
        age.note(&decode(record.sequence, &record.body)?, money);
    }
    Ok(age.is_over(keep, now))
}
