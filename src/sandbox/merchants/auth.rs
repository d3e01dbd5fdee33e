//! Authentication and origin of calls (both documents, Authentication; gateway-api, Limits and
//! Errors; service-facts, 15 and 26), and the end of an authorization.
//!
//! Strict: a wrong, missing, misplaced or unsuitable credential is answered with 401, without the
//! reason; so is a call from an address or country that the merchant does not accept. Every caller
//! is on this machine. Only the payer's address, which the caller relays, can be elsewhere; its
//! country comes from the tenant's settings, or is `US`.
//!
//! Deauthorising (partner-api, deauthorize application) revokes the partner's access to a
//! merchant: bearer tokens, codes not yet exchanged, and the keys of its accounts, which `GET
//! /gateway-credentials` shows. The merchant, its records and its own keys stay. Exchanging a
//! fresh code starts a new authorization.

use std::net::{IpAddr, Ipv4Addr};

use data_encoding::BASE64;
use http::{HeaderMap, header};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::api::call::Auth;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::merchants::merchant::{KeyEntry, KeyKind};
use crate::sandbox::request::{ParsedRequest, SandboxCaller};
use crate::sandbox::state::objects::ObjectOwner;
use crate::sandbox::state::store::ChangeUnit;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum BearerScope {
    Tenant,
    Payments(String),
}

pub(crate) fn bearer_key(token: &str) -> String {
    format!("x/bearer/{token}")
}

/// Returns the caller that these headers authenticate, if it may use an endpoint of this kind.
pub(crate) fn admit(cx: &ChangeUnit, auth: Auth, headers: &HeaderMap) -> Result<SandboxCaller> {
    let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    match auth {
        Auth::None => Ok(SandboxCaller::Anyone),
        Auth::Tenant | Auth::Payments => match (auth, bearer(cx, header)?) {
            (Auth::Tenant, BearerScope::Tenant) => Ok(SandboxCaller::Partner),
            (Auth::Payments, BearerScope::Payments(merchant)) => {
                Ok(SandboxCaller::Authorized { merchant })
            }
            _ => Err(SandboxRefusal::not_authorized()),
        },
        Auth::PublicKey | Auth::SecretKey => {
            let KeyEntry { owner, kind, account } = by_key(cx, &basic(header)?)?;
            refuse_secret_from_page(kind, headers)?;
            if auth == Auth::SecretKey {
                SandboxRefusal::ensure(kind == KeyKind::Secret, SandboxRefusal::not_authorized)?;
                need_address(cx, &owner.merchant)?;
            }
            Ok(SandboxCaller::Key { owner, account })
        }
    }
}

/// Refuses a secret key sent by a page with 401. A browser adds the page's origin (gateway-api,
/// Authentication, 5 and 6).
pub(crate) fn refuse_secret_from_page(kind: KeyKind, headers: &HeaderMap) -> Result<()> {
    let is_of_page = headers.contains_key(header::ORIGIN);
    SandboxRefusal::ensure(kind == KeyKind::Public || !is_of_page, SandboxRefusal::not_authorized)
}

/// Returns the account of an account's own key in these headers, for the log.
pub(crate) fn account_of(cx: &ChangeUnit, headers: &HeaderMap) -> Option<String> {
    let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    by_key(cx, &basic(header).ok()?).ok()?.account
}

pub(crate) fn by_key(cx: &ChangeUnit, key: &str) -> Result<KeyEntry> {
    let is_key = key.bytes().all(|byte| byte.is_ascii_alphanumeric());
    SandboxRefusal::ensure(is_key, SandboxRefusal::not_authorized)?;
    let entry: Option<KeyEntry> = cx.get(&format!("x/key/{key}"))?;
    let entry = entry.ok_or_else(SandboxRefusal::not_authorized)?;
    // Deauthorising revokes the accounts' keys, which the partner received; the merchant's own keys
    // stay.
    let is_valid = entry.account.is_none() || !is_deauthorised(cx, &entry.owner.merchant)?;
    SandboxRefusal::ensure(is_valid, SandboxRefusal::not_authorized)?;
    Ok(entry)
}

