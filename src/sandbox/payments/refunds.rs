//! Money given back: refunds of charges, credits without a charge, and voids of what is not settled
//! (gateway-api, POST /v1/charges/{chargeId}/refund, POST /v1/credits, POST
//! /v1/transactions/{id}/void; service-facts, 33, 43, 50, 51, 54).
//!
//! A refund or credit is a payout: made, authorised or declined, and captured by the daily run after
//! that day's charges (gateway-api, States and transitions).

use chrono::Months;

use crate::api::method::MethodKind;
use crate::api::rules::FieldProblems;
use crate::api::transaction::{Transaction, TransactionStatus, TransactionType};
use crate::api::transaction_action::{
    NewCredit, NewRefund, NewVoid, credit_rules, refund_rules, void_rules,
};
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::merchants::auth;
use crate::sandbox::merchants::policy::need_enabled;
use crate::sandbox::merchants::processing::{need_currency, need_same_currency};
use crate::sandbox::methods::payment_methods::StoredMethod;
use crate::sandbox::methods::saved_methods::resolve_checked;
use crate::sandbox::payments::transactions::{
    StoredTransaction, TransactionTransition, emit, status_refusal,
};
use crate::sandbox::payments::{charges, order, transactions};
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::objects::{ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;

/// Time after a charge within which it can be refunded (gateway-api, Limits).
const WINDOW: Months = Months::new(6);

pub(crate) fn refund(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    mut new: NewRefund,
) -> Result<Transaction> {
    let owner = asked.owner()?;
    let mut charge = charges::find(cx, &owner, asked.parameter(0))?;
    new.reference = new.reference.filter(|_| cx.is_public());
    let other = resolve_checked(cx, &owner, new.method.take(), refund_rules(&new))?;
    need_refundable(cx, &charge)?;
    if let Some(other) = &other {
        need_same_type(cx, &charge, &other.method.shown.kind)?;
    }
    need_same_currency(&charge.object, new.currency.as_deref())?;
    let amount = new.amount.unwrap_or(0);
    need_balance(&charge.object, amount)?;
    let mut method = match other {
        Some(other) => other.take(cx)?,
        None => charge.method().without_cvv(),
    };
    order::deny_by_country(cx, asked, &charge.object.account_id, &mut method);
    let NewRefund { reference, data, .. } = new;
    let refund = Transaction { amount, reference, data, ..new_refund(&charge.object) };
    charges::into_answer(begin(cx, owner, &mut charge, refund, method)?)
}

/// Makes a refund, and performs it unless it waits for its charge.
fn begin(
    cx: &mut ChangeUnit,
    owner: ObjectOwner,
    charge: &mut StoredTransaction,
    refund: Transaction,
    method: StoredMethod,
) -> Result<StoredTransaction> {
    let unsettled = charge.object.status == TransactionStatus::Authorized;
    let waits = unsettled && !charge.is_of_card() && method.class.failure.is_none();
    let mut kept = make_payout(cx, owner, refund, method)?;
    cx.list_add(&transactions::refund_list(&charge.object.id), kept.sequence, &kept.object.id)?;
    if waits {
        emit(cx, &kept, "transaction.pending_parent_settlement")?;
    } else if !transactions::authorize_payout(cx, &mut kept)? {
        return Ok(kept);
    }
    transactions::add_refunded(cx, charge, kept.object.amount)?;
    Ok(kept)
}

fn new_refund(charge: &Transaction) -> Transaction {
    Transaction {
        kind: TransactionType::Refund,
        account_id: charge.account_id.clone(),
        currency: charge.currency.clone(),
        auto_capture: Some(true),
        charge_id: Some(charge.id.clone()),
        ..Transaction::default()
    }
}

/// Requires a charge that is settled or settles by itself, at most six months old in the merchant's
/// calendar.
fn need_refundable(cx: &ChangeUnit, charge: &StoredTransaction) -> Result<()> {
    use TransactionStatus as S;
    let fits = match charge.object.status {
        S::Completed => true,
        S::Authorized => !transactions::is_hold(&charge.object),
        S::Pending | S::Voided | S::Failed | S::Other(_) => false,
    };
    let merchant = cx.merchant(&charge.owner.merchant)?;
    let made = charge.object.created.map_or(cx.now, |time| time.0);
    let last = merchant.today(made).checked_add_months(WINDOW);
    let is_recent = last.is_none_or(|last| merchant.today(cx.now) <= last);
    let text = "The charge is too old to be refunded";
    SandboxRefusal::unless(is_recent, "not_valid_for_transaction_status", text)?;
    SandboxRefusal::ensure(fits, status_refusal)
}

/// Checks another method: allowed by the tenant, and of the charge's type (service-facts, 54).
fn need_same_type(cx: &ChangeUnit, charge: &StoredTransaction, other: &MethodKind) -> Result<()> {
    let enabled = &cx.policy(&charge.owner.merchant)?.other_method_enabled;
    need_enabled(enabled.contains(&charge.object.account_id), "Refunds to another payment method")?;
    let is_same = charge.object.method.as_ref().is_some_and(|method| method.kind == *other);
    let text = "Payment method type does not fit the charge";
    SandboxRefusal::unless(is_same, "incorrect_payment_type", text)
}

fn need_balance(charge: &Transaction, amount: i64) -> Result<()> {
    let paid = charge.amount.saturating_add(charge.gratuity.unwrap_or(0));
    let left = paid.saturating_sub(charge.amount_refunded.unwrap_or(0));
    let text = "Amount of refund exceeds remaining transaction balance";
    SandboxRefusal::unless(amount <= left, "refund_exceeds_transaction", text)
}

/// Makes a pending refund or credit from the fields that the caller sets.
fn make_payout(
    cx: &mut ChangeUnit,
    owner: ObjectOwner,
    object: Transaction,
    method: StoredMethod,
) -> Result<StoredTransaction> {
    let sequence = cx.next();
    let now = Some(Timestamp(cx.now));
    let object = Transaction {
        id: cx.fresh_gateway_id(),
        status: TransactionStatus::Pending,
        created: now,
        modified: now,
        client_id: Some(cx.environment.client_id.clone()),
        method: Some(method.shown.clone()),
        ..object
    };
    let kept = Stored { owner, sequence, object, internal: method.into() };
    cx.create(ObjectKind::TRANSACTION, &kept.owner.key(), &kept.object.id, &kept)?;
    let reference = kept.object.reference.as_deref();
    cx.index_reference(ObjectKind::TRANSACTION, &kept, reference, &kept.object.id)?;
    emit(cx, &kept, "transaction.created")?;
    Ok(kept)
}

/// Makes a credit; its account is chosen as for a charge. The documents know no `reference` of a
/// credit, so the documented surface ignores it.
pub(crate) fn credit(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    mut new: NewCredit,
) -> Result<Transaction> {
    let (owner, reference) = (asked.owner()?, new.reference.take().filter(|_| cx.is_public()));
    let mut problems = FieldProblems::default();
    problems.transaction_reference(reference.as_deref());
    let problems = credit_rules(&new).into_iter().chain(problems.into_list()).collect();
    let resolved = resolve_checked(cx, &owner, new.method.take(), problems)?;
    let resolved = resolved.ok_or_else(SandboxRefusal::server_error)?;
    let merchant = cx.merchant(&owner.merchant)?;
    let kind = &resolved.method.shown.kind;
    let (named, of_key) = (new.account_id.as_deref(), asked.account_of_key());
    let account = merchant.account(owner.mode, kind, named, of_key)?;
    need_enabled(cx.policy(&owner.merchant)?.credits_enabled.contains(&account.id), "Credits")?;
    need_currency(account, new.currency.as_deref())?;
    let mut method = resolved.take(cx)?;
    order::deny_by_country(cx, asked, &account.id, &mut method);
    let credit = Transaction {
        kind: TransactionType::Credit,
        account_id: account.id.clone(),
        amount: new.amount.unwrap_or(0),
        currency: account.currency.clone(),
        reference,
        ..Transaction::default()
    };
    let mut kept = make_payout(cx, owner, credit, method)?;
    transactions::authorize_payout(cx, &mut kept)?;
    charges::into_answer(kept)
}

/// Voids a transaction; a charge only if each of its refunds is voided or failed.
pub(crate) fn void(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    new: NewVoid,
) -> Result<Transaction> {
    use TransactionStatus as S;
    let mut kept = transactions::find(cx, &asked.owner()?, asked.parameter(0))?;
    SandboxRefusal::fields("", &void_rules(&new))?;
    auth::need_country(cx, asked, &kept.object.account_id)?;
    let stands = |refund: &StoredTransaction| match refund.object.status {
        S::Pending | S::Authorized | S::Completed => true,
        S::Voided | S::Failed | S::Other(_) => false,
    };
    let is_refunded = transactions::refunds_of(cx, &kept.object.id)?.iter().any(stands);
    SandboxRefusal::ensure(!is_refunded, status_refusal)?;
    kept.object.void_reference = new.reference.filter(|text| !text.is_empty());
    transactions::apply(cx, &mut kept, TransactionTransition::Void)?;
    Ok(kept.object)
}
