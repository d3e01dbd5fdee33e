//! History of a resource: everything that the journal holds about it, by effect. `why` shows it.
//!
//! Read from the journal's files alone: no service, no index. Everything shown was verified:
//! checksums, hashes, and the links from the beginning of each segment that was read.

#[cfg(test)]
mod tests;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{adoption, words};
use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::model::events::remote_object::Freshness;
use crate::model::intents::intent::{Intent, IntentProgress};
use crate::model::operator::live_binding::BindingApproval;
use crate::model::record::Record;
use crate::model::state::observed::Observation;
use crate::store::journal::error::JournalError;
use crate::store::journal::log::Head;
use crate::store::journal::pick::PickedRecords;
use crate::store::journal::read::JournalReader;
use crate::store::state::assemble::decode;
use crate::store::state::error::StoreError;

/// Maximum of attempts of a read.
const READS_MAX: usize = 5;

/// Reference to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordRef {
    /// The sequence.
    pub record: u64,
    /// The hash, which fixes everything before the record.
    pub hash: Digest,
}

/// One entry of a history, with its record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryEntry {
    #[serde(rename = "stands")]
    pub record_ref: RecordRef,
    pub at: DateTime<Utc>,
    /// A word for the entry.
    pub what: String,
    /// A sentence with further details.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
    /// The id of the service in the record.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remote_id: Option<String>,
}

/// One effect, from its intent to its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectHistory {
    /// The record of the intent.
    pub record_ref: RecordRef,
    pub intent: Intent,
    /// The progress of the intent, in order.
    pub progress: Vec<HistoryEntry>,
    /// Ids of the service that the progress contains.
    pub ids: Vec<String>,
}

/// Everything that the journal holds about a resource.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceHistory {
    pub key: Key,
    /// The effects, in order.
    pub effects: Vec<EffectHistory>,
    /// The other entries, in order.
    pub others: Vec<HistoryEntry>,
    /// Approvals of its live binding, for a merchant.
    pub approvals: Vec<(RecordRef, BindingApproval)>,
    /// Ranges of records that were verified for this history.
    pub verified: Vec<(u64, u64)>,
    /// Records that a compaction dropped for good.
    pub dropped: Vec<u64>,
}

/// The journal's files: the segments in use, and the archived ones.
#[derive(Debug, Clone)]
pub struct JournalSet {
    pub journal: JournalReader,
    /// The archived segments, if the folder exists.
    pub archive: Option<JournalReader>,
}

impl JournalSet {
    /// Repeats a read if a concurrent compaction moved or dropped segments meanwhile.
    pub(crate) fn retry_while_moving<T>(
        &self,
        read: impl Fn() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let begins = || -> Result<_, StoreError> {
            let archive = self.archive.as_ref().map(JournalReader::first).transpose()?;
            Ok((self.journal.first()?, archive.flatten()))
        };
        let (mut before, mut tries) = (begins()?, READS_MAX);
        loop {
            let done = read();
            let now = begins()?;
            tries = tries.saturating_sub(1);
            if now == before || tries == 0 {
                return done;
            }
            before = now;
        }
    }

    /// Returns the records of these sequences, and the sequences that no longer exist.
    fn pick(&self, sequences: &[u64]) -> Result<(PickedRecords, Vec<u64>), StoreError> {
        let begins = self.journal.first()?.unwrap_or(1);
        let split = sequences.partition_point(|sequence| *sequence < begins);
        let (older, newer) = sequences.split_at(split);
        let (mut picked, mut dropped) = (PickedRecords::default(), Vec::new());
        match &self.archive {
            Some(archive) if !older.is_empty() => {
                let begins = archive.first()?.unwrap_or(u64::MAX);
                let split = older.partition_point(|sequence| *sequence < begins);
                dropped.extend(older.iter().take(split));
                picked = archive.pick(older.get(split..).unwrap_or_default())?;
            }
            Some(_) | None => dropped.extend(older),
        }
        let newer = self.journal.pick(newer)?;
        picked.records.extend(newer.records);
        picked.verified.extend(newer.verified);
        Ok((picked, dropped))
    }

