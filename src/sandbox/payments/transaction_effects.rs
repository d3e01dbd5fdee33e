//! Consequences of a transaction change: its movement in the ledger, its place on the list of
//! holds, and the effect on the refunds or the charge that belong to it.

use super::transactions::{StoredTransaction, TransactionTransition};
use super::{captures, refunds};
use crate::api::payments::transaction::{TransactionStatus, TransactionType};
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::state::ledger;
use crate::sandbox::state::ledger::MoneyMovement;
use crate::sandbox::state::store::ChangeUnit;

/// Applies the consequences of a change that was made; `before` is the status before that change.
pub(crate) fn apply_effects(
    cx: &mut ChangeUnit<'_>,
    kept: &mut StoredTransaction,
    before: &TransactionStatus,
    change: TransactionTransition,
) -> Result<(), SandboxRefusal> {
    if let Some(movement) = movement(&kept.object.kind, before, change) {
        ledger::record(cx, &kept.owner, movement, &kept.object)?;
    }
    if captures::is_hold(&kept.object) && *before == TransactionStatus::Authorized {
        captures::remove_hold(cx, kept)?;
    }
    match (&kept.object.kind, change) {
        (TransactionType::Charge, TransactionTransition::Capture) => refunds::perform(cx, kept),
        (TransactionType::Charge, TransactionTransition::Return) => refunds::reject(cx, kept),
        (TransactionType::Refund, TransactionTransition::Void | TransactionTransition::Return) => {
            refunds::subtract_refund(cx, kept)
        }
        (
            TransactionType::Charge,
            TransactionTransition::Authorize
            | TransactionTransition::Decline
            | TransactionTransition::Expire
            | TransactionTransition::Void,
        )
        | (
            TransactionType::Refund,
            TransactionTransition::Authorize
            | TransactionTransition::Decline
            | TransactionTransition::Capture
            | TransactionTransition::Expire,
        )
        | (
            TransactionType::Credit | TransactionType::Other(_),
            TransactionTransition::Authorize
            | TransactionTransition::Decline
            | TransactionTransition::Capture
            | TransactionTransition::Expire
            | TransactionTransition::Void
            | TransactionTransition::Return,
        ) => Ok(()),
    }
}

/// Returns the ledger movement of a change. A transaction that was never authorised moved no money,
/// so ending it moves none back.
fn movement(
    kind: &TransactionType,
    before: &TransactionStatus,
    change: TransactionTransition,
) -> Option<MoneyMovement> {
    match change {
        TransactionTransition::Authorize => match kind {
            TransactionType::Charge => Some(MoneyMovement::Charge),
            TransactionType::Refund => Some(MoneyMovement::Refund),
            TransactionType::Credit => Some(MoneyMovement::Credit),
            TransactionType::Other(_) => None,
        },
        TransactionTransition::Capture => Some(MoneyMovement::Capture),
        TransactionTransition::Return => Some(MoneyMovement::Return),
        TransactionTransition::Expire | TransactionTransition::Void => {
            (*before != TransactionStatus::Pending).then_some(MoneyMovement::Void)
        }
        TransactionTransition::Decline => None,
    }
}
