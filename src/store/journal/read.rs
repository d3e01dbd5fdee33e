//! Reads durable records, also while others are appended.

use std::{collections::VecDeque, sync::Arc};

use super::{
    super::{
        bytes::{to_u64, to_usize},
        disk::Disk,
    },
    Head, JournalError, Record, check,
    error::Follows,
    record::{self, Look},
    segment::{self, HEADER_BYTES, Segment},
};

/// A handle that reads records. Its caller must pass what is durable: the reader never looks
/// further.
#[derive(Debug, Clone)]
pub struct Reader {
    disk: Arc<dyn Disk>,
}

impl Reader {
    pub(super) fn new(disk: Arc<dyn Disk>) -> Self {
        Self { disk }
    }

    /// Returns a handle over the files of a journal that another process may own.
    pub fn over(disk: Arc<dyn Disk>) -> Self {
        Self { disk }
    }

    pub(super) fn disk(&self) -> &dyn Disk {
        self.disk.as_ref()
    }

    /// Returns the records of sequence `first` to `last`, both included; `last` must be durable.
    ///
    /// Reading begins at the start of the segment that holds `first`, and every record is verified
    /// against the record before it. Nothing follows an error.
    pub fn records(&self, first: u64, last: u64) -> Records {
        Records {
            disk: Arc::clone(&self.disk),
            first: first.max(1),
            last,
            ahead: None,
            current: None,
            done: first > last,
        }
    }

    /// Returns the durable records of the segment that begins with `first`: up to `last`, or to its
    /// end.
    pub fn within(
        &self,
        first: u64,
        last: u64,
    ) -> Result<impl Iterator<Item = Result<Record, JournalError>> + use<>, JournalError> {
        let end = segment::end(&Segment::read(self.disk(), first)?);
        Ok(self.records(first, end.min(last)))
    }

    /// Returns one durable record.
    pub fn get(&self, sequence: u64) -> Result<Record, JournalError> {
        let missing = || JournalError::MissingSegment { expected: sequence, found: None };
        self.records(sequence, sequence).next().ok_or_else(missing)?
    }
}

/// Records in order, each verified.
#[derive(Debug)]
pub struct Records {
    disk: Arc<dyn Disk>,
    first: u64,
    last: u64,
    /// The segments not yet entered; listed at the first step.
    ahead: Option<VecDeque<u64>>,
    current: Option<Place>,
    done: bool,
}

#[derive(Debug)]
struct Place {
    segment: Segment,
    offset: usize,
    head: Head,
}

impl Iterator for Records {
    type Item = Result<Record, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            let step = self.step();
            match &step {
                Ok(record) if record.sequence < self.first => continue,
                Ok(record) => self.done = record.sequence >= self.last,
                Err(_) => self.done = true,
            }
            return Some(step);
        }
        None
    }
}

impl Records {
    fn step(&mut self) -> Result<Record, JournalError> {
        loop {
            let place = match self.current.take() {
                Some(place) => place,
                None => self.enter(None)?,
            };
            match record::look(&place.segment.bytes, place.offset) {
                Look::Record(found) => {
                    check::follows(&place.segment, place.offset, &found, place.head)?;
                    let (sequence, hash) = (found.sequence, found.hash);
                    let body = found.body.to_vec();
                    let offset = place.offset.saturating_add(found.size);
                    let head = Head { sequence, hash };
                    self.current = Some(Place { segment: place.segment, offset, head });
                    return Ok(Record { sequence, hash, body });
                }
                Look::End => self.current = Some(self.enter(Some(place.head))?),
                Look::Version(found) => {
                    return Err(check::unknown(&place.segment, place.offset, found));
                }
                Look::Bad(why) => return Err(damaged(&place, why)),
            }
        }
    }

    /// Enters the next segment. The first segment's header is trusted for the hash before it.
    fn enter(&mut self, head: Option<Head>) -> Result<Place, JournalError> {
        let next = match self.ahead.as_mut() {
            Some(ahead) => ahead.pop_front(),
            None => self.ahead.insert(listed(self.disk.as_ref(), self.first)?).pop_front(),
        };
        let expected = head.map_or(self.first, |head| head.sequence.saturating_add(1));
        let first = next.ok_or(JournalError::MissingSegment { expected, found: None })?;
        let segment = Segment::read(self.disk.as_ref(), first)?;
        let before = Head { sequence: first.saturating_sub(1), hash: segment.previous };
        let head = head.unwrap_or(before);
        segment.continues(head)?;
        Ok(Place { segment, offset: to_usize(HEADER_BYTES), head })
    }
}

/// Returns the segments from the one that holds `sequence` on.
fn listed(disk: &dyn Disk, sequence: u64) -> Result<VecDeque<u64>, JournalError> {
    let mut segments = VecDeque::from(segment::list(disk)?);
    while segments.get(1).is_some_and(|second| *second <= sequence) {
        segments.pop_front();
    }
    Ok(segments)
}

fn damaged(place: &Place, why: &'static str) -> JournalError {
    JournalError::Damaged {
        file: place.segment.file.clone(),
        offset: to_u64(place.offset),
        sequence: place.head.sequence.saturating_add(1),
        why,
        follows: Follows::Acknowledged,
    }
}
