//! `/_sandbox/credentials`, `/_sandbox/accounts` and `/_sandbox/partner`: merchants with their keys,
//! and the partner application.

use chrono_tz::Tz;
use serde_json::{Value, json};

use super::order::ControlOrder;
use crate::api::credentials::AccountType;
use crate::base::money::Currency;
use crate::sandbox::answer::{SandboxAnswer, SandboxRefusal};
use crate::sandbox::merchants::accounts::deposits;
use crate::sandbox::merchants::merchant::MerchantRecord;
use crate::sandbox::merchants::oauth::{client_id, client_secret, issue_code};
use crate::sandbox::merchants::processing::AccountRecord;
use crate::sandbox::state::lists::MerchantMode;
use crate::sandbox::state::store::ChangeUnit;

/// Roles that may set up a partner application (partner-api, Authentication).
const ROLES: [&str; 3] = ["administrator", "developer", "owner"];

/// GET of all credentials that a test needs: the partner's, and every merchant's keys.
pub(crate) fn credentials(cx: &ChangeUnit<'_>) -> Result<SandboxAnswer, SandboxRefusal> {
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
    let id = |kind: AccountType| {
        keys.accounts.iter().find(|one| one.kind == kind).map(|account| account.id.as_str())
    };
    json!({
        "public_key": keys.public_key,
        "secret_key": keys.secret_key,
        "card_account_id": id(AccountType::Card),
        "ach_account_id": id(AccountType::Check),
        "accounts": keys.accounts.iter().map(account).collect::<Vec<_>>(),
    })
}

/// Renders an account with its own keys.
fn account(account: &AccountRecord) -> Value {
    json!({
        "id": account.id,
        "type": account.kind,
        "public_key": account.public_key,
        "secret_key": account.secret_key,
    })
}

/// Issues a fresh authorization code for a merchant, which is made if it does not exist.
pub(crate) fn issue(
    cx: &mut ChangeUnit<'_>,
    order: &ControlOrder,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let name = order.need_text("merchant", "Name a merchant")?;
    let timezone = order.text("timezone");
    if timezone.is_some_and(|zone| zone.parse::<Tz>().is_err()) {
        return Err(SandboxRefusal::invalid("Unknown time zone"));
    }
    let merchant = cx.merchant_named(name, timezone)?;
    let code = issue_code(cx, &merchant.id)?;
    SandboxAnswer::json(&json!({ "authorization_code": code }))
}

/// Makes an account, or replaces the one of this name: `{merchant, mode: test|live, type:
/// MerchantAccount|AchAccount, name, currency, primary, trust_account}`. Makes the merchant if
/// there is none. Answers the account with its keys.
pub(crate) fn add_account(
    cx: &mut ChangeUnit<'_>,
    order: &ControlOrder,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let given = |field: &str| order.text(field).filter(|text| !text.is_empty());
    let merchant = order.need_text("merchant", "Name a merchant")?;
    let name = order.need_text("name", "Name the account")?;
    let kind = AccountType::from(given("type").unwrap_or(AccountType::Card.as_str()));
    if matches!(kind, AccountType::Other(_)) {
        return Err(SandboxRefusal::invalid("type is `MerchantAccount` or `AchAccount`"));
    }
    let mode = order.mode()?;
    let currency = given("currency").map(str::parse::<Currency>).transpose();
    let currency = currency.map_err(|_| SandboxRefusal::invalid("Unknown currency"))?;
    let merchant = cx.merchant_named(merchant, None)?;
    let what = format!("{}/{name}", kind.as_str());
    let new = AccountRecord::derive(&cx.environment.seed, &merchant.name, mode, &what, kind);
    let new = AccountRecord {
        name: name.to_owned(),
        currency: currency.unwrap_or(Currency::USD).code().to_owned(),
        primary: order.flag("primary").unwrap_or(false),
        trust: order.flag("trust_account").unwrap_or(false),
        ..new
    };
    cx.add_account(merchant, mode, &new)?;
    SandboxAnswer::json(&account(&new))
}

/// GET of the partner application's settings.
pub(crate) fn partner(cx: &ChangeUnit<'_>) -> Result<SandboxAnswer, SandboxRefusal> {
    let settings = &cx.settings;
    SandboxAnswer::json(&json!({
        "event_url": settings.event_url,
        "redirect_uri": settings.redirect_uri,
        "enabled": settings.enabled,
        "is_partner": settings.is_partner,
        "plans": settings.plans,
    }))
}

/// Changes the settings that are named; `role` is `owner` by default.
pub(crate) fn set_partner(
    cx: &mut ChangeUnit<'_>,
    order: &ControlOrder,
) -> Result<SandboxAnswer, SandboxRefusal> {
    if !ROLES.contains(&order.text("role").unwrap_or("owner")) {
        return Err(SandboxRefusal::not_authorized());
    }
    let settings = &mut cx.settings;
    if let Some(url) = order.text("event_url") {
        url.clone_into(&mut settings.event_url);
    }
    if let Some(uri) = order.text("redirect_uri") {
        uri.clone_into(&mut settings.redirect_uri);
    }
    settings.enabled = order.flag("enabled").unwrap_or(settings.enabled);
    settings.is_partner = order.flag("is_partner").unwrap_or(settings.is_partner);
    if let Some(plans) = order.typed("plans", "plans is an array of {id, trust}")? {
        settings.plans = Some(plans);
    }
    cx.save_settings()?;
    partner(cx)
}
