//! Occurrences, the payments of a recurring charge: opened one after the other, paid, failed or
//! ignored (gateway-api, Occurrences; service-facts, 59 to 62), and their routes (gateway-api,
//! Recurring charge occurrence).
//!
//! One occurrence is pending at a time. `total_occurrences` and `total_amount` count the money
//! collected so far (gateway-api, Recurring charge); a limit counts each tried occurrence once.

use chrono::NaiveDate;

use crate::api::call::Page;
use crate::api::recurring::{Occurrence, OccurrenceStatus, RecurringStatus};
use crate::api::transaction::Transaction;
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::merchants::events;
use crate::sandbox::payments::charges;
use crate::sandbox::payments::order::PaymentOrder;
use crate::sandbox::payments::transactions::StoredTransaction;
use crate::sandbox::recurring::state::{
    self, OccurrenceInternals, OccurrenceTransition, StoredOccurrence, StoredRecurring, calendar,
    find_occurrence, find_pair, refuse_deleted, status_refusal, step_occurrence,
};
use crate::sandbox::request::{PageQuery, ParsedRequest};
use crate::sandbox::state::objects::{ObjectKind, Stored, TimerEntry};
use crate::sandbox::state::store::ChangeUnit;

const DUE_HOUR: u32 = 12;

/// Opens the next occurrence, or completes the charge if none is left.
pub(crate) fn open(
    cx: &mut ChangeUnit,
    charge: &mut StoredRecurring,
    today: NaiveDate,
) -> Result<Option<Occurrence>> {
    let Some((date, amount)) = next(charge, today)? else {
        complete(cx, charge)?;
        return Ok(None);
    };
    let sequence = cx.next();
    let id = cx.fresh_gateway_id();
    let object = new_occurrence(cx, charge, id, (date, amount));
    let internal = OccurrenceInternals::default();
    let kept = Stored { owner: charge.owner.clone(), sequence, object, internal };
    cx.create(ObjectKind::OCCURRENCE, &charge.object.id, &kept.object.id, &kept)?;
    plan(cx, charge, &kept.object)?;
    events::emit(cx, &charge.owner, "recurring_charge.occurrence.created", &kept.object)?;
    Ok(Some(kept.object))
}

fn new_occurrence(
    cx: &ChangeUnit,
    charge: &StoredRecurring,
    id: String,
    (date, amount): (NaiveDate, i64),
) -> Occurrence {
    let now = Some(Timestamp(cx.now));
    Occurrence {
        id,
        recurring_charge_id: charge.object.id.clone(),
        amount,
        status: OccurrenceStatus::Pending,
        due_date: Some(date),
        created: now,
        modified: now,
        ..Occurrence::default()
    }
}

/// Creates the first occurrence of a recurring charge that began with a charge, already paid by
/// that charge (gateway-api, POST /v1/charges, rule 4).
pub(crate) fn create_paid(
    cx: &mut ChangeUnit,
    charge: &StoredRecurring,
    id: &str,
    transaction: &StoredTransaction,
    today: NaiveDate,
) -> Result<()> {
    let sequence = cx.next();
    let due = (today, transaction.object.amount);
    let mut object = new_occurrence(cx, charge, id.to_owned(), due);
    events::emit(cx, &charge.owner, "recurring_charge.occurrence.created", &object)?;
    object.status = step_occurrence(&object.status, OccurrenceTransition::Pay)?;
    (object.attempts, object.last_attempt) = (1, object.created);
    let transactions = vec![transaction.object.id.clone()];
    let inside = OccurrenceInternals { transactions, ..OccurrenceInternals::default() };
    let kept = Stored { owner: charge.owner.clone(), sequence, object, internal: inside };
    cx.create(ObjectKind::OCCURRENCE, &charge.object.id, id, &kept)?;
    events::emit(cx, &charge.owner, "recurring_charge.occurrence.paid", &kept.object)
}

fn plan(cx: &mut ChangeUnit, charge: &mut StoredRecurring, object: &Occurrence) -> Result<()> {
    charge.internal.pending = Some(object.id.clone());
    charge.object.next_payment = object.due_date;
    let merchant = cx.merchant(&charge.owner.merchant)?;
    let date = object.due_date.ok_or_else(SandboxRefusal::server_error)?;
    let due = TimerEntry::Occurrence { id: object.id.clone() };
    cx.schedule(merchant.at(date, DUE_HOUR), &due)
}

/// Returns the next date and its amount; `None` if a limit is reached or no date is left.
fn next(charge: &StoredRecurring, today: NaiveDate) -> Result<Option<(NaiveDate, i64)>> {
    let object = &charge.object;
    let left = object.max_amount.map(|most| most.saturating_sub(object.total_amount));
    let amount = left.map_or(object.amount, |left| left.min(object.amount));
    let tried = charge.internal.tried.max(object.total_occurrences);
    if object.max_occurrences.is_some_and(|most| tried >= most) || amount <= 0 {
        return Ok(None);
    }
    let after = charge.internal.last_closed_date.and_then(|date| date.succ_opt());
    let from = after.map_or(today, |after| after.max(today));
    let schedule = object.schedule.clone().unwrap_or_default();
    let date = calendar(&schedule)?.next_on_or_after(from);
    Ok(date.map(|date| (date, amount)))
}

