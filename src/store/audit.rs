//! The audit trail: the journal's records, newest first, a part at a time.
//!
//! Every record has an entry: its time, its kind, its resource, its actor, and a sentence that is the
//! same as in the history of the resource. No entry holds a field of a document or a body.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::model::record::Record;
use crate::store::error::StoreResult;
use crate::store::history::{detail, entry_text};
use crate::store::journal::read::JournalSet;
use crate::store::read_model::model::{ReadModel, ReadResult};
use crate::store::writer::core::decode;

/// Records that one request looks at, at most.
const SCANNED_MAX: usize = 2_000;
/// Entries of an answer, at most.
const ENTRIES_MAX: usize = 500;

/// A part of the audit trail.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditRequest {
    /// Only records of a resource, under its present name.
    pub resource: Option<Key>,
    /// Only records of an intent.
    pub intent: Option<IntentId>,
    /// Only records whose actor contains this text, in any case.
    pub actor: Option<String>,
    /// Only records before this one.
    pub before: Option<u64>,
    pub limit: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditTrail {
    pub items: Vec<AuditEntry>,
    /// `before` of the next part; `None` behind the first record.
    pub next: Option<u64>,
    /// Sequence of the journal's last record.
    pub position: u64,
    /// Number of wanted records that a compaction dropped for good.
    pub dropped: usize,
}

/// One record of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    pub record: u64,
    pub hash: Digest,
    pub at: Option<DateTime<Utc>>,
    /// The kind of the record.
    pub kind: String,
    pub key: Option<Key>,
    pub intent: Option<String>,
    pub actor: Option<String>,
    pub detail: Option<String>,
}

/// The records to read for a part of the trail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditSequences {
    /// Ascending.
    sequences: Vec<u64>,
    /// True if older ones are left.
    has_older: bool,
    /// Sequence of the journal's last record.
    position: u64,
}

impl AuditRequest {
    fn entries_max(&self) -> usize {
        self.limit.clamp(1, ENTRIES_MAX)
    }

    /// Returns the records to read, up to the record `position`, which must be durable.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn sequences(&self, facts: &ReadModel, position: u64) -> ReadResult<AuditSequences> {
        let end = self.before.unwrap_or(u64::MAX).min(position.saturating_add(1));
        let key = match (&self.resource, self.intent) {
            (Some(key), _) => Some(key.clone()),
            (None, Some(id)) => match facts.intent_position(id)? {
                Some(found) => Some(found.key),
                None => return Ok(AuditSequences { position, ..AuditSequences::default() }),
            },
            (None, None) => None,
        };
        let (sequences, has_older) = match key {
            Some(key) => self.newest_of(facts.record_sequences(&key)?, end),
            None => self.newest(end),
        };
        Ok(AuditSequences { sequences, has_older, position })
    }

    /// Returns the number of records to read: more than are shown, if they are filtered.
    fn read_max(&self) -> usize {
        let is_filtered = self.actor.is_some() || self.intent.is_some();
        if is_filtered { SCANNED_MAX } else { self.entries_max() }
    }

    /// Returns the newest records before this one, and true if older ones are left.
    fn newest(&self, end: u64) -> (Vec<u64>, bool) {
        let most = u64::try_from(self.read_max()).unwrap_or(u64::MAX);
        let first = end.saturating_sub(most).max(1);
        ((first..end).collect(), first > 1)
    }

    fn newest_of(&self, mut all: Vec<u64>, end: u64) -> (Vec<u64>, bool) {
        all.retain(|sequence| *sequence < end);
        let older = all.len().saturating_sub(self.read_max());
        (all.split_off(older), older > 0)
    }
}

impl JournalSet {
    /// Returns a part of the trail.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn audit(&self, request: &AuditRequest, read: &AuditSequences) -> StoreResult<AuditTrail> {
        let AuditSequences { sequences, has_older, position } = read;
        let (picked, dropped) = self.retry_while_moving(|| self.pick(sequences))?;
        let mut items = Vec::new();
        for record in picked.records.into_iter().rev() {
            let hash = Digest::from_bytes(record.hash);
            let entry = entry(record.sequence, hash, &decode(record.sequence, &record.body)?);
            items.extend(request.selects(&entry).then_some(entry));
        }
        let next = sequences.first().copied().filter(|_| *has_older && dropped.is_empty());
        let (items, next) = cut(items, request.entries_max(), next);
        Ok(AuditTrail { items, next, position: *position, dropped: dropped.len() })
    }
}

