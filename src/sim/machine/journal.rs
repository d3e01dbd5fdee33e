//! Independent decoder of the durable records on the journal's disk, and the wall clock that dates
//! them.
//!
//! The checkers must not trust the code that they check, so this module reads the records from the
//! format alone. After a header of 64 bytes, each record is `RkJ1`, a CRC-32, a length, and the
//! bytes that both cover: version 1, sequence 8, batch 8, previous hash 32, and a CBOR body.
//!
//! The machine's wall clock can be wrong and jump, while the service's own clock stays right; its
//! jumps correct the times of the records.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};

use crate::base::clock::{Clock, SharedClock};
use crate::model::intent::{Intent, IntentProgress};
use crate::model::record::Record;
use crate::sim::machine::disk::SimDisk;
use crate::sim::plan::parts::add;

const HEADER_BYTES: usize = 64;
const PREFIX_BYTES: usize = 12;
const FIXED_BYTES: usize = 49;
const MAGIC: &[u8] = b"RkJ1";

/// A durable record, which no power failure can remove.
#[derive(Debug, Clone)]
pub struct DurableRecord {
    pub sequence: u64,
    /// BLAKE3 of all bytes after the length.
    pub hash: [u8; 32],
    /// File, and the offsets at which the record begins and ends.
    pub place: (String, usize, usize),
    pub record: Record,
}

/// Incremental reader of the journal.
#[derive(Debug, Default)]
pub struct DurableReader {
    read: BTreeMap<String, usize>,
}

impl DurableReader {
    /// Returns the records that became durable since the last call, in order.
    pub fn read_new(&mut self, disk: &SimDisk) -> Vec<DurableRecord> {
        let mut news = Vec::new();
        disk.each_durable(|name, bytes| {
            let at = self.read.entry(name.to_owned()).or_insert(HEADER_BYTES);
            while let Some((entry, end)) = decode(name, bytes, *at) {
                *at = end;
                news.push(entry);
            }
        });
        news
    }
}

pub fn allowed_counts(disk: &SimDisk) -> Vec<DurableRecord> {
    DurableReader::default().read_new(disk)
}

fn decode(name: &str, bytes: &[u8], at: usize) -> Option<(DurableRecord, usize)> {
    let prefix = bytes.get(at..at.checked_add(PREFIX_BYTES)?)?;
    let (magic, rest) = prefix.split_at_checked(4)?;
    let (crc, length) = rest.split_at_checked(4)?;
    if magic != MAGIC {
        return None;
    }
    let size = usize::try_from(u32::from_le_bytes(length.try_into().ok()?)).ok()?;
    let start = at.checked_add(PREFIX_BYTES)?;
    let end = start.checked_add(size)?;
    let covered = bytes.get(start..end)?;
    let mut sum = crc32fast::Hasher::new();
    sum.update(length);
    sum.update(covered);
    if sum.finalize() != u32::from_le_bytes(crc.try_into().ok()?) {
        return None;
    }
    let sequence = u64::from_le_bytes(covered.get(1..9)?.try_into().ok()?);
    let record = ciborium::from_reader(covered.get(FIXED_BYTES..)?).ok()?;
    let hash = blake3::hash(covered).into();
    Some((DurableRecord { sequence, hash, place: (name.to_owned(), at, end), record }, end))
}

/// Identity of a call on both sides: method, path and the name in its body.
pub type CallName = (String, String, String);

/// Returns the JSON pointer to our name in the body of a call, if the call carries one.
pub fn name_pointer(method: &str, path: &str) -> Option<&'static str> {
    match path {
        _ if method != "POST" => None,
        "/invoices" => Some("/source_id"),
        "/v1/cards"
        | "/v1/banks"
        | "/v1/tokens"
        | "/v1/recurring/charges"
        | "/v1/charges"
        | "/v1/credits"
        | "/api/v1/merchant_applications/sign_up" => Some("/reference"),
        "/api/v1/merchant_applications" => Some("/merchant_application/reference"),
        _ => None,
    }
}

pub fn name_of(intent: &Intent) -> CallName {
    let request = &intent.request;
    let method = request.method.as_str();
    let name = match name_pointer(method, &request.path) {
        Some("/source_id") => intent.source_id.to_string(),
        Some(_) => intent.mark.to_string(),
        None => String::new(),
    };
    (method.to_owned(), request.path.clone(), name)
}

/// Number of times that the durable journal allows each call.
#[derive(Debug, Default)]
pub struct AllowedCalls {
    reader: DurableReader,
    names: BTreeMap<u64, CallName>,
    allowed: BTreeMap<CallName, u32>,
}

