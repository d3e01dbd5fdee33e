//! Slow payments (service-facts, 59; docs/design/assumptions.md). With `paying_minutes` in
//! `/_sandbox/settings`, a due occurrence is `PAYING` for these minutes, and then paid or declined.
//! A payment in progress cannot be stopped, neither by another payment nor by a change or the end
//! of its recurring charge.

use chrono::TimeDelta;

use super::change::status_refusal;
use super::occurrences::{KIND, OccurrenceTransition, StoredOccurrence, event, step};
use crate::api::recurring::occurrence::OccurrenceStatus;
use crate::api::wire::Timestamp;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::state::store::ChangeUnit;
use crate::sandbox::state::timers::TimerEntry;
use crate::sandbox::state::{events, timers};

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
    cx.update(KIND, &kept.object.id, kept)?;
    timers::schedule(cx, end, &TimerEntry::Occurrence { id: kept.object.id.clone() })?;
    events::emit(cx, &kept.owner, event(OccurrenceTransition::Begin), &kept.object)?;
    Ok(true)
}
