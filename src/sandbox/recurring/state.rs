//! Stored recurring charges and occurrences: states, look-ups, schedule, the expiry of the method,
//! and slow payments.
//!
//! With `paying_minutes` in `/_sandbox/settings`, a due occurrence is `PAYING` for these minutes,
//! and then paid or declined (service-facts, 59; docs/design/assumptions.md). A payment in
//! progress cannot be stopped, neither by another payment nor by a change or the end of its
//! recurring charge.

use chrono::{NaiveDate, TimeDelta};
use serde::{Deserialize, Serialize};

use crate::api::recurring::{Occurrence, OccurrenceStatus, RecurringCharge, RecurringStatus};
use crate::api::rules::FieldProblem;
use crate::api::schedule::RecurringSchedule;
use crate::api::wire::Timestamp;
use crate::base::schedule::{Day, IntervalUnit, Schedule as Calendar, ScheduleProblem};
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::merchants::events;
use crate::sandbox::methods::expiry;
use crate::sandbox::methods::payment_methods::StoredMethod;
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::objects::{ObjectKind, ObjectOwner, Stored, TimerEntry};
use crate::sandbox::state::store::ChangeUnit;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct RecurringInternals {
    pub(crate) method: StoredMethod,
    pub(crate) pending: Option<String>,
    /// Due date of the last occurrence that was paid, failed or ignored.
    #[serde(rename = "closed")]
    pub(crate) last_closed_date: Option<NaiveDate>,
    /// Number of scheduled payments tried, each counted once; `max_occurrences` limits it.
    #[serde(default)]
    pub(crate) tried: i64,
}

pub(crate) type StoredRecurring = Stored<RecurringCharge, RecurringInternals>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecurringTransition {
    Update,
    /// Limits are reached, or no date is left.
    Complete,
    Cancel,
    Delete,
}

/// Returns the status after a change. 422 for a change that the status does not allow.
pub(crate) fn step_charge(
    status: &RecurringStatus,
    change: RecurringTransition,
) -> Result<RecurringStatus> {
    use RecurringStatus as S;
    use RecurringTransition as T;
    match (status, change) {
        (S::Active, T::Update) => Ok(S::Active),
        (S::Active, T::Complete | T::Cancel) => Ok(S::Completed),
        (S::Active | S::Completed, T::Delete) => Ok(S::Deleted),
        _ => Err(status_refusal()),
    }
}

pub(crate) fn find_charge(
    cx: &ChangeUnit,
    owner: &ObjectOwner,
    id: &str,
) -> Result<StoredRecurring> {
    cx.find(ObjectKind::RECURRING_CHARGE, owner, id)
}

/// Refuses a start today (service-facts, 63).
pub(crate) fn refuse_today(schedule: &RecurringSchedule, today: NaiveDate) -> Result<()> {
    let text = "The first occurrence would be due immediately";
    let is_later = schedule.start != Some(today);
    SandboxRefusal::unless(is_later, "first_occurrence_due_immediately", text)
}