fn complete(cx: &mut ChangeUnit, charge: &mut StoredRecurring) -> Result<()> {
    let end = state::RecurringTransition::Complete;
    let Ok(status) = state::step_charge(&charge.object.status, end) else { return Ok(()) };
    charge.object.status = status;
    charge.object.status_reason = Some("schedule_complete".to_owned());
    charge.object.next_payment = None;
    charge.internal.pending = None;
    charge.object.modified = Some(Timestamp(cx.now));
    events::emit(cx, &charge.owner, "recurring_charge.completed", &charge.object)
}

/// Moves the pending occurrence to a changed schedule; returns false if none is left.
pub(crate) fn replan(
    cx: &mut ChangeUnit,
    charge: &mut StoredRecurring,
    today: NaiveDate,
) -> Result<bool> {
    let Some(pending) = charge.internal.pending.clone() else { return Ok(true) };
    let Some((date, amount)) = next(charge, today)? else { return Ok(false) };
    let mut kept = find_occurrence(cx, &pending)?;
    let is_same = kept.object.due_date == Some(date) && kept.object.amount == amount;
    if is_same || state::is_paying(&kept) {
        return Ok(true);
    }
    kept.object.due_date = Some(date);
    kept.object.amount = amount;
    kept.object.modified = Some(Timestamp(cx.now));
    cx.update(ObjectKind::OCCURRENCE, &pending, &kept)?;
    plan(cx, charge, &kept.object)?;
    events::emit(cx, &kept.owner, "recurring_charge.occurrence.updated", &kept.object)?;
    Ok(true)
}

/// Pays an occurrence that is still due now, and ends a payment in progress whose time is over.
pub(crate) fn run_due_payment(cx: &mut ChangeUnit, id: &str) -> Result<()> {
    let mut kept = find_occurrence(cx, id)?;
    let charge = state::find_charge(cx, &kept.owner, &kept.object.recurring_charge_id)?;
    let merchant = cx.merchant(&kept.owner.merchant)?;
    let time = kept.object.due_date.map(|date| merchant.at(date, DUE_HOUR));
    let is_due = kept.object.status == OccurrenceStatus::Pending
        && time.is_some_and(|time| time <= cx.now)
        && charge.object.status == RecurringStatus::Active;
    let paying_until = kept.internal.paying_until.filter(|_| state::is_paying(&kept));
    let is_over = paying_until.is_some_and(|end| end.0 <= cx.now);
    if is_over || is_due && !state::begin_payment(cx, &mut kept)? {
        attempt(cx, charge, kept)?;
    }
    Ok(())
}

/// Tries to collect an occurrence; opens the next one if this was the pending one.
pub(crate) fn attempt(
    cx: &mut ChangeUnit,
    mut charge: StoredRecurring,
    mut kept: StoredOccurrence,
) -> Result<StoredTransaction> {
    let transaction = collect(cx, &charge, &kept)?;
    let paid = transaction.object.failure_code.is_none();
    let outcome = if paid { OccurrenceTransition::Pay } else { OccurrenceTransition::Decline };
    let first_try = kept.object.attempts == 0;
    kept.object.attempts = kept.object.attempts.saturating_add(1);
    kept.object.last_attempt = Some(Timestamp(cx.now));
    kept.internal.transactions.push(transaction.object.id.clone());
    let totals = &mut charge.object;
    let tried = charge.internal.tried.max(totals.total_occurrences);
    charge.internal.tried = tried.saturating_add(i64::from(first_try));
    if paid {
        totals.total_occurrences = totals.total_occurrences.saturating_add(1);
        let sum = totals.total_amount.checked_add(kept.object.amount);
        totals.total_amount = sum.ok_or_else(SandboxRefusal::server_error)?;
    }
    close(cx, charge, &mut kept, outcome)?;
    Ok(transaction)
}

fn collect(
    cx: &mut ChangeUnit,
    charge: &StoredRecurring,
    kept: &StoredOccurrence,
) -> Result<StoredTransaction> {
    let method = charge.internal.method.clone();
    let wrong = method.problems.first().map(|_| "invalid_data");
    let flaw = wrong.or_else(|| method.broken_rule(cx.now)).map(str::to_owned);
    let failure = flaw.or_else(|| method.class.failure.clone());
    let order = PaymentOrder {
        owner: charge.owner.clone(),
        account: charge.object.account_id.clone(),
        amount: kept.object.amount,
        method,
        auto_capture: true,
        reference: charge.object.reference.clone(),
        surcharge_amount: None,
        data: charge.object.data.clone(),
        recurring: Some((charge.object.id.clone(), kept.object.id.clone())),
    };
    charges::settle(cx, order, failure)
}

