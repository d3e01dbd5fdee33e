//! Expiry events of a card that is saved or pays a recurring charge (service-facts, 72, 74):
//! `expiring` on the first day of its month of expiry, `expired` on the first day of the next.

use chrono::{Months, NaiveDate};

use crate::api::method::PaymentMethod;
use crate::sandbox::answer::Result;
use crate::sandbox::merchants::events;
use crate::sandbox::methods::payment_methods::StoredPaymentMethod;
use crate::sandbox::state::objects::{ObjectKind, ObjectOwner, TimerEntry};
use crate::sandbox::state::store::ChangeUnit;

const HOUR: u32 = 0;

/// Returns the day of a method's `expiring` or `expired` event; `None` for a bank.
fn expiry_day(method: &PaymentMethod, expired: bool) -> Option<NaiveDate> {
    let (year, month) = method.exp_year.zip(method.exp_month)?;
    let month = u32::try_from(month).ok()?;
    let first = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, 1)?;
    first.checked_add_months(Months::new(u32::from(expired)))
}

pub(crate) fn schedule_saved_expiry(
    cx: &mut ChangeUnit,
    kept: &StoredPaymentMethod,
    id: &str,
) -> Result<()> {
    let entry = |expired| TimerEntry::SavedExpiry { id: id.to_owned(), expired };
    schedule_expiry(cx, &kept.owner, kept.sequence, &kept.object, entry)
}

/// Schedules the next of both events of a method that belongs to the object with this `sequence`,
/// which names the timer: it is scheduled once, however often this is called. `entry` makes it.
pub(crate) fn schedule_expiry(
    cx: &mut ChangeUnit,
    owner: &ObjectOwner,
    sequence: u64,
    method: &PaymentMethod,
    entry: impl Fn(bool) -> TimerEntry,
) -> Result<()> {
    let merchant = cx.merchant(&owner.merchant)?;
    let event = |expired| Some((merchant.at(expiry_day(method, expired)?, HOUR), expired));
    let events = [false, true].into_iter().filter_map(event);
    let next = events.into_iter().find(|(time, _)| *time > cx.now);
    next.map_or(Ok(()), |(time, expired)| cx.schedule_named(time, sequence, &entry(expired)))
}

/// Records the event of a saved card if the card still exists and expires as planned.
pub(crate) fn run_saved_expiry(cx: &mut ChangeUnit, id: &str, expired: bool) -> Result<()> {
    let kept: Option<StoredPaymentMethod> = cx.look_up(ObjectKind::CARD, id)?;
    let Some(kept) = kept else { return Ok(()) };
    schedule_saved_expiry(cx, &kept, id)?;
    let word = expiry_event_due(cx, &kept.owner, &kept.object, expired)?;
    let Some(word) = word else { return Ok(()) };
    events::emit(cx, &kept.owner, &format!("payment_method.{word}"), &kept.object)
}

/// Returns the last word of the event's type, if the method expires as planned.
pub(crate) fn expiry_event_due(
    cx: &ChangeUnit,
    owner: &ObjectOwner,
    method: &PaymentMethod,
    expired: bool,
) -> Result<Option<&'static str>> {
    let today = cx.merchant(&owner.merchant)?.today(cx.now);
    let word = if expired { "expired" } else { "expiring" };
    Ok((expiry_day(method, expired) == Some(today)).then_some(word))
}
