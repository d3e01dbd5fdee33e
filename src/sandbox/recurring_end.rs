//! Ends of a recurring charge by request (service-facts, 56, 57): cancelled ones stay listed,
//! deleted ones leave the list.

use crate::api::recurring::RecurringCharge;
use crate::api::wire::Timestamp;
use crate::sandbox::asked::Asked;
use crate::sandbox::recurring::{Change, KIND, KeptRecurring, find, step};
use crate::sandbox::recurring_change::unavailable;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::{events, occurrences};

/// POST …/cancel: only an active one.
pub(crate) fn cancel(cx: &mut Cx<'_>, asked: &Asked) -> Result<RecurringCharge, Refusal> {
    let mut kept = find(cx, &asked.owner()?, asked.parameter(0))?;
    end(cx, &mut kept, Change::Cancel)?;
    kept.object.status_reason = Some("user_canceled".to_owned());
    cx.update(KIND, &kept.object.id, &kept)?;
    events::emit(cx, &kept.owner, "recurring_charge.completed", &kept.object)?;
    Ok(kept.object)
}

/// DELETE …: answers with the status DELETED.
pub(crate) fn delete(cx: &mut Cx<'_>, asked: &Asked) -> Result<RecurringCharge, Refusal> {
    let mut kept = find(cx, &asked.owner()?, asked.parameter(0))?;
    end(cx, &mut kept, Change::Delete)?;
    cx.update(KIND, &kept.object.id, &kept)?;
    let list = format!("{}/{}", KIND.word, kept.owner.key());
    cx.list_remove(&list, kept.sequence)?;
    events::emit(cx, &kept.owner, "recurring_charge.deleted", &kept.object)?;
    Ok(kept.object)
}

/// Applies the change, and ignores the pending occurrence.
fn end(cx: &mut Cx<'_>, kept: &mut KeptRecurring, change: Change) -> Result<(), Refusal> {
    kept.object.status = step(&kept.object.status, change).ok_or_else(unavailable)?;
    occurrences::ignore_pending(cx, kept)?;
    kept.object.next_payment = None;
    kept.object.modified = Some(Timestamp(cx.now));
    Ok(())
}
