//! `/_sandbox/credentials`, `/_sandbox/accounts`, `/_sandbox/policy` and `/_sandbox/partner`:
//! merchants with their keys, the tenant's settings for each of them, and the partner application.

use std::collections::{BTreeMap, BTreeSet};

use chrono_tz::Tz;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::api::credentials::AccountType;
use crate::base::money::Currency;
use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::body::{ControlOrder, PerAccount};
use crate::sandbox::merchants::accounts::deposits;
use crate::sandbox::merchants::auth::{client_secret, issue_code, parse_range};
use crate::sandbox::merchants::merchant::MerchantRecord;
use crate::sandbox::merchants::policy::{MerchantPolicy, is_payment_field};
use crate::sandbox::merchants::processing::AccountRecord;
use crate::sandbox::state::objects::MerchantMode;
use crate::sandbox::state::store::ChangeUnit;

/// Roles that may set up a partner application (partner-api, Authentication).
const ROLES: [&str; 3] = ["administrator", "developer", "owner"];

/// GET of all credentials that a test needs: the partner's, and every merchant's keys.
pub(crate) fn credentials(cx: &ChangeUnit) -> Result<SandboxAnswer> {
    let show = |record: &MerchantRecord| {
        json!({
            "name": record.name,
            "timezone": record.timezone,
            "test": show_keys(record, MerchantMode::Test),
            "live": show_keys(record, MerchantMode::Live),
            "bank_accounts": deposits(record),
        })
    };
    let merchants: Vec<Value> = cx.merchants()?.iter().map(show).collect();
    SandboxAnswer::json(&json!({
        "partner": {
            "client_id": cx.environment.client_id,
            "client_secret": client_secret(&cx.environment).expose(),
            "redirect_uri": cx.settings.redirect_uri,
            "event_url": cx.settings.event_url,
        },
        "merchants": merchants,
    }))
}

fn show_keys(record: &MerchantRecord, mode: MerchantMode) -> Value {
    let keys = record.keys(mode);
    let id = |kind| keys.accounts.iter().find(|one| one.kind == kind).map(|one| one.id.as_str());
    json!({
        "public_key": keys.public_key,
        "secret_key": keys.secret_key,
        "card_account_id": id(AccountType::Card),
        "ach_account_id": id(AccountType::Check),
        "accounts": keys.accounts.iter().map(show_account).collect::<Vec<_>>(),
    })
}

fn show_account(account: &AccountRecord) -> Value {
    json!({
        "id": account.id,
        "type": account.kind,
        "public_key": account.public_key,
        "secret_key": account.secret_key,
    })
}

