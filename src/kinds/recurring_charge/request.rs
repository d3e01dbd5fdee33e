//! Bodies of the requests that create and change a recurring charge.

use serde_json::{Value, json};

use super::surcharge::{SurchargeQuote, amount_before_surcharge};
use super::{account, today};
use crate::base::money::Money;
use crate::effects::core::context::put;
use crate::kinds::planning::diff::amount;
use crate::kinds::planning::step::{StepCx, ready_id, reference, text};
use crate::kinds::saved_method::shape::SavedMethodKind;
use crate::kinds::schema::kind::SpecSchema;
use crate::model::manifest::Manifest;
use crate::model::plans::plan::Reason;
use crate::model::state::drift::FieldChange;
use crate::model::state::observed::Observed;

fn unfit(why: &str) -> Reason {
    Reason::Unsuitable(why.to_owned())
}

/// Returns the amount of each occurrence.
pub(super) fn amount_per_occurrence(spec: &Value) -> Result<Money, Reason> {
    spec.get("amount").and_then(amount).ok_or_else(|| unfit("the charge has no amount"))
}

/// Builds the body of POST /v1/recurring/charges, but for description and reference.
pub(super) fn scheduled_body(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    owner: &Observed,
) -> Result<Value, Reason> {
    let spec = &manifest.spec;
    let money = amount_per_occurrence(spec)?;
    let mut body = payment(cx, manifest, owner, money)?;
    put(&mut body, "schedule", spec.get("schedule").cloned().unwrap_or_default());
    limits(spec, &mut body);
    Ok(body)
}

/// Builds the body of POST /v1/charges with `recur`, but for description and reference. The
/// recurring amount is named where it differs from the amount charged now.
pub(super) fn charge_now_body(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    owner: &Observed,
    quote: &SurchargeQuote,
) -> Result<Value, Reason> {
    let spec = &manifest.spec;
    let money = amount_per_occurrence(spec)?;
    let first = amount_before_surcharge(spec).ok_or_else(|| unfit("the charge has no amount"))?;
    let mut body = payment(cx, manifest, owner, first)?;
    let mut charged = first.minor();
    if let SurchargeQuote::Known { surcharge, total } = quote
        && *surcharge > 0
    {
        charged = *total;
        put(&mut body, "amount", charged);
        put(&mut body, "surcharge_amount", *surcharge);
    }
    let mut recur = spec.get("schedule").cloned().unwrap_or_default();
    if charged != money.minor() {
        put(&mut recur, "amount", money.minor());
    }
    limits(spec, &mut recur);
    put(&mut body, "recur", recur);
    Ok(body)
}

/// Builds the body of POST /v1/charges/{id}/schedule.
pub(super) fn from_charge_body(spec: &Value) -> Result<Value, Reason> {
    let schedule = spec.get("schedule").cloned().unwrap_or_default();
    Ok(json!({"amount": amount_per_occurrence(spec)?.minor(), "schedule": schedule}))
}

/// Builds the fields for payer, amount and account.
fn payment(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    owner: &Observed,
    money: Money,
) -> Result<Value, Reason> {
    let method = reference(manifest, SavedMethodKind::NAME)
        .ok_or_else(|| unfit("the charge names no method"))?;
    let mut body = json!({
        "method": ready_id(cx, &method)?,
        "amount": money.minor(),
        "currency": money.currency(),
    });
    if let Some(account) = account::id(cx, manifest, owner, money)? {
        put(&mut body, "account_id", json!(account));
    }
    Ok(body)
}

/// Adds the limits, where the spec sets any.
fn limits(spec: &Value, body: &mut Value) {
    if let Some(most) = spec.get("max_occurrences") {
        put(body, "max_occurrences", most.clone());
    }
    if let Some(most) = spec.get("max_amount").and_then(amount) {
        put(body, "max_amount", json!(most.minor()));
    }
}

/// Body of a PATCH, but for a method.
#[derive(Debug)]
pub(super) struct ChangeBody<'a> {
    /// The top-level fields that changed.
    pub(super) body: Value,
    /// The description, if it changed.
    pub(super) text: Option<&'a str>,
}

/// Builds the body of a PATCH.
pub(super) fn change_body<'a>(
    cx: &StepCx<'_>,
    manifest: &'a Manifest,
    have: Option<&Observed>,
    changes: &[FieldChange],
) -> Result<ChangeBody<'a>, Reason> {
    let spec = &manifest.spec;
    let touched = |field: &str| {
        changes.iter().any(|change| change.path.split(['.', '[']).next() == Some(field))
    };
    check_changeable(spec, have)?;
    let mut body = json!({});
    if touched("amount") {
        put(&mut body, "amount", json!(amount_per_occurrence(spec)?.minor()));
    }
    if touched("schedule") {
        today::refuse_start_today(cx, manifest)?;
        put(&mut body, "schedule", spec.get("schedule").cloned().unwrap_or_default());
    }
    if touched("max_occurrences") {
        put(&mut body, "max_occurrences", spec.get("max_occurrences").cloned().unwrap_or_default());
    }
    if touched("max_amount") {
        let most = spec.get("max_amount").and_then(amount).map(Money::minor);
        put(&mut body, "max_amount", json!(most));
    }
    let text = touched("description").then(|| text(spec, "description"));
    Ok(ChangeBody { body, text })
}

/// Rejects changes that a PATCH cannot make: it keeps every field that it does not name, and it has
/// no currency.
fn check_changeable(spec: &Value, have: Option<&Observed>) -> Result<(), Reason> {
    let before = have.and_then(|have| have.applied.as_ref()).map(|applied| &applied.spec);
    let currency = |spec: &Value| spec.get("amount").and_then(amount).map(Money::currency);
    if before.and_then(currency).is_some_and(|before| Some(before) != currency(spec)) {
        return Err(unfit("amount: the service cannot change a recurring charge's currency"));
    }
    let gone = ["/max_occurrences", "/max_amount", "/schedule/end", "/schedule/days"];
    let gone = gone.iter().find(|path| {
        let had = before.is_some_and(|before| before.pointer(path).is_some());
        had && spec.pointer(path).is_none()
            && !(**path == "/schedule/days" && unit_differs(spec, before))
    });
    match gone {
        None => Ok(()),
        Some(path) => {
            let path = path.trim_start_matches('/').replace('/', ".");
            Err(Reason::Unsuitable(format!(
                "{path}: the service keeps a field that a change leaves out, so the field cannot be removed; write \
                 another value"
            )))
        }
    }
}

/// Returns whether the unit changed: days belong to their unit, so another unit removes them.
fn unit_differs(spec: &Value, before: Option<&Value>) -> bool {
    let unit = |spec: &Value| {
        spec.get("schedule").map(|schedule| text(schedule, "interval_unit").to_owned())
    };
    before.and_then(unit) != unit(spec)
}