fn bearer(cx: &ChangeUnit, header: Option<&str>) -> Result<BearerScope> {
    let token = header.and_then(|text| text.strip_prefix("Bearer "));
    let token = token.map(str::trim).filter(|token| !token.is_empty());
    let token = token.ok_or_else(SandboxRefusal::not_authorized)?;
    cx.get(&bearer_key(token))?.ok_or_else(SandboxRefusal::not_authorized)
}

/// Returns the key of a Basic header: its user; the password must be empty.
fn basic(header: Option<&str>) -> Result<String> {
    let encoded = header.and_then(|text| text.strip_prefix("Basic "));
    let bytes = encoded.and_then(|text| BASE64.decode(text.trim().as_bytes()).ok());
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let key = text.as_deref().and_then(|text| text.strip_suffix(':')).filter(|key| !key.is_empty());
    key.map(str::to_owned).ok_or_else(SandboxRefusal::not_authorized)
}

fn deauthorised_key(merchant: &str) -> String {
    format!("x/deauthorised/{merchant}")
}

pub(crate) fn is_deauthorised(cx: &ChangeUnit, merchant: &str) -> Result<bool> {
    Ok(cx.get::<bool>(&deauthorised_key(merchant))?.unwrap_or(false))
}

pub(crate) fn reauthorise(cx: &mut ChangeUnit, merchant: &str) {
    cx.remove(&deauthorised_key(merchant));
}

/// Ends the authorization of the merchant with this public key. 404 for an unknown key, and for a
/// merchant whose authorization has ended.
pub(crate) fn deauthorise(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<()> {
    let public_key = asked.parameter(0);
    let missing = || SandboxRefusal::not_found("Merchant", public_key);
    let entry = by_key(cx, public_key).map_err(|_| missing())?;
    let merchant = entry.owner.merchant;
    if entry.kind != KeyKind::Public || is_deauthorised(cx, &merchant)? {
        return Err(missing());
    }
    cx.remove_all("x/bearer/", |value| {
        let bearer = serde_json::from_value(value.clone());
        matches!(bearer, Ok(BearerScope::Payments(of)) if of == merchant)
    })?;
    cx.remove_all("x/code/", |value| value.as_str() == Some(merchant.as_str()))?;
    cx.put(&deauthorised_key(&merchant), &true)
}

const RELAYED: &str = "x-relayed-ip-address";

const CALLER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

const COUNTRY_DEFAULT: &str = "US";

/// Parses a range: the first and the last address of `10.0.0.0/8`, `10.0.0.1-10.0.0.9` or
/// `10.0.0.1`.
pub(crate) fn parse_range(text: &str) -> Option<(IpAddr, IpAddr)> {
    let text = text.trim();
    if let Some((from, to)) = text.split_once('-') {
        let (from, to): (IpAddr, IpAddr) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        return (from.is_ipv4() == to.is_ipv4()).then_some((from, to));
    }
    let Ok(network) = text.parse::<IpNet>() else {
        let address = text.parse().ok()?;
        return Some((address, address));
    };
    Some((network.network(), network.broadcast()))
}

fn is_within(text: &str, address: IpAddr) -> bool {
    parse_range(text).is_some_and(|(first, last)| {
        first.is_ipv4() == address.is_ipv4() && (first..=last).contains(&address)
    })
}

pub(crate) fn need_address(cx: &ChangeUnit, merchant: &str) -> Result<()> {
    let policy = cx.policy(merchant)?;
    let ranges = &policy.allowed_addresses;
    let fits = ranges.is_empty() || ranges.iter().any(|range| is_within(range, CALLER));
    SandboxRefusal::ensure(fits, SandboxRefusal::not_authorized)
}

pub(crate) fn need_country(
    cx: &ChangeUnit,
    asked: &ParsedRequest,
    owner: &ObjectOwner,
    account: &str,
) -> Result<()> {
    let policy = cx.policy(&owner.merchant)?;
    let Some(allowed) = policy.allowed_countries.get(account).filter(|set| !set.is_empty()) else {
        return Ok(());
    };
    let relayed = asked.headers.get(RELAYED).and_then(|value| value.to_str().ok());
    let address = relayed.and_then(|text| text.trim().parse().ok()).unwrap_or(CALLER);
    let listed = policy.ip_countries.iter().find(|(range, _)| is_within(range, address));
    let country = listed.map_or(COUNTRY_DEFAULT, |(_, country)| country);
    SandboxRefusal::ensure(allowed.contains(country), SandboxRefusal::not_authorized)
}
