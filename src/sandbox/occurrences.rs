//! Occurrences, the payments of a recurring charge: opened one after the other, paid, failed or
//! ignored (gateway-api, Occurrences; service-facts, 59 to 62).
//!
//! One occurrence is pending at a time. `total_occurrences` and `total_amount` count the money
//! collected so far (gateway-api, Recurring charge); a limit counts each tried occurrence once.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::api::Page;
use crate::api::occurrence::{Occurrence, OccurrenceStatus};
use crate::api::recurring::RecurringStatus;
use crate::api::transaction::Transaction;
use crate::api::wire::Timestamp;
use crate::sandbox::asked::Asked;
use crate::sandbox::charges::{self, Order};
use crate::sandbox::documented;
use crate::sandbox::due::{self, Due};
use crate::sandbox::events;
use crate::sandbox::lists::{Kept, KindOf, Owner, Paging};
use crate::sandbox::paying;
use crate::sandbox::recurring::{self, KeptRecurring, calendar};
use crate::sandbox::recurring_change::unavailable;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::transactions::KeptTransaction;

pub(crate) const KIND: KindOf = KindOf { word: "occurrence", name: "Occurrence" };

/// Hour of the merchant's day at which an occurrence is paid.
const DUE_HOUR: u32 = 12;

/// Private part of an occurrence.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Inside {
    /// Ids of its transactions, oldest first.
    pub(crate) transactions: Vec<String>,
    /// End of the payment in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) paying_until: Option<Timestamp>,
}

pub(crate) type KeptOccurrence = Kept<Occurrence, Inside>;

/// A transition of an occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// A payment is in progress.
    Begin,
    /// A payment was made.
    Pay,
    /// A payment was declined.
    Decline,
    /// A request excludes it from the automatic collection.
    Ignore,
}

/// Returns the status after a change; `None` for a change that the status does not allow.
pub(crate) fn step(status: &OccurrenceStatus, change: Change) -> Option<OccurrenceStatus> {
    use OccurrenceStatus as S;
    match (status, change) {
        (S::Pending, Change::Begin) => Some(S::Paying),
        (S::Pending | S::Failed | S::Ignored | S::Paying, Change::Pay) => Some(S::Paid),
        (S::Pending | S::Failed | S::Ignored | S::Paying, Change::Decline) => Some(S::Failed),
        (S::Pending | S::Failed | S::Ignored, Change::Ignore) => Some(S::Ignored),
        (S::Failed | S::Ignored | S::Paying, Change::Begin)
        | (S::Paying, Change::Ignore)
        | (S::Paid | S::Other(_), Change::Begin | Change::Pay | Change::Decline | Change::Ignore) => {
            None
        }
    }
}

/// Returns the event type of a change.
pub(crate) fn event(change: Change) -> &'static str {
    match change {
        Change::Begin => "recurring_charge.occurrence.updated",
        Change::Pay => "recurring_charge.occurrence.paid",
        Change::Decline => "recurring_charge.occurrence.failed",
        Change::Ignore => "recurring_charge.occurrence.ignored",
    }
}

/// Opens the next occurrence, or completes the charge if none is left.
pub(crate) fn open(
    cx: &mut Cx<'_>,
    charge: &mut KeptRecurring,
    today: NaiveDate,
) -> Result<Option<Occurrence>, Refusal> {
    let Some((date, amount)) = next(charge, today)? else {
        complete(cx, charge)?;
        return Ok(None);
    };
    let sequence = cx.next();
    let now = Some(Timestamp(cx.now));
    let object = Occurrence {
        id: cx.id(),
        recurring_charge_id: charge.object.id.clone(),
        amount,
        status: OccurrenceStatus::Pending,
        due_date: Some(date),
        created: now,
        modified: now,
        ..Occurrence::default()
    };
    let owner = charge.owner.clone();
    let kept = Kept { owner, sequence, object: object.clone(), inside: Inside::default() };
    cx.create(KIND, &charge.object.id, &object.id, &kept)?;
    plan(cx, charge, &object)?;
    events::emit(cx, &charge.owner, "recurring_charge.occurrence.created", &object)?;
    Ok(Some(object))
}

