//! Charges: creation, authorisation and decline (gateway-api, POST /v1/charges).
//!
//! Everything that takes money goes through [`authorize`], also scheduled payments.

use chrono::{DateTime, Days, Utc};
use serde_json::Value;

use super::transactions::{StoredTransaction, TransactionTransition};
use super::{captures, gratuities, transactions};
use crate::api::payments::transaction;
use crate::api::payments::transaction::{
    NewCharge, Transaction, TransactionStatus, TransactionType,
};
use crate::api::wire::Timestamp;
use crate::api::{Problem, ProblemMessage};
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::merchants::oauth::client_id;
use crate::sandbox::merchants::processing::need_currency;
use crate::sandbox::merchants::{
    banking, geo_rules, payouts, requirements, velocity, verification,
};
use crate::sandbox::methods::payment_methods::StoredMethod;
use crate::sandbox::methods::{test_numbers, tokens};
use crate::sandbox::recurring::start::RecurringStart;
use crate::sandbox::state::lists::{ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;
use crate::sandbox::state::timers::TimerEntry;
use crate::sandbox::state::{events, timers};

pub(crate) const KIND: ObjectKind = ObjectKind { word: "transaction", name: "Transaction" };

/// Days after which a hold is voided (gateway-api, Limits).
const HOLD_DAYS: u64 = 7;
/// A payment to authorise; its method has been checked.
pub(crate) struct PaymentOrder {
    pub(crate) owner: ObjectOwner,
    pub(crate) account: String,
    pub(crate) amount: i64,
    pub(crate) method: StoredMethod,
    pub(crate) auto_capture: bool,
    pub(crate) reference: Option<String>,
    pub(crate) surcharge_amount: Option<i64>,
    pub(crate) data: Option<Value>,
    /// Ids of the recurring charge and its occurrence.
    pub(crate) recurring: Option<(String, String)>,
}

/// POST /v1/charges.
pub(crate) fn create(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
    mut new: NewCharge,
) -> Result<Transaction, SandboxRefusal> {
    let owner = asked.owner()?;
    let problems = transaction::rules(&new);
    let resolved = payouts::method_of(cx, &owner, new.method.take(), problems)?;
    let mut resolved = resolved.ok_or_else(SandboxRefusal::server_error)?;
    let merchant = cx.merchant(&owner.merchant)?;
    let kind = &resolved.method.shown.kind;
    let (named, of_key) = (new.account_id.as_deref(), asked.account_of_key());
    let account = merchant.account(owner.mode, kind, named, of_key)?;
    need_currency(account, new.currency.as_deref())?;
    let account = account.id.clone();
    check_terms(&new, &resolved.method)?;
    let policy = cx.policy(&owner.merchant)?;
    policy.need_reference(new.reference.as_deref())?;
    requirements::need_fields(&policy, &account, &resolved.method, resolved.is_saved())?;
    gratuities::need_signature(cx, &new)?;
    let start = new
        .recur
        .take()
        .map(|recur| RecurringStart::new(cx, &owner, &account, recur))
        .transpose()?;
    if let Some(token) = &resolved.token {
        tokens::end(cx, token)?;
    }
    geo_rules::deny_by_country(cx, asked, &owner, &account, &mut resolved.method);
    requirements::deny_by_brand(&policy, &account, &mut resolved.method);
    let tip = gratuities::Tip::of(cx, &mut new);
    let order = PaymentOrder {
        owner,
        account,
        amount: new.amount.unwrap_or(0),
        method: resolved.method,
        auto_capture: new.auto_capture.unwrap_or(true),
        reference: new.reference,
        surcharge_amount: new.surcharge_amount,
        data: new.data,
        recurring: start.as_ref().map(RecurringStart::ids),
    };
    let mut kept = authorize(cx, order)?;
    if kept.object.failure_code.is_none() {
        tip.add(cx, &mut kept)?;
    }
    // A decline makes no recurring charge (gateway-api, POST /v1/charges, rule 4).
    if let Some(start) = start.filter(|_| kept.object.failure_code.is_none()) {
        start.begin(cx, &kept)?;
    }
    into_answer(kept)
}

fn check_terms(new: &NewCharge, method: &StoredMethod) -> Result<(), SandboxRefusal> {
    if new.auto_capture == Some(false) && !method.is_card() {
        let text = "Only cards can be authorized without capture";
        return Err(SandboxRefusal::rule("unavailable_for_merchant_policy", text));
    }
    Ok(())
}

/// Returns the charge, or the decline that names the transaction it left.
pub(crate) fn into_answer(kept: StoredTransaction) -> Result<Transaction, SandboxRefusal> {
    match &kept.object.failure_code {
        None => Ok(kept.object),
        Some(code) => Err(decline_refusal(code, &kept.object.id)),
    }
}

/// Builds the refusal of a declined charge; the stored transaction is kept.
pub(crate) fn decline_refusal(code: &str, transaction: &str) -> SandboxRefusal {
    let message = ProblemMessage {
        facility: Some("payment_processor".to_owned()),
        entity_id: Some(transaction.to_owned()),
        ..ProblemMessage::new(test_numbers::error_code(code), &test_numbers::message_text(code))
    };
    SandboxRefusal {
        status: test_numbers::status(code),
        problem: Problem { messages: vec![message] },
        keeps_effects: true,
    }
}

/// Makes a charge, then authorises or declines it. A charge whose CVV or address the account
/// rejects is voided.
pub(crate) fn authorize(
    cx: &mut ChangeUnit<'_>,
    mut order: PaymentOrder,
) -> Result<StoredTransaction, SandboxRefusal> {
    let failure = order.method.class.failure.clone();
    let rejection = verification::rejection(cx, &order)?;
    if failure.is_some() || rejection.is_some() {
        order.recurring = None;
    }
    let mut kept = settle(cx, order, failure)?;
    if let Some(code) = rejection.filter(|_| kept.object.failure_code.is_none()) {
        kept.object.failure_code = Some(code.to_owned());
        transactions::apply(cx, &mut kept, TransactionTransition::Void)?;
    }
    Ok(kept)
}

/// Makes a charge with a known end: authorised, or declined with a failure code. Exceeding the
/// volume limits declines it too.
pub(crate) fn settle(
    cx: &mut ChangeUnit<'_>,
    order: PaymentOrder,
    failure: Option<String>,
) -> Result<StoredTransaction, SandboxRefusal> {
    let failure = match failure {
        None => velocity::exceeded_limit(cx, &order)?.map(str::to_owned),
        known => known,
    };
    let sequence = cx.next();
    let id = cx.fresh_gateway_id();
    let object = new_transaction(cx, id.clone(), &order)?;
    let mut kept = Stored { owner: order.owner, sequence, object, internal: order.method };
    let under = kept.owner.key();
    cx.create(KIND, &under, &id, &kept)?;
    transactions::index_reference(cx, &kept)?;
    emit(cx, &kept, "transaction.created")?;
    if let Some(code) = failure {
        kept.object.failure_code = Some(code);
        transactions::apply(cx, &mut kept, TransactionTransition::Decline)?;
        return Ok(kept);
    }
    let class = &kept.internal.class;
    kept.object.cvv_result.clone_from(&class.cvv_result);
    kept.object.avs_result.clone_from(&class.avs_result);
    kept.object.authorization_code = Some(cx.fresh_secret("auth", 6).to_uppercase());
    transactions::apply(cx, &mut kept, TransactionTransition::Authorize)?;
    velocity::count(cx, &kept.owner, kept.object.amount)?;
    schedule_end(cx, &kept)?;
    Ok(kept)
}

fn new_transaction(
    cx: &ChangeUnit<'_>,
    id: String,
    order: &PaymentOrder,
) -> Result<Transaction, SandboxRefusal> {
    let merchant = cx.merchant(&order.owner.merchant)?;
    let now = Some(Timestamp(cx.now));
    Ok(Transaction {
        id,
        kind: TransactionType::Charge,
        account_id: order.account.clone(),
        status: TransactionStatus::Pending,
        amount: order.amount,
        currency: merchant.currency(order.owner.mode, &order.account),
        auto_capture: Some(order.auto_capture),
        amount_refunded: Some(0),
        created: now,
        modified: now,
        client_id: Some(client_id(cx.environment)),
        reference: order.reference.clone(),
        surcharge_amount: order.surcharge_amount,
        recurring_charge_id: order.recurring.as_ref().map(|(charge, _)| charge.clone()),
        recurring_charge_occurrence_id: order.recurring.as_ref().map(|(_, one)| one.clone()),
        data: order.data.clone(),
        method: Some(order.method.shown.clone()),
        ..Transaction::default()
    })
}

/// Schedules the end of an authorised charge: the daily capture, or the expiry of a hold.
pub(crate) fn schedule_end(
    cx: &mut ChangeUnit<'_>,
    kept: &StoredTransaction,
) -> Result<(), SandboxRefusal> {
    let id = kept.object.id.clone();
    if kept.object.auto_capture == Some(true) {
        let time = settlement_time(cx, kept)?;
        return timers::schedule(cx, time, &TimerEntry::Capture { id });
    }
    captures::add_hold(cx, kept)?;
    let time = cx.now.checked_add_days(Days::new(HOLD_DAYS)).unwrap_or(cx.now);
    timers::schedule(cx, time, &TimerEntry::HoldEnd { id })
}

/// Returns the settlement time: a card's next daily run, or the policy's number of banking days
/// after it for an electronic check.
fn settlement_time(
    cx: &ChangeUnit<'_>,
    kept: &StoredTransaction,
) -> Result<DateTime<Utc>, SandboxRefusal> {
    let merchant = cx.merchant(&kept.owner.merchant)?;
    let policy = cx.policy(&kept.owner.merchant)?;
    let (hour, days) = (policy.capture_hour(), policy.settlement_days);
    let run = merchant.next_at(cx.now, hour);
    if kept.internal.is_card() || days == 0 {
        return Ok(run);
    }
    Ok(merchant.at(banking::add_banking_days(merchant.today(run), days), hour))
}

/// Returns a charge of this owner.
///
/// # Errors
///
/// 404 for anything else.
pub(crate) fn find(
    cx: &ChangeUnit<'_>,
    owner: &ObjectOwner,
    id: &str,
) -> Result<StoredTransaction, SandboxRefusal> {
    let missing = || SandboxRefusal::not_found("Charge", id);
    let kept = transactions::find(cx, owner, id).map_err(|_| missing())?;
    if kept.object.kind == TransactionType::Charge { Ok(kept) } else { Err(missing()) }
}

/// Records an event of a transaction, with its method in the form of event data.
pub(crate) fn emit(
    cx: &mut ChangeUnit<'_>,
    kept: &StoredTransaction,
    kind: &str,
) -> Result<(), SandboxRefusal> {
    let shown = Transaction { method: Some(kept.internal.in_events()), ..kept.object.clone() };
    events::emit(cx, &kept.owner, kind, &shown)
}
