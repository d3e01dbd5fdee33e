//! The table of conditions: one pure function from the known state of a resource to the conditions
//! in every view.

use chrono::{DateTime, Utc};

use super::views::Confidence;
use crate::base::clock::timestamp;
use crate::engine::Unable;
use crate::model::condition::{Condition, ConditionType, Status};
use crate::model::health::Health;
use crate::model::intent::{IntentState, OpenIntent};
use crate::model::observed::Observed;
use crate::model::plan::{Reason, Step};
use crate::model::suspension::Suspension;

/// The inputs of conditions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    /// The resource's step: its document beside the known state.
    pub step: &'a Step,
    pub observed: Option<&'a Observed>,
    /// Its intent that is not closed.
    pub open: Option<&'a OpenIntent>,
    /// The suspension by a person in effect for the resource or its merchant.
    pub suspension: Option<&'a Suspension>,
    /// True if it is suspended, by a person or by its document.
    pub suspended: bool,
    /// The failure of the last attempt.
    pub unable: Option<&'a Unable>,
    /// The confidence in the known state of its object.
    pub confidence: Option<Confidence>,
}

/// Returns the status of each condition; all counts of conditions use it.
pub(super) fn statuses(
    step: &Step,
    suspended: bool,
    unable: Option<&Unable>,
) -> [(ConditionType, Status); 4] {
    let attention = step.stuck() || unable.is_some_and(Unable::needs_attention);
    [
        (ConditionType::Synced, step.synced()),
        (ConditionType::Healthy, step.health().status),
        (ConditionType::Suspended, suspended.into()),
        (ConditionType::NeedsAttention, attention.into()),
    ]
}

/// Returns the conditions of a resource, always all four, in this order.
pub(super) fn conditions(known: &Known<'_>) -> Vec<Condition> {
    let statuses = statuses(known.step, known.suspended, known.unable).into_iter();
    let made = statuses.map(|(kind, status)| {
        let ((reason, message), since) = match kind {
            ConditionType::Synced => (synced(known, status), since(known)),
            ConditionType::Healthy => healthy(known),
            ConditionType::Suspended => suspended(known),
            ConditionType::NeedsAttention => needs_attention(known, status),
        };
        let (reason, since) = (reason.to_owned(), since.as_ref().map(timestamp));
        Condition { kind, status, reason, message, since }
    });
    made.collect()
}

/// A CamelCase word and a sentence.
type Words = (&'static str, String);

/// Returns the reason and the message of a resource that matches its document, as far as that was
/// verified.
pub(super) fn in_sync(known: &Known<'_>) -> Words {
    let last = known.observed.map(|observed| timestamp(&observed.at));
    let last = last.unwrap_or_else(|| "an unknown time".to_owned());
    match known.confidence {
        Some(Confidence::CannotBeVerified) => (
            "NotVerified",
            format!("last known to match the file at {last}; the service does not show it since"),
        ),
        Some(Confidence::LastKnown) => (
            "NotVerified",
            format!("last known to match the file at {last}; it was not read again since"),
        ),
        Some(Confidence::Verified) | None => ("InSync", known.step.reason.to_string()),
    }
}

fn synced(known: &Known<'_>, status: Status) -> Words {
    let step = known.step;
    match (status, known.unable) {
        (Status::True, _) if step.reason == Reason::InSync => in_sync(known),
        (Status::False, Some(unable)) => (super::word(unable), unable.message().to_owned()),
        _ => (step.reason.word(), step.reason.to_string()),
    }
}

fn healthy(known: &Known<'_>) -> (Words, Option<DateTime<Utc>>) {
    let Health { status, reason, message, since, turns: _ } = known.step.health();
    let made = known.observed.and_then(|observed| observed.changed);
    let since = since.or_else(|| made.filter(|_| status != Status::Unknown));
    ((reason, message), since)
}

fn suspended(known: &Known<'_>) -> (Words, Option<DateTime<Utc>>) {
    match known.suspension {
        Some(suspension) => (("Suspended", suspension.to_string()), Some(suspension.at)),
        None if known.suspended => (("Suspended", Reason::Suspended.to_string()), None),
        None => (("NotSuspended", "nothing keeps changes back".to_owned()), None),
    }
}

fn needs_attention(known: &Known<'_>, status: Status) -> (Words, Option<DateTime<Utc>>) {
    let step = known.step;
    if status == Status::False {
        return (("NothingToDo", "nothing waits for a person".to_owned()), None);
    }
    match known.unable.filter(|_| !step.stuck()) {
        Some(unable) => ((super::word(unable), unable.message().to_owned()), None),
        None => ((step.reason.word(), step.reason.to_string()), since(known)),
    }
}

/// Returns the time of the record that caused the step; `None` if the files alone caused it.
#[expect(clippy::wildcard_enum_match_arm, reason = "every other reason is one of the last change")]
fn since(known: &Known<'_>) -> Option<DateTime<Utc>> {
    let observed = known.observed;
    if let Some(open) = known.open {
        return match open.state {
            IntentState::Open { .. } => Some(open.intent.at),
            IntentState::InDoubt { .. } | IntentState::Held { .. } | IntentState::Closed => {
                open.since.or(Some(open.intent.at))
            }
        };
    }
    match &known.step.reason {
        Reason::Held(_) => observed?.held.as_ref().map(|held| held.at),
        Reason::Refused(_) => observed?.refusal.as_ref().map(|refusal| refusal.at),
        Reason::SuspendedBy(suspension) => Some(suspension.at),
        Reason::AwaitsAuthorization(_) | Reason::Strays(_) => observed.map(|observed| observed.at),
        Reason::Orphaned | Reason::Removed | Reason::Going(_) | Reason::AbsenceNotBelieved => {
            let absence = observed?.absence.as_deref()?;
            absence.marked.as_ref().map(|marked| marked.at)
        }
        reason if is_of_the_files(reason) => None,
        _ => observed.and_then(|observed| observed.changed),
    }
}

/// Returns true if a reason stems from the files or from other resources, and from no record about
/// this one.
fn is_of_the_files(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::NotCreated
            | Reason::Changed
            | Reason::Renewed
            | Reason::Replaced
            | Reason::WaitsFor(_)
            | Reason::BrokenDocument
            | Reason::Suspended
            | Reason::CannotChange(_)
            | Reason::InUse(_)
            | Reason::DueToday(_)
            | Reason::OtherMode(_)
            | Reason::Unfit(_)
            | Reason::OverLimit(_)
    )
}