/// Converts the schedule to a calendar. 422 for an invalid schedule.
pub(crate) fn calendar(schedule: &RecurringSchedule) -> Result<Calendar> {
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

/// Refuses a calendar with 422 for each problem of the fields under `parent`.
pub(crate) fn check_calendar(parent: &str, problems: &[ScheduleProblem]) -> Result<()> {
    let problems = problems.iter().map(|one| FieldProblem::new(one.field, "invalid", &one.message));
    SandboxRefusal::fields(parent, &problems.collect::<Vec<_>>())
}

pub(crate) fn schedule_expiry(cx: &mut ChangeUnit, charge: &StoredRecurring) -> Result<()> {
    let method = &charge.internal.method.shown;
    let entry = |expired| TimerEntry::Expiry { id: charge.object.id.clone(), expired };
    expiry::schedule_expiry(cx, &charge.owner, charge.sequence, method, entry)
}

/// Records an expiry event if the charge is still active with a method of this expiry.
pub(crate) fn run_due_expiry(cx: &mut ChangeUnit, id: &str, expired: bool) -> Result<()> {
    let kept: Option<StoredRecurring> = cx.look_up(ObjectKind::RECURRING_CHARGE, id)?;
    let Some(kept) = kept else { return Ok(()) };
    schedule_expiry(cx, &kept)?;
    if kept.object.status != RecurringStatus::Active {
        return Ok(());
    }
    let method = &kept.internal.method.shown;
    let word = expiry::expiry_event_due(cx, &kept.owner, method, expired)?;
    let Some(word) = word else { return Ok(()) };
    let kind = format!("recurring_charge.payment_method.{word}");
    events::emit(cx, &kept.owner, &kind, &kept.object)
}

pub(crate) fn status_refusal() -> SandboxRefusal {
    SandboxRefusal::rule("unavailable_for_current_status", "Not available for the current status")
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct OccurrenceInternals {
    /// Ids of its transactions, oldest first.
    pub(crate) transactions: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) paying_until: Option<Timestamp>,
}

pub(crate) type StoredOccurrence = Stored<Occurrence, OccurrenceInternals>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OccurrenceTransition {
    Begin,
    Pay,
    Decline,
    /// A request excludes it from the automatic collection.
    Ignore,
}

/// Returns the status after a change. 422 for a change that the status does not allow.
pub(crate) fn step_occurrence(
    status: &OccurrenceStatus,
    change: OccurrenceTransition,
) -> Result<OccurrenceStatus> {
    use OccurrenceStatus as S;
    use OccurrenceTransition as T;
    match (status, change) {
        (S::Pending, T::Begin) => Ok(S::Paying),
        (S::Pending | S::Failed | S::Ignored | S::Paying, T::Pay) => Ok(S::Paid),
        (S::Pending | S::Failed | S::Ignored | S::Paying, T::Decline) => Ok(S::Failed),
        (S::Pending | S::Failed | S::Ignored, T::Ignore) => Ok(S::Ignored),
        _ => Err(status_refusal()),
    }
}

pub(crate) fn occurrence_event(change: OccurrenceTransition) -> &'static str {
    match change {
        OccurrenceTransition::Begin => "recurring_charge.occurrence.updated",
        OccurrenceTransition::Pay => "recurring_charge.occurrence.paid",
        OccurrenceTransition::Decline => "recurring_charge.occurrence.failed",
        OccurrenceTransition::Ignore => "recurring_charge.occurrence.ignored",
    }
}

pub(crate) fn find_occurrence(cx: &ChangeUnit, id: &str) -> Result<StoredOccurrence> {
    cx.load(ObjectKind::OCCURRENCE, id)
}

pub(crate) fn find_pair(
    cx: &ChangeUnit,
    asked: &ParsedRequest,
) -> Result<(StoredRecurring, StoredOccurrence)> {
    let owner = asked.owner()?;
    let charge = find_charge(cx, &owner, asked.parameter(0))?;
    let kept: StoredOccurrence = cx.find(ObjectKind::OCCURRENCE, &owner, asked.parameter(1))?;
    if kept.object.recurring_charge_id != charge.object.id {
        return Err(SandboxRefusal::not_found(ObjectKind::OCCURRENCE.name, asked.parameter(1)));
    }
    Ok((charge, kept))
}

pub(crate) fn refuse_deleted(charge: &StoredRecurring) -> Result<()> {
    SandboxRefusal::ensure(charge.object.status != RecurringStatus::Deleted, status_refusal)
}

pub(crate) fn is_paying(kept: &StoredOccurrence) -> bool {
    kept.object.status == OccurrenceStatus::Paying
}

/// Begins the payment of an occurrence; returns false if it takes no time or was begun before.
pub(crate) fn begin_payment(cx: &mut ChangeUnit, kept: &mut StoredOccurrence) -> Result<bool> {
    let minutes = cx.settings.paying_minutes;
    if minutes == 0 || is_paying(kept) {
        return Ok(false);
    }
    kept.object.status = step_occurrence(&kept.object.status, OccurrenceTransition::Begin)?;
    kept.object.modified = Some(Timestamp(cx.now));
    let end = cx.after(TimeDelta::minutes(minutes.into()));
    kept.internal.paying_until = Some(Timestamp(end));
    cx.update(ObjectKind::OCCURRENCE, &kept.object.id, kept)?;
    cx.schedule(end, &TimerEntry::Occurrence { id: kept.object.id.clone() })?;
    events::emit(cx, &kept.owner, occurrence_event(OccurrenceTransition::Begin), &kept.object)?;
    Ok(true)
}
