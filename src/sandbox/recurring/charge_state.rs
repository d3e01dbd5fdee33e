//! Stored recurring charges: states, schedule, and the expiry of their method.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::api::payments::schedule::RecurringSchedule;
use crate::api::recurring::charge::{RecurringCharge, RecurringStatus};
use crate::base::schedule::{Day, IntervalUnit, Schedule as Calendar};
use crate::sandbox::answer::SandboxRefusal;
use crate::sandbox::merchants::events;
use crate::sandbox::methods::expiry;
use crate::sandbox::methods::payment_methods::StoredMethod;
use crate::sandbox::state::lists::{ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;
use crate::sandbox::state::timers::TimerEntry;

/// Private part of a recurring charge.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct RecurringInternals {
    pub(crate) method: StoredMethod,
    /// The pending occurrence.
    pub(crate) pending: Option<String>,
    /// Due date of the last occurrence that was paid, failed or ignored.
    #[serde(rename = "closed")]
    pub(crate) last_closed_date: Option<NaiveDate>,
    /// Number of scheduled payments tried, each counted once; `max_occurrences` limits it.
    #[serde(default)]
    pub(crate) tried: i64,
}

pub(crate) type StoredRecurring = Stored<RecurringCharge, RecurringInternals>;

/// A transition of a recurring charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecurringTransition {
    /// A request changes it.
    Update,
    /// Limits are reached, or no date is left.
    Complete,
    /// A request ends it.
    Cancel,
    /// A request removes it.
    Delete,
}

/// Returns the status after a change; `None` for a change that the status does not allow.
pub(crate) fn step(
    status: &RecurringStatus,
    change: RecurringTransition,
) -> Option<RecurringStatus> {
    use RecurringStatus as S;
    match (status, change) {
        (S::Active, RecurringTransition::Update) => Some(S::Active),
        (S::Active, RecurringTransition::Complete | RecurringTransition::Cancel) => {
            Some(S::Completed)
        }
        (S::Active | S::Completed, RecurringTransition::Delete) => Some(S::Deleted),
        (
            S::Completed,
            RecurringTransition::Update
            | RecurringTransition::Complete
            | RecurringTransition::Cancel,
        )
        | (
            S::Deleted | S::Other(_),
            RecurringTransition::Update
            | RecurringTransition::Complete
            | RecurringTransition::Cancel
            | RecurringTransition::Delete,
        ) => None,
    }
}

/// Returns a recurring charge of this owner.
pub(crate) fn find(
    cx: &ChangeUnit<'_>,
    owner: &ObjectOwner,
    id: &str,
) -> Result<StoredRecurring, SandboxRefusal> {
    cx.find(ObjectKind::RECURRING_CHARGE, owner, id)
}

/// Refuses a start today (service-facts, 63).
pub(crate) fn refuse_today(
    schedule: &RecurringSchedule,
    today: NaiveDate,
) -> Result<(), SandboxRefusal> {
    if schedule.start == Some(today) {
        let text = "The first occurrence would be due immediately";
        return Err(SandboxRefusal::rule("first_occurrence_due_immediately", text));
    }
    Ok(())
}

/// Converts the schedule to a calendar.
///
/// # Errors
///
/// 422 for an invalid schedule.
pub(crate) fn calendar(schedule: &RecurringSchedule) -> Result<Calendar, SandboxRefusal> {
    let wrong = || SandboxRefusal::field("schedule", "invalid", "Schedule is invalid");
    let unit = match schedule.interval_unit.as_deref() {
        Some("DAY") => IntervalUnit::Day,
        Some("WEEK") => IntervalUnit::Week,
        Some("MONTH") => IntervalUnit::Month,
        Some(_) | None => return Err(wrong()),
    };
    let days = schedule.days.iter().flatten().map(|day| day.parse::<Day>());
    let mut days = days.collect::<Result<Vec<_>, _>>().map_err(|_| wrong())?;
    days.sort_unstable();
    days.dedup();
    let delay = schedule.interval_delay.and_then(|delay| u32::try_from(delay).ok());
    Ok(Calendar {
        start: schedule.start.ok_or_else(wrong)?,
        interval_unit: unit,
        interval_delay: delay.ok_or_else(wrong)?,
        end: schedule.end,
        days,
    })
}

/// Schedules the expiry events of the current method.
pub(crate) fn schedule_expiry(
    cx: &mut ChangeUnit<'_>,
    charge: &StoredRecurring,
) -> Result<(), SandboxRefusal> {
    let id = charge.object.id.clone();
    let entry = |expired| TimerEntry::Expiry { id: id.clone(), expired };
    expiry::schedule(cx, &charge.owner, &id, &charge.internal.method.shown, entry)
}

/// Records an expiry event if the charge is still active with a method of this expiry.
pub(crate) fn run_due_expiry(
    cx: &mut ChangeUnit<'_>,
    id: &str,
    expired: bool,
) -> Result<(), SandboxRefusal> {
    let kept: Option<StoredRecurring> = cx.find_any_owner(ObjectKind::RECURRING_CHARGE, id)?;
    let Some(kept) = kept.filter(|kept| kept.object.status == RecurringStatus::Active) else {
        return Ok(());
    };
    match expiry::event_due(cx, &kept.owner, &kept.internal.method.shown, expired)? {
        Some(word) => {
            let kind = format!("recurring_charge.payment_method.{word}");
            events::emit(cx, &kept.owner, &kind, &kept.object)
        }
        None => Ok(()),
    }
}

/// Builds the 422 of a change that the status does not allow.
pub(crate) fn status_refusal() -> SandboxRefusal {
    SandboxRefusal::rule("unavailable_for_current_status", "Not available for the current status")
}
