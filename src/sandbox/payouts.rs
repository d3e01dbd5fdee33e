//! Payouts, money to a payer as a refund or credit: made, authorised or declined, and captured by
//! the daily run after that day's charges (gateway-api, States and transitions).

use chrono::TimeDelta;

use crate::api::method::MethodRef;
use crate::api::rules::FieldProblem;
use crate::api::transaction::{Transaction, TransactionStatus};
use crate::api::wire::Timestamp;
use crate::sandbox::charges::{KIND, emit};
use crate::sandbox::due::{self, Due};
use crate::sandbox::lists::{Kept, Owner};
use crate::sandbox::methods::{KeptMethod, Resolved, resolve};
use crate::sandbox::oauth::client_id;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::transactions::{self, Change, KeptTransaction};

/// Delay of refunds and credits after the charges in the daily run.
const AFTER_CHARGES: TimeDelta = TimeDelta::milliseconds(1);

/// Resolves and checks the method of a request. Problems of its fields are reported together with
/// the request's own `problems`; a wrong number or date is reported alone (service-facts, 22, 23).
pub(crate) fn method_of(
    cx: &Cx<'_>,
    owner: &Owner,
    method: Option<MethodRef>,
    mut problems: Vec<FieldProblem>,
) -> Result<Option<Resolved>, Refusal> {
    if matches!(&method, None | Some(MethodRef::Id(_))) {
        Refusal::fields("", &problems)?;
    }
    let resolved = method.map(|method| resolve(cx, owner, method)).transpose()?;
    if let Some(resolved) = &resolved {
        problems.extend(resolved.method.problems.iter().cloned().map(|mut problem| {
            problem.context = format!("{}.{}", resolved.parent, problem.context);
            problem
        }));
        Refusal::fields("", &problems)?;
        resolved.method.check("method", cx.now)?;
    }
    Ok(resolved)
}

/// Makes a pending refund or credit from the fields that the caller sets.
pub(crate) fn make(
    cx: &mut Cx<'_>,
    owner: Owner,
    object: Transaction,
    method: KeptMethod,
) -> Result<KeptTransaction, Refusal> {
    let sequence = cx.next();
    let now = Some(Timestamp(cx.now));
    let object = Transaction {
        id: cx.id(),
        status: TransactionStatus::Pending,
        created: now,
        modified: now,
        client_id: Some(client_id(cx.world)),
        method: Some(method.shown.clone()),
        ..object
    };
    let kept = Kept { owner, sequence, object, inside: method };
    cx.create(KIND, &kept.owner.key(), &kept.object.id, &kept)?;
    transactions::note_reference(cx, &kept)?;
    emit(cx, &kept, "transaction.created")?;
    Ok(kept)
}

/// Authorises it, or declines it as its method's class says. Returns true if authorised.
pub(crate) fn authorize(cx: &mut Cx<'_>, kept: &mut KeptTransaction) -> Result<bool, Refusal> {
    if let Some(code) = kept.inside.class.failure.clone() {
        kept.object.failure_code = Some(code);
        transactions::apply(cx, kept, Change::Decline)?;
        return Ok(false);
    }
    kept.object.authorization_code = Some(cx.fresh("auth", 6).to_uppercase());
    transactions::apply(cx, kept, Change::Authorize)?;
    let merchant = cx.merchant(&kept.owner.merchant)?;
    let hour = cx.policy(&kept.owner.merchant)?.capture_hour();
    let time = merchant.next_at(cx.now, hour);
    let time = time.checked_add_signed(AFTER_CHARGES).unwrap_or(time);
    due::schedule(cx, time, &Due::Capture { id: kept.object.id.clone() })?;
    Ok(true)
}
