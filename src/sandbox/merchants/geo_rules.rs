//! Origin checks: the addresses that may call for a merchant, and the countries from which an
//! account accepts operations (gateway-api, Limits and Errors; service-facts, 15 and 26).
//!
//! Every caller is on this machine. Only the payer's address, which the caller relays, can be
//! elsewhere; its country comes from the tenant's settings, or is `US`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::sandbox::answer::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::state::lists::ObjectOwner;
use crate::sandbox::state::store::ChangeUnit;

/// Header with the payer's address.
const RELAYED: &str = "x-relayed-ip-address";

const CALLER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Country of an address that no setting names.
const COUNTRY_DEFAULT: &str = "US";

/// Parses a range: the first and the last address of `10.0.0.0/8`, `10.0.0.1-10.0.0.9` or
/// `10.0.0.1`.
pub(crate) fn parse_range(text: &str) -> Option<(IpAddr, IpAddr)> {
    let text = text.trim();
    if let Some((from, to)) = text.split_once('-') {
        let (from, to): (IpAddr, IpAddr) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        return (from.is_ipv4() == to.is_ipv4()).then_some((from, to));
    }
    let Some((address, length)) = text.split_once('/') else {
        let address = text.parse().ok()?;
        return Some((address, address));
    };
    let length: u32 = length.parse().ok()?;
    match address.parse().ok()? {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(Ipv4Addr::BITS.checked_sub(length)?).unwrap_or(0);
            let first = address.to_bits() & mask;
            let ends = [first, first | !mask].map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits)));
            Some(ends.into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(Ipv6Addr::BITS.checked_sub(length)?).unwrap_or(0);
            let first = address.to_bits() & mask;
            let ends = [first, first | !mask].map(|bits| IpAddr::V6(Ipv6Addr::from_bits(bits)));
            Some(ends.into())
        }
    }
}

fn is_within(text: &str, address: IpAddr) -> bool {
    parse_range(text).is_some_and(|(first, last)| {
        first.is_ipv4() == address.is_ipv4() && (first..=last).contains(&address)
    })
}

/// Refuses with 401 if the merchant allows calls only from other addresses.
pub(crate) fn need_address(cx: &ChangeUnit<'_>, merchant: &str) -> Result<(), SandboxRefusal> {
    let policy = cx.policy(merchant)?;
    let ranges = &policy.allowed_addresses;
    if ranges.is_empty() || ranges.iter().any(|range| is_within(range, CALLER)) {
        return Ok(());
    }
    Err(SandboxRefusal::not_authorized())
}

/// Refuses with 401 if the account accepts no operations from the request's country.
pub(crate) fn need_country(
    cx: &ChangeUnit<'_>,
    asked: &ParsedRequest,
    owner: &ObjectOwner,
    account: &str,
) -> Result<(), SandboxRefusal> {
    let policy = cx.policy(&owner.merchant)?;
    let Some(allowed) = policy.allowed_countries.get(account).filter(|set| !set.is_empty()) else {
        return Ok(());
    };
    let relayed = asked.headers.get(RELAYED).and_then(|value| value.to_str().ok());
    let address = relayed.and_then(|text| text.trim().parse().ok()).unwrap_or(CALLER);
    let listed = policy.ip_countries.iter().find(|(range, _)| is_within(range, address));
    let country = listed.map_or(COUNTRY_DEFAULT, |(_, country)| country);
    if allowed.contains(country) { Ok(()) } else { Err(SandboxRefusal::not_authorized()) }
}
