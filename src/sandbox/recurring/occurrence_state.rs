//! Stored occurrences: states, look-ups, and slow payments.
//!
//! With `paying_minutes` in `/_sandbox/settings`, a due occurrence is `PAYING` for these minutes, and
//! then paid or declined (service-facts, 59; docs/design/assumptions.md). A payment in progress
//! cannot be stopped, neither by another payment nor by a change or the end of its recurring charge.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::charge_state;
use super::charge_state::{StoredRecurring, status_refusal};
use crate::api::recurring::charge::RecurringStatus;
use crate::api::recurring::occurrence::{Occurrence, OccurrenceStatus};
use crate::api::wire::Timestamp;
use crate::sandbox::answer::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::merchants::events;
use crate::sandbox::state::lists::{ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;
use crate::sandbox::state::timers;
use crate::sandbox::state::timers::TimerEntry;

/// Private part of an occurrence.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct OccurrenceInternals {
    /// Ids of its transactions, oldest first.
    pub(crate) transactions: Vec<String>,
    /// End of the payment in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) paying_until: Option<Timestamp>,
}

pub(crate) type StoredOccurrence = Stored<Occurrence, OccurrenceInternals>;

/// A transition of an occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OccurrenceTransition {
    /// A payment is in progress.
    Begin,
    /// A payment was made.
    Pay,
    /// A payment was declined.
    Decline,
    /// A request excludes it from the automatic collection.
    Ignore,
}

/// Returns the status after a change; `None` for a change that the status does not allow.
pub(crate) fn step(
    status: &OccurrenceStatus,
    change: OccurrenceTransition,
) -> Option<OccurrenceStatus> {
    use OccurrenceStatus as S;
    match (status, change) {
        (S::Pending, OccurrenceTransition::Begin) => Some(S::Paying),
        (S::Pending | S::Failed | S::Ignored | S::Paying, OccurrenceTransition::Pay) => {
            Some(S::Paid)
        }
        (S::Pending | S::Failed | S::Ignored | S::Paying, OccurrenceTransition::Decline) => {
            Some(S::Failed)
        }
        (S::Pending | S::Failed | S::Ignored, OccurrenceTransition::Ignore) => Some(S::Ignored),
        (S::Failed | S::Ignored | S::Paying, OccurrenceTransition::Begin)
        | (S::Paying, OccurrenceTransition::Ignore)
        | (
            S::Paid | S::Other(_),
            OccurrenceTransition::Begin
            | OccurrenceTransition::Pay
            | OccurrenceTransition::Decline
            | OccurrenceTransition::Ignore,
        ) => None,
    }
}

/// Returns the event type of a change.
pub(crate) fn event(change: OccurrenceTransition) -> &'static str {
    match change {
        OccurrenceTransition::Begin => "recurring_charge.occurrence.updated",
        OccurrenceTransition::Pay => "recurring_charge.occurrence.paid",
        OccurrenceTransition::Decline => "recurring_charge.occurrence.failed",
        OccurrenceTransition::Ignore => "recurring_charge.occurrence.ignored",
    }
}

pub(crate) fn find_any_owner(
    cx: &ChangeUnit<'_>,
    id: &str,
) -> Result<StoredOccurrence, SandboxRefusal> {
    cx.find_any_owner(ObjectKind::OCCURRENCE, id)?
        .ok_or_else(|| SandboxRefusal::not_found(ObjectKind::OCCURRENCE.name, id))
}

/// Returns the recurring charge and the occurrence that a path names.
pub(crate) fn find_pair(
    cx: &ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<(StoredRecurring, StoredOccurrence), SandboxRefusal> {
    let owner: ObjectOwner = asked.owner()?;
    let charge = charge_state::find(cx, &owner, asked.parameter(0))?;
    let kept: StoredOccurrence = cx.find(ObjectKind::OCCURRENCE, &owner, asked.parameter(1))?;
    if kept.object.recurring_charge_id != charge.object.id {
        return Err(SandboxRefusal::not_found(ObjectKind::OCCURRENCE.name, asked.parameter(1)));
    }
    Ok((charge, kept))
}

pub(crate) fn refuse_deleted(charge: &StoredRecurring) -> Result<(), SandboxRefusal> {
    if charge.object.status == RecurringStatus::Deleted { Err(status_refusal()) } else { Ok(()) }
}

/// Returns true while its payment is in progress.
pub(crate) fn is_paying(kept: &StoredOccurrence) -> bool {
    kept.object.status == OccurrenceStatus::Paying
}

/// Returns true once its payment in progress has reached its end.
pub(crate) fn is_over(cx: &ChangeUnit<'_>, kept: &StoredOccurrence) -> bool {
    is_paying(kept) && kept.internal.paying_until.is_some_and(|end| end.0 <= cx.now)
}

/// Begins the payment of an occurrence; returns false if it takes no time or was begun before.
pub(crate) fn begin(
    cx: &mut ChangeUnit<'_>,
    kept: &mut StoredOccurrence,
) -> Result<bool, SandboxRefusal> {
    let minutes = cx.settings.paying_minutes;
    if minutes == 0 || is_paying(kept) {
        return Ok(false);
    }
    kept.object.status =
        step(&kept.object.status, OccurrenceTransition::Begin).ok_or_else(status_refusal)?;
    kept.object.modified = Some(Timestamp(cx.now));
    let end = cx.now.checked_add_signed(TimeDelta::minutes(minutes.into())).unwrap_or(cx.now);
    kept.internal.paying_until = Some(Timestamp(end));
    cx.update(ObjectKind::OCCURRENCE, &kept.object.id, kept)?;
    timers::schedule(cx, end, &TimerEntry::Occurrence { id: kept.object.id.clone() })?;
    events::emit(cx, &kept.owner, event(OccurrenceTransition::Begin), &kept.object)?;
    Ok(true)
}
