//! Fields of `/_sandbox/policy` that restrict payments: `required_payment_fields: [FIELD]|{ACCOUNT:
//! [FIELD]}`, `accepted_card_types: [BRAND]|{ACCOUNT: [BRAND]}`, `limits: {max_amount, daily_count,
//! daily_amount, monthly_count, monthly_amount}`, `settlement_days: N`, `capture_hour: H`. Also the
//! webhook targets: `events_urls: {test, live}`.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::merchants::policy::MerchantPolicy;
use crate::sandbox::merchants::requirements::FIELDS;

/// Maximum of `settlement_days`, in banking days.
const DAYS_MAX: u32 = 30;

/// Changes the fields that are named. `accounts` are the merchant's.
pub(super) fn set(
    policy: &mut MerchantPolicy,
    accounts: &[&String],
    order: &Value,
) -> Result<(), SandboxRefusal> {
    let fields = parse_sets(accounts, order.get("required_payment_fields"))?;
    if !fields.values().flatten().all(|field| FIELDS.contains(&field.as_str())) {
        return Err(SandboxRefusal::invalid("Unknown payment field"));
    }
    policy.required_fields.extend(fields);
    policy.card_types.extend(parse_sets(accounts, order.get("accepted_card_types"))?);
    if let Some(limits) = order.get("limits") {
        policy.limits = parse_field(limits, "limits is {max_amount, daily_count, …}")?;
    }
    if let Some(urls) = order.get("events_urls") {
        policy.events_urls = parse_field(urls, "events_urls is {test, live}")?;
    }
    if let Some(hour) = order.get("capture_hour") {
        let hour: u32 = parse_field(hour, "capture_hour is an hour of the day")?;
        policy.capture_hour = Some(hour).filter(|hour| *hour < 24);
    }
    if let Some(days) = order.get("settlement_days") {
        let days: u32 = parse_field(days, "settlement_days is a number of banking days")?;
        if days > DAYS_MAX {
            return Err(SandboxRefusal::invalid("settlement_days is at most 30"));
        }
        policy.settlement_days = days;
    }
    Ok(())
}

/// Parses one set for every account, or a set for each account named.
fn parse_sets(
    accounts: &[&String],
    said: Option<&Value>,
) -> Result<BTreeMap<String, BTreeSet<String>>, SandboxRefusal> {
    let help = "A list of words, or {ACCOUNT: list}";
    let Some(said) = said else { return Ok(BTreeMap::new()) };
    if said.is_array() {
        let all: BTreeSet<String> = parse_field(said, help)?;
        return Ok(accounts.iter().map(|account| ((*account).clone(), all.clone())).collect());
    }
    let each: BTreeMap<String, BTreeSet<String>> = parse_field(said, help)?;
    if each.keys().all(|account| accounts.contains(&account)) {
        Ok(each)
    } else {
        Err(SandboxRefusal::invalid("Unknown account"))
    }
}

fn parse_field<T: DeserializeOwned>(said: &Value, help: &str) -> Result<T, SandboxRefusal> {
    serde_json::from_value(said.clone()).map_err(|_| SandboxRefusal::invalid(help))
}
