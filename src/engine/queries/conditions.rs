//! The table of conditions: one pure function from the known state of a resource to the conditions
//! in every view.

use chrono::{DateTime, Utc};

use crate::base::clock::timestamp;
use crate::engine::handles::task_result::TaskFailure;
use crate::engine::protocol::views::Confidence;
use crate::model::holds::Hold;
use crate::model::intent::{IntentState, OpenIntent};
use crate::model::operator::Suspension;
use crate::model::plan::{Reason, Step};
use crate::model::state::health::{Condition, ConditionStatus, ConditionType, Health};
use crate::model::state::observed::Observed;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ConditionInputs<'a> {
    /// The resource's step: its document beside the known state.
    pub step: &'a Step,
    pub observed: Option<&'a Observed>,
    pub open: Option<&'a OpenIntent>,
    /// The suspension by a person in effect for the resource or its merchant.
    pub suspension: Option<&'a Suspension>,
    /// True if it is suspended, by a person or by its document.
    pub suspended: bool,
    pub unable: Option<&'a TaskFailure>,
    /// The hold that keeps its change from being sent.
    pub hold: Option<&'a Hold>,
    pub confidence: Option<Confidence>,
}

fn statuses(
    step: &Step,
    suspended: bool,
    unable: Option<&TaskFailure>,
) -> [(ConditionType, ConditionStatus); 4] {
    let attention = step.needs_operator() || unable.is_some_and(TaskFailure::needs_attention);
    [
        (ConditionType::Synced, step.sync_status()),
        (ConditionType::Healthy, step.health().status),
        (ConditionType::Suspended, suspended.into()),
        (ConditionType::NeedsAttention, attention.into()),
    ]
}

/// Returns the conditions of a resource, always all four, in this order.
pub(crate) fn conditions(known: &ConditionInputs<'_>) -> Vec<Condition> {
    let statuses = statuses(known.step, known.suspended, known.unable).into_iter();
    let made = statuses.map(|(kind, status)| {
        let ((reason, message), since) = match kind {
            ConditionType::Synced => (synced_condition(known, status), change_time(known)),
            ConditionType::Healthy => healthy_condition(known),
            ConditionType::Suspended => suspended_condition(known),
            ConditionType::NeedsAttention => attention_condition(known, status),
        };
        let (reason, since) = (reason.to_owned(), since.as_ref().map(timestamp));
        Condition { kind, status, reason, message, since }
    });
    made.collect()
}

/// A CamelCase word and a sentence.
type ReasonText = (&'static str, String);

/// Returns reason and message of a resource that matches its document, as far as verified.
pub(crate) fn in_sync(known: &ConditionInputs<'_>) -> ReasonText {
    let last = known.observed.map(|observed| timestamp(&observed.at));
    let last = last.unwrap_or_else(|| "an unknown time".to_owned());
    let why = match known.confidence {
        Some(Confidence::CannotBeVerified) => "the service does not show it since",
        Some(Confidence::LastKnown) => "it was not read again since",
        Some(Confidence::Verified) | None => return ("InSync", known.step.reason.to_string()),
    };
    ("NotVerified", format!("last known to match the file at {last}; {why}"))
}

fn synced_condition(known: &ConditionInputs<'_>, status: ConditionStatus) -> ReasonText {
    let step = known.step;
    match (status, known.unable) {
        (ConditionStatus::True, _) if step.reason == Reason::Settled => in_sync(known),
        (ConditionStatus::False, _) if let Some(hold) = known.hold => {
            (hold.word(), hold.sentence())
        }
        (ConditionStatus::False, Some(why)) => (why.word(), why.message().to_owned()),
        _ => (step.reason.word(), step.reason.to_string()),
    }
}

fn healthy_condition(known: &ConditionInputs<'_>) -> (ReasonText, Option<DateTime<Utc>>) {
    let Health { status, reason, message, since, next_change: _ } = known.step.health();
    let made = known.observed.and_then(|observed| observed.changed);
    let since = since.or_else(|| made.filter(|_| status != ConditionStatus::Unknown));
    ((reason, message), since)
}

fn suspended_condition(known: &ConditionInputs<'_>) -> (ReasonText, Option<DateTime<Utc>>) {
    match known.suspension {
        Some(suspension) => (("Suspended", suspension.to_string()), Some(suspension.at)),
        None if known.suspended => (("Suspended", Reason::Suspended.to_string()), None),
        None => (("NotSuspended", "not suspended".to_owned()), None),
    }
}

fn attention_condition(
    known: &ConditionInputs<'_>,
    status: ConditionStatus,
) -> (ReasonText, Option<DateTime<Utc>>) {
    let step = known.step;
    if status == ConditionStatus::False {
        return (("NothingToDo", "no action needed".to_owned()), None);
    }
    match known.unable.filter(|_| !step.needs_operator()) {
        Some(unable) => ((unable.word(), unable.message().to_owned()), None),
        None => ((step.reason.word(), step.reason.to_string()), change_time(known)),
    }
}

/// Returns the time of the record that caused the step; `None` if the files alone caused it.
#[expect(clippy::wildcard_enum_match_arm, reason = "every other reason is one of the last change")]
fn change_time(known: &ConditionInputs<'_>) -> Option<DateTime<Utc>> {
    let observed = known.observed;
    if let Some(open) = known.open {
        return match open.state {
            IntentState::Open { .. } => Some(open.intent.at),
            IntentState::InDoubt { .. } | IntentState::OnHold { .. } | IntentState::Closed => {
                open.since.or(Some(open.intent.at))
            }
        };
    }
    match &known.step.reason {
        Reason::OnHold(_) => observed?.on_hold.as_ref().map(|held| held.at),
        Reason::Refused(_) => observed?.refusal.as_ref().map(|refusal| refusal.at),
        Reason::SuspendedBy(suspension) => Some(suspension.at),
        Reason::AwaitsAuthorization(_) | Reason::UnknownObjects(_) => {
            observed.map(|observed| observed.at)
        }
        Reason::Orphaned | Reason::Removed | Reason::Removal(_) | Reason::PruneSuspended => {
            let absence = observed?.missing_document.as_deref()?;
            absence.marked.as_ref().map(|marked| marked.at)
        }
        reason if stems_from_files(reason) => None,
        _ => observed.and_then(|observed| observed.changed),
    }
}

/// Returns true if a reason stems from files or other resources, and from no record about this.
fn stems_from_files(reason: &Reason) -> bool {
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
            | Reason::Unsuitable(_)
            | Reason::OverLimit(_)
    )
}

#[cfg(test)]
mod tests;
