//! Ends of a recurring charge by request (service-facts, 56, 57): cancelled ones stay listed,
//! deleted ones leave the list.

use super::change::status_refusal;
use super::occurrences;
use super::recurring_charges::{KIND, RecurringTransition, StoredRecurring, find, step};
use crate::api::recurring::charge::RecurringCharge;
use crate::api::wire::Timestamp;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::state::events;
use crate::sandbox::state::store::ChangeUnit;

/// POST …/cancel: only an active one.
pub(crate) fn cancel(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<RecurringCharge, SandboxRefusal> {
    let mut kept = find(cx, &asked.owner()?, asked.parameter(0))?;
    end(cx, &mut kept, RecurringTransition::Cancel)?;
    kept.object.status_reason = Some("user_canceled".to_owned());
    cx.update(KIND, &kept.object.id, &kept)?;
    events::emit(cx, &kept.owner, "recurring_charge.completed", &kept.object)?;
    Ok(kept.object)
}

/// DELETE …: answers with the status DELETED.
pub(crate) fn delete(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<RecurringCharge, SandboxRefusal> {
    let mut kept = find(cx, &asked.owner()?, asked.parameter(0))?;
    end(cx, &mut kept, RecurringTransition::Delete)?;
    cx.update(KIND, &kept.object.id, &kept)?;
    let list = format!("{}/{}", KIND.word, kept.owner.key());
    cx.list_remove(&list, kept.sequence)?;
    events::emit(cx, &kept.owner, "recurring_charge.deleted", &kept.object)?;
    Ok(kept.object)
}

/// Applies the change, and ignores the pending occurrence.
fn end(
    cx: &mut ChangeUnit<'_>,
    kept: &mut StoredRecurring,
    change: RecurringTransition,
) -> Result<(), SandboxRefusal> {
    kept.object.status = step(&kept.object.status, change).ok_or_else(status_refusal)?;
    occurrences::ignore_pending(cx, kept)?;
    kept.object.next_payment = None;
    kept.object.modified = Some(Timestamp(cx.now));
    Ok(())
}
