//! Transactions after their creation: states and consequences (gateway-api, States and transitions;
//! service-facts, 43, 44).
//!
//! A change of a transaction moves money in the ledger, ends a hold, and performs, rejects or
//! subtracts the refunds that belong to it. A refund of an unsettled bank charge waits for the
//! charge: it is performed when the charge is completed, and fails when the charge fails.
//! `amount_refunded` includes waiting refunds, since their money is committed.

use chrono::TimeDelta;

use crate::api::method::MethodKind;
use crate::api::transaction::{Transaction, TransactionStatus, TransactionType};
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::merchants::events;
use crate::sandbox::methods::payment_methods::{MethodInternals, StoredMethod};
use crate::sandbox::payments::invoice_payments;
use crate::sandbox::state::logs::{self, MoneyMovement};
use crate::sandbox::state::objects::{ObjectKind, ObjectOwner, Stored, TimerEntry};
use crate::sandbox::state::store::ChangeUnit;

pub(crate) type StoredTransaction = Stored<Transaction, MethodInternals>;

impl StoredTransaction {
    /// Returns the method that pays it, or is paid.
    pub(crate) fn method(&self) -> StoredMethod {
        self.internal.clone().with_shown(self.object.method.clone().unwrap_or_default())
    }

    pub(crate) fn is_of_card(&self) -> bool {
        self.object.method.as_ref().is_some_and(|method| method.kind == MethodKind::Card)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionTransition {
    Authorize,
    /// The processor refuses it, or the money that it waits for does not arrive.
    Decline,
    /// It is captured: by the daily run, or on request.
    Capture,
    /// A hold's seven days are over.
    Expire,
    Void,
    /// The money did not arrive, or was taken back.
    Return,
}

/// Returns the status after a change; `None` for a change that the status does not allow.
pub(crate) fn step(
    status: &TransactionStatus,
    change: TransactionTransition,
) -> Option<TransactionStatus> {
    use TransactionStatus as S;
    use TransactionTransition as T;
    match (status, change) {
        (S::Pending, T::Authorize) => Some(S::Authorized),
        (S::Authorized, T::Capture) => Some(S::Completed),
        (S::Authorized, T::Expire) | (S::Pending | S::Authorized, T::Void) => Some(S::Voided),
        (S::Pending, T::Decline) | (S::Authorized | S::Completed, T::Return) => Some(S::Failed),
        _ => None,
    }
}

pub(crate) fn status_refusal() -> SandboxRefusal {
    let text = "The operation cannot be completed in the current status";
    SandboxRefusal::rule("not_valid_for_transaction_status", text)
}

/// Applies a change with its event and consequences. 422 if the status does not allow it.
pub(crate) fn apply(
    cx: &mut ChangeUnit,
    kept: &mut StoredTransaction,
    change: TransactionTransition,
) -> Result<()> {
    let next = step(&kept.object.status, change).ok_or_else(status_refusal)?;
    let before = std::mem::replace(&mut kept.object.status, next);
    kept.object.modified = Some(Timestamp(cx.now));
    let event = match change {
        TransactionTransition::Authorize => "transaction.authorized",
        TransactionTransition::Decline | TransactionTransition::Return => "transaction.failed",
        TransactionTransition::Capture => {
            kept.object.completion_timestamp = Some(Timestamp(cx.now));
            "transaction.completed"
        }
        TransactionTransition::Expire | TransactionTransition::Void => "transaction.voided",
    };
    cx.update(ObjectKind::TRANSACTION, &kept.object.id.clone(), kept)?;
    emit(cx, kept, event)?;
    apply_effects(cx, kept, &before, change)?;
    invoice_payments::update_invoice(cx, &kept.object.id)
}

/// Stores a transaction with a change other than its status, and records the event.
pub(crate) fn store_update(cx: &mut ChangeUnit, kept: &mut StoredTransaction) -> Result<()> {
    kept.object.modified = Some(Timestamp(cx.now));
    cx.update(ObjectKind::TRANSACTION, &kept.object.id.clone(), kept)?;
    emit(cx, kept, "transaction.updated")?;
    invoice_payments::update_invoice(cx, &kept.object.id)
}

/// Applies a scheduled change if it still applies: a hold that was made a daily capture stays.
pub(crate) fn run_scheduled(
    cx: &mut ChangeUnit,
    id: &str,
    change: TransactionTransition,
) -> Result<()> {
    let applies = |kept: &StoredTransaction| {
        let is_captured_daily = kept.object.auto_capture == Some(true);
        step(&kept.object.status, change).is_some()
            && !(change == TransactionTransition::Expire && is_captured_daily)
    };
    let kept = cx.look_up(ObjectKind::TRANSACTION, id)?.filter(applies);
    kept.map_or(Ok(()), |mut kept| apply(cx, &mut kept, change))
}

/// Records an event of a transaction, with its method in the form of event data.
pub(crate) fn emit(cx: &mut ChangeUnit, kept: &StoredTransaction, kind: &str) -> Result<()> {
    if !kept.internal.has_cvv {
        return events::emit(cx, &kept.owner, kind, &kept.object);
    }
    let shown = Transaction { method: Some(kept.method().in_events()), ..kept.object.clone() };
    events::emit(cx, &kept.owner, kind, &shown)
}

/// Applies the consequences of a change that was made; `before` is the status before that change.
fn apply_effects(
    cx: &mut ChangeUnit,
    kept: &mut StoredTransaction,
    before: &TransactionStatus,
    change: TransactionTransition,
) -> Result<()> {
    use {TransactionTransition as T, TransactionType as Kind};
    if let Some(movement) = movement(&kept.object.kind, before, change) {
        logs::record_movement(cx, &kept.owner, movement, &kept.object)?;
    }
    if is_hold(&kept.object) && *before == TransactionStatus::Authorized {
        remove_hold(cx, kept);
    }
    match (&kept.object.kind, change) {
        (Kind::Charge, T::Capture | T::Return) => {
            settle_waiting_refunds(cx, kept, change == T::Capture)
        }
        (Kind::Refund, T::Void | T::Return) => {
            let id = kept.object.charge_id.as_deref().unwrap_or_default();
            let Some(mut refunded) = cx.look_up(ObjectKind::TRANSACTION, id)? else {
                return Ok(());
            };
            add_refunded(cx, &mut refunded, kept.object.amount.saturating_neg())
        }
        _ => Ok(()),
    }
}

/// Returns the ledger movement of a change; what was never authorised moved no money.
fn movement(
    kind: &TransactionType,
    before: &TransactionStatus,
    change: TransactionTransition,
) -> Option<MoneyMovement> {
    use {MoneyMovement as M, TransactionTransition as T, TransactionType as Kind};
    match (change, kind) {
        (T::Authorize, Kind::Charge) => Some(M::Charge),
        (T::Authorize, Kind::Refund) => Some(M::Refund),
        (T::Authorize, Kind::Credit) => Some(M::Credit),
        (T::Capture, _) => Some(M::Capture),
        (T::Return, _) => Some(M::Return),
        (T::Expire | T::Void, _) => (*before != TransactionStatus::Pending).then_some(M::Void),
        (T::Authorize, Kind::Other(_)) | (T::Decline, _) => None,
    }
}

/// Returns true for a charge captured by a request, not by the daily run.
pub(crate) fn is_hold(object: &Transaction) -> bool {
    object.auto_capture == Some(false)
}

pub(crate) fn holds_of(owner: &ObjectOwner) -> String {
    format!("hold/{}", owner.key())
}

pub(crate) fn remove_hold(cx: &mut ChangeUnit, kept: &StoredTransaction) {
    cx.list_remove(&holds_of(&kept.owner), kept.sequence);
}

pub(crate) fn refund_list(charge: &str) -> String {
    format!("refund/{charge}")
}

/// Returns the refunds of a charge in any status, oldest first.
pub(crate) fn refunds_of(cx: &ChangeUnit, charge: &str) -> Result<Vec<StoredTransaction>> {
    let ids = cx.ids(&refund_list(charge), 0, u64::MAX)?;
    let found = ids.iter().rev().map(|id| cx.look_up(ObjectKind::TRANSACTION, id));
    found.filter_map(Result::transpose).collect()
}

/// Failure code of a refund whose charge failed (service-facts, part 2).
const CHARGE_FAILED: &str = "ach_deferred_refund_rejected_charge_failed";

/// Performs the refunds that waited for a charge; fails them if its money did not arrive.
fn settle_waiting_refunds(
    cx: &mut ChangeUnit,
    charge: &mut StoredTransaction,
    has_arrived: bool,
) -> Result<()> {
    let mut waiting = refunds_of(cx, &charge.object.id)?;
    waiting.retain(|refund| refund.object.status == TransactionStatus::Pending);
    for mut refund in waiting {
        if !has_arrived {
            fail(cx, &mut refund, CHARGE_FAILED.to_owned())?;
        } else if authorize_payout(cx, &mut refund)? {
            continue;
        }
        add_refunded(cx, charge, refund.object.amount.saturating_neg())?;
    }
    Ok(())
}

pub(crate) fn fail(cx: &mut ChangeUnit, kept: &mut StoredTransaction, code: String) -> Result<()> {
    kept.object.failure_code = Some(code);
    apply(cx, kept, TransactionTransition::Decline)
}

/// Adds `amount`, which may be negative, to the refunded amount of a charge.
pub(crate) fn add_refunded(
    cx: &mut ChangeUnit,
    charge: &mut StoredTransaction,
    amount: i64,
) -> Result<()> {
    let refunded = charge.object.amount_refunded.unwrap_or(0).checked_add(amount);
    charge.object.amount_refunded = Some(refunded.ok_or_else(SandboxRefusal::server_error)?);
    store_update(cx, charge)
}

/// Delay of refunds and credits after the charges in the daily run.
const AFTER_CHARGES: TimeDelta = TimeDelta::milliseconds(1);

/// Authorises it, or declines it as its method's class says. Returns true if authorised.
pub(crate) fn authorize_payout(cx: &mut ChangeUnit, kept: &mut StoredTransaction) -> Result<bool> {
    if let Some(code) = kept.internal.class.failure.clone() {
        fail(cx, kept, code)?;
        return Ok(false);
    }
    kept.object.authorization_code = Some(cx.fresh_secret("auth", 6).to_uppercase());
    apply(cx, kept, TransactionTransition::Authorize)?;
    let merchant = cx.merchant(&kept.owner.merchant)?;
    let hour = cx.policy(&kept.owner.merchant)?.capture_hour();
    let time = merchant.next_at(cx.now, hour);
    let time = time.checked_add_signed(AFTER_CHARGES).unwrap_or(time);
    cx.schedule(time, &TimerEntry::Capture { id: kept.object.id.clone() })?;
    Ok(true)
}

pub(crate) fn find(cx: &ChangeUnit, owner: &ObjectOwner, id: &str) -> Result<StoredTransaction> {
    cx.find(ObjectKind::TRANSACTION, owner, id)
}
