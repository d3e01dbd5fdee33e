//! Changes of a recurring charge, and its end by request (gateway-api, PATCH
//! /v1/recurring/charges/{id}; service-facts, 56, 57, 61). Cancelled charges stay listed, deleted
//! ones leave the list.

use serde_json::Value;

use crate::api::method::{MethodKind, PaymentMethod};
use crate::api::method_token::MethodRef;
use crate::api::recurring::{RecurringChange, RecurringCharge};
use crate::api::rules::FieldProblem;
use crate::api::schedule::RecurringSchedule;
use crate::api::wire::Timestamp;
use crate::api::{recurring, saved_method};
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::body;
use crate::sandbox::merchants::events;
use crate::sandbox::merchants::processing::need_currency;
use crate::sandbox::methods::payment_methods::{StoredMethod, whole_year};
use crate::sandbox::methods::saved_methods::resolve_method;
use crate::sandbox::methods::tokens;
use crate::sandbox::recurring::state::{
    RecurringTransition, StoredRecurring, calendar, check_calendar, find_charge, refuse_today,
    step_charge,
};
use crate::sandbox::recurring::{occurrences, state};
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::objects::ObjectKind;
use crate::sandbox::state::store::ChangeUnit;

/// PATCH: absent fields keep their values.
pub(crate) fn patch(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    change: RecurringChange,
) -> Result<RecurringCharge> {
    let kept = open(cx, asked)?;
    update(cx, kept, change)
}

