//! History of a resource: everything that the journal holds about it, by effect. `why` shows it. Each
//! entry has a word and a sentence for people.
//!
//! Read from the journal's files alone: no service, no index. Everything shown was verified:
//! checksums, hashes, and the links from the beginning of each segment that was read.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::model::events::event::VerifiedEvent;
use crate::model::events::hook_run::HookRunRecord;
use crate::model::intent::{Intent, IntentProgress};
use crate::model::operator::{ApprovalSignature, PlanApproval};
use crate::model::record::Record;
use crate::model::remote_object::Freshness;
use crate::model::state::credentials::BindingApproval;
use crate::model::state::drift::Adoption;
use crate::model::state::lifecycle::Release;
use crate::model::state::observed::Observation;
use crate::model::state::orphan::{MissingDocumentChange, UnknownObjectsFound};
use crate::model::state::token_attachment::TokenAttachment;
use crate::store::error::StoreResult;
use crate::store::journal::chain::{Head, JournalRecord};
use crate::store::journal::read::{JournalReader, JournalSet};
use crate::store::writer::core::{decode, decoded};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordRef {
    pub record: u64,
    /// The hash, which fixes everything before the record.
    pub hash: Digest,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryEntry {
    #[serde(rename = "stands")]
    pub record_ref: RecordRef,
    pub at: DateTime<Utc>,
    pub what: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remote_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EffectHistory {
    pub record_ref: RecordRef,
    pub intent: Intent,
    pub progress: Vec<HistoryEntry>,
    /// Ids of the service that the progress contains.
    pub ids: Vec<String>,
}

impl EffectHistory {
    /// Returns true if an id or a mark belongs to an object that this effect created or changed.
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

#[derive(Debug, Clone, PartialEq)]
pub struct ResourceHistory {
    pub key: Key,
    pub effects: Vec<EffectHistory>,
    pub others: Vec<HistoryEntry>,
    /// Approvals of its live binding, for a merchant.
    pub approvals: Vec<(RecordRef, BindingApproval)>,
    /// Ranges of records that were verified for this history.
    pub verified: Vec<(u64, u64)>,
    /// Records that a compaction dropped for good.
    pub dropped: Vec<u64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventHistory {
    /// The verified events, in order.
    pub events: Vec<VerifiedEvent>,
    /// Every run of their hooks, in the order of the journal.
    pub runs: Vec<HookRunRecord>,
}

/// Records of some sequences, ascending.
#[derive(Debug)]
pub struct DecodedRecords {
    pub records: Vec<(u64, Record)>,
    /// The sequences that a compaction dropped.
    pub dropped: Vec<u64>,
}

impl JournalSet {
    pub fn history(&self, key: &Key, sequences: &[u64]) -> StoreResult<ResourceHistory> {
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

    /// Returns the records of these sequences.
    pub fn decoded(&self, sequences: &[u64]) -> StoreResult<DecodedRecords> {
        let (picked, dropped) = self.retry_while_moving(|| self.pick(sequences))?;
        let record = |record: &JournalRecord| -> StoreResult<(u64, Record)> {
            Ok((record.sequence, decode(record.sequence, &record.body)?))
        };
        let records = picked.records.iter().map(record).collect::<StoreResult<Vec<_>>>()?;
        Ok(DecodedRecords { records, dropped })
    }

    /// Returns the events verified since `since`, up to this head, with their runs. Records that a
    /// compaction dropped are missing.
    pub fn events(&self, since: DateTime<Utc>, head: Head) -> StoreResult<EventHistory> {
        self.retry_while_moving(|| {
            let mut past = EventHistory::default();
            let mut known = BTreeSet::new();
            let base = self.journal.base()?.map_or(Head::EMPTY, |base| base.head);
            if let Some(archive) = self.archive.as_ref().filter(|_| base.sequence > 0) {
                let first = archive.first()?.unwrap_or(u64::MAX);
                gather(archive, (first, base.sequence), since, &mut past, &mut known)?;
            }
            let rest = (base.sequence.saturating_add(1), head.sequence);
            gather(&self.journal, rest, since, &mut past, &mut known)?;
            Ok(past)
        })
    }
}

/// Gathers events and runs from these records. `known` holds the events of the period.
fn gather(
    reader: &JournalReader,
    (first, last): (u64, u64),
    since: DateTime<Utc>,
    past: &mut EventHistory,
    known: &mut BTreeSet<(Key, String)>,
) -> StoreResult {
    for record in decoded(reader.records(first, last)) {
        let (_, record) = record?;
        if let Record::EventVerified(told) = record {
            if told.at >= since {
                known.insert((told.merchant.clone(), told.event.clone()));
                past.events.push(*told);
            }
        } else if let Record::HooksRun(ran) = record
            && known.contains(&(ran.merchant.clone(), ran.event.clone()))
        {
            past.runs.push(*ran);
        }
    }
    Ok(())
}

fn add_record(story: &mut ResourceHistory, stands: RecordRef, record: Record) {
    if let Some((at, what, detail)) = entry_text(&record) {
        let what = what.to_owned();
        let remote_id = remote_id(&record);
        story.others.push(HistoryEntry { record_ref: stands, at, what, detail, remote_id });
    } else if let Record::Intent(intent) = record {
        let (progress, ids) = (Vec::new(), Vec::new());
        story.effects.push(EffectHistory { record_ref: stands, intent: *intent, progress, ids });
    } else if let Record::Progress { intent, at, progress } = record {
        add_progress(story, stands, intent, (at, progress));
    } else if let Record::Approval(approval) = record {
        story.approvals.push((stands, *approval));
    }
}

pub(crate) type EntryText<'a> = (DateTime<Utc>, &'a str, Option<String>);

/// Returns the entry of a record; `None` for effects, approvals of bindings, and for no resource.
pub(crate) fn entry_text(record: &Record) -> Option<EntryText<'_>> {
    Some(match record {
        Record::Observation(fact) => observation_text(fact),
        Record::OnHold { key: _, reason, at } => (*at, "held", Some(reason.clone())),
        Record::Released(release) => release_text(release),
        Record::EventVerified(told) => {
            let detail = format!("event {} ({})", told.event, freshness_word(told.freshness));
            (told.at, told.kind.as_str(), Some(detail))
        }
        Record::OrphanDismissed(seen) => {
            let detail = format!("{} by {}: {}", seen.intent, seen.actor, seen.reason);
            (seen.at, "dismissed", Some(detail))
        }
        Record::Adopted(adoption) => adoption_text(adoption),
        Record::Forgotten(one) => {
            let detail = format!("by {}; nothing was done at the service", one.actor);
            (one.at, "forgotten", Some(detail))
        }
        Record::Disowned(one) => {
            (one.at, "disowned", Some(format!("by {}: {} is not ours", one.actor, one.remote_id)))
        }
        Record::UnknownObjects(strays) => unknown_objects_text(strays),
        Record::Unauthorised(refused) => {
            let why = "the service refuses its credentials".to_owned();
            (refused.credentials.at, "refused", Some(why))
        }
        Record::MissingDocument(absence) => missing_document_text(&absence.change),
        Record::Moved(moved) => {
            (moved.at, "renamed", Some(format!("{} is now {}", moved.from, moved.to)))
        }
        Record::Resolved { intent, at, actor, decision } => {
            (*at, "settled", Some(format!("{actor} resolved intent {intent} as {decision}")))
        }
        Record::PlanApproval(approval) => approval_text(approval),
        Record::Suspended(one) => (one.at, "suspended", Some(one.to_string())),
        Record::Resumed { key: _, actor, at } => (*at, "resumed", Some(format!("by {actor}"))),
        Record::TokenAttached(attachment) => attachment_text(attachment),
        Record::Frozen(one) => {
            (one.at, "frozen", Some(format!("by {}: {}", one.actor, one.reason)))
        }
        Record::Thawed(one) => (one.at, "thawed", Some(format!("by {}", one.actor))),
        Record::Synced(one) => (one.at, "synced", Some(format!("by {}", one.actor))),
        Record::Alert(one) => (one.at, "alert", Some(one.to_string())),
        Record::StateOwner(_)
        | Record::Intent(_)
        | Record::Progress { .. }
        | Record::PartnerWebhook(_)
        | Record::WebhookReceived(_)
        | Record::Forged(_)
        | Record::HooksRun(_)
        | Record::CursorAdvanced(_)
        | Record::ActionSettled(_)
        | Record::NotificationAttempt(_)
        | Record::Replayed(_)
        | Record::ReplayRequested(_)
        | Record::Polled(_)
        | Record::EmptyRemote { .. }
        | Record::Approval(_)
        | Record::PlanUsed(_)
        | Record::Restored(_)
        | Record::Compacted(_)
        | Record::Rekeyed(_)
        | Record::HooksAcknowledged(_)
        | Record::ScriptsLoaded(_)
        | Record::ScriptForgotten(_)
        | Record::EventsDropped(_)
        | Record::Lapsed(_)
        | Record::Rotated(_) => return None,
    })
}

fn release_text(release: &Release) -> EntryText<'_> {
    let made = if release.done { "done" } else { "not made" };
    (release.at, "released", Some(format!("{made} since the backup, by {}", release.actor)))
}

fn attachment_text(attachment: &TokenAttachment) -> EntryText<'_> {
    let copied = attachment.copied_method.as_ref();
    let beside = copied.map(|one| format!(" with that of {}", one.method.short()));
    let beside = beside.unwrap_or_default();
    let detail = format!("a one-time token, supplied by {}{beside}", attachment.actor);
    (attachment.at, "attached", Some(detail))
}

fn remote_id(record: &Record) -> Option<String> {
    if let Record::Forgotten(one) = record {
        return one.remote_id.as_ref().map(ToString::to_string);
    }
    record.observation()?.remote_id.as_ref().map(ToString::to_string)
}

fn freshness_word(standing: Freshness) -> &'static str {
    match standing {
        Freshness::Newer => "new",
        Freshness::Same => "duplicate",
        Freshness::Older => "older than the known version",
        Freshness::Undecided => "undecided, read again",
    }
}