/// Creates the first occurrence of a recurring charge that began with a charge, already paid by
/// that charge (gateway-api, POST /v1/charges, rule 4).
pub(crate) fn paid(
    cx: &mut Cx<'_>,
    charge: &KeptRecurring,
    id: &str,
    transaction: &KeptTransaction,
    today: NaiveDate,
) -> Result<(), Refusal> {
    let sequence = cx.next();
    let now = Some(Timestamp(cx.now));
    let mut object = Occurrence {
        id: id.to_owned(),
        recurring_charge_id: charge.object.id.clone(),
        amount: transaction.object.amount,
        status: OccurrenceStatus::Pending,
        due_date: Some(today),
        created: now,
        modified: now,
        ..Occurrence::default()
    };
    events::emit(cx, &charge.owner, "recurring_charge.occurrence.created", &object)?;
    object.status = step(&object.status, Change::Pay).ok_or_else(unavailable)?;
    (object.attempts, object.last_attempt) = (1, now);
    let transactions = vec![transaction.object.id.clone()];
    let inside = Inside { transactions, ..Inside::default() };
    let kept = Kept { owner: charge.owner.clone(), sequence, object, inside };
    cx.create(KIND, &charge.object.id, id, &kept)?;
    events::emit(cx, &charge.owner, "recurring_charge.occurrence.paid", &kept.object)
}

fn plan(cx: &mut Cx<'_>, charge: &mut KeptRecurring, object: &Occurrence) -> Result<(), Refusal> {
    charge.inside.pending = Some(object.id.clone());
    charge.object.next_payment = object.due_date;
    let merchant = cx.merchant(&charge.owner.merchant)?;
    let date = object.due_date.ok_or_else(Refusal::broken)?;
    due::schedule(cx, merchant.at(date, DUE_HOUR), &Due::Occurrence { id: object.id.clone() })
}

/// Returns the next date and its amount; `None` if a limit is reached or no date is left.
fn next(charge: &KeptRecurring, today: NaiveDate) -> Result<Option<(NaiveDate, i64)>, Refusal> {
    let object = &charge.object;
    let left = object.max_amount.map(|most| most.saturating_sub(object.total_amount));
    let amount = left.map_or(object.amount, |left| left.min(object.amount));
    let counted = object
        .max_occurrences
        .is_some_and(|most| charge.inside.tried.max(object.total_occurrences) >= most);
    if counted || amount <= 0 {
        return Ok(None);
    }
    let after = charge.inside.closed.and_then(|date| date.succ_opt());
    let from = after.map_or(today, |after| after.max(today));
    let schedule = object.schedule.clone().unwrap_or_default();
    let date = calendar(&schedule)?.next_on_or_after(from);
    Ok(date.map(|date| (date, amount)))
}

fn complete(cx: &mut Cx<'_>, charge: &mut KeptRecurring) -> Result<(), Refusal> {
    let Some(status) = recurring::step(&charge.object.status, recurring::Change::Complete) else {
        return Ok(());
    };
    charge.object.status = status;
    charge.object.status_reason = Some("schedule_complete".to_owned());
    charge.object.next_payment = None;
    charge.inside.pending = None;
    charge.object.modified = Some(Timestamp(cx.now));
    events::emit(cx, &charge.owner, "recurring_charge.completed", &charge.object)
}

/// Updates the pending occurrence to the schedule of a changed charge; returns false if no
/// occurrence is left.
pub(crate) fn replan(
    cx: &mut Cx<'_>,
    charge: &mut KeptRecurring,
    today: NaiveDate,
) -> Result<bool, Refusal> {
    let Some(pending) = charge.inside.pending.clone() else {
        return Ok(true);
    };
    let Some((date, amount)) = next(charge, today)? else {
        return Ok(false);
    };
    let mut kept = any(cx, &pending)?;
    let is_same = kept.object.due_date == Some(date) && kept.object.amount == amount;
    if is_same || paying::is_paying(&kept) {
        return Ok(true);
    }
    kept.object.due_date = Some(date);
    kept.object.amount = amount;
    kept.object.modified = Some(Timestamp(cx.now));
    cx.update(KIND, &pending, &kept)?;
    plan(cx, charge, &kept.object)?;
    events::emit(cx, &kept.owner, "recurring_charge.occurrence.updated", &kept.object)?;
    Ok(true)
}