/// PUT, as public clients send it (service-facts, 26c, 56): absent optional fields are cleared, and
/// complete details of a card or bank account replace the method.
pub(crate) fn put(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<RecurringCharge> {
    let mut kept = open(cx, asked)?;
    let whole: recurring::NewRecurringCharge = body::parse_body(asked.json()?)?;
    let mut problems = recurring::recurring_rules(&whole);
    problems.retain(|problem| problem.context != "method");
    SandboxRefusal::fields("", &problems)?;
    let object = &mut kept.object;
    (object.description, object.max_occurrences, object.max_amount) = (None, None, None);
    if let Some(own) = &mut object.schedule {
        *own = RecurringSchedule { start: own.start, ..RecurringSchedule::default() };
    }
    let method = match whole.method {
        Some(method) if is_whole(&method) => {
            put_method(cx, &mut kept, method)?;
            None
        }
        other => other,
    };
    let change = RecurringChange {
        description: whole.description,
        reference: whole.reference,
        account_id: whole.account_id,
        amount: whole.amount,
        method,
        schedule: whole.schedule,
        max_occurrences: whole.max_occurrences,
        max_amount: whole.max_amount,
    };
    update(cx, kept, change)
}

/// Returns true for complete details: those with the number to pay with.
fn is_whole(method: &MethodRef) -> bool {
    match method {
        MethodRef::Id(_) => false,
        MethodRef::Card(card) => card.number.is_some(),
        MethodRef::Bank(bank) => bank.account_number.is_some(),
    }
}

fn put_method(cx: &mut ChangeUnit, kept: &mut StoredRecurring, method: MethodRef) -> Result<()> {
    let found = resolve_method(cx, &kept.owner, method)?;
    SandboxRefusal::fields("method", &found.method.problems)?;
    replace(cx, kept, found.method.without_cvv())?;
    state::schedule_expiry(cx, kept)
}

/// Replaces the method. One of another type moves the charge to the account that takes that type.
fn replace(cx: &ChangeUnit, kept: &mut StoredRecurring, method: StoredMethod) -> Result<()> {
    let before = std::mem::replace(&mut kept.internal.method, method);
    let kind = &kept.internal.method.shown.kind;
    if *kind != before.shown.kind {
        let merchant = cx.merchant(&kept.owner.merchant)?;
        let account = merchant.account(kept.owner.mode, kind, None, None)?;
        need_currency(account, Some(&kept.object.currency))?;
        kept.object.account_id.clone_from(&account.id);
    }
    kept.object.method = Some(kept.internal.method.shown.clone());
    Ok(())
}

fn open(cx: &ChangeUnit, asked: &ParsedRequest) -> Result<StoredRecurring> {
    let kept = find_charge(cx, &asked.owner()?, asked.parameter(0))?;
    step_charge(&kept.object.status, RecurringTransition::Update)?;
    Ok(kept)
}

fn update(
    cx: &mut ChangeUnit,
    mut kept: StoredRecurring,
    change: RecurringChange,
) -> Result<RecurringCharge> {
    SandboxRefusal::fields("", &recurring::change_rules(&change))?;
    let merchant = cx.merchant(&kept.owner.merchant)?;
    if let Some(schedule) = change.schedule {
        let before = kept.object.schedule.as_ref().and_then(|own| own.start);
        if before.is_none() || schedule.start != before {
            refuse_today(&schedule, merchant.today(cx.now))?;
        }
        kept.object.schedule = Some(merge(kept.object.schedule.take(), schedule)?);
    }
    if let Some(method) = change.method {
        change_method(cx, &mut kept, method)?;
        state::schedule_expiry(cx, &kept)?;
    }
    let kind = &kept.internal.method.shown.kind;
    let account = change.account_id.as_deref().unwrap_or(&kept.object.account_id);
    let account = merchant.account(kept.owner.mode, kind, Some(account), None)?;
    need_currency(account, Some(&kept.object.currency))?;
    kept.object.account_id.clone_from(&account.id);
    let public = cx.is_public();
    let object = &mut kept.object;
    object.amount = change.amount.unwrap_or(object.amount);
    object.description = change.description.or(object.description.take());
    object.reference = change.reference.filter(|_| public).or(object.reference.take());
    object.max_occurrences = change.max_occurrences.or(object.max_occurrences);
    object.max_amount = change.max_amount.or(object.max_amount);
    if object.max_amount.is_some_and(|most| most < object.amount) {
        let text = "Max amount is less than the minimum value";
        return Err(SandboxRefusal::field("max_amount", "below_minimum_value", text));
    }
    object.modified = Some(Timestamp(cx.now));
    let today = merchant.today(cx.now);
    let is_open = occurrences::replan(cx, &mut kept, today)?;
    let text = "The update leaves no occurrences";
    SandboxRefusal::unless(is_open, "update_results_in_no_occurrences", text)?;
    cx.update(ObjectKind::RECURRING_CHARGE, &kept.object.id, &kept)?;
    events::emit(cx, &kept.owner, "recurring_charge.updated", &kept.object)?;
    Ok(kept.object)
}

/// Merges the changed fields into the schedule; a changed unit clears the days.
fn merge(own: Option<RecurringSchedule>, change: RecurringSchedule) -> Result<RecurringSchedule> {
    let own = own.unwrap_or_default();
    let same_unit = change.interval_unit.is_none() || change.interval_unit == own.interval_unit;
    let merged = RecurringSchedule {
        interval_unit: change.interval_unit.or(own.interval_unit),
        interval_delay: change.interval_delay.or(own.interval_delay),
        start: change.start.or(own.start),
        end: change.end.or(own.end),
        days: change.days.or(own.days.filter(|_| same_unit)),
    };
    check_calendar("schedule", &calendar(&merged)?.problems())?;
    Ok(merged)
}

/// Changes the method: sensitive data only by a token, the rest by an object (gateway-api, PATCH).
fn change_method(cx: &mut ChangeUnit, kept: &mut StoredRecurring, method: MethodRef) -> Result<()> {
    let shown = &mut kept.internal.method.shown;
    match method {
        MethodRef::Id(token) => {
            let method = tokens::find(cx, &kept.owner, &token)?.into_method().without_cvv();
            replace(cx, kept, method)?;
            tokens::end(cx, &token)?;
        }
        MethodRef::Card(new) => {
            same_kind(&shown.kind, &MethodKind::Card)?;
            by_token_only(new.number.as_ref().map(|_| "method.number"))?;
            by_token_only(new.cvv.as_ref().map(|_| "method.cvv"))?;
            overlay(shown, saved_method::card_rules(&new), serde_json::to_value(&*new)?)?;
        }
        MethodRef::Bank(new) => {
            same_kind(&shown.kind, &MethodKind::Bank)?;
            by_token_only(new.account_number.as_ref().map(|_| "method.account_number"))?;
            by_token_only(new.routing_number.as_ref().map(|_| "method.routing_number"))?;
            overlay(shown, saved_method::bank_rules(&new), serde_json::to_value(&*new)?)?;
        }
    }
    kept.object.method = Some(kept.internal.method.shown.clone());
    Ok(())
}

fn same_kind(own: &MethodKind, asked: &MethodKind) -> Result<()> {
    let text = "Payment method type is changed by a token only";
    SandboxRefusal::ensure(own == asked, || SandboxRefusal::field("method.type", "invalid", text))
}

fn by_token_only(field: Option<&str>) -> Result<()> {
    let text = "Sensitive data is changed by a token only";
    field.map_or(Ok(()), |name| Err(SandboxRefusal::field(name, "invalid", text)))
}

/// Merges the changed fields into the visible method; problems of absent fields do not count.
fn overlay(
    shown: &mut PaymentMethod,
    mut problems: Vec<FieldProblem>,
    fields: Value,
) -> Result<()> {
    problems.retain(|problem| problem.sub_code != "not_blank" && problem.sub_code != "not_null");
    SandboxRefusal::fields("method", &problems)?;
    let mut value = serde_json::to_value(&*shown)?;
    if let (Value::Object(own), Value::Object(changed)) = (&mut value, fields) {
        own.extend(changed);
    }
    *shown = serde_json::from_value(value)?;
    shown.exp_year = shown.exp_year.map(whole_year);
    Ok(())
}

/// POST …/cancel: only an active one.
pub(crate) fn cancel(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<RecurringCharge> {
    let mut kept = find_charge(cx, &asked.owner()?, asked.parameter(0))?;
    end(cx, &mut kept, RecurringTransition::Cancel)?;
    kept.object.status_reason = Some("user_canceled".to_owned());
    cx.update(ObjectKind::RECURRING_CHARGE, &kept.object.id, &kept)?;
    events::emit(cx, &kept.owner, "recurring_charge.completed", &kept.object)?;
    Ok(kept.object)
}

/// DELETE …: answers with the status DELETED.
pub(crate) fn delete(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<RecurringCharge> {
    let mut kept = find_charge(cx, &asked.owner()?, asked.parameter(0))?;
    end(cx, &mut kept, RecurringTransition::Delete)?;
    cx.update(ObjectKind::RECURRING_CHARGE, &kept.object.id, &kept)?;
    cx.list_remove(&ObjectKind::RECURRING_CHARGE.list(&kept.owner.key()), kept.sequence);
    events::emit(cx, &kept.owner, "recurring_charge.deleted", &kept.object)?;
    Ok(kept.object)
}

/// Applies the change, and ignores the pending occurrence.
fn end(cx: &mut ChangeUnit, kept: &mut StoredRecurring, change: RecurringTransition) -> Result<()> {
    kept.object.status = step_charge(&kept.object.status, change)?;
    occurrences::ignore_pending(cx, kept)?;
    kept.object.next_payment = None;
    kept.object.modified = Some(Timestamp(cx.now));
    Ok(())
}
