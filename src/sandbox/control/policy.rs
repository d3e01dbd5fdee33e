//! `/_sandbox/policy`: what the tenant set for each merchant.

use serde_json::{Value, json};

use crate::sandbox::answer::Answer;
use crate::sandbox::lists::Mode;
use crate::sandbox::merchants::MerchantRecord;
use crate::sandbox::policy::Policy;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;

/// The settings of every merchant.
pub(super) fn list(cx: &Cx<'_>) -> Result<Answer, Refusal> {
    let merchants = cx.merchants()?;
    let shown = merchants.iter().map(|merchant| show(cx, merchant));
    Answer::json(&json!({ "merchants": shown.collect::<Result<Vec<_>, _>>()? }))
}

fn show(cx: &Cx<'_>, merchant: &MerchantRecord) -> Result<Value, Refusal> {
    let policy = cx.policy(&merchant.id)?;
    let accounts = accounts(merchant).map(|id| (id.to_owned(), json!(policy.allows_recurring(id))));
    Ok(json!({
        "merchant": merchant.name,
        "brand": policy.brand,
        "reference_required": policy.reference_required,
        "recurring_charges_enabled": accounts.collect::<serde_json::Map<_, _>>(),
        "surcharges": policy.surcharges,
    }))
}

fn accounts(merchant: &MerchantRecord) -> impl Iterator<Item = &String> {
    let of = |mode: Mode| merchant.keys(mode).accounts.iter().map(|account| &account.id);
    of(Mode::Test).chain(of(Mode::Live))
}

/// Changes what is named: `{merchant, brand, reference_required, recurring_charges_enabled: true|false|{ACCOUNT:
/// true|false}, surcharges: [{type, surcharge_rate, surcharge_fee}]}`; the merchant is made if there is none.
pub(super) fn set(cx: &mut Cx<'_>, order: &Value) -> Result<Answer, Refusal> {
    let name = order.get("merchant").and_then(Value::as_str).filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Refusal::invalid("Name a merchant"))?;
    let merchant = cx.merchant_named(name, None)?;
    let mut policy = cx.policy(&merchant.id)?;
    if let Some(required) = order.get("reference_required").and_then(Value::as_bool) {
        policy.reference_required = required;
    }
    if let Some(brand) = order.get("brand") {
        policy.brand = brand.as_str().filter(|name| !name.is_empty()).map(str::to_owned);
    }
    if let Some(enabled) = order.get("recurring_charges_enabled") {
        enable(&mut policy, &merchant, enabled)?;
    }
    if let Some(rates) = order.get("surcharges") {
        policy.surcharges = serde_json::from_value(rates.clone()).map_err(|_| {
            Refusal::invalid("surcharges is a list of {type, surcharge_rate, surcharge_fee}")
        })?;
    }
    cx.set_policy(&merchant.id, &policy)?;
    Answer::json(&show(cx, &merchant)?)
}

fn enable(policy: &mut Policy, merchant: &MerchantRecord, enabled: &Value) -> Result<(), Refusal> {
    for account in accounts(merchant) {
        let said = enabled.as_bool().or_else(|| enabled.get(account).and_then(Value::as_bool));
        match said {
            Some(true) => drop(policy.recurring_disabled.remove(account)),
            Some(false) => drop(policy.recurring_disabled.insert(account.clone())),
            None => {}
        }
    }
    let known = |id: &String| accounts(merchant).any(|own| own == id);
    match enabled.as_object() {
        Some(named) if !named.keys().all(known) => Err(Refusal::invalid("Unknown account")),
        Some(_) | None => Ok(()),
    }
}