fn any(cx: &Cx<'_>, id: &str) -> Result<KeptOccurrence, Refusal> {
    cx.any(KIND, id)?.ok_or_else(|| Refusal::missing(KIND.name, id))
}

/// Handles the due time of an occurrence: pays it if it still waits for this date. Also ends a
/// payment in progress whose time is over.
pub(crate) fn fall_due(cx: &mut Cx<'_>, id: &str) -> Result<(), Refusal> {
    let mut kept = any(cx, id)?;
    let charge = recurring::find(cx, &kept.owner, &kept.object.recurring_charge_id)?;
    let merchant = cx.merchant(&kept.owner.merchant)?;
    let time = kept.object.due_date.map(|date| merchant.at(date, DUE_HOUR));
    let waits =
        kept.object.status == OccurrenceStatus::Pending && time.is_some_and(|time| time <= cx.now);
    let is_due = waits && charge.object.status == RecurringStatus::Active;
    if paying::is_over(cx, &kept) || is_due && !paying::begin(cx, &mut kept)? {
        attempt(cx, charge, kept)?;
    }
    Ok(())
}

/// Tries to collect an occurrence; opens the next one if this was the pending one.
fn attempt(
    cx: &mut Cx<'_>,
    mut charge: KeptRecurring,
    mut kept: KeptOccurrence,
) -> Result<KeptTransaction, Refusal> {
    let transaction = collect(cx, &charge, &kept)?;
    let paid = transaction.object.failure_code.is_none();
    let outcome = if paid { Change::Pay } else { Change::Decline };
    let first_try = kept.object.attempts == 0;
    kept.object.attempts = kept.object.attempts.saturating_add(1);
    kept.object.last_attempt = Some(Timestamp(cx.now));
    kept.inside.transactions.push(transaction.object.id.clone());
    let totals = &mut charge.object;
    let tried = charge.inside.tried.max(totals.total_occurrences);
    charge.inside.tried = tried.saturating_add(i64::from(first_try));
    if paid {
        totals.total_occurrences = totals.total_occurrences.saturating_add(1);
        totals.total_amount =
            totals.total_amount.checked_add(kept.object.amount).ok_or_else(Refusal::broken)?;
    }
    close(cx, charge, &mut kept, outcome)?;
    Ok(transaction)
}