impl AllowedCalls {
    /// Returns the numbers with the records that became durable since the last call.
    pub fn read(&mut self, disk: &SimDisk) -> &BTreeMap<CallName, u32> {
        for entry in self.reader.read_new(disk) {
            if let Record::Intent(intent) = &entry.record {
                let name = name_of(intent);
                self.names.insert(intent.id.get(), name.clone());
                add(&mut self.allowed, name, 1);
            }
            if let Record::Progress { intent, at: _, progress: IntentProgress::Resent } =
                &entry.record
                && let Some(name) = self.names.get(&intent.get()).cloned()
            {
                add(&mut self.allowed, name, 1);
            }
        }
        &self.allowed
    }
}

#[derive(Debug, Clone)]
pub struct IntentHistory {
    pub intent: Intent,
    pub progress: Vec<(DateTime<Utc>, IntentProgress)>,
}

impl IntentHistory {
    pub fn is_done(&self) -> bool {
        matches!(self.progress.last(), Some((_, IntentProgress::Done { .. })))
    }

    /// Returns, for each progress, the reason why the intent was then on hold.
    pub fn hold_reasons(&self) -> impl DoubleEndedIterator<Item = Option<&str>> {
        self.progress.iter().map(|(_, progress)| {
            let IntentProgress::OnHold { reason, observation: _ } = progress else { return None };
            Some(reason.as_str())
        })
    }

    /// Returns the reason why the intent is on hold at the end.
    pub fn hold_reason(&self) -> Option<&str> {
        self.hold_reasons().next_back().flatten()
    }

    /// Returns true if the intent was given up without proof, and so may have left an orphan.
    pub fn given_up(&self) -> bool {
        let given_up = matches!(self.progress.last(), Some((_, IntentProgress::GivenUp { .. })));
        given_up && self.intent.target.is_none()
    }

    pub fn document(&self) -> &str {
        self.intent.key.name.as_str()
    }
}

pub fn intent_histories(entries: &[DurableRecord]) -> Vec<IntentHistory> {
    let mut stories: BTreeMap<u64, IntentHistory> = BTreeMap::new();
    for entry in entries {
        if let Record::Intent(intent) = &entry.record {
            let story = IntentHistory { intent: (**intent).clone(), progress: Vec::new() };
            stories.insert(intent.id.get(), story);
        }
        if let Record::Progress { intent, at, progress } = &entry.record
            && let Some(story) = stories.get_mut(&intent.get())
        {
            story.progress.push((*at, progress.clone()));
        }
    }
    stories.into_values().collect()
}

pub fn intent_numbers(entries: &[DurableRecord]) -> Vec<u64> {
    let intents = entries.iter().filter_map(|entry| {
        if let Record::Intent(intent) = &entry.record { Some(intent.id.get()) } else { None }
    });
    intents.collect()
}

/// Clock that is `ahead_s` seconds ahead of the right one.
#[derive(Debug)]
pub(crate) struct WallClock {
    true_clock: SharedClock,
    ahead_s: AtomicI64,
}

impl WallClock {
    pub(crate) fn new(right: SharedClock) -> Self {
        Self { true_clock: right, ahead_s: AtomicI64::new(0) }
    }

    /// Moves the clock by `seconds`, back if negative. Returns the new distance from the right
    /// time.
    pub(crate) fn jump(&self, seconds: i64) -> i64 {
        let ahead = self.ahead_s().saturating_add(seconds);
        self.ahead_s.store(ahead, Ordering::Relaxed);
        ahead
    }

    pub(crate) fn ahead_s(&self) -> i64 {
        self.ahead_s.load(Ordering::Relaxed)
    }
}

impl Clock for WallClock {
    fn now(&self) -> DateTime<Utc> {
        let ahead = TimeDelta::seconds(self.ahead_s());
        self.true_clock.now().checked_add_signed(ahead).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }
}

/// Distances of the machine's clock in seconds, each with the record after which it began.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClockJumps(Vec<(u64, i64)>);

impl ClockJumps {
    /// Notes the distance of the clock from the record after `behind` on.
    pub(crate) fn note(&mut self, behind: u64, ahead_s: i64) {
        self.0.push((behind, ahead_s));
    }

    /// Notes that the journal now ends at the record `behind`, and the current distance of the
    /// clock.
    pub(crate) fn cut(&mut self, behind: u64, ahead_s: i64) {
        self.0.retain(|(from, _)| *from < behind);
        self.note(behind, ahead_s);
    }

    pub(crate) fn correct_times(&self, mut entries: Vec<DurableRecord>) -> Vec<DurableRecord> {
        for entry in &mut entries {
            let before = self.0.iter().rev().find(|(behind, _)| *behind < entry.sequence);
            let ahead = TimeDelta::seconds(before.map_or(0, |(_, ahead)| *ahead));
            let right = |at: &mut DateTime<Utc>| *at = at.checked_sub_signed(ahead).unwrap_or(*at);
            if let Record::Intent(intent) = &mut entry.record {
                right(&mut intent.at);
            } else if let Record::Progress { at, .. } = &mut entry.record {
                right(at);
            }
        }
        entries
    }
}