    /// Verifies the chain to this head, from the first record that exists; returns that record's
    /// sequence.
    pub fn verify(&self, head: Head) -> Result<u64, StoreError> {
        self.retry_while_moving(|| self.verify_once(head))
    }

    fn verify_once(&self, head: Head) -> Result<u64, StoreError> {
        let base = self.journal.base()?.map_or(Head::EMPTY, |base| base.head);
        let mut first = base.sequence.saturating_add(1);
        if let Some(archive) = self.archive.as_ref().filter(|_| base.sequence > 0) {
            let begins = archive.first()?.unwrap_or(first);
            if begins < first {
                ends_at(archive, begins, base)?;
                first = begins;
            }
        }
        ends_at(&self.journal, base.sequence.saturating_add(1), head)?;
        Ok(first)
    }

    /// Returns the history of a resource, from the sequences of its records.
    pub fn history(&self, key: &Key, sequences: &[u64]) -> Result<ResourceHistory, StoreError> {
        let (picked, dropped) = self.retry_while_moving(|| self.pick(sequences))?;
        let mut story = ResourceHistory {
            key: key.clone(),
            effects: Vec::new(),
            others: Vec::new(),
            approvals: Vec::new(),
            verified: picked.verified,
            dropped,
        };
        for record in picked.records {
            let hash = Digest::from_bytes(record.hash);
            let stands = RecordRef { record: record.sequence, hash };
            add_record(&mut story, stands, decode(record.sequence, &record.body)?);
        }
        Ok(story)
    }
}

/// Verifies the records from `first` on, which must end in this head.
fn ends_at(reader: &JournalReader, first: u64, head: Head) -> Result<(), StoreError> {
    let mut last = Head::EMPTY;
    for record in reader.records(first, head.sequence) {
        let record = record?;
        last = Head { sequence: record.sequence, hash: record.hash };
    }
    if last == head {
        return Ok(());
    }
    Err(JournalError::Forgotten { known: head, found: last }.into())
}

/// Adds one record to a history.
fn add_record(story: &mut ResourceHistory, stands: RecordRef, record: Record) {
    if let Some(line) = adoption::entry_of(stands, &record) {
        return story.others.push(line);
    }
    if let Some((at, what, detail)) = words::entry_text(&record) {
        return story.others.push(entry(stands, at, what, detail));
    }
    match record {
        Record::Intent(intent) => story.effects.push(EffectHistory {
            record_ref: stands,
            intent: *intent,
            progress: Vec::new(),
            ids: Vec::new(),
        }),
        Record::Progress { intent, at, progress } => {
            add_progress(story, stands, intent, (at, progress));
        }
        Record::Observation(fact) => story.others.push(observation_entry(stands, &fact)),
        Record::OnHold { key: _, reason, at } => {
            story.others.push(entry(stands, at, "held", Some(reason)));
        }
        Record::Approval(approval) => story.approvals.push((stands, *approval)),
        Record::Released(release) => {
            let made = if release.done { "done" } else { "not made" };
            let detail = Some(format!("{made} since the backup, by {}", release.actor));
            story.others.push(entry(stands, release.at, "released", detail));
        }
        Record::EventVerified(told) => {
            let detail = format!("event {} ({})", told.event, freshness_word(told.freshness));
            story.others.push(entry(stands, told.at, &told.kind, Some(detail)));
        }
        Record::OrphanDismissed(seen) => {
            let detail = format!("{} by {}: {}", seen.intent, seen.actor, seen.reason);
            story.others.push(entry(stands, seen.at, "dismissed", Some(detail)));
        }
        Record::StateOwner(_)
        | Record::PartnerWebhook(_)
        | Record::WebhookReceived(_)
        | Record::Forged(_)
        | Record::Polled(_)
        | Record::HooksRun(_)
        | Record::CursorAdvanced(_)
        | Record::ActionSettled(_)
        | Record::NotificationAttempt(_)
        | Record::Replayed(_)
        | Record::Rotated(_)
        | Record::Rekeyed(_)
        | Record::EventsDropped(_)
        | Record::Lapsed(_)
        | Record::HooksAcknowledged(_)
        | Record::ScriptsLoaded(_)
        | Record::ScriptForgotten(_)
        | Record::EmptyRemote { .. }
        | Record::Compacted(_)
        | Record::Restored(_)
        | Record::PlanUsed(_)
        | Record::Resolved { .. }
        | Record::PlanApproval(_)
        | Record::Unauthorised(_)
        | Record::Suspended(_)
        | Record::Resumed { .. }
        | Record::MissingDocument(_)
        | Record::Moved(_)
        | Record::Adopted(_)
        | Record::Forgotten(_)
        | Record::Disowned(_)
        | Record::UnknownObjects(_)
        | Record::TokenAttached(_) => {}
    }
}

