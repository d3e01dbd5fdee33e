//! Expiry events of a card that is saved or pays a recurring charge (service-facts, 72, 74):
//! `expiring` on the first day of its month of expiry, `expired` on the first day of the month
//! after.

use chrono::{Months, NaiveDate};

use super::cards;
use super::payment_methods::StoredMethod;
use crate::api::methods::method::PaymentMethod;
use crate::api::recurring::charge::RecurringStatus;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::recurring::recurring_charges::{KIND, StoredRecurring};
use crate::sandbox::state::lists::{ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;
use crate::sandbox::state::timers::TimerEntry;
use crate::sandbox::state::{events, timers};

/// Hour of the merchant's day at which the events are recorded.
const HOUR: u32 = 0;

/// Returns the day of a method's `expiring` or `expired` event; `None` for a bank.
fn day(method: &PaymentMethod, expired: bool) -> Option<NaiveDate> {
    let (year, month) = method.exp_year.zip(method.exp_month)?;
    let month = u32::try_from(month).ok()?;
    let first = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, 1)?;
    first.checked_add_months(Months::new(u32::from(expired)))
}

/// Schedules both events for the current method of a recurring charge, once; past days are skipped.
pub(crate) fn schedule_for_charge(
    cx: &mut ChangeUnit<'_>,
    charge: &StoredRecurring,
) -> Result<(), SandboxRefusal> {
    let id = charge.object.id.clone();
    let entry = |expired| TimerEntry::Expiry { id: id.clone(), expired };
    schedule_both(cx, &charge.owner, &id, &charge.internal.method.shown, entry)
}

/// Schedules both events for a saved card.
pub(crate) fn schedule_for_saved(
    cx: &mut ChangeUnit<'_>,
    owner: &ObjectOwner,
    id: &str,
    method: &PaymentMethod,
) -> Result<(), SandboxRefusal> {
    schedule_both(cx, owner, id, method, |expired| TimerEntry::SavedExpiry {
        id: id.to_owned(),
        expired,
    })
}

fn schedule_both(
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
        cx.find_any_owner(cards::SAVED_CARDS.kind, id)?;
    let Some(kept) = kept else { return Ok(()) };
    let today = cx.merchant(&kept.owner.merchant)?.today(cx.now);
    if day(&kept.object, expired) != Some(today) {
        return Ok(());
    }
    let word = if expired { "expired" } else { "expiring" };
    events::emit(cx, &kept.owner, &format!("payment_method.{word}"), &kept.object)
}

/// Records the event of a recurring charge if it is still active with a method of this expiry.
pub(crate) fn run_due_charge(
    cx: &mut ChangeUnit<'_>,
    id: &str,
    expired: bool,
) -> Result<(), SandboxRefusal> {
    let kept: Option<StoredRecurring> = cx.find_any_owner(KIND, id)?;
    let Some(kept) = kept.filter(|kept| kept.object.status == RecurringStatus::Active) else {
        return Ok(());
    };
    let today = cx.merchant(&kept.owner.merchant)?.today(cx.now);
    if day(&kept.internal.method.shown, expired) != Some(today) {
        return Ok(());
    }
    let word = if expired { "expired" } else { "expiring" };
    let kind = format!("recurring_charge.payment_method.{word}");
    events::emit(cx, &kept.owner, &kind, &kept.object)
}