/// Returns the entry of an observation that did not come from an effect.
fn observation_text(fact: &Observation) -> EntryText<'_> {
    let what = match fact.exists {
        Some(false) => "found missing",
        Some(true) if fact.remote_id.is_some() => "seen",
        Some(true) | None => "noted",
    };
    let source = serde_json::to_value(fact.source).ok();
    let detail = source.and_then(|source| source.as_str().map(|word| format!("source: {word}")));
    (fact.at, what, detail)
}

fn add_progress(
    story: &mut ResourceHistory,
    stands: RecordRef,
    id: IntentId,
    (at, progress): (DateTime<Utc>, IntentProgress),
) {
    let Some(effect) = story.effects.iter_mut().rev().find(|effect| effect.intent.id == id) else {
        return;
    };
    let what = progress.word().replace('_', " ");
    let detail = detail(&progress);
    let mut line = HistoryEntry { record_ref: stands, at, what, detail, remote_id: None };
    if let Some(fact) = progress.observation() {
        line.remote_id = fact.remote_id.as_ref().map(ToString::to_string);
        effect.ids.extend(line.remote_id.clone());
        let others = fact.facts.as_object().into_iter().flatten();
        effect.ids.extend(others.filter_map(|(_, fact)| fact.as_str().map(str::to_owned)));
    }
    effect.progress.push(line);
}

