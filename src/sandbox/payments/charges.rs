//! Charges: creation, authorisation, decline and capture (gateway-api, POST /v1/charges, capture and
//! holds; service-facts, 45, 46).
//!
//! Everything that takes money goes through [`authorize`], also scheduled payments. A hold is a
//! charge that waits for a capture request.

use chrono::TimeDelta;

use crate::api::call::Page;
use crate::api::rules::{Problem, ProblemMessage};
use crate::api::schedule::Recur;
use crate::api::transaction::{self, NewCharge, Transaction, TransactionStatus, TransactionType};
use crate::api::transaction_action::{CAPTURE_LATER, NewCapture, capture_rules};
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::merchants::auth;
use crate::sandbox::merchants::policy::{UNAVAILABLE, need_enabled};
use crate::sandbox::merchants::processing::{self, need_currency, need_same_currency};
use crate::sandbox::methods::payment_methods::{decline_code, decline_status, decline_text};
use crate::sandbox::methods::saved_methods::{ResolvedMethod, resolve_checked};
use crate::sandbox::payments::order::{self, PaymentOrder};
use crate::sandbox::payments::signatures::Tip;
use crate::sandbox::payments::transactions::{
    self, StoredTransaction, TransactionTransition, status_refusal,
};
use crate::sandbox::request::{PageQuery, ParsedRequest};
use crate::sandbox::state::objects::{ObjectKind, ObjectOwner, Stored, TimerEntry};
use crate::sandbox::state::store::ChangeUnit;

/// Time after which a hold is voided (gateway-api, Limits).
const HOLD_TIME: TimeDelta = TimeDelta::days(7);

/// A charge whose request was checked, before anything changes.
pub(crate) struct CheckedCharge {
    pub(crate) owner: ObjectOwner,
    pub(crate) account: String,
    /// The recurring charge to start with it, not checked yet.
    pub(crate) recur: Option<Recur>,
    resolved: ResolvedMethod,
    tip: Tip,
    new: NewCharge,
}

impl CheckedCharge {
    /// Checks everything but `recur`.
    pub(crate) fn of(cx: &ChangeUnit, asked: &ParsedRequest, mut new: NewCharge) -> Result<Self> {
        let owner = asked.owner()?;
        let problems = transaction::charge_rules(&new);
        let resolved = resolve_checked(cx, &owner, new.method.take(), problems)?;
        let resolved = resolved.ok_or_else(SandboxRefusal::server_error)?;
        let merchant = cx.merchant(&owner.merchant)?;
        let kind = &resolved.method.shown.kind;
        let (named, of_key) = (new.account_id.as_deref(), asked.account_of_key());
        let account = merchant.account(owner.mode, kind, named, of_key)?;
        need_currency(account, new.currency.as_deref())?;
        let account = account.id.clone();
        let fits = new.auto_capture != Some(false) || resolved.method.is_card();
        let text = "Only cards can be authorized without capture";
        SandboxRefusal::unless(fits, UNAVAILABLE, text)?;
        let policy = cx.policy(&owner.merchant)?;
        policy.need_reference(new.reference.as_deref())?;
        order::need_fields(&policy, &account, &resolved.method, resolved.is_saved())?;
        let tip = Tip::take(cx, &mut new.gratuity, &mut new.signature);
        tip.check()?;
        Ok(Self { owner, account, recur: new.recur.take(), resolved, tip, new })
    }

    /// Makes the charge, and uses its token up; `recurring` are the ids of what it starts.
    pub(crate) fn make(
        self,
        cx: &mut ChangeUnit,
        asked: &ParsedRequest,
        recurring: Option<(String, String)>,
    ) -> Result<StoredTransaction> {
        let Self { owner, account, recur: _, resolved, tip, new } = self;
        let mut method = resolved.take(cx)?;
        order::deny_by_country(cx, asked, &account, &mut method);
        order::deny_by_brand(&*cx.policy(&owner.merchant)?, &account, &mut method);
        let order = PaymentOrder {
            owner,
            account,
            amount: new.amount.unwrap_or(0),
            method,
            auto_capture: new.auto_capture.unwrap_or(true),
            reference: new.reference,
            surcharge_amount: new.surcharge_amount,
            data: new.data,
            recurring,
        };
        let mut kept = authorize(cx, order)?;
        if kept.object.failure_code.is_none() {
            tip.add(cx, &mut kept)?;
        }
        Ok(kept)
    }
}

