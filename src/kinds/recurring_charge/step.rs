//! What has to be done about a recurring charge: it is made from a saved method, and its amount,
//! schedule, limits and description change where it is.

use serde_json::{Value, json};

use super::RecurringCharge;
use crate::base::id::Key;
use crate::base::money::Money;
use crate::effects::put;
use crate::effects::{change_recurring, create_recurring};
use crate::kinds::diff::amount;
use crate::kinds::step::{
    Draft, MERCHANT, Object, StepCx, mode_of, named, needed, needed_id, object, orphaned,
    reference, text,
};
use crate::kinds::{Kind, Shape};
use crate::model::manifest::Manifest;
use crate::model::observed::Observed;
use crate::model::plan::{FieldChange, MoneyMove, Reason};

/// The step of a recurring charge.
fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Draft {
    let spec = &manifest.spec;
    let description = text(spec, "description");
    let kind = Object {
        create: &|new| Ok(create_recurring(new, body(cx, manifest)?, description)),
        change: &|new, target, changes| {
            let (body, described) = changed(spec, changes);
            Ok(change_recurring(new, target, body, described.then_some(description)))
        },
        money: money(cx, manifest).into_iter().collect(),
        unready: &unready,
    };
    let mut draft = object(cx, RecurringCharge::FIELDS, manifest, have, &kind);
    if draft.changes.iter().any(|change| change.path == "amount") {
        draft.money = kind.money;
    }
    draft
}

/// The step of a recurring charge whose document is gone.
fn gone(_: &StepCx<'_>, _: &Key, _: &Observed) -> Draft {
    orphaned()
}

/// Ready means active, or completed as its own limits said.
fn unready(have: &Observed) -> Option<Reason> {
    match have.text("status") {
        Some("ACTIVE" | "COMPLETED") | None => None,
        Some(other) => Some(Reason::Unfit(format!("it is {other} on the service"))),
    }
}

/// What each occurrence collects.
fn money(cx: &StepCx<'_>, manifest: &Manifest) -> Option<MoneyMove> {
    let merchant = reference(manifest, MERCHANT)?;
    let amount = amount(manifest.spec.get("amount")?)?;
    let mode = mode_of(cx.view, &merchant)?;
    Some(MoneyMove { amount, mode, meaning: "collected_per_occurrence" })
}

/// The complete body of a creation, but for description and reference.
fn body(cx: &StepCx<'_>, manifest: &Manifest) -> Result<Value, Reason> {
    let unfit = |why: &str| Reason::Unfit(why.to_owned());
    let spec = &manifest.spec;
    let merchant = reference(manifest, MERCHANT).ok_or_else(|| unfit("it names no merchant"))?;
    let method = reference(manifest, "SavedMethod").ok_or_else(|| unfit("it names no method"))?;
    let owner = needed(cx, &merchant)?;
    let money = spec.get("amount").and_then(amount).ok_or_else(|| unfit("it has no amount"))?;
    let mut body = json!({
        "method": needed_id(cx, &method)?,
        "amount": money.minor(),
        "currency": money.currency(),
        "schedule": spec.get("schedule"),
    });
    if let Some(account) = account(spec, &owner, money)? {
        put(&mut body, "account_id", json!(account));
    }
    limits(spec, &mut body);
    Ok(body)
}

/// The limits, where the spec sets any.
fn limits(spec: &Value, body: &mut Value) {
    if let Some(most) = spec.get("max_occurrences") {
        put(body, "max_occurrences", most.clone());
    }
    if let Some(most) = spec.get("max_amount").and_then(amount) {
        put(body, "max_amount", json!(most.minor()));
    }
}

/// The id of the account that the spec names by name or id, `None` where it leaves the choice to
/// the service. Money of another currency than the account's is never sent.
fn account(spec: &Value, merchant: &Observed, money: Money) -> Result<Option<String>, Reason> {
    let Some(wanted) = spec.get("account").and_then(Value::as_str) else {
        return Ok(None);
    };
    let account = named(merchant.fact("accounts"), wanted, "account")?;
    if text(account, "currency") != money.currency().code() {
        let why = format!("the account {wanted:?} does not take {}", money.currency());
        return Err(Reason::Unfit(why));
    }
    Ok(Some(text(account, "id").to_owned()))
}

/// The body of a PATCH: the top-level fields that changed, and whether the description did.
fn changed(spec: &Value, changes: &[FieldChange]) -> (Value, bool) {
    let touched = |field: &str| {
        changes.iter().any(|change| change.path.split(['.', '[']).next() == Some(field))
    };
    let mut body = json!({});
    if let Some(money) = spec.get("amount").and_then(amount).filter(|_| touched("amount")) {
        put(&mut body, "amount", json!(money.minor()));
    }
    if touched("schedule") {
        put(&mut body, "schedule", spec.get("schedule").cloned().unwrap_or_default());
    }
    if touched("max_occurrences") {
        put(&mut body, "max_occurrences", spec.get("max_occurrences").cloned().unwrap_or_default());
    }
    if touched("max_amount") {
        let most = spec.get("max_amount").and_then(amount).map(Money::minor);
        put(&mut body, "max_amount", json!(most));
    }
    (body, touched("description"))
}

impl Kind for RecurringCharge {
    fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Draft {
        step(cx, manifest, have)
    }

    fn gone(cx: &StepCx<'_>, key: &Key, have: &Observed) -> Draft {
        gone(cx, key, have)
    }
}
