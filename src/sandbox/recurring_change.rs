//! Changes of a recurring charge (gateway-api, PATCH /v1/recurring/charges/{id}; service-facts,
//! 61).

use serde_json::Value;

use crate::api::method::{MethodKind, MethodRef, PaymentMethod};
use crate::api::recurring::{self, RecurringChange, RecurringCharge, Schedule};
use crate::api::rules::FieldProblem;
use crate::api::wire::Timestamp;
use crate::api::{bank, card};
use crate::sandbox::asked::Asked;
use crate::sandbox::lenient;
use crate::sandbox::lists::Owner;
use crate::sandbox::methods::{KeptMethod, resolve};
use crate::sandbox::options::Surface;
use crate::sandbox::processing::need_currency;
use crate::sandbox::recur::for_later;
use crate::sandbox::recurring::{Change, KIND, KeptRecurring, calendar, find, refuse_today, step};
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::{events, expiry, occurrences, tokens};

/// PATCH: absent fields keep their values.
pub(crate) fn patch(
    cx: &mut Cx<'_>,
    asked: &Asked,
    change: RecurringChange,
) -> Result<RecurringCharge, Refusal> {
    let kept = open(cx, asked)?;
    update(cx, kept, change)
}

/// PUT: complete content; an absent optional field is cleared (service-facts, 56). Complete details
/// of a card or bank account replace the method. The documents know no PUT; public clients send one
/// (service-facts, 26c).
pub(crate) fn put(cx: &mut Cx<'_>, asked: &Asked) -> Result<RecurringCharge, Refusal> {
    let mut kept = open(cx, asked)?;
    let whole: recurring::NewRecurringCharge = lenient::read(asked.json()?)?;
    let mut problems = recurring::rules(&whole);
    problems.retain(|problem| problem.context != "method");
    Refusal::fields("", &problems)?;
    let object = &mut kept.object;
    (object.description, object.max_occurrences, object.max_amount) = (None, None, None);
    object.schedule =
        object.schedule.take().map(|own| Schedule { start: own.start, ..Schedule::default() });
    let owner = kept.owner.clone();
    let method = match whole.method {
        Some(method) if is_whole(&method) => {
            put_method(cx, &owner, &mut kept, method)?;
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

fn put_method(
    cx: &mut Cx<'_>,
    owner: &Owner,
    kept: &mut KeptRecurring,
    method: MethodRef,
) -> Result<(), Refusal> {
    let found = resolve(cx, owner, method)?;
    Refusal::fields("method", &found.method.problems)?;
    replace(cx, owner, kept, for_later(found.method))?;
    expiry::plan(cx, kept)
}

/// Replaces the method. A method of another type moves the charge to the account that takes that
/// type.
fn replace(
    cx: &Cx<'_>,
    owner: &Owner,
    kept: &mut KeptRecurring,
    method: KeptMethod,
) -> Result<(), Refusal> {
    let before = std::mem::replace(&mut kept.inside.method, method);
    let kind = &kept.inside.method.shown.kind;
    if *kind != before.shown.kind {
        let merchant = cx.merchant(&owner.merchant)?;
        let account = merchant.account(owner.mode, kind, None, None)?;
        need_currency(account, Some(&kept.object.currency))?;
        kept.object.account_id.clone_from(&account.id);
    }
    kept.object.method = Some(kept.inside.method.shown.clone());
    Ok(())
}

fn open(cx: &Cx<'_>, asked: &Asked) -> Result<KeptRecurring, Refusal> {
    let kept = find(cx, &asked.owner()?, asked.parameter(0))?;
    match step(&kept.object.status, Change::Update) {
        Some(_) => Ok(kept),
        None => Err(unavailable()),
    }
}

/// Builds the 422 of a change that the status does not allow.
pub(crate) fn unavailable() -> Refusal {
    Refusal::rule("unavailable_for_current_status", "Not available for the current status")
}

fn update(
    cx: &mut Cx<'_>,
    mut kept: KeptRecurring,
    change: RecurringChange,
) -> Result<RecurringCharge, Refusal> {
    Refusal::fields("", &recurring::change_rules(&change))?;
    let merchant = cx.merchant(&kept.owner.merchant)?;
    if let Some(schedule) = change.schedule {
        let before = kept.object.schedule.as_ref().and_then(|own| own.start);
        if before.is_none() || schedule.start != before {
            refuse_today(&schedule, merchant.today(cx.now))?;
        }
        kept.object.schedule = Some(merge(kept.object.schedule.take(), schedule)?);
    }
    if let Some(method) = change.method {
        let owner = kept.owner.clone();
        change_method(cx, &owner, &mut kept, method)?;
        expiry::plan(cx, &kept)?;
    }
    let kind = &kept.inside.method.shown.kind;
    let account = change.account_id.as_deref().unwrap_or(&kept.object.account_id);
    let account = merchant.account(kept.owner.mode, kind, Some(account), None)?;
    need_currency(account, Some(&kept.object.currency))?;
    kept.object.account_id.clone_from(&account.id);
    let public = cx.world.options.surface == Surface::Public;
    let object = &mut kept.object;
    object.amount = change.amount.unwrap_or(object.amount);
    object.description = change.description.or(object.description.take());
    object.reference = change.reference.filter(|_| public).or(object.reference.take());
    object.max_occurrences = change.max_occurrences.or(object.max_occurrences);
    object.max_amount = change.max_amount.or(object.max_amount);
    if object.max_amount.is_some_and(|most| most < object.amount) {
        let text = "Max amount is less than the minimum value";
        return Err(Refusal::field("max_amount", "below_minimum_value", text));
    }
    object.modified = Some(Timestamp(cx.now));
    let today = merchant.today(cx.now);
    if !occurrences::replan(cx, &mut kept, today)? {
        let text = "The update leaves no occurrences";
        return Err(Refusal::rule("update_results_in_no_occurrences", text));
    }
    cx.update(KIND, &kept.object.id, &kept)?;
    events::emit(cx, &kept.owner, "recurring_charge.updated", &kept.object)?;
    Ok(kept.object)
}

/// Merges the changed fields into the schedule; a changed unit clears the days.
fn merge(own: Option<Schedule>, change: Schedule) -> Result<Schedule, Refusal> {
    let own = own.unwrap_or_default();
    let same_unit = change.interval_unit.is_none() || change.interval_unit == own.interval_unit;
    let merged = Schedule {
        interval_unit: change.interval_unit.or(own.interval_unit),
        interval_delay: change.interval_delay.or(own.interval_delay),
        start: change.start.or(own.start),
        end: change.end.or(own.end),
        days: change.days.or(own.days.filter(|_| same_unit)),
    };
    let found = calendar(&merged)?.problems();
    let found: Vec<FieldProblem> = found
        .into_iter()
        .map(|problem| FieldProblem {
            context: format!("schedule.{}", problem.field),
            sub_code: "invalid".to_owned(),
            message: problem.message,
        })
        .collect();
    Refusal::fields("", &found)?;
    Ok(merged)
}

/// Changes the method: sensitive data only by a token, the rest by an object (gateway-api, PATCH).
fn change_method(
    cx: &mut Cx<'_>,
    owner: &Owner,
    kept: &mut KeptRecurring,
    method: MethodRef,
) -> Result<(), Refusal> {
    let own_kind = kept.inside.method.shown.kind.clone();
    match method {
        MethodRef::Id(token) => {
            let method = for_later(tokens::find(cx, owner, &token)?.inside);
            replace(cx, owner, kept, method)?;
            tokens::end(cx, &token)?;
        }
        MethodRef::Card(new) => {
            same_kind(&own_kind, &MethodKind::Card)?;
            let sensitive = [("method.number", &new.number), ("method.cvv", &new.cvv)];
            by_token_only(
                sensitive.iter().find(|(_, value)| value.is_some()).map(|(name, _)| *name),
            )?;
            Refusal::fields("method", &only_wrong(card::rules(&new)))?;
            let fields = serde_json::to_value(&*new)?;
            kept.inside.method.shown = overlay(&kept.inside.method.shown, fields)?;
        }
        MethodRef::Bank(new) => {
            same_kind(&own_kind, &MethodKind::Bank)?;
            by_token_only(new.account_number.as_ref().map(|_| "method.account_number"))?;
            by_token_only(new.routing_number.as_ref().map(|_| "method.routing_number"))?;
            Refusal::fields("method", &only_wrong(bank::rules(&new)))?;
            let fields = serde_json::to_value(&*new)?;
            kept.inside.method.shown = overlay(&kept.inside.method.shown, fields)?;
        }
    }
    kept.object.method = Some(kept.inside.method.shown.clone());
    Ok(())
}

fn same_kind(own: &MethodKind, asked: &MethodKind) -> Result<(), Refusal> {
    if own == asked {
        return Ok(());
    }
    Err(Refusal::field("method.type", "invalid", "Payment method type is changed by a token only"))
}

fn by_token_only(field: Option<&str>) -> Result<(), Refusal> {
    match field {
        None => Ok(()),
        Some(name) => {
            Err(Refusal::field(name, "invalid", "Sensitive data is changed by a token only"))
        }
    }
}

/// Drops problems of absent fields, since a change may omit them.
fn only_wrong(mut problems: Vec<FieldProblem>) -> Vec<FieldProblem> {
    problems.retain(|problem| problem.sub_code != "not_blank" && problem.sub_code != "not_null");
    problems
}

/// Merges the changed fields into the visible method.
fn overlay(shown: &PaymentMethod, fields: Value) -> Result<PaymentMethod, Refusal> {
    let mut value = serde_json::to_value(shown)?;
    if let (Value::Object(own), Value::Object(changed)) = (&mut value, fields) {
        own.extend(changed);
    }
    let mut method: PaymentMethod = serde_json::from_value(value)?;
    let year = &mut method.exp_year;
    let short = year.filter(|year| (0..100).contains(year));
    *year = short.map(|year| year.saturating_add(2000)).or(*year);
    Ok(method)
}