/// Issues a fresh authorization code for a merchant, which is made if it does not exist.
pub(crate) fn issue_authorization_code(
    cx: &mut ChangeUnit,
    order: &ControlOrder,
) -> Result<SandboxAnswer> {
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
pub(crate) fn add_account(cx: &mut ChangeUnit, order: &ControlOrder) -> Result<SandboxAnswer> {
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
    let new = AccountRecord {
        name: name.to_owned(),
        currency: currency.unwrap_or(Currency::USD).code().to_owned(),
        primary: order.flag("primary").unwrap_or(false),
        trust: order.flag("trust_account").unwrap_or(false),
        ..AccountRecord::derive(&cx.environment.seed, &merchant.name, mode, &what, kind)
    };
    cx.add_account(merchant, mode, &new)?;
    SandboxAnswer::json(&show_account(&new))
}

pub(crate) fn partner(cx: &ChangeUnit) -> Result<SandboxAnswer> {
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
pub(crate) fn set_partner(cx: &mut ChangeUnit, order: &ControlOrder) -> Result<SandboxAnswer> {
    let may = ROLES.contains(&order.text("role").unwrap_or("owner"));
    SandboxRefusal::ensure(may, SandboxRefusal::not_authorized)?;
    let settings = cx.settings_mut();
    order.set_text("event_url", &mut settings.event_url);
    order.set_text("redirect_uri", &mut settings.redirect_uri);
    settings.enabled = order.flag("enabled").unwrap_or(settings.enabled);
    settings.is_partner = order.flag("is_partner").unwrap_or(settings.is_partner);
    order.set("plans", "plans is an array of {id, trust}", &mut settings.plans)?;
    cx.save_settings()?;
    partner(cx)
}

const DAYS_MAX: u32 = 30;
const HOURS: u32 = 24;

pub(crate) fn list_policies(cx: &ChangeUnit) -> Result<SandboxAnswer> {
    let merchants = cx.merchants()?;
    let shown = merchants.iter().map(|merchant| show_policy(cx, merchant));
    SandboxAnswer::json(&json!({ "merchants": shown.collect::<Result<Vec<_>, _>>()? }))
}

fn show_policy(cx: &ChangeUnit, merchant: &MerchantRecord) -> Result<Value> {
    let policy = cx.policy(&merchant.id)?;
    let each = |allows: &dyn Fn(&String) -> bool| {
        account_ids(merchant).map(|id| (id.clone(), json!(allows(id)))).collect::<Value>()
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

fn account_ids(merchant: &MerchantRecord) -> impl Iterator<Item = &String> {
    let of = |mode: MerchantMode| merchant.keys(mode).accounts.iter().map(|account| &account.id);
    of(MerchantMode::Test).chain(of(MerchantMode::Live))
}

/// Changes the fields that are named, and makes the merchant if there is none.
///
/// - `{merchant, brand, reference_required, surcharges: [{type, surcharge_rate, surcharge_fee}],
///   limits: {max_amount, daily_count, daily_amount, monthly_count, monthly_amount},
///   settlement_days: N, capture_hour: H, events_urls: {test, live}}`
/// - `recurring_charges_enabled`, `capture_enabled`, `credits_enabled` and
///   `refund_to_other_method_enabled`: `true|false|{ACCOUNT: true|false}`
/// - `cvv_policy` and `avs_policy`: a word or `{ACCOUNT: word}`
/// - `required_payment_fields`, `accepted_card_types` and `transaction_allowed_countries`: a list or
///   `{ACCOUNT: list}`
/// - `api_allowed_ip_address_ranges: [RANGE]`, `ip_countries: {RANGE: COUNTRY}`
pub(crate) fn set_policy(cx: &mut ChangeUnit, order: &ControlOrder) -> Result<SandboxAnswer> {
    let name = order.need_text("merchant", "Name a merchant")?;
    let merchant = cx.merchant_named(name, None)?;
    let mut policy = cx.policy_to_edit(&merchant.id)?;
    let order = PolicyOrder { order, accounts: account_ids(&merchant).collect() };
    order.set_switches(&mut policy)?;
    order.set_origins(&mut policy)?;
    order.set_payment_rules(&mut policy)?;
    order.set_volume(&mut policy)?;
    cx.set_policy(&merchant.id, &policy)?;
    SandboxAnswer::json(&show_policy(cx, &merchant)?)
}

struct PolicyOrder<'a> {
    order: &'a ControlOrder,
    accounts: Vec<&'a String>,
}

impl PolicyOrder<'_> {
    fn set_switches(&self, policy: &mut MerchantPolicy) -> Result<()> {
        let required = self.order.flag("reference_required");
        policy.reference_required = required.unwrap_or(policy.reference_required);
        if let Some(brand) = self.order.value().get("brand") {
            policy.brand = brand.as_str().filter(|name| !name.is_empty()).map(str::to_owned);
        }
        let switches = [
            ("recurring_charges_enabled", &mut policy.recurring_disabled, false),
            ("capture_enabled", &mut policy.capture_disabled, false),
            ("credits_enabled", &mut policy.credits_enabled, true),
            ("refund_to_other_method_enabled", &mut policy.other_method_enabled, true),
        ];
        for (field, set, is_member_enabled) in switches {
            for (account, enabled) in self.per_account::<Value>(field, "")? {
                match enabled.as_bool() {
                    Some(enabled) if enabled == is_member_enabled => drop(set.insert(account)),
                    Some(_) => drop(set.remove(&account)),
                    None => {}
                }
            }
        }
        Ok(())
    }

    fn set_origins(&self, policy: &mut MerchantPolicy) -> Result<()> {
        let field = "api_allowed_ip_address_ranges";
        let help = "api_allowed_ip_address_ranges is a list of ranges";
        if let Some(ranges) = self.order.typed::<Vec<String>>(field, help)? {
            need_ranges(ranges.iter())?;
            policy.allowed_addresses = ranges;
        }
        let help = "ip_countries is {RANGE: COUNTRY}";
        if let Some(known) = self.order.typed::<BTreeMap<String, String>>("ip_countries", help)? {
            need_ranges(known.keys())?;
            policy.ip_countries = known;
        }
        let help = "transaction_allowed_countries is [COUNTRY] or {ACCOUNT: [COUNTRY]}";
        policy.allowed_countries.extend(self.per_account("transaction_allowed_countries", help)?);
        Ok(())
    }

    fn set_payment_rules(&self, policy: &mut MerchantPolicy) -> Result<()> {
        policy.cvv.extend(self.per_account("cvv_policy", "Unknown policy value")?);
        policy.avs.extend(self.per_account("avs_policy", "Unknown policy value")?);
        let help = "A list of words, or {ACCOUNT: list}";
        let fields = self.per_account::<BTreeSet<String>>("required_payment_fields", help)?;
        if !fields.values().flatten().all(|field| is_payment_field(field)) {
            return Err(SandboxRefusal::invalid("Unknown payment field"));
        }
        policy.required_fields.extend(fields);
        policy.card_types.extend(self.per_account("accepted_card_types", help)?);
        Ok(())
    }

    fn set_volume(&self, policy: &mut MerchantPolicy) -> Result<()> {
        let order = self.order;
        let help = "limits is {max_amount, daily_count, …}";
        order.set("limits", help, &mut policy.limits)?;
        order.set("events_urls", "events_urls is {test, live}", &mut policy.events_urls)?;
        let help = "capture_hour is an hour of the day";
        if let Some(hour) = order.typed::<u32>("capture_hour", help)? {
            policy.capture_hour = Some(hour).filter(|hour| *hour < HOURS);
        }
        let help = "settlement_days is a number of banking days";
        if let Some(days) = order.typed::<u32>("settlement_days", help)? {
            if days > DAYS_MAX {
                return Err(SandboxRefusal::invalid("settlement_days is at most 30"));
            }
            policy.settlement_days = days;
        }
        let help = "surcharges is a list of {type, surcharge_rate, surcharge_fee}";
        order.set("surcharges", help, &mut policy.surcharges)
    }

    fn per_account<T: DeserializeOwned + Clone>(
        &self,
        field: &str,
        help: &str,
    ) -> Result<BTreeMap<String, T>> {
        match self.order.typed::<PerAccount<T>>(field, help)? {
            None => Ok(BTreeMap::new()),
            Some(PerAccount::All(one)) => {
                Ok(self.accounts.iter().map(|id| ((*id).clone(), one.clone())).collect())
            }
            Some(PerAccount::Each(each)) if each.keys().all(|id| self.accounts.contains(&id)) => {
                Ok(each)
            }
            Some(PerAccount::Each(_)) => Err(SandboxRefusal::invalid("Unknown account")),
        }
    }
}

fn need_ranges<'a>(mut ranges: impl Iterator<Item = &'a String>) -> Result<()> {
    let text = "A range is 10.0.0.0/8, 10.0.0.1-10.0.0.9 or 10.0.0.1";
    let fits = ranges.all(|text| parse_range(text).is_some());
    SandboxRefusal::ensure(fits, || SandboxRefusal::invalid(text))
}
