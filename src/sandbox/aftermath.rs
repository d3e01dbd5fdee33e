//! What follows from a change of a transaction: its movement in the ledger, its place among the holds, and
//! what its charge or its refunds make of it.

use crate::api::transaction::{TransactionStatus, TransactionType};
use crate::sandbox::ledger::{self, Movement};
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::transactions::{Change, KeptTransaction};
use crate::sandbox::{captures, refunds};

/// Does what follows from a change that was applied; `before` is the status that it left.
pub(crate) fn follow(
    cx: &mut Cx<'_>,
    kept: &mut KeptTransaction,
    before: &TransactionStatus,
    change: Change,
) -> Result<(), Refusal> {
    if let Some(movement) = movement(&kept.object.kind, before, change) {
        ledger::record(cx, &kept.owner, movement, &kept.object)?;
    }
    if captures::is_hold(&kept.object) && *before == TransactionStatus::Authorized {
        captures::release(cx, kept)?;
    }
    match (&kept.object.kind, change) {
        (TransactionType::Charge, Change::Capture) => refunds::perform(cx, kept),
        (TransactionType::Charge, Change::Return) => refunds::reject(cx, kept),
        (TransactionType::Refund, Change::Void | Change::Return) => refunds::take_back(cx, kept),
        (
            TransactionType::Charge,
            Change::Authorize | Change::Decline | Change::Expire | Change::Void,
        )
        | (
            TransactionType::Refund,
            Change::Authorize | Change::Decline | Change::Capture | Change::Expire,
        )
        | (
            TransactionType::Credit | TransactionType::Other(_),
            Change::Authorize
            | Change::Decline
            | Change::Capture
            | Change::Expire
            | Change::Void
            | Change::Return,
        ) => Ok(()),
    }
}

/// The movement that a change is. What was never authorised moved nothing, so that nothing is taken back.
fn movement(
    kind: &TransactionType,
    before: &TransactionStatus,
    change: Change,
) -> Option<Movement> {
    match change {
        Change::Authorize => match kind {
            TransactionType::Charge => Some(Movement::Charge),
            TransactionType::Refund => Some(Movement::Refund),
            TransactionType::Credit => Some(Movement::Credit),
            TransactionType::Other(_) => None,
        },
        Change::Capture => Some(Movement::Capture),
        Change::Return => Some(Movement::Return),
        Change::Expire | Change::Void => {
            (*before != TransactionStatus::Pending).then_some(Movement::Void)
        }
        Change::Decline => None,
    }
}
