//! `/_sandbox/policy`: the tenant's settings for each merchant.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::order::{ControlOrder, PerAccount};
use crate::sandbox::answer::{SandboxAnswer, SandboxRefusal};
use crate::sandbox::merchants::geo_rules::parse_range;
use crate::sandbox::merchants::merchant::MerchantRecord;
use crate::sandbox::merchants::merchant_settings::FIELDS;
use crate::sandbox::merchants::policy::MerchantPolicy;
use crate::sandbox::state::lists::MerchantMode;
use crate::sandbox::state::store::ChangeUnit;

/// Maximum of `settlement_days`, in banking days.
const DAYS_MAX: u32 = 30;
/// Hours of a day.
const HOURS: u32 = 24;

/// GET of the settings of every merchant.
pub(crate) fn list(cx: &ChangeUnit<'_>) -> Result<SandboxAnswer, SandboxRefusal> {
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
pub(crate) fn set(
    cx: &mut ChangeUnit<'_>,
    order: &ControlOrder,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let name = order.need_text("merchant", "Name a merchant")?;
    let merchant = cx.merchant_named(name, None)?;
    let mut policy = cx.policy_to_edit(&merchant.id)?;
    let order = PolicyOrder { order, accounts: accounts(&merchant).collect() };
    order.set_switches(&mut policy)?;
    order.set_origins(&mut policy)?;
    order.set_payment_rules(&mut policy)?;
    order.set_volume(&mut policy)?;
    cx.set_policy(&merchant.id, &policy)?;
    SandboxAnswer::json(&show(cx, &merchant)?)
}

/// A change of the settings, and the accounts of its merchant.
struct PolicyOrder<'a> {
    order: &'a ControlOrder,
    accounts: Vec<&'a String>,
}

impl PolicyOrder<'_> {
    fn set_switches(&self, policy: &mut MerchantPolicy) -> Result<(), SandboxRefusal> {
        if let Some(required) = self.order.flag("reference_required") {
            policy.reference_required = required;
        }
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

    fn set_origins(&self, policy: &mut MerchantPolicy) -> Result<(), SandboxRefusal> {
        let help = "api_allowed_ip_address_ranges is a list of ranges";
        if let Some(ranges) =
            self.order.typed::<Vec<String>>("api_allowed_ip_address_ranges", help)?
        {
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

    fn set_payment_rules(&self, policy: &mut MerchantPolicy) -> Result<(), SandboxRefusal> {
        policy.cvv.extend(self.per_account("cvv_policy", "Unknown policy value")?);
        policy.avs.extend(self.per_account("avs_policy", "Unknown policy value")?);
        let help = "A list of words, or {ACCOUNT: list}";
        let fields = self.per_account::<BTreeSet<String>>("required_payment_fields", help)?;
        if !fields.values().flatten().all(|field| FIELDS.contains(&field.as_str())) {
            return Err(SandboxRefusal::invalid("Unknown payment field"));
        }
        policy.required_fields.extend(fields);
        policy.card_types.extend(self.per_account("accepted_card_types", help)?);
        Ok(())
    }

    fn set_volume(&self, policy: &mut MerchantPolicy) -> Result<(), SandboxRefusal> {
        let order = self.order;
        if let Some(limits) = order.typed("limits", "limits is {max_amount, daily_count, …}")? {
            policy.limits = limits;
        }
        if let Some(urls) = order.typed("events_urls", "events_urls is {test, live}")? {
            policy.events_urls = urls;
        }
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
        if let Some(rates) = order.typed("surcharges", help)? {
            policy.surcharges = rates;
        }
        Ok(())
    }

    /// Returns the value of each account that a field sets.
    fn per_account<T: DeserializeOwned + Clone>(
        &self,
        field: &str,
        help: &str,
    ) -> Result<BTreeMap<String, T>, SandboxRefusal> {
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

fn need_ranges<'a>(mut ranges: impl Iterator<Item = &'a String>) -> Result<(), SandboxRefusal> {
    if ranges.all(|text| parse_range(text).is_some()) {
        return Ok(());
    }
    Err(SandboxRefusal::invalid("A range is 10.0.0.0/8, 10.0.0.1-10.0.0.9 or 10.0.0.1"))
}
