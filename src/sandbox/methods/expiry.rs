//! Expiry events of a card that is saved or pays a recurring charge (service-facts, 72, 74):
//! `expiring` on the first day of its month of expiry, `expired` on the first day of the month
//! after.

use chrono::{Months, NaiveDate};

use super::payment_methods::StoredMethod;
use crate::api::methods::method::PaymentMethod;
use crate::sandbox::answer::SandboxRefusal;
use crate::sandbox::merchants::events;
use crate::sandbox::state::lists::{ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;
use crate::sandbox::state::timers;
use crate::sandbox::state::timers::TimerEntry;

/// Hour of the merchant's day at which the events are recorded.
const HOUR: u32 = 0;

/// Returns the day of a method's `expiring` or `expired` event; `None` for a bank.
fn day(method: &PaymentMethod, expired: bool) -> Option<NaiveDate> {
    let (year, month) = method.exp_year.zip(method.exp_month)?;
    let month = u32::try_from(month).ok()?;
    let first = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, 1)?;
    first.checked_add_months(Months::new(u32::from(expired)))
}

/// Schedules both events for a saved card.
pub(crate) fn schedule_for_saved(
    cx: &mut ChangeUnit<'_>,
    owner: &ObjectOwner,
    id: &str,
    method: &PaymentMethod,
) -> Result<(), SandboxRefusal> {
    schedule(cx, owner, id, method, |expired| TimerEntry::SavedExpiry {
        id: id.to_owned(),
        expired,
    })
}

/// Schedules both events of a method, once; past days are skipped. `entry` makes the timer of the
/// `expiring` or `expired` event.
pub(crate) fn schedule(
    cx: &mut ChangeUnit<'_>,
    owner: &ObjectOwner,
    id: &str,
    method: &PaymentMethod,
    entry: impl Fn(bool) -> TimerEntry,
) -> Result<(), SandboxRefusal> {
    let merchant = cx.merchant(&owner.merchant)?;
    for expired in [false, true] {
        let Some(day) = day(method, expired) else { continue };
        let time = merchant.at(day, HOUR);
        let planned = format!("x/expiry/{id}/{day}/{expired}");
        if time > cx.now && cx.get::<bool>(&planned)?.is_none() {
            cx.put(&planned, &true)?;
            timers::schedule(cx, time, &entry(expired))?;
        }
    }
    Ok(())
}

/// Records the event of a saved card if the card still exists and expires as planned.
pub(crate) fn run_due_saved(
    cx: &mut ChangeUnit<'_>,
    id: &str,
    expired: bool,
) -> Result<(), SandboxRefusal> {
    let kept: Option<Stored<PaymentMethod, StoredMethod>> =
        cx.find_any_owner(ObjectKind::CARD, id)?;
    let Some(kept) = kept else { return Ok(()) };
    match event_due(cx, &kept.owner, &kept.object, expired)? {
        Some(word) => {
            events::emit(cx, &kept.owner, &format!("payment_method.{word}"), &kept.object)
        }
        None => Ok(()),
    }
}

/// Returns the last word of the event's type, if the method expires as planned.
pub(crate) fn event_due(
    cx: &ChangeUnit<'_>,
    owner: &ObjectOwner,
    method: &PaymentMethod,
    expired: bool,
) -> Result<Option<&'static str>, SandboxRefusal> {
    let today = cx.merchant(&owner.merchant)?.today(cx.now);
    let word = if expired { "expired" } else { "expiring" };
    Ok((day(method, expired) == Some(today)).then_some(word))
}
