//! Entries of a history: one for each record about a resource, with a word and a sentence for people.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::model::intent::{Intent, IntentProgress};
use crate::model::operator::{ApprovalSignature, PlanApproval};
use crate::model::record::Record;
use crate::model::remote_object::Freshness;
use crate::model::state::credentials::BindingApproval;
use crate::model::state::drift::Adoption;
use crate::model::state::observed::Observation;
use crate::model::state::orphan::MissingDocumentChange;

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

/// Adds one record to a history.
pub(crate) fn add_record(story: &mut ResourceHistory, stands: RecordRef, record: Record) {
    if let Some(line) = ownership_entry(stands, &record) {
        return story.others.push(line);
    }
    if let Some((at, what, detail)) = decision_text(&record) {
        return story.others.push(entry(stands, at, what, detail));
    }
    if let Some(line) = other_entry(stands, &record) {
        return story.others.push(line);
    }
    if let Record::Intent(intent) = record {
        let (progress, ids) = (Vec::new(), Vec::new());
        story.effects.push(EffectHistory { record_ref: stands, intent: *intent, progress, ids });
    } else if let Record::Progress { intent, at, progress } = record {
        add_progress(story, stands, intent, (at, progress));
    } else if let Record::Approval(approval) = record {
        story.approvals.push((stands, *approval));
    }
}

/// Returns the entry of an observation, a hold, a release, an event or a dismissed orphan.
fn other_entry(stands: RecordRef, record: &Record) -> Option<HistoryEntry> {
    if let Record::Observation(fact) = record {
        return Some(observation_entry(stands, fact));
    }
    if let Record::OnHold { key: _, reason, at } = record {
        return Some(entry(stands, *at, "held", Some(reason.clone())));
    }
    if let Record::Released(release) = record {
        let made = if release.done { "done" } else { "not made" };
        let detail = Some(format!("{made} since the backup, by {}", release.actor));
        return Some(entry(stands, release.at, "released", detail));
    }
    if let Record::EventVerified(told) = record {
        let detail = format!("event {} ({})", told.event, freshness_word(told.freshness));
        return Some(entry(stands, told.at, &told.kind, Some(detail)));
    }
    if let Record::OrphanDismissed(seen) = record {
        let detail = format!("{} by {}: {}", seen.intent, seen.actor, seen.reason);
        return Some(entry(stands, seen.at, "dismissed", Some(detail)));
    }
    None
}

/// Returns a word for the freshness of an event.
pub(crate) fn freshness_word(standing: Freshness) -> &'static str {
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
pub(crate) fn observation_entry(stands: RecordRef, fact: &Observation) -> HistoryEntry {
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
pub(crate) fn add_progress(
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
    if let Some(fact) = progress.observation() {
        line.remote_id = fact.remote_id.as_ref().map(ToString::to_string);
        effect.ids.extend(line.remote_id.clone());
        let others = fact.facts.as_object().into_iter().flatten();
        effect.ids.extend(others.filter_map(|(_, fact)| fact.as_str().map(str::to_owned)));
    }
    effect.progress.push(line);
}

/// Returns the details of a progress.
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

/// Returns the entry of such a record; `None` for any other record.
pub(crate) fn ownership_entry(stands: RecordRef, record: &Record) -> Option<HistoryEntry> {
    if let Record::Adopted(adoption) = record {
        return Some(adoption_entry(stands, adoption));
    }
    if let Record::Forgotten(one) = record {
        let id = one.remote_id.as_ref().map(ToString::to_string);
        let detail = format!("by {}; nothing was done at the service", one.actor);
        let line = entry(stands, one.at, "forgotten", Some(detail));
        return Some(HistoryEntry { remote_id: id, ..line });
    }
    if let Record::Disowned(one) = record {
        let detail = format!("by {}: {} is not ours", one.actor, one.remote_id);
        return Some(entry(stands, one.at, "disowned", Some(detail)));
    }
    if let Record::UnknownObjects(strays) = record {
        let named: Vec<String> = strays.found.iter().map(ToString::to_string).collect();
        let (what, detail) = match named.as_slice() {
            [] => ("unblocked", "no unknown object blocks it any more".to_owned()),
            _ => ("unknown marks", named.join(", ")),
        };
        return Some(entry(stands, strays.at, what, Some(detail)));
    }
    None
}

fn adoption_entry(stands: RecordRef, adoption: &Adoption) -> HistoryEntry {
    let Adoption { fact, mark: _, verified, actor, place, commit } = adoption;
    let how = if *verified { "verified" } else { "unverified" };
    let place = place.as_ref().map(|(file, line)| format!("{file}:{line}"));
    let commit = commit.as_ref().map(|commit| format!("commit {commit}"));
    let parts: Vec<String> =
        [Some(format!("by {actor}, {how}")), place, commit].into_iter().flatten().collect();
    let remote_id = fact.remote_id.as_ref().map(ToString::to_string);
    HistoryEntry { remote_id, ..entry(stands, fact.at, "taken over", Some(parts.join(", "))) }
}

/// A time, a word, and a sentence.
pub(crate) type EntryText = (DateTime<Utc>, &'static str, Option<String>);

/// Returns the entry of a record that is no effect and no observation; `None` if it is not about a
/// resource.
pub(crate) fn decision_text(record: &Record) -> Option<EntryText> {
    decision(record).or_else(|| other_change(record))
}

/// Returns the entry of a person's decision.
fn decision(record: &Record) -> Option<EntryText> {
    if let Record::Resolved { intent, at, actor, decision: said } = record {
        return Some((*at, "settled", Some(format!("{actor} resolved intent {intent} as {said}"))));
    }
    if let Record::PlanApproval(approval) = record {
        return Some(approval_text(approval));
    }
    if let Record::Suspended(one) = record {
        return Some((one.at, "suspended", Some(one.to_string())));
    }
    if let Record::Resumed { key: _, actor, at } = record {
        return Some((*at, "resumed", Some(format!("by {actor}"))));
    }
    if let Record::TokenAttached(one) = record {
        let beside =
            one.copied_method.as_ref().map(|one| format!(" with that of {}", one.method.short()));
        let beside = beside.unwrap_or_default();
        let detail = format!("a one-time token, supplied by {}{beside}", one.actor);
        return Some((one.at, "attached", Some(detail)));
    }
    None
}

fn approval_text(approval: &PlanApproval) -> EntryText {
    let PlanApproval { checksum, actor, at, signed, .. } = approval;
    let by = signed.as_ref().map(|signed| {
        let ApprovalSignature { file, commit, key, until: _ } = &**signed;
        format!(" in {file}, commit {commit}, signed with {key}")
    });
    let by = by.unwrap_or_default();
    (*at, "approved", Some(format!("{actor} approved the plan {checksum}{by}")))
}

/// Returns the entry of a record that no person caused.
fn other_change(record: &Record) -> Option<EntryText> {
    if let Record::Unauthorised(refused) = record {
        let why = "the service refuses its credentials".to_owned();
        return Some((refused.credentials.at, "refused", Some(why)));
    }
    if let Record::MissingDocument(absence) = record {
        return Some(match &absence.change {
            MissingDocumentChange::Marked(mark) => (mark.at, "missing", mark.commit.clone()),
            MissingDocumentChange::Allowed(word) => {
                (word.at, "removal allowed", Some(format!("by {}", word.actor)))
            }
            MissingDocumentChange::Returned { at } => (*at, "back", None),
        });
    }
    if let Record::Moved(moved) = record {
        let detail = format!("{} is now {}", moved.from, moved.to);
        return Some((moved.at, "renamed", Some(detail)));
    }
    None
}
