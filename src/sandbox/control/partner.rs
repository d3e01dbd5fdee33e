//! `/_sandbox/credentials`, `/_sandbox/partner` and `/_sandbox/settings`.

use chrono_tz::Tz;
use serde_json::{Value, json};

use crate::api::credentials::AccountType;
use crate::sandbox::http::answer::SandboxAnswer;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::merchants::accounts::deposits;
use crate::sandbox::merchants::merchant::MerchantRecord;
use crate::sandbox::merchants::oauth::{client_id, client_secret, issue_code};
use crate::sandbox::merchants::processing::AccountRecord;
use crate::sandbox::state::lists::MerchantMode;
use crate::sandbox::state::store::{ChangeUnit, SandboxSettings};

/// GET of all credentials that a test needs: the partner's, and every merchant's keys.
pub(super) fn credentials(cx: &ChangeUnit<'_>) -> Result<SandboxAnswer, SandboxRefusal> {
    let merchants: Vec<Value> = cx.merchants()?.iter().map(merchant).collect();
    SandboxAnswer::json(&json!({
        "partner": {
            "client_id": client_id(cx.environment),
            "client_secret": client_secret(cx.environment).expose(),
            "redirect_uri": cx.settings.redirect_uri,
            "event_url": cx.settings.event_url,
        },
        "merchants": merchants,
    }))
}

fn merchant(record: &MerchantRecord) -> Value {
    let banks = deposits(record).into_iter().map(|deposit| {
        json!({
            "id": deposit.id,
            "name": deposit.name,
            "mode": deposit.mode,
            "trust": deposit.trust,
        })
    });
    json!({
        "name": record.name,
        "timezone": record.timezone,
        "test": keys(record, MerchantMode::Test),
        "live": keys(record, MerchantMode::Live),
        "bank_accounts": banks.collect::<Vec<_>>(),
    })
}

fn keys(record: &MerchantRecord, mode: MerchantMode) -> Value {
    let keys = record.keys(mode);
    let first = |kind: &AccountType| keys.accounts.iter().find(|one| one.kind == *kind);
    let id = |kind: &AccountType| first(kind).map(|account| account.id.as_str());
    json!({
        "public_key": keys.public_key,
        "secret_key": keys.secret_key,
        "card_account_id": id(&AccountType::Card),
        "ach_account_id": id(&AccountType::Check),
        "accounts": keys.accounts.iter().map(account).collect::<Vec<_>>(),
    })
}

/// Renders an account with its own keys.
pub(super) fn account(account: &AccountRecord) -> Value {
    json!({
        "id": account.id,
        "type": account.kind,
        "public_key": account.public_key,
        "secret_key": account.secret_key,
    })
}

/// Issues a fresh authorization code for a merchant, which is made if it does not exist.
pub(super) fn issue(
    cx: &mut ChangeUnit<'_>,
    order: &Value,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let name = order.get("merchant").and_then(Value::as_str).filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| SandboxRefusal::invalid("Name a merchant"))?;
    let timezone = order.get("timezone").and_then(Value::as_str);
    if timezone.is_some_and(|zone| zone.parse::<Tz>().is_err()) {
        return Err(SandboxRefusal::invalid("Unknown time zone"));
    }
    let merchant = cx.merchant_named(name, timezone)?;
    let code = issue_code(cx, &merchant.id)?;
    SandboxAnswer::json(&json!({ "authorization_code": code }))
}

/// GET of the partner application's settings.
pub(super) fn show(cx: &ChangeUnit<'_>) -> Result<SandboxAnswer, SandboxRefusal> {
    let settings = &cx.settings;
    SandboxAnswer::json(&json!({
        "event_url": settings.event_url,
        "redirect_uri": settings.redirect_uri,
        "enabled": settings.enabled,
        "is_partner": settings.is_partner,
        "plans": settings.plans,
    }))
}

/// Roles that may set up a partner application (partner-api, Authentication).
const ROLES: [&str; 3] = ["administrator", "developer", "owner"];

/// Changes the settings that are named; `role` is `owner` by default.
pub(super) fn set(cx: &mut ChangeUnit<'_>, order: &Value) -> Result<SandboxAnswer, SandboxRefusal> {
    let role = order.get("role").and_then(Value::as_str).unwrap_or("owner");
    if !ROLES.contains(&role) {
        return Err(SandboxRefusal::not_authorized());
    }
    let text = |name: &str| order.get(name).and_then(Value::as_str).map(str::to_owned);
    let flag = |name: &str| order.get(name).and_then(Value::as_bool);
    let settings = &mut cx.settings;
    settings.event_url = text("event_url").unwrap_or_else(|| settings.event_url.clone());
    settings.redirect_uri = text("redirect_uri").unwrap_or_else(|| settings.redirect_uri.clone());
    settings.enabled = flag("enabled").unwrap_or(settings.enabled);
    settings.is_partner = flag("is_partner").unwrap_or(settings.is_partner);
    if let Some(plans) = order.get("plans") {
        let plans = serde_json::from_value(plans.clone());
        let wrong = "plans is an array of {id, trust}";
        settings.plans = Some(plans.map_err(|_| SandboxRefusal::invalid(wrong))?);
    }
    cx.save_settings()?;
    show(cx)
}

/// GET of the sandbox's choices where the service's documents leave one open.
pub(super) fn settings(cx: &ChangeUnit<'_>) -> Result<SandboxAnswer, SandboxRefusal> {
    let SandboxSettings { duplicate_source_id, paying_minutes, .. } = &cx.settings;
    SandboxAnswer::json(&json!({
        "duplicate_source_id": duplicate_source_id,
        "paying_minutes": paying_minutes,
    }))
}

/// Changes the choices that are named.
pub(super) fn set_settings(
    cx: &mut ChangeUnit<'_>,
    order: &Value,
) -> Result<SandboxAnswer, SandboxRefusal> {
    if let Some(word) = order.get("duplicate_source_id") {
        cx.settings.duplicate_source_id = serde_json::from_value(word.clone())
            .map_err(|_| SandboxRefusal::invalid("duplicate_source_id is `same` or `refuse`"))?;
    }
    if let Some(minutes) = order.get("paying_minutes") {
        cx.settings.paying_minutes = serde_json::from_value(minutes.clone())
            .map_err(|_| SandboxRefusal::invalid("paying_minutes is a whole number of minutes"))?;
    }
    cx.save_settings()?;
    settings(cx)
}
