//! Payouts, money to a payer as a refund or credit: made, authorised or declined, and captured by
//! the daily run after that day's charges (gateway-api, States and transitions).

use chrono::TimeDelta;

use super::oauth::client_id;
use crate::api::methods::method::MethodRef;
use crate::api::payments::transaction::{Transaction, TransactionStatus};
use crate::api::rules::FieldProblem;
use crate::api::wire::Timestamp;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::methods::payment_methods::{ResolvedMethod, StoredMethod, resolve};
use crate::sandbox::payments::charges::{KIND, emit};
use crate::sandbox::payments::transactions;
use crate::sandbox::payments::transactions::{StoredTransaction, TransactionTransition};
use crate::sandbox::state::lists::{ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;
use crate::sandbox::state::timers;
use crate::sandbox::state::timers::TimerEntry;

/// Delay of refunds and credits after the charges in the daily run.
const AFTER_CHARGES: TimeDelta = TimeDelta::milliseconds(1);

/// Resolves and checks the method of a request. Problems of its fields are reported together with
/// the request's own `problems`; a wrong number or date is reported alone (service-facts, 22, 23).
pub(crate) fn method_of(
    cx: &ChangeUnit<'_>,
    owner: &ObjectOwner,
    method: Option<MethodRef>,
    mut problems: Vec<FieldProblem>,
) -> Result<Option<ResolvedMethod>, SandboxRefusal> {
    if matches!(&method, None | Some(MethodRef::Id(_))) {
        SandboxRefusal::fields("", &problems)?;
    }
    let resolved = method.map(|method| resolve(cx, owner, method)).transpose()?;
    if let Some(resolved) = &resolved {
        problems.extend(resolved.method.problems.iter().cloned().map(|mut problem| {
            problem.context = format!("{}.{}", resolved.parent, problem.context);
            problem
        }));
        SandboxRefusal::fields("", &problems)?;
        resolved.method.check("method", cx.now)?;
    }
    Ok(resolved)
}

/// Makes a pending refund or credit from the fields that the caller sets.
pub(crate) fn make(
    cx: &mut ChangeUnit<'_>,
    owner: ObjectOwner,
    object: Transaction,
    method: StoredMethod,
) -> Result<StoredTransaction, SandboxRefusal> {
    let sequence = cx.next();
    let now = Some(Timestamp(cx.now));
    let object = Transaction {
        id: cx.fresh_gateway_id(),
        status: TransactionStatus::Pending,
        created: now,
        modified: now,
        client_id: Some(client_id(cx.environment)),
        method: Some(method.shown.clone()),
        ..object
    };
    let kept = Stored { owner, sequence, object, internal: method };
    cx.create(KIND, &kept.owner.key(), &kept.object.id, &kept)?;
    transactions::index_reference(cx, &kept)?;
    emit(cx, &kept, "transaction.created")?;
    Ok(kept)
}

/// Authorises it, or declines it as its method's class says. Returns true if authorised.
pub(crate) fn authorize(
    cx: &mut ChangeUnit<'_>,
    kept: &mut StoredTransaction,
) -> Result<bool, SandboxRefusal> {
    if let Some(code) = kept.internal.class.failure.clone() {
        kept.object.failure_code = Some(code);
        transactions::apply(cx, kept, TransactionTransition::Decline)?;
        return Ok(false);
    }
    kept.object.authorization_code = Some(cx.fresh_secret("auth", 6).to_uppercase());
    transactions::apply(cx, kept, TransactionTransition::Authorize)?;
    let merchant = cx.merchant(&kept.owner.merchant)?;
    let hour = cx.policy(&kept.owner.merchant)?.capture_hour();
    let time = merchant.next_at(cx.now, hour);
    let time = time.checked_add_signed(AFTER_CHARGES).unwrap_or(time);
    timers::schedule(cx, time, &TimerEntry::Capture { id: kept.object.id.clone() })?;
    Ok(true)
}
