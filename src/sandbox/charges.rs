//! Charges: creation, authorisation and decline (gateway-api, POST /v1/charges).
//!
//! Everything that takes money goes through [`authorize`], also scheduled payments.

use chrono::{DateTime, Days, Utc};
use serde_json::Value;

use crate::api::transaction::{self, NewCharge, Transaction, TransactionStatus, TransactionType};
use crate::api::wire::Timestamp;
use crate::api::{Message, Problem};
use crate::sandbox::asked::Asked;
use crate::sandbox::due::{self, Due};
use crate::sandbox::lists::{Kept, KindOf, Owner};
use crate::sandbox::methods::KeptMethod;
use crate::sandbox::oauth::client_id;
use crate::sandbox::processing::need_currency;
use crate::sandbox::recur::Start;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::transactions::{self, Change, KeptTransaction};
use crate::sandbox::{
    banking, captures, events, gratuities, outcomes, payouts, places, requirements, tokens,
    verification, volume,
};

pub(crate) const KIND: KindOf = KindOf { word: "transaction", name: "Transaction" };

/// Days after which a hold is voided (gateway-api, Limits).
const HOLD_DAYS: u64 = 7;
/// A payment to authorise; its method has been checked.
pub(crate) struct Order {
    pub(crate) owner: Owner,
    pub(crate) account: String,
    pub(crate) amount: i64,
    pub(crate) method: KeptMethod,
    pub(crate) auto_capture: bool,
    pub(crate) reference: Option<String>,
    pub(crate) surcharge_amount: Option<i64>,
    pub(crate) data: Option<Value>,
    /// Ids of the recurring charge and its occurrence.
    pub(crate) recurring: Option<(String, String)>,
}

/// POST /v1/charges.
pub(crate) fn create(
    cx: &mut Cx<'_>,
    asked: &Asked,
    mut new: NewCharge,
) -> Result<Transaction, Refusal> {
    let owner = asked.owner()?;
    let problems = transaction::rules(&new);
    let resolved = payouts::method_of(cx, &owner, new.method.take(), problems)?;
    let mut resolved = resolved.ok_or_else(Refusal::broken)?;
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
    let start =
        new.recur.take().map(|recur| Start::new(cx, &owner, &account, recur)).transpose()?;
    if let Some(token) = &resolved.token {
        tokens::end(cx, token)?;
    }
    places::judge(cx, asked, &owner, &account, &mut resolved.method);
    requirements::judge(&policy, &account, &mut resolved.method);
    let tip = gratuities::Tip::of(cx, &mut new);
    let order = Order {
        owner,
        account,
        amount: new.amount.unwrap_or(0),
        method: resolved.method,
        auto_capture: new.auto_capture.unwrap_or(true),
        reference: new.reference,
        surcharge_amount: new.surcharge_amount,
        data: new.data,
        recurring: start.as_ref().map(Start::ids),
    };
    let mut kept = authorize(cx, order)?;
    if kept.object.failure_code.is_none() {
        tip.add(cx, &mut kept)?;
    }
    // A decline makes no recurring charge (gateway-api, POST /v1/charges, rule 4).
    if let Some(start) = start.filter(|_| kept.object.failure_code.is_none()) {
        start.begin(cx, &kept)?;
    }
    answer(kept)
}

fn check_terms(new: &NewCharge, method: &KeptMethod) -> Result<(), Refusal> {
    if new.auto_capture == Some(false) && !method.is_card() {
        let text = "Only cards can be authorized without capture";
        return Err(Refusal::rule("unavailable_for_merchant_policy", text));
    }
    Ok(())
}

/// Returns the charge, or the decline that names the transaction it left.
pub(crate) fn answer(kept: KeptTransaction) -> Result<Transaction, Refusal> {
    match &kept.object.failure_code {
        None => Ok(kept.object),
        Some(code) => Err(declined(code, &kept.object.id)),
    }
}

/// Builds the refusal of a declined charge; the stored transaction is kept.
pub(crate) fn declined(code: &str, transaction: &str) -> Refusal {
    let message = Message {
        facility: Some("payment_processor".to_owned()),
        entity_id: Some(transaction.to_owned()),
        ..Message::new(outcomes::answered(code), &outcomes::text(code))
    };
    Refusal {
        status: outcomes::status(code),
        problem: Problem { messages: vec![message] },
        keeps_effects: true,
    }
}