/// Keeps the newest entries; with more, the next part begins behind the last kept one.
fn cut(
    mut items: Vec<AuditEntry>,
    limit: usize,
    next: Option<u64>,
) -> (Vec<AuditEntry>, Option<u64>) {
    if items.len() <= limit {
        return (items, next);
    }
    items.truncate(limit);
    let next = items.last().map(|last| last.record);
    (items, next)
}

impl AuditRequest {
    fn selects(&self, entry: &AuditEntry) -> bool {
        let actor = |wanted: &str| {
            let own = entry.actor.as_deref().unwrap_or_default().to_lowercase();
            own.contains(&wanted.trim().to_lowercase())
        };
        self.actor.as_deref().is_none_or(actor)
            && self.intent.is_none_or(|id| entry.intent == Some(id.to_string()))
    }
}

/// Returns the entry of a record. Common fields have one name in every record's wire form.
fn entry(record: u64, hash: Digest, content: &Record) -> AuditEntry {
    let wire = serde_json::to_value(content).unwrap_or_default();
    let tagged = wire.as_object().and_then(|object| object.iter().next());
    let (kind, body) = tagged.map_or(("unknown", &Value::Null), |(kind, body)| (&**kind, body));
    let field = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let first = |pointers: &[&str]| pointers.iter().find_map(|pointer| field(pointer));
    let (text, detail) = text(content);
    let key = content.subjects().first().copied().cloned();
    AuditEntry {
        record,
        hash,
        at: first(&["/at", "/fact/at", "/change/marked/at", "/began", "/credentials/at"])
            .and_then(|at| at.parse().ok()),
        kind: text.unwrap_or_else(|| kind.replace('_', " ")),
        key: key.or_else(|| first(&["/merchant"]).and_then(|key| key.parse().ok())),
        intent: content.intent_id().map(|id| id.to_string()),
        actor: first(&["/actor", "/cause/actor"]),
        detail,
    }
}

/// Returns the words of a record's kind, if the history has any, and its sentence.
fn text(content: &Record) -> (Option<String>, Option<String>) {
    if let Record::Intent(intent) = content {
        return (Some(format!("intent: {}", intent.effect)), None);
    }
    if let Record::Progress { progress, .. } = content {
        return (Some(progress.word().replace('_', " ")), detail(progress));
    }
    entry_text(content).map_or((None, None), |(_, what, detail)| (Some(what.to_owned()), detail))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(record: &Value) -> AuditEntry {
        let record: Record = serde_json::from_value(record.clone()).unwrap();
        entry(7, Digest::from_bytes([0; 32]), &record)
    }

    #[test]
    fn records_of_every_kind_have_a_time_an_actor_and_a_resource_where_they_name_one() {
        let at = "2026-11-20T12:34:56Z";
        let resumed =
            of(&json!({"resumed": {"key": "Invoice/default/jane", "actor": "anna", "at": at}}));
        assert_eq!((resumed.kind.as_str(), resumed.actor.as_deref()), ("resumed", Some("anna")));
        assert_eq!(resumed.key.unwrap().short(), "Invoice/jane");
        assert_eq!(resumed.at.unwrap().timestamp(), 1_795_178_096);
        let empty = of(&json!({"empty_remote": {"at": at, "actor": "anna"}}));
        assert_eq!((empty.kind.as_str(), empty.key, empty.detail), ("empty remote", None, None));
        let resolved =
            of(&json!({"resolved": {"intent": 12, "at": at, "actor": "anna", "said": "retry"}}));
        assert_eq!(resolved.intent.as_deref(), Some("i-000012"));
        assert_eq!(resolved.detail.as_deref(), Some("anna resolved intent i-000012 as retry"));
    }

    #[test]
    fn actors_are_found_by_a_part_of_their_name() {
        let entry = of(&json!({"empty_remote": {"at": "2026-11-20T12:34:56Z", "actor": "Anna B"}}));
        let request =
            |actor: &str| AuditRequest { actor: Some(actor.to_owned()), ..AuditRequest::default() };
        assert!(request("anna ").selects(&entry) && !request("joe").selects(&entry));
    }

    #[test]
    fn a_part_ends_at_its_limit_and_names_where_the_next_begins() {
        let entry = |record| AuditEntry {
            record,
            ..of(&json!({"empty_remote": {"at": "2026-11-20T12:34:56Z", "actor": "a"}}))
        };
        let (kept, next) = cut(vec![entry(9), entry(7), entry(5)], 2, Some(1));
        assert_eq!((kept.len(), next), (2, Some(7)));
        assert_eq!(cut(vec![entry(9)], 2, Some(1)).1, Some(1));
    }
}