/// Returns the charge, or the decline that names the transaction it left.
pub(crate) fn into_answer(kept: StoredTransaction) -> Result<Transaction> {
    let Some(code) = &kept.object.failure_code else { return Ok(kept.object) };
    let message = ProblemMessage {
        facility: Some("payment_processor".to_owned()),
        entity_id: Some(kept.object.id),
        ..ProblemMessage::new(decline_code(code), &decline_text(code))
    };
    let problem = Problem { messages: vec![message] };
    Err(SandboxRefusal { status: decline_status(code), problem, keeps_effects: true })
}

/// Makes a charge, then authorises, declines or, if the account rejects CVV or address, voids it.
pub(crate) fn authorize(cx: &mut ChangeUnit, mut order: PaymentOrder) -> Result<StoredTransaction> {
    let failure = order.method.class.failure.clone();
    let rejection = order::rejection(cx, &order)?;
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

/// Makes a charge with a known end. Exceeding the volume limits declines it too.
pub(crate) fn settle(
    cx: &mut ChangeUnit,
    order: PaymentOrder,
    failure: Option<String>,
) -> Result<StoredTransaction> {
    let failure = match failure {
        None => order::exceeded_limit(cx, &order)?.map(str::to_owned),
        known => known,
    };
    let sequence = cx.next();
    let id = cx.fresh_gateway_id();
    let object = new_transaction(cx, id.clone(), &order)?;
    let mut kept = Stored { owner: order.owner, sequence, object, internal: order.method.into() };
    // The change that follows stores the object itself.
    cx.list_add(&ObjectKind::TRANSACTION.list(&kept.owner.key()), kept.sequence, &id)?;
    let reference = kept.object.reference.as_deref();
    cx.index_reference(ObjectKind::TRANSACTION, &kept, reference, &id)?;
    transactions::emit(cx, &kept, "transaction.created")?;
    if let Some(code) = failure {
        transactions::fail(cx, &mut kept, code)?;
        return Ok(kept);
    }
    let class = &kept.internal.class;
    kept.object.cvv_result.clone_from(&class.cvv_result);
    kept.object.avs_result.clone_from(&class.avs_result);
    kept.object.authorization_code = Some(cx.fresh_secret("auth", 6).to_uppercase());
    transactions::apply(cx, &mut kept, TransactionTransition::Authorize)?;
    order::count_volume(cx, &kept.owner, kept.object.amount)?;
    schedule_end(cx, &kept)?;
    Ok(kept)
}

fn new_transaction(cx: &ChangeUnit, id: String, order: &PaymentOrder) -> Result<Transaction> {
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
        client_id: Some(cx.environment.client_id.clone()),
        reference: order.reference.clone(),
        surcharge_amount: order.surcharge_amount,
        recurring_charge_id: order.recurring.as_ref().map(|(charge, _)| charge.clone()),
        recurring_charge_occurrence_id: order.recurring.as_ref().map(|(_, one)| one.clone()),
        data: order.data.clone(),
        method: Some(order.method.shown.clone()),
        ..Transaction::default()
    })
}

