//! Words and sentences for decisions of people and guards about a resource.

use chrono::{DateTime, Utc};

use crate::model::operator::plan_approval::{ApprovalSignature, PlanApproval};
use crate::model::plans::missing_document::MissingDocumentChange;
use crate::model::record::Record;

/// A time, a word, and a sentence.
pub(crate) type EntryText = (DateTime<Utc>, &'static str, Option<String>);

/// Returns the entry of a record that is no effect and no observation; `None` if it is not about a
/// resource.
pub(crate) fn entry_text(record: &Record) -> Option<EntryText> {
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
