//! Authentication (both documents, Authentication). Strict: a wrong, missing, misplaced or
//! unsuitable credential is answered with 401, without the reason.

use data_encoding::BASE64;
use http::{HeaderMap, header};
use serde::{Deserialize, Serialize};

use crate::api::Auth;
use crate::sandbox::asked::Caller;
use crate::sandbox::merchants::{KeyEntry, KeyKind};
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::{deauthorise, places};

/// Scope of a bearer token.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Bearer {
    /// Scope `tenant`.
    Tenant,
    /// Scope `payments`, for a merchant.
    Payments(String),
}

/// Returns the index key of a bearer token.
pub(crate) fn bearer_key(token: &str) -> String {
    format!("x/bearer/{token}")
}

/// Returns the caller that these headers authenticate, if it may use an endpoint of this kind.
pub(crate) fn admit(cx: &Cx<'_>, auth: Auth, headers: &HeaderMap) -> Result<Caller, Refusal> {
    let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    match auth {
        Auth::None => Ok(Caller::Anyone),
        Auth::Tenant => match bearer(cx, header)? {
            Bearer::Tenant => Ok(Caller::Partner),
            Bearer::Payments(_) => Err(Refusal::not_authorized()),
        },
        Auth::Payments => match bearer(cx, header)? {
            Bearer::Payments(merchant) => Ok(Caller::Authorized { merchant }),
            Bearer::Tenant => Err(Refusal::not_authorized()),
        },
        Auth::PublicKey => {
            let entry = by_key(cx, &basic(header)?)?;
            stay_secret(&entry, headers)?;
            Ok(Caller::Key { owner: entry.owner, account: entry.account })
        }
        Auth::SecretKey => {
            let entry = by_key(cx, &basic(header)?)?;
            stay_secret(&entry, headers)?;
            match entry.kind {
                KeyKind::Secret => {
                    places::need_address(cx, &entry.owner.merchant)?;
                    Ok(Caller::Key { owner: entry.owner, account: entry.account })
                }
                KeyKind::Public => Err(Refusal::not_authorized()),
            }
        }
    }
}

/// Refuses a secret key sent by a page with 401. A browser adds the page's origin (gateway-api,
/// Authentication, 5 and 6).
pub(crate) fn stay_secret(entry: &KeyEntry, headers: &HeaderMap) -> Result<(), Refusal> {
    if entry.kind == KeyKind::Secret && headers.contains_key(header::ORIGIN) {
        return Err(Refusal::not_authorized());
    }
    Ok(())
}

/// Returns the account of an account's own key in these headers, for the log.
pub(crate) fn account_of(cx: &Cx<'_>, headers: &HeaderMap) -> Option<String> {
    let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    by_key(cx, &basic(header).ok()?).ok()?.account
}

/// Returns the entry of a key of either kind.
pub(crate) fn by_key(cx: &Cx<'_>, key: &str) -> Result<KeyEntry, Refusal> {
    if !key.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(Refusal::not_authorized());
    }
    let entry: Option<KeyEntry> = cx.get(&format!("x/key/{key}"))?;
    let entry = entry.ok_or_else(Refusal::not_authorized)?;
    // Deauthorising revokes the accounts' keys, which the partner received; the merchant's own keys
    // stay.
    if entry.account.is_some() && deauthorise::is_over(cx, &entry.owner.merchant)? {
        return Err(Refusal::not_authorized());
    }
    Ok(entry)
}

fn bearer(cx: &Cx<'_>, header: Option<&str>) -> Result<Bearer, Refusal> {
    let token = header.and_then(|text| text.strip_prefix("Bearer "));
    let token = token.map(str::trim).filter(|token| !token.is_empty());
    let token = token.ok_or_else(Refusal::not_authorized)?;
    cx.get(&bearer_key(token))?.ok_or_else(Refusal::not_authorized)
}

/// Returns the key of a Basic header: its user; the password must be empty.
fn basic(header: Option<&str>) -> Result<String, Refusal> {
    let encoded = header.and_then(|text| text.strip_prefix("Basic "));
    let bytes = encoded.and_then(|text| BASE64.decode(text.trim().as_bytes()).ok());
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let key = text.as_deref().and_then(|text| text.strip_suffix(':')).filter(|key| !key.is_empty());
    key.map(str::to_owned).ok_or_else(Refusal::not_authorized)
}