pub(crate) fn detail(progress: &IntentProgress) -> Option<String> {
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

fn unknown_objects_text(strays: &UnknownObjectsFound) -> EntryText<'_> {
    let named: Vec<String> = strays.found.iter().map(ToString::to_string).collect();
    let (what, detail) = match named.as_slice() {
        [] => ("unblocked", "no unknown object blocks it any more".to_owned()),
        _ => ("unknown marks", named.join(", ")),
    };
    (strays.at, what, Some(detail))
}

fn adoption_text(adoption: &Adoption) -> EntryText<'_> {
    let Adoption { fact, mark: _, verified, actor, place, commit } = adoption;
    let how = if *verified { "verified" } else { "unverified" };
    let place = place.as_ref().map(|(file, line)| format!("{file}:{line}"));
    let commit = commit.as_ref().map(|commit| format!("commit {commit}"));
    let parts: Vec<String> =
        [Some(format!("by {actor}, {how}")), place, commit].into_iter().flatten().collect();
    (fact.at, "taken over", Some(parts.join(", ")))
}

fn missing_document_text(change: &MissingDocumentChange) -> EntryText<'_> {
    match change {
        MissingDocumentChange::Marked(mark) => (mark.at, "missing", mark.commit.clone()),
        MissingDocumentChange::Allowed(word) => {
            (word.at, "removal allowed", Some(format!("by {}", word.actor)))
        }
        MissingDocumentChange::Returned { at } => (*at, "back", None),
    }
}

fn approval_text(approval: &PlanApproval) -> EntryText<'_> {
    let PlanApproval { checksum, actor, at, signed, .. } = approval;
    let by = signed.as_ref().map(|signed| {
        let ApprovalSignature { file, commit, key, until: _ } = &**signed;
        format!(" in {file}, commit {commit}, signed with {key}")
    });
    let by = by.unwrap_or_default();
    (*at, "approved", Some(format!("{actor} approved the plan {checksum}{by}")))
}

#[cfg(test)]
mod tests;
