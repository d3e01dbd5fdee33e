//! Fields of `/_sandbox/policy` that restrict payments: `required_payment_fields: [FIELD]|{ACCOUNT:
//! [FIELD]}`, `accepted_card_types: [BRAND]|{ACCOUNT: [BRAND]}`, `limits: {max_amount, daily_count,
//! daily_amount, monthly_count, monthly_amount}`, `settlement_days: N`, `capture_hour: H`. Also the
//! webhook targets: `events_urls: {test, live}`.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::sandbox::policy::Policy;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::requirements::FIELDS;

/// Maximum of `settlement_days`, in banking days.
const DAYS_MAX: u32 = 30;

/// Changes the fields that are named. `accounts` are the merchant's.
pub(super) fn set(policy: &mut Policy, accounts: &[&String], order: &Value) -> Result<(), Refusal> {
    let fields = sets(accounts, order.get("required_payment_fields"))?;
    if !fields.values().flatten().all(|field| FIELDS.contains(&field.as_str())) {
        return Err(Refusal::invalid("Unknown payment field"));
    }
    policy.required_fields.extend(fields);
    policy.card_types.extend(sets(accounts, order.get("accepted_card_types"))?);
    if let Some(limits) = order.get("limits") {
        policy.limits = typed(limits, "limits is {max_amount, daily_count, …}")?;
    }
    if let Some(urls) = order.get("events_urls") {
        policy.events_urls = typed(urls, "events_urls is {test, live}")?;
    }
    if let Some(hour) = order.get("capture_hour") {
        let hour: u32 = typed(hour, "capture_hour is an hour of the day")?;
        policy.capture_hour = Some(hour).filter(|hour| *hour < 24);
    }
    if let Some(days) = order.get("settlement_days") {
        let days: u32 = typed(days, "settlement_days is a number of banking days")?;
        if days > DAYS_MAX {
            return Err(Refusal::invalid("settlement_days is at most 30"));
        }
        policy.settlement_days = days;
    }
    Ok(())
}

/// Parses one set for every account, or a set for each account named.
fn sets(
    accounts: &[&String],
    said: Option<&Value>,
) -> Result<BTreeMap<String, BTreeSet<String>>, Refusal> {
    let help = "A list of words, or {ACCOUNT: list}";
    let Some(said) = said else { return Ok(BTreeMap::new()) };
    if said.is_array() {
        let all: BTreeSet<String> = typed(said, help)?;
        return Ok(accounts.iter().map(|account| ((*account).clone(), all.clone())).collect());
    }
    let each: BTreeMap<String, BTreeSet<String>> = typed(said, help)?;
    if each.keys().all(|account| accounts.contains(&account)) {
        Ok(each)
    } else {
        Err(Refusal::invalid("Unknown account"))
    }
}

fn typed<T: DeserializeOwned>(said: &Value, help: &str) -> Result<T, Refusal> {
    serde_json::from_value(said.clone()).map_err(|_| Refusal::invalid(help))
}
