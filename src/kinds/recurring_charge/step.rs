//! What has to be done about a recurring charge: it is made from a saved method, and its amount,
//! schedule, limits and description change where it is.

use serde_json::{Value, json};

use super::RecurringCharge;
use crate::base::id::Key;
use crate::base::money::Money;
use crate::effects::{change_recurring, create_recurring};
use crate::kinds::diff::amount;
use crate::kinds::step::{
    Draft, MERCHANT, Object, StepCx, mode_of, needed, needed_id, object, orphaned, reference,
};
use crate::kinds::{Kind, Shape};
use crate::model::manifest::Manifest;
use crate::model::observed::Observed;
use crate::model::plan::{FieldChange, MoneyMove, Reason};

/// The step of a recurring charge.
fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> Draft {
    let spec = &manifest.spec;
    let text = spec
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let kind = Object {
        create: &|new| Ok(create_recurring(new, body(cx, manifest)?, text)),
        change: &|new, target, changes| {
            let (body, described) = changed(spec, changes);
            Ok(change_recurring(
                new,
                target,
                body,
                described.then_some(text),
            ))
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
    Some(MoneyMove {
        amount,
        mode,
        meaning: "collected_per_occurrence",
    })
}

/// The complete body of a creation, but for description and reference.
fn body(cx: &StepCx<'_>, manifest: &Manifest) -> Result<Value, Reason> {
    let unfit = |why: &str| Reason::Unfit(why.to_owned());
    let spec = &manifest.spec;
    let merchant = reference(manifest, MERCHANT).ok_or_else(|| unfit("it names no merchant"))?;
    let method = reference(manifest, "SavedMethod").ok_or_else(|| unfit("it names no method"))?;
    let owner = needed(cx, &merchant)?;
    let money = spec
        .get("amount")
        .and_then(amount)
        .ok_or_else(|| unfit("it has no amount"))?;
    let mut body = json!({
        "method": needed_id(cx, &method)?,
        "amount": money.minor(),
        "currency": money.currency(),
        "schedule": spec.get("schedule"),
    });
    if let Some(account) = account(spec, &owner, money)? {
        body["account_id"] = json!(account);
    }
    limits(spec, &mut body);
    Ok(body)
}

/// The limits, where the spec sets any.
fn limits(spec: &Value, body: &mut Value) {
    if let Some(most) = spec.get("max_occurrences") {
        body["max_occurrences"] = most.clone();
    }
    if let Some(most) = spec.get("max_amount").and_then(amount) {
        body["max_amount"] = json!(most.minor());
    }
}

/// The id of the account that the spec names by name or id, `None` where it leaves the choice to
/// the service. Money of another currency than the account's is never sent.
fn account(spec: &Value, merchant: &Observed, money: Money) -> Result<Option<String>, Reason> {
    let Some(wanted) = spec.get("account").and_then(Value::as_str) else {
        return Ok(None);
    };
    let accounts = merchant
        .fact("accounts")
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let text = |account: &Value, field: &str| {
        account
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let named = |account: &&Value| text(account, "id") == wanted || text(account, "name") == wanted;
    let Some(account) = accounts.iter().find(named) else {
        let names: Vec<String> = accounts
            .iter()
            .map(|account| text(account, "name"))
            .collect();
        let names = names.join(", ");
        return Err(Reason::Unfit(format!(
            "the merchant has no account {wanted:?}; it has {names}"
        )));
    };
    if text(account, "currency") != money.currency().code() {
        return Err(Reason::Unfit(format!(
            "the account {wanted:?} does not take {}",
            money.currency()
        )));
    }
    Ok(Some(text(account, "id")))
}

/// The body of a PATCH: the top-level fields that changed, and whether the description did.
fn changed(spec: &Value, changes: &[FieldChange]) -> (Value, bool) {
    let touched = |field: &str| {
        changes
            .iter()
            .any(|change| change.path.split(['.', '[']).next() == Some(field))
    };
    let mut body = json!({});
    if let Some(money) = spec
        .get("amount")
        .and_then(amount)
        .filter(|_| touched("amount"))
    {
        body["amount"] = json!(money.minor());
    }
    if touched("schedule") {
        body["schedule"] = spec.get("schedule").cloned().unwrap_or_default();
    }
    if touched("max_occurrences") {
        body["max_occurrences"] = spec.get("max_occurrences").cloned().unwrap_or_default();
    }
    if touched("max_amount") {
        let most = spec.get("max_amount").and_then(amount).map(Money::minor);
        body["max_amount"] = json!(most);
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
