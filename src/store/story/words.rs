//! Words and sentences for decisions of people and guards about a resource.

use chrono::{DateTime, Utc};

use crate::model::absence::Said;
use crate::model::plan_approval::{PlanApproval, Signature};
use crate::model::record::Record;

/// A time, a word, and a sentence.
pub(super) type Told = (DateTime<Utc>, &'static str, Option<String>);

/// Returns the entry of a record that is no effect and no observation; `None` if it is not about a
/// resource.
pub(super) fn told(record: &Record) -> Option<Told> {
    said(record).or_else(|| kept(record))
}

/// Returns the entry of a person's decision.
fn said(record: &Record) -> Option<Told> {
    if let Record::Resolved { intent, at, actor, said } = record {
        return Some((*at, "settled", Some(format!("{actor} said {said} of intent {intent}"))));
    }
    if let Record::PlanApproval(approval) = record {
        return Some(approved(approval));
    }
    if let Record::Suspended(one) = record {
        return Some((one.at, "suspended", Some(one.to_string())));
    }
    if let Record::Resumed { key: _, actor, at } = record {
        return Some((*at, "resumed", Some(format!("by {actor}"))));
    }
    if let Record::Attached(one) = record {
        let beside = one.beside.as_ref().map(|one| format!(" with that of {}", one.method.short()));
        let beside = beside.unwrap_or_default();
        let detail = format!("a one-time token, brought by {}{beside}", one.actor);
        return Some((one.at, "attached", Some(detail)));
    }
    None
}

fn approved(approval: &PlanApproval) -> Told {
    let PlanApproval { checksum, actor, at, signed, .. } = approval;
    let by = signed.as_ref().map(|signed| {
        let Signature { file, commit, key, until: _ } = &**signed;
        format!(" in {file}, commit {commit}, signed with {key}")
    });
    let by = by.unwrap_or_default();
    (*at, "approved", Some(format!("{actor} approved the plan {checksum}{by}")))
}

/// Returns the entry of a record that no person caused.
fn kept(record: &Record) -> Option<Told> {
    if let Record::Unauthorised(refused) = record {
        let why = "the service takes its credentials no more".to_owned();
        return Some((refused.what.at, "refused", Some(why)));
    }
    if let Record::Absence(absence) = record {
        return Some(match &absence.said {
            Said::Marked(mark) => (mark.at, "missing", mark.commit.clone()),
            Said::Allowed(word) => {
                (word.at, "removal meant", Some(format!("said by {}", word.actor)))
            }
            Said::Back { at } => (*at, "back", None),
        });
    }
    if let Record::Moved(moved) = record {
        let detail = format!("{} is {} from here on", moved.from, moved.to);
        return Some((moved.at, "renamed", Some(detail)));
    }
    None
}
