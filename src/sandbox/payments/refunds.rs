//! Refunds: a charge's money is given back, at once or in parts (gateway-api, POST
//! /v1/charges/{chargeId}/refund; service-facts, 33, 43, 50, 51, 54).
//!
//! A refund of an unsettled bank charge waits for the charge: it is performed when the charge is
//! completed, and fails when the charge fails. `amount_refunded` includes waiting refunds, since
//! their money is committed.

use chrono::Months;

use super::charges::emit;
use super::transactions::{StoredTransaction, TransactionTransition, status_refusal};
use super::{captures, charges, transactions};
use crate::api::methods::method::PaymentMethod;
use crate::api::payments::actions::{NewRefund, refund_rules};
use crate::api::payments::transaction::{Transaction, TransactionStatus, TransactionType};
use crate::sandbox::http::documented_surface;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::merchants::processing::need_same_currency;
use crate::sandbox::merchants::{geo_rules, payouts};
use crate::sandbox::methods::payment_methods::{ResolvedMethod, StoredMethod};
use crate::sandbox::methods::tokens;
use crate::sandbox::recurring::start::without_cvv;
use crate::sandbox::state::lists::ObjectOwner;
use crate::sandbox::state::store::ChangeUnit;

/// Time after a charge within which it can be refunded (gateway-api, Limits).
const WINDOW: Months = Months::new(6);
/// Failure code of a refund whose charge failed (service-facts, part 2).
const CHARGE_FAILED: &str = "ach_deferred_refund_rejected_charge_failed";

fn list_of(charge: &str) -> String {
    format!("refund/{charge}")
}

