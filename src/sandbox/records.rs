//! What a merchant changes of itself and of its accounts (service-facts, 67 to 71). PUT and PATCH do the same: what a
//! body leaves out, or sends as null, stays.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::Uri;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::credentials::AccountType;
use crate::api::merchant::{AccountChange, Merchant, MerchantAccount, MerchantChange};
use crate::api::rules::{FieldProblem, Problems};
use crate::sandbox::accounts;
use crate::sandbox::asked::Asked;
use crate::sandbox::events;
use crate::sandbox::lists::Owner;
use crate::sandbox::places::range;
use crate::sandbox::policy::Policy;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::requirements::{FIELDS, listed};
use crate::sandbox::state::Cx;

/// Characters of the URLs of events (service-facts, 31).
const URLS_LENGTH_MAX: usize = 1024;

/// PATCH and PUT /v1/merchant.
pub(crate) fn merchant(
    cx: &mut Cx<'_>,
    asked: &Asked,
    change: MerchantChange,
) -> Result<Merchant, Refusal> {
    let owner = asked.owner()?;
    Refusal::fields("", &rules(&change))?;
    let mut policy = cx.own_policy(&owner.merchant)?;
    if let Some(ranges) = &change.api_allowed_ip_address_ranges {
        policy.allowed_addresses = listed(ranges).into_iter().collect();
    }
    let urls = &mut policy.events_urls;
    urls.live = change.live_events_urls.clone().unwrap_or_else(|| urls.live.clone());
    urls.test = change.test_events_urls.clone().unwrap_or_else(|| urls.test.clone());
    cx.set_policy(&owner.merchant, &policy)?;
    let mut record = Arc::unwrap_or_clone(cx.merchant(&owner.merchant)?);
    record.own = over(record.own, change);
    record.modified = Some(crate::api::wire::Timestamp(cx.now));
    cx.store_merchant(&record)?;
    let shown = accounts::merchant(cx, asked)?;
    events::emit_to_both(cx, &owner.merchant, "merchant.updated", &shown)?;
    Ok(shown)
}

/// The details with the changed ones over them; those of the policy are kept there.
fn over(own: MerchantChange, change: MerchantChange) -> MerchantChange {
    MerchantChange {
        contact_name: change.contact_name.or(own.contact_name),
        contact_email: change.contact_email.or(own.contact_email),
        contact_phone: change.contact_phone.or(own.contact_phone),
        address1: change.address1.or(own.address1),
        address2: change.address2.or(own.address2),
        city: change.city.or(own.city),
        state: change.state.or(own.state),
        postal_code: change.postal_code.or(own.postal_code),
        country: change.country.or(own.country),
        ..MerchantChange::default()
    }
}

fn rules(change: &MerchantChange) -> Vec<FieldProblem> {
    let mut problems = Problems::default();
    if let Some(ranges) = &change.api_allowed_ip_address_ranges
        && listed(ranges).iter().any(|text| range(text).is_none())
    {
        problems.add("api_allowed_ip_address_ranges", "invalid", "IP address range is invalid");
    }
    for (name, urls) in [
        ("live_events_urls", &change.live_events_urls),
        ("test_events_urls", &change.test_events_urls),
    ] {
        if urls.as_deref().is_some_and(|urls| !are_urls(urls)) {
            problems.add(name, "invalid", "URL is invalid");
        }
    }
    if change.country.as_deref().is_some_and(|code| code.len() != 2) {
        problems.add("country", "invalid", "Country is invalid");
    }
    problems.into_list()
}

fn are_urls(text: &str) -> bool {
    let is_url = |url: &str| {
        let uri: Option<Uri> = url.parse().ok();
        uri.is_some_and(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some()
        })
    };
    text.len() <= URLS_LENGTH_MAX
        && text.split(',').map(str::trim).filter(|url| !url.is_empty()).all(is_url)
}

/// PATCH and PUT of an account of this type; 404 for one of another merchant, mode or type.
pub(crate) fn account(
    cx: &mut Cx<'_>,
    asked: &Asked,
    change: AccountChange,
    kind: &AccountType,
) -> Result<MerchantAccount, Refusal> {
    let (owner, id) = (asked.owner()?, asked.parameter(0));
    let record = cx.merchant(&owner.merchant)?;
    let found = record.find_account(owner.mode, id).filter(|account| account.kind == *kind);
    let mut account = found.cloned().ok_or_else(|| Refusal::missing("Account", id))?;
    let mut policy = cx.own_policy(&owner.merchant)?;
    let is_card = *kind == AccountType::Card;
    Refusal::fields("", &set(&mut policy, id, &change, is_card))?;
    need_primary(&change, account.primary)?;
    cx.set_policy(&owner.merchant, &policy)?;
    account.name = change.name.filter(|name| !name.trim().is_empty()).unwrap_or(account.name);
    account.primary |= change.primary == Some(true);
    cx.add_account(Arc::unwrap_or_clone(record), owner.mode, &account)?;
    shown(cx, &owner, id)
}

/// One account of a type is the primary one: it is made so, and never unmade.
fn need_primary(change: &AccountChange, is_primary: bool) -> Result<(), Refusal> {
    if is_primary && change.primary == Some(false) {
        return Err(Refusal::rule("no_primary_account", "No primary account"));
    }
    Ok(())
}

/// Takes over what belongs to the policy; what is wrong with it.
fn set(policy: &mut Policy, id: &str, change: &AccountChange, is_card: bool) -> Vec<FieldProblem> {
    let mut problems = Problems::default();
    if is_card {
        word(&mut problems, "cvv_policy", &mut policy.cvv, id, change.cvv_policy.as_deref());
        word(&mut problems, "avs_policy", &mut policy.avs, id, change.avs_policy.as_deref());
        if let Some(fields) = change.required_payment_fields.as_deref().map(listed) {
            if !fields.iter().all(|field| FIELDS.contains(&field.as_str())) {
                problems.add("required_payment_fields", "invalid", "Payment field is invalid");
            }
            policy.required_fields.insert(id.to_owned(), fields);
        }
        if let Some(brands) = change.accepted_card_types.as_deref().map(listed) {
            policy.card_types.insert(id.to_owned(), brands);
        }
    }
    if let Some(countries) = change.transaction_allowed_countries.as_deref().map(listed) {
        if countries.iter().any(|code| code.len() != 2) {
            problems.add("transaction_allowed_countries", "invalid", "Country is invalid");
        }
        policy.allowed_countries.insert(id.to_owned(), countries);
    }
    problems.into_list()
}

/// Sets one word of a policy, if it is one.
fn word<T: DeserializeOwned>(
    problems: &mut Problems,
    context: &str,
    set: &mut BTreeMap<String, T>,
    id: &str,
    said: Option<&str>,
) {
    let Some(text) = said else { return };
    match T::deserialize(Value::from(text)) {
        Ok(word) => drop(set.insert(id.to_owned(), word)),
        Err(_) => problems.add(context, "invalid", "Policy is invalid"),
    }
}

fn shown(cx: &Cx<'_>, owner: &Owner, id: &str) -> Result<MerchantAccount, Refusal> {
    let record = cx.merchant(&owner.merchant)?;
    let policy = cx.policy(&owner.merchant)?;
    let account = record.find_account(owner.mode, id).ok_or_else(Refusal::broken)?;
    Ok(accounts::shown(account, &record, &policy))
}