/// Applies an outcome to an occurrence, and opens the next one if it was the pending one.
pub(crate) fn close(
    cx: &mut ChangeUnit,
    mut charge: StoredRecurring,
    kept: &mut StoredOccurrence,
    outcome: OccurrenceTransition,
) -> Result<()> {
    kept.object.status = step_occurrence(&kept.object.status, outcome)?;
    kept.object.modified = Some(Timestamp(cx.now));
    cx.update(ObjectKind::OCCURRENCE, &kept.object.id, kept)?;
    events::emit(cx, &kept.owner, state::occurrence_event(outcome), &kept.object)?;
    if charge.internal.pending.as_deref() == Some(kept.object.id.as_str()) {
        charge.internal.pending = None;
        charge.internal.last_closed_date = kept.object.due_date;
        let today = cx.merchant(&charge.owner.merchant)?.today(cx.now);
        open(cx, &mut charge, today)?;
    } else if outcome == OccurrenceTransition::Pay && charge.internal.pending.is_some() {
        after_late_payment(cx, &mut charge)?;
    }
    charge.object.modified = Some(Timestamp(cx.now));
    cx.update(ObjectKind::RECURRING_CHARGE, &charge.object.id, &charge)
}

/// Replans the pending occurrence after a late payment, which may leave less or nothing to collect.
fn after_late_payment(cx: &mut ChangeUnit, charge: &mut StoredRecurring) -> Result<()> {
    let today = cx.merchant(&charge.owner.merchant)?.today(cx.now);
    if replan(cx, charge, today)? {
        return Ok(());
    }
    ignore_pending(cx, charge)?;
    complete(cx, charge)
}

/// Ignores the pending occurrence, and opens no other.
pub(crate) fn ignore_pending(cx: &mut ChangeUnit, charge: &mut StoredRecurring) -> Result<()> {
    let Some(pending) = charge.internal.pending.take() else { return Ok(()) };
    let mut kept = find_occurrence(cx, &pending)?;
    if state::is_paying(&kept) {
        return Ok(());
    }
    kept.object.status = step_occurrence(&kept.object.status, OccurrenceTransition::Ignore)?;
    cx.update(ObjectKind::OCCURRENCE, &pending, &kept)?;
    events::emit(cx, &kept.owner, "recurring_charge.occurrence.ignored", &kept.object)
}

fn show(cx: &ChangeUnit, id: &str) -> Result<Occurrence> {
    let kept = find_occurrence(cx, id)?;
    let mut transactions: Vec<Transaction> = Vec::new();
    for id in &kept.internal.transactions {
        let kept: Option<StoredTransaction> = cx.look_up(ObjectKind::TRANSACTION, id)?;
        transactions.extend(kept.map(|kept| kept.object));
    }
    let mut object = Occurrence { transactions: Some(transactions), ..kept.object };
    // The documents know only PENDING, PAID and IGNORED: a failed occurrence can still be paid, so
    // it is shown as pending (gateway-api, Recurring charge occurrence).
    let is_open = matches!(object.status, OccurrenceStatus::Failed | OccurrenceStatus::Paying);
    if is_open && !cx.is_public() {
        object.status = OccurrenceStatus::Pending;
    }
    Ok(object)
}

pub(crate) fn get(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<Occurrence> {
    let (_, kept) = find_pair(cx, asked)?;
    show(cx, &kept.object.id)
}

/// GET …/occurrences: newest first, so the pending or last one leads.
pub(crate) fn list(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<Page<Occurrence>> {
    let charge = state::find_charge(cx, &asked.owner()?, asked.parameter(0))?;
    let list = ObjectKind::OCCURRENCE.list(&charge.object.id);
    PageQuery::of(asked)?.of_list(cx, &list, |id| show(cx, id))
}

/// POST …/pay: pays early or again. A decline is answered as one, and its transaction is kept.
pub(crate) fn pay(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<Occurrence> {
    let (charge, kept) = find_pair(cx, asked)?;
    let id = kept.object.id.clone();
    step_occurrence(&kept.object.status, OccurrenceTransition::Pay)?;
    SandboxRefusal::ensure(!state::is_paying(&kept), status_refusal)?;
    refuse_deleted(&charge)?;
    let transaction = attempt(cx, charge, kept)?;
    charges::into_answer(transaction)?;
    show(cx, &id)
}

pub(crate) fn ignore(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<Occurrence> {
    let (charge, mut kept) = find_pair(cx, asked)?;
    refuse_deleted(&charge)?;
    close(cx, charge, &mut kept, OccurrenceTransition::Ignore)?;
    show(cx, &kept.object.id)
}