/// Makes a charge, then authorises or declines it. A charge whose CVV or address the account
/// rejects is voided.
pub(crate) fn authorize(cx: &mut Cx<'_>, mut order: Order) -> Result<KeptTransaction, Refusal> {
    let failure = order.method.class.failure.clone();
    let rejection = verification::rejection(cx, &order)?;
    if failure.is_some() || rejection.is_some() {
        order.recurring = None;
    }
    let mut kept = settle(cx, order, failure)?;
    if let Some(code) = rejection.filter(|_| kept.object.failure_code.is_none()) {
        kept.object.failure_code = Some(code.to_owned());
        transactions::apply(cx, &mut kept, Change::Void)?;
    }
    Ok(kept)
}

/// Makes a charge with a known end: authorised, or declined with a failure code. Exceeding the
/// volume limits declines it too.
pub(crate) fn settle(
    cx: &mut Cx<'_>,
    order: Order,
    failure: Option<String>,
) -> Result<KeptTransaction, Refusal> {
    let failure = match failure {
        None => volume::exceeded(cx, &order)?.map(str::to_owned),
        known => known,
    };
    let sequence = cx.next();
    let id = cx.id();
    let object = new_transaction(cx, id.clone(), &order)?;
    let mut kept = Kept { owner: order.owner, sequence, object, inside: order.method };
    let under = kept.owner.key();
    cx.create(KIND, &under, &id, &kept)?;
    transactions::note_reference(cx, &kept)?;
    emit(cx, &kept, "transaction.created")?;
    if let Some(code) = failure {
        kept.object.failure_code = Some(code);
        transactions::apply(cx, &mut kept, Change::Decline)?;
        return Ok(kept);
    }
    let class = &kept.inside.class;
    kept.object.cvv_result.clone_from(&class.cvv_result);
    kept.object.avs_result.clone_from(&class.avs_result);
    kept.object.authorization_code = Some(cx.fresh("auth", 6).to_uppercase());
    transactions::apply(cx, &mut kept, Change::Authorize)?;
    volume::count(cx, &kept.owner, kept.object.amount)?;
    plan_end(cx, &kept)?;
    Ok(kept)
}

fn new_transaction(cx: &Cx<'_>, id: String, order: &Order) -> Result<Transaction, Refusal> {
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
        client_id: Some(client_id(cx.world)),
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
pub(crate) fn plan_end(cx: &mut Cx<'_>, kept: &KeptTransaction) -> Result<(), Refusal> {
    let id = kept.object.id.clone();
    if kept.object.auto_capture == Some(true) {
        let time = settled_at(cx, kept)?;
        return due::schedule(cx, time, &Due::Capture { id });
    }
    captures::hold(cx, kept)?;
    let time = cx.now.checked_add_days(Days::new(HOLD_DAYS)).unwrap_or(cx.now);
    due::schedule(cx, time, &Due::HoldEnd { id })
}

/// Returns the settlement time: a card's next daily run, or the policy's number of banking days
/// after it for an electronic check.
fn settled_at(cx: &Cx<'_>, kept: &KeptTransaction) -> Result<DateTime<Utc>, Refusal> {
    let merchant = cx.merchant(&kept.owner.merchant)?;
    let policy = cx.policy(&kept.owner.merchant)?;
    let (hour, days) = (policy.capture_hour(), policy.settlement_days);
    let run = merchant.next_at(cx.now, hour);
    if kept.inside.is_card() || days == 0 {
        return Ok(run);
    }
    Ok(merchant.at(banking::after(merchant.today(run), days), hour))
}

/// Returns a charge of this owner.
///
/// # Errors
///
/// 404 for anything else.
pub(crate) fn find(cx: &Cx<'_>, owner: &Owner, id: &str) -> Result<KeptTransaction, Refusal> {
    let missing = || Refusal::missing("Charge", id);
    let kept = transactions::find(cx, owner, id).map_err(|_| missing())?;
    if kept.object.kind == TransactionType::Charge { Ok(kept) } else { Err(missing()) }
}

/// Records an event of a transaction, with its method in the form of event data.
pub(crate) fn emit(cx: &mut Cx<'_>, kept: &KeptTransaction, kind: &str) -> Result<(), Refusal> {
    let shown = Transaction { method: Some(kept.inside.in_events()), ..kept.object.clone() };
    events::emit(cx, &kept.owner, kind, &shown)
}