/// Returns a word for the freshness of an event.
fn freshness_word(standing: Freshness) -> &'static str {
    match standing {
        Freshness::Newer => "new",
        Freshness::Same => "duplicate",
        Freshness::Older => "older than the known version",
        Freshness::Undecided => "undecided, read again",
    }
}

pub(crate) fn entry(
    stands: RecordRef,
    at: DateTime<Utc>,
    what: &str,
    detail: Option<String>,
) -> HistoryEntry {
    HistoryEntry { record_ref: stands, at, what: what.to_owned(), detail, remote_id: None }
}

/// Returns the entry of an observation that did not come from an effect.
fn observation_entry(stands: RecordRef, fact: &Observation) -> HistoryEntry {
    let what = match fact.exists {
        Some(false) => "found missing",
        Some(true) if fact.remote_id.is_some() => "seen",
        Some(true) | None => "noted",
    };
    let source = serde_json::to_value(fact.source).ok();
    let detail = source.and_then(|source| source.as_str().map(|word| format!("source: {word}")));
    let remote_id = fact.remote_id.as_ref().map(ToString::to_string);
    HistoryEntry { remote_id, ..entry(stands, fact.at, what, detail) }
}

/// Adds an intent's progress to its effect.
fn add_progress(
    story: &mut ResourceHistory,
    stands: RecordRef,
    id: IntentId,
    (at, progress): (DateTime<Utc>, IntentProgress),
) {
    let Some(effect) = story.effects.iter_mut().rev().find(|effect| effect.intent.id == id) else {
        return;
    };
    let word = progress.word().replace('_', " ");
    let mut line = entry(stands, at, &word, detail(&progress));
    let taught = match &progress {
        IntentProgress::Done { observation, proof: _ } => Some(&**observation),
        IntentProgress::OnHold { reason: _, observation } => observation.as_deref(),
        IntentProgress::Resent
        | IntentProgress::Doubt { .. }
        | IntentProgress::NotSent { .. }
        | IntentProgress::Refused { .. }
        | IntentProgress::GivenUp { .. } => None,
    };
    if let Some(fact) = taught {
        line.remote_id = fact.remote_id.as_ref().map(ToString::to_string);
        effect.ids.extend(line.remote_id.clone());
        let others = fact.facts.as_object().into_iter().flatten();
        effect.ids.extend(others.filter_map(|(_, fact)| fact.as_str().map(str::to_owned)));
    }
    effect.progress.push(line);
}

/// Returns the details of a progress.
fn detail(progress: &IntentProgress) -> Option<String> {
    match progress {
        IntentProgress::Resent => None,
        IntentProgress::Done { observation: _, proof } => Some(proof.to_string()),
        IntentProgress::Refused { status, problem } => {
            Some(format!("HTTP {status}: {}", problem.sentences()))
        }
        IntentProgress::Doubt { reason, unsent: _ }
        | IntentProgress::NotSent { reason }
        | IntentProgress::GivenUp { reason }
        | IntentProgress::OnHold { reason, observation: _ } => Some(reason.clone()),
    }
}

impl EffectHistory {
    /// Returns true if an id of the service, or a mark, belongs to an object that this effect
    /// created or changed.
    pub fn concerns(&self, id: &str) -> bool {
        self.ids.iter().any(|one| one == id)
            || self.intent.target.as_ref().is_some_and(|target| target.as_str() == id)
            || self.intent.mark.as_str() == id
    }

    /// Returns the values that the answer had to contain, the money among them.
    pub fn expected_values(&self) -> Vec<(&str, &Value)> {
        self.intent.expect.iter().map(|(path, value)| (path.as_str(), value)).collect()
    }
}