/// Returns the refunds of a charge in any status, oldest first.
pub(crate) fn of(
    cx: &ChangeUnit<'_>,
    charge: &str,
) -> Result<Vec<StoredTransaction>, SandboxRefusal> {
    let ids = cx.ids(&list_of(charge), 0, u64::MAX)?;
    let found = ids.iter().rev().map(|id| cx.find_any_owner(charges::KIND, id));
    let found: Vec<Option<StoredTransaction>> = found.collect::<Result<_, SandboxRefusal>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// Returns true if a charge has refunds that are neither voided nor failed. Such a charge cannot be
/// voided.
pub(crate) fn has_outstanding(cx: &ChangeUnit<'_>, charge: &str) -> Result<bool, SandboxRefusal> {
    use TransactionStatus as S;
    let stands = |refund: &StoredTransaction| match refund.object.status {
        S::Pending | S::Authorized | S::Completed => true,
        S::Voided | S::Failed | S::Other(_) => false,
    };
    Ok(of(cx, charge)?.iter().any(stands))
}

/// POST /v1/charges/{id}/refund.
pub(crate) fn create(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
    mut new: NewRefund,
) -> Result<Transaction, SandboxRefusal> {
    let owner = asked.owner()?;
    let mut charge = charges::find(cx, &owner, asked.parameter(0))?;
    new.reference = new.reference.filter(|_| !documented_surface::is_documented_only(cx));
    let problems = refund_rules(&new);
    let other = payouts::method_of(cx, &owner, new.method.take(), problems)?;
    need_refundable(cx, &charge)?;
    if let Some(other) = &other {
        need_same_type(cx, &charge, other)?;
    }
    need_same_currency(&charge.object, new.currency.as_deref())?;
    let amount = new.amount.unwrap_or(0);
    need_balance(&charge.object, amount)?;
    if let Some(token) = other.as_ref().and_then(|other| other.token.as_ref()) {
        tokens::end(cx, token)?;
    }
    let mut method =
        other.map_or_else(|| without_cvv(charge.internal.clone()), |other| other.method);
    geo_rules::deny_by_country(cx, asked, &owner, &charge.object.account_id, &mut method);
    let NewRefund { reference, data, .. } = new;
    let refund = Transaction { amount, reference, data, ..new_refund(&charge.object) };
    charges::into_answer(begin(cx, owner, &mut charge, refund, method)?)
}

/// Makes a refund, and performs it unless it waits for its charge.
fn begin(
    cx: &mut ChangeUnit<'_>,
    owner: ObjectOwner,
    charge: &mut StoredTransaction,
    refund: Transaction,
    method: StoredMethod,
) -> Result<StoredTransaction, SandboxRefusal> {
    let unsettled = charge.object.status == TransactionStatus::Authorized;
    let waits = unsettled && !charge.internal.is_card() && method.class.failure.is_none();
    let mut kept = payouts::make(cx, owner, refund, method)?;
    cx.list_add(&list_of(&charge.object.id), kept.sequence, &kept.object.id)?;
    if waits {
        emit(cx, &kept, "transaction.pending_parent_settlement")?;
    } else if !payouts::authorize(cx, &mut kept)? {
        return Ok(kept);
    }
    count(cx, charge, kept.object.amount)?;
    Ok(kept)
}

/// Builds a refund of this charge, without an amount.
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

/// Requires a charge that is settled or will settle by itself, and is not older than six months in
/// the merchant's calendar.
fn need_refundable(cx: &ChangeUnit<'_>, charge: &StoredTransaction) -> Result<(), SandboxRefusal> {
    use TransactionStatus as S;
    let fits = match charge.object.status {
        S::Completed => true,
        S::Authorized => !captures::is_hold(&charge.object),
        S::Pending | S::Voided | S::Failed | S::Other(_) => false,
    };
    let merchant = cx.merchant(&charge.owner.merchant)?;
    let made = charge.object.created.map_or(cx.now, |time| time.0);
    let last = merchant.today(made).checked_add_months(WINDOW);
    if last.is_some_and(|last| merchant.today(cx.now) > last) {
        let text = "The charge is too old to be refunded";
        return Err(SandboxRefusal::rule("not_valid_for_transaction_status", text));
    }
    if fits { Ok(()) } else { Err(status_refusal()) }
}

/// Checks another method: the tenant must allow it, and it must be of the charge's type
/// (service-facts, 54).
fn need_same_type(
    cx: &ChangeUnit<'_>,
    charge: &StoredTransaction,
    other: &ResolvedMethod,
) -> Result<(), SandboxRefusal> {
    cx.policy(&charge.owner.merchant)?.need_other_method(&charge.object.account_id)?;
    let kind = |method: &PaymentMethod| method.kind.clone();
    if kind(&other.method.shown) == kind(&charge.internal.shown) {
        return Ok(());
    }
    let text = "Payment method type does not fit the charge";
    Err(SandboxRefusal::rule("incorrect_payment_type", text))
}

fn need_balance(charge: &Transaction, amount: i64) -> Result<(), SandboxRefusal> {
    let paid = charge.amount.saturating_add(charge.gratuity.unwrap_or(0));
    let left = paid.saturating_sub(charge.amount_refunded.unwrap_or(0));
    if amount <= left {
        return Ok(());
    }
    let text = "Amount of refund exceeds remaining transaction balance";
    Err(SandboxRefusal::rule("refund_exceeds_transaction", text))
}

/// Adds `amount`, which may be negative, to the refunded amount of a charge.
fn count(
    cx: &mut ChangeUnit<'_>,
    charge: &mut StoredTransaction,
    amount: i64,
) -> Result<(), SandboxRefusal> {
    let refunded = charge.object.amount_refunded.unwrap_or(0).checked_add(amount);
    charge.object.amount_refunded = Some(refunded.ok_or_else(SandboxRefusal::server_error)?);
    transactions::store_update(cx, charge)
}

/// Subtracts a refund that was voided or returned from its charge's refunded amount.
pub(crate) fn subtract_refund(
    cx: &mut ChangeUnit<'_>,
    refund: &StoredTransaction,
) -> Result<(), SandboxRefusal> {
    let charge = refund.object.charge_id.as_deref().unwrap_or_default();
    let found: Option<StoredTransaction> = cx.find_any_owner(charges::KIND, charge)?;
    match found {
        Some(mut charge) => count(cx, &mut charge, refund.object.amount.saturating_neg()),
        None => Ok(()),
    }
}

fn waiting_refunds(
    cx: &ChangeUnit<'_>,
    charge: &StoredTransaction,
) -> Result<Vec<StoredTransaction>, SandboxRefusal> {
    let mut all = of(cx, &charge.object.id)?;
    all.retain(|refund| refund.object.status == TransactionStatus::Pending);
    Ok(all)
}

/// Performs the refunds that waited for a charge, now completed.
pub(crate) fn perform(
    cx: &mut ChangeUnit<'_>,
    charge: &mut StoredTransaction,
) -> Result<(), SandboxRefusal> {
    for mut refund in waiting_refunds(cx, charge)? {
        if !payouts::authorize(cx, &mut refund)? {
            count(cx, charge, refund.object.amount.saturating_neg())?;
        }
    }
    Ok(())
}

/// Fails the refunds that waited for a charge whose money did not arrive.
pub(crate) fn reject(
    cx: &mut ChangeUnit<'_>,
    charge: &mut StoredTransaction,
) -> Result<(), SandboxRefusal> {
    for mut refund in waiting_refunds(cx, charge)? {
        refund.object.failure_code = Some(CHARGE_FAILED.to_owned());
        transactions::apply(cx, &mut refund, TransactionTransition::Decline)?;
        count(cx, charge, refund.object.amount.saturating_neg())?;
    }
    Ok(())
}