/// Schedules the end of an authorised charge: the expiry of a hold, or the capture by the next daily
/// run, for an electronic check some banking days later.
fn schedule_end(cx: &mut ChangeUnit, kept: &StoredTransaction) -> Result<()> {
    let id = kept.object.id.clone();
    if kept.object.auto_capture != Some(true) {
        cx.list_add(&transactions::holds_of(&kept.owner), kept.sequence, &id)?;
        return cx.schedule_in(HOLD_TIME, &TimerEntry::HoldEnd { id });
    }
    let merchant = cx.merchant(&kept.owner.merchant)?;
    let policy = cx.policy(&kept.owner.merchant)?;
    let (hour, days) = (policy.capture_hour(), policy.settlement_days);
    let mut time = merchant.next_at(cx.now, hour);
    if !kept.is_of_card() && days > 0 {
        time = merchant.at(processing::add_banking_days(merchant.today(time), days), hour);
    }
    cx.schedule(time, &TimerEntry::Capture { id })
}

/// Returns a charge of this owner. 404 for anything else.
pub(crate) fn find(cx: &ChangeUnit, owner: &ObjectOwner, id: &str) -> Result<StoredTransaction> {
    let missing = || SandboxRefusal::not_found("Charge", id);
    let kept = transactions::find(cx, owner, id).map_err(|_| missing())?;
    if kept.object.kind == TransactionType::Charge { Ok(kept) } else { Err(missing()) }
}

/// GET /v1/charges/holds: newest first, of one account or all.
pub(crate) fn list_holds(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<Page<Transaction>> {
    let owner = asked.owner()?;
    let paging = PageQuery::of(asked)?;
    let list = transactions::holds_of(&owner);
    let show = |id: &str| transactions::find(cx, &owner, id).map(|kept| kept.object);
    let Some(account) = asked.query("account_id") else { return paging.of_list(cx, &list, show) };
    let ids = cx.ids(&list, 0, u64::MAX)?;
    let mut all: Vec<Transaction> = ids.iter().map(|id| show(id)).collect::<Result<_, _>>()?;
    all.retain(|one| one.account_id == account);
    Ok(paging.of_vec(all))
}

pub(crate) fn capture(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    mut new: NewCapture,
) -> Result<Transaction> {
    let mut kept = find(cx, &asked.owner()?, asked.parameter(0))?;
    SandboxRefusal::fields("", &capture_rules(&new))?;
    auth::need_country(cx, asked, &kept.object.account_id)?;
    let policy = cx.policy(&kept.owner.merchant)?;
    need_enabled(!policy.capture_disabled.contains(&kept.object.account_id), "Captures")?;
    let is_authorized = kept.object.status == TransactionStatus::Authorized;
    SandboxRefusal::ensure(is_authorized && transactions::is_hold(&kept.object), status_refusal)?;
    need_same_currency(&kept.object, new.currency.as_deref())?;
    need_full_amount(&kept.object, new.amount)?;
    let tip = Tip::take(cx, &mut new.gratuity, &mut new.signature);
    tip.checked_for_capture(&kept)?.add(cx, &mut kept)?;
    kept.object.capture_reference = new.reference.filter(|text| !text.is_empty());
    if new.capture_time.as_deref() == Some(CAPTURE_LATER) {
        leave_to_daily_run(cx, &mut kept)?;
    } else {
        transactions::apply(cx, &mut kept, TransactionTransition::Capture)?;
    }
    Ok(kept.object)
}

fn need_full_amount(held: &Transaction, amount: Option<i64>) -> Result<()> {
    match amount {
        Some(amount) if amount == held.amount => Ok(()),
        Some(amount) if amount > held.amount => {
            let text = "Amount to capture exceeds the authorized amount";
            Err(SandboxRefusal::rule("exceeds_authorized_amount", text))
        }
        Some(_) | None => {
            let text = "Amount must equal the authorized amount";
            Err(SandboxRefusal::field("amount", "invalid", text))
        }
    }
}

/// Converts a hold to a charge that the daily run captures.
fn leave_to_daily_run(cx: &mut ChangeUnit, kept: &mut StoredTransaction) -> Result<()> {
    transactions::remove_hold(cx, kept);
    kept.object.auto_capture = Some(true);
    transactions::store_update(cx, kept)?;
    schedule_end(cx, kept)
}
