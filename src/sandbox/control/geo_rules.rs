//! Fields of `/_sandbox/policy` that restrict where calls may come from:
//! `api_allowed_ip_address_ranges: [RANGE]`, `transaction_allowed_countries: [COUNTRY]|{ACCOUNT:
//! [COUNTRY]}`, `ip_countries: {RANGE: COUNTRY}`.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::merchants::geo_rules::parse_range;
use crate::sandbox::merchants::policy::MerchantPolicy;

/// Changes the fields that are named. `accounts` are the merchant's.
pub(super) fn set(
    policy: &mut MerchantPolicy,
    accounts: &[&String],
    order: &Value,
) -> Result<(), SandboxRefusal> {
    if let Some(said) = order.get("api_allowed_ip_address_ranges") {
        let ranges: Vec<String> =
            parse_field(said, "api_allowed_ip_address_ranges is a list of ranges")?;
        need_ranges(ranges.iter())?;
        policy.allowed_addresses = ranges;
    }
    if let Some(said) = order.get("ip_countries") {
        let known: BTreeMap<String, String> =
            parse_field(said, "ip_countries is {RANGE: COUNTRY}")?;
        need_ranges(known.keys())?;
        policy.ip_countries = known;
    }
    let Some(said) = order.get("transaction_allowed_countries") else {
        return Ok(());
    };
    let help = "transaction_allowed_countries is [COUNTRY] or {ACCOUNT: [COUNTRY]}";
    if said.is_array() {
        let all: BTreeSet<String> = parse_field(said, help)?;
        for account in accounts {
            policy.allowed_countries.insert((*account).clone(), all.clone());
        }
        return Ok(());
    }
    let each: BTreeMap<String, BTreeSet<String>> = parse_field(said, help)?;
    if !each.keys().all(|account| accounts.contains(&account)) {
        return Err(SandboxRefusal::invalid("Unknown account"));
    }
    policy.allowed_countries.extend(each);
    Ok(())
}

fn parse_field<T: DeserializeOwned>(said: &Value, help: &str) -> Result<T, SandboxRefusal> {
    serde_json::from_value(said.clone()).map_err(|_| SandboxRefusal::invalid(help))
}

fn need_ranges<'a>(mut ranges: impl Iterator<Item = &'a String>) -> Result<(), SandboxRefusal> {
    if ranges.all(|text| parse_range(text).is_some()) {
        return Ok(());
    }
    Err(SandboxRefusal::invalid("A range is 10.0.0.0/8, 10.0.0.1-10.0.0.9 or 10.0.0.1"))
}