fn collect(
    cx: &mut Cx<'_>,
    charge: &KeptRecurring,
    kept: &KeptOccurrence,
) -> Result<KeptTransaction, Refusal> {
    let method = charge.inside.method.clone();
    let wrong = method.problems.first().map(|_| "invalid_data");
    let flaw = wrong.or_else(|| method.flaw(cx.now)).map(str::to_owned);
    let failure = flaw.or_else(|| method.class.failure.clone());
    let order = Order {
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
fn close(
    cx: &mut Cx<'_>,
    mut charge: KeptRecurring,
    kept: &mut KeptOccurrence,
    outcome: Change,
) -> Result<(), Refusal> {
    let status = step(&kept.object.status, outcome).ok_or_else(unavailable)?;
    kept.object.status = status;
    kept.object.modified = Some(Timestamp(cx.now));
    cx.update(KIND, &kept.object.id, kept)?;
    events::emit(cx, &kept.owner, event(outcome), &kept.object)?;
    if charge.inside.pending.as_deref() == Some(kept.object.id.as_str()) {
        charge.inside.pending = None;
        charge.inside.closed = kept.object.due_date;
        let today = cx.merchant(&charge.owner.merchant)?.today(cx.now);
        open(cx, &mut charge, today)?;
    } else if outcome == Change::Pay && charge.inside.pending.is_some() {
        after_late_payment(cx, &mut charge)?;
    }
    charge.object.modified = Some(Timestamp(cx.now));
    cx.update(recurring::KIND, &charge.object.id, &charge)
}

/// Replans the pending occurrence after a late payment, which may leave less or nothing to collect.
fn after_late_payment(cx: &mut Cx<'_>, charge: &mut KeptRecurring) -> Result<(), Refusal> {
    let today = cx.merchant(&charge.owner.merchant)?.today(cx.now);
    if replan(cx, charge, today)? {
        return Ok(());
    }
    ignore_pending(cx, charge)?;
    complete(cx, charge)
}

/// Ignores the pending occurrence, and opens no other.
pub(crate) fn ignore_pending(cx: &mut Cx<'_>, charge: &mut KeptRecurring) -> Result<(), Refusal> {
    let Some(pending) = charge.inside.pending.take() else {
        return Ok(());
    };
    let mut kept = any(cx, &pending)?;
    if paying::is_paying(&kept) {
        return Ok(());
    }
    kept.object.status = step(&kept.object.status, Change::Ignore).ok_or_else(unavailable)?;
    cx.update(KIND, &pending, &kept)?;
    events::emit(cx, &kept.owner, "recurring_charge.occurrence.ignored", &kept.object)
}

/// Returns the recurring charge and the occurrence that a path names.
fn pair(cx: &Cx<'_>, asked: &Asked) -> Result<(KeptRecurring, KeptOccurrence), Refusal> {
    let owner: Owner = asked.owner()?;
    let charge = recurring::find(cx, &owner, asked.parameter(0))?;
    let kept: KeptOccurrence = cx.find(KIND, &owner, asked.parameter(1))?;
    if kept.object.recurring_charge_id != charge.object.id {
        return Err(Refusal::missing(KIND.name, asked.parameter(1)));
    }
    Ok((charge, kept))
}

fn refuse_deleted(charge: &KeptRecurring) -> Result<(), Refusal> {
    if charge.object.status == RecurringStatus::Deleted { Err(unavailable()) } else { Ok(()) }
}

/// Returns the occurrence with its transactions.
fn show(cx: &Cx<'_>, id: &str) -> Result<Occurrence, Refusal> {
    let kept = any(cx, id)?;
    let mut transactions: Vec<Transaction> = Vec::new();
    for id in &kept.inside.transactions {
        let transaction: Option<KeptTransaction> = cx.any(charges::KIND, id)?;
        transactions.extend(transaction.map(|kept| kept.object));
    }
    let status = shown(cx, &kept.object.status);
    Ok(Occurrence { transactions: Some(transactions), status, ..kept.object })
}

/// Returns the visible status. The documents know only PENDING, PAID and IGNORED: a failed
/// occurrence can still be paid, so it is shown as pending (gateway-api, Recurring charge
/// occurrence).
fn shown(cx: &Cx<'_>, status: &OccurrenceStatus) -> OccurrenceStatus {
    let is_open = matches!(status, OccurrenceStatus::Failed | OccurrenceStatus::Paying);
    if is_open && documented::alone(cx) { OccurrenceStatus::Pending } else { status.clone() }
}

/// GET …/occurrences/{id}.
pub(crate) fn get(cx: &mut Cx<'_>, asked: &Asked) -> Result<Occurrence, Refusal> {
    let (_, kept) = pair(cx, asked)?;
    show(cx, &kept.object.id)
}

/// GET …/occurrences: newest first, so the pending or last one leads.
pub(crate) fn list(cx: &mut Cx<'_>, asked: &Asked) -> Result<Page<Occurrence>, Refusal> {
    let charge = recurring::find(cx, &asked.owner()?, asked.parameter(0))?;
    let list = format!("{}/{}", KIND.word, charge.object.id);
    Paging::of(asked)?.of_list(cx, &list, |id| show(cx, id))
}

/// POST …/pay: pays early or again. A decline is answered as a decline, and its transaction is
/// kept.
pub(crate) fn pay(cx: &mut Cx<'_>, asked: &Asked) -> Result<Occurrence, Refusal> {
    let (charge, kept) = pair(cx, asked)?;
    let id = kept.object.id.clone();
    step(&kept.object.status, Change::Pay)
        .filter(|_| !paying::is_paying(&kept))
        .ok_or_else(unavailable)?;
    refuse_deleted(&charge)?;
    let transaction = attempt(cx, charge, kept)?;
    charges::answer(transaction)?;
    show(cx, &id)
}

/// POST …/ignore.
pub(crate) fn ignore(cx: &mut Cx<'_>, asked: &Asked) -> Result<Occurrence, Refusal> {
    let (charge, mut kept) = pair(cx, asked)?;
    refuse_deleted(&charge)?;
    close(cx, charge, &mut kept, Change::Ignore)?;
    show(cx, &kept.object.id)
}
