//! Consequences of a transaction change: its movement in the ledger, its place on the list of
//! holds, and the effect on the refunds or the charge that belong to it.

use crate::api::transaction::{TransactionStatus, TransactionType};
use crate::sandbox::ledger::{self, Movement};
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::transactions::{Change, KeptTransaction};
use crate::sandbox::{captures, refunds};

/// Applies the consequences of a change that was made; `before` is the status before that change.
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

/// Returns the ledger movement of a change. A transaction that was never authorised moved no money,
/// so ending it moves none back.
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
