//! Deauthorising (partner-api, deauthorize application): ends a merchant's authorization.
//!
//! The partner's access to the merchant is revoked: bearer tokens, codes not yet exchanged, and the
//! keys of its accounts, which `GET /gateway-credentials` shows. The merchant, its records and its
//! own keys stay. Exchanging a fresh code starts a new authorization.

use serde_json::Value;

use super::merchant::KeyKind;
use crate::sandbox::http::auth::{BearerScope, by_key};
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::state::store::ChangeUnit;

fn key(merchant: &str) -> String {
    format!("x/deauthorised/{merchant}")
}

/// Returns true once the merchant's authorization has ended.
pub(crate) fn is_deauthorised(cx: &ChangeUnit<'_>, merchant: &str) -> Result<bool, SandboxRefusal> {
    Ok(cx.get::<bool>(&key(merchant))?.unwrap_or(false))
}

/// Restores the authorization after the merchant authorised the partner again.
pub(crate) fn reauthorise(cx: &mut ChangeUnit<'_>, merchant: &str) {
    cx.remove(&key(merchant));
}

/// Ends the authorization of the merchant with this public key.
///
/// # Errors
///
/// 404 for an unknown key, and for a merchant whose authorization has ended.
pub(crate) fn end(cx: &mut ChangeUnit<'_>, asked: &ParsedRequest) -> Result<(), SandboxRefusal> {
    let public_key = asked.parameter(0);
    let missing = || SandboxRefusal::not_found("Merchant", public_key);
    let entry = by_key(cx, public_key).map_err(|_| missing())?;
    let merchant = entry.owner.merchant;
    if entry.kind != KeyKind::Public || is_deauthorised(cx, &merchant)? {
        return Err(missing());
    }
    forget(cx, "x/bearer/", |value| {
        let bearer = serde_json::from_value(value.clone());
        matches!(bearer, Ok(BearerScope::Payments(of)) if of == merchant)
    })?;
    forget(cx, "x/code/", |value| value.as_str() == Some(merchant.as_str()))?;
    cx.put(&key(&merchant), &true)
}

/// Removes all matching entries under a prefix.
fn forget(
    cx: &mut ChangeUnit<'_>,
    prefix: &str,
    fits: impl Fn(&Value) -> bool,
) -> Result<(), SandboxRefusal> {
    for (place, value) in cx.scan(prefix, None, usize::MAX)? {
        if fits(&value) {
            cx.remove(&place);
        }
    }
    Ok(())
}
