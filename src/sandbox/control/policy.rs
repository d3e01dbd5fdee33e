//! `/_sandbox/policy`: the tenant's settings for each merchant.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::geo_rules;
use crate::sandbox::control::requirements;
use crate::sandbox::http::answer::SandboxAnswer;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::merchants::merchant::MerchantRecord;
use crate::sandbox::merchants::policy::MerchantPolicy;
use crate::sandbox::state::lists::MerchantMode;
use crate::sandbox::state::store::ChangeUnit;

/// GET of the settings of every merchant.
pub(super) fn list(cx: &ChangeUnit<'_>) -> Result<SandboxAnswer, SandboxRefusal> {
    let merchants = cx.merchants()?;
    let shown = merchants.iter().map(|merchant| show(cx, merchant));
    SandboxAnswer::json(&json!({ "merchants": shown.collect::<Result<Vec<_>, _>>()? }))
}

fn show(cx: &ChangeUnit<'_>, merchant: &MerchantRecord) -> Result<Value, SandboxRefusal> {
    let policy = cx.policy(&merchant.id)?;
    let each = |allows: &dyn Fn(&String) -> bool| {
        let all = accounts(merchant).map(|id| (id.clone(), json!(allows(id))));
        all.collect::<serde_json::Map<_, _>>()
    };
    Ok(json!({
        "merchant": merchant.name,
        "brand": policy.brand,
        "reference_required": policy.reference_required,
        "limits": policy.limits,
        "settlement_days": policy.settlement_days,
        "events_urls": policy.events_urls,
        "recurring_charges_enabled": each(&|id| policy.allows_recurring(id)),
        "capture_enabled": each(&|id| !policy.capture_disabled.contains(id)),
        "credits_enabled": each(&|id| policy.credits_enabled.contains(id)),
        "refund_to_other_method_enabled": each(&|id| policy.other_method_enabled.contains(id)),
        "surcharges": policy.surcharges,
        "api_allowed_ip_address_ranges": policy.allowed_addresses,
        "transaction_allowed_countries": policy.allowed_countries,
        "ip_countries": policy.ip_countries,
        "cvv_policy": policy.cvv,
        "avs_policy": policy.avs,
    }))
}

fn accounts(merchant: &MerchantRecord) -> impl Iterator<Item = &String> {
    let of = |mode: MerchantMode| merchant.keys(mode).accounts.iter().map(|account| &account.id);
    of(MerchantMode::Test).chain(of(MerchantMode::Live))
}

/// Changes the fields that are named: `{merchant, brand, reference_required,
/// recurring_charges_enabled: true|false|{ACCOUNT: true|false}, surcharges: [{type, surcharge_rate,
/// surcharge_fee}]}`. `capture_enabled`, `credits_enabled` and `refund_to_other_method_enabled`
/// have the form of `recurring_charges_enabled`; `cvv_policy` and `avs_policy` are a word or
/// `{ACCOUNT: word}`. Also takes the fields of [`places`] and [`requirements`]. Makes the merchant
/// if there is none.
pub(super) fn set(cx: &mut ChangeUnit<'_>, order: &Value) -> Result<SandboxAnswer, SandboxRefusal> {
    let name = order.get("merchant").and_then(Value::as_str).filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| SandboxRefusal::invalid("Name a merchant"))?;
    let merchant = cx.merchant_named(name, None)?;
    let mut policy = cx.policy_to_edit(&merchant.id)?;
    if let Some(required) = order.get("reference_required").and_then(Value::as_bool) {
        policy.reference_required = required;
    }
    if let Some(brand) = order.get("brand") {
        policy.brand = brand.as_str().filter(|name| !name.is_empty()).map(str::to_owned);
    }
    for (word, set, listed) in per_account(&mut policy) {
        if let Some(enabled) = order.get(word) {
            enable(set, listed, &merchant, enabled)?;
        }
    }
    let all: Vec<&String> = accounts(&merchant).collect();
    geo_rules::set(&mut policy, &all, order)?;
    set_words(&mut policy.cvv, &all, order.get("cvv_policy"))?;
    set_words(&mut policy.avs, &all, order.get("avs_policy"))?;
    requirements::set(&mut policy, &all, order)?;
    if let Some(rates) = order.get("surcharges") {
        policy.surcharges = serde_json::from_value(rates.clone()).map_err(|_| {
            SandboxRefusal::invalid("surcharges is a list of {type, surcharge_rate, surcharge_fee}")
        })?;
    }
    cx.set_policy(&merchant.id, &policy)?;
    SandboxAnswer::json(&show(cx, &merchant)?)
}

/// Sets one word for every account, or a word for each account named.
fn set_words<T: DeserializeOwned + Copy>(
    set: &mut BTreeMap<String, T>,
    accounts: &[&String],
    said: Option<&Value>,
) -> Result<(), SandboxRefusal> {
    let wrong = |_| SandboxRefusal::invalid("Unknown policy value");
    let each: BTreeMap<String, T> = match said {
        None => return Ok(()),
        Some(Value::Object(each)) => {
            serde_json::from_value(Value::Object(each.clone())).map_err(wrong)?
        }
        Some(word) => {
            let word: T = serde_json::from_value(word.clone()).map_err(wrong)?;
            accounts.iter().map(|account| ((*account).clone(), word)).collect()
        }
    };
    if !each.keys().all(|account| accounts.contains(&account)) {
        return Err(SandboxRefusal::invalid("Unknown account"));
    }
    set.extend(each);
    Ok(())
}

/// Returns the switches of an account: field name, set, and whether membership means enabled.
fn per_account(policy: &mut MerchantPolicy) -> [(&'static str, &mut BTreeSet<String>, bool); 4] {
    [
        ("recurring_charges_enabled", &mut policy.recurring_disabled, false),
        ("capture_enabled", &mut policy.capture_disabled, false),
        ("credits_enabled", &mut policy.credits_enabled, true),
        ("refund_to_other_method_enabled", &mut policy.other_method_enabled, true),
    ]
}

fn enable(
    set: &mut BTreeSet<String>,
    listed: bool,
    merchant: &MerchantRecord,
    enabled: &Value,
) -> Result<(), SandboxRefusal> {
    for account in accounts(merchant) {
        let said = enabled.as_bool().or_else(|| enabled.get(account).and_then(Value::as_bool));
        match said {
            Some(said) if said == listed => drop(set.insert(account.clone())),
            Some(_) => drop(set.remove(account)),
            None => {}
        }
    }
    let known = |id: &String| accounts(merchant).any(|own| own == id);
    match enabled.as_object() {
        Some(named) if !named.keys().all(known) => Err(SandboxRefusal::invalid("Unknown account")),
        Some(_) | None => Ok(()),
    }
}
