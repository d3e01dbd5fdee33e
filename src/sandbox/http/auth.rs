//! Authentication (both documents, Authentication). Strict: a wrong, missing, misplaced or
//! unsuitable credential is answered with 401, without the reason.

use data_encoding::BASE64;
use http::{HeaderMap, header};
use serde::{Deserialize, Serialize};

use super::refusal::SandboxRefusal;
use super::request::SandboxCaller;
use crate::api::Auth;
use crate::sandbox::merchants::merchant::{KeyEntry, KeyKind};
use crate::sandbox::merchants::{deauthorise, geo_rules};
use crate::sandbox::state::store::ChangeUnit;

/// Scope of a bearer token.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum BearerScope {
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
pub(crate) fn admit(
    cx: &ChangeUnit<'_>,
    auth: Auth,
    headers: &HeaderMap,
) -> Result<SandboxCaller, SandboxRefusal> {
    let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    match auth {
        Auth::None => Ok(SandboxCaller::Anyone),
        Auth::Tenant => match bearer(cx, header)? {
            BearerScope::Tenant => Ok(SandboxCaller::Partner),
            BearerScope::Payments(_) => Err(SandboxRefusal::not_authorized()),
        },
        Auth::Payments => match bearer(cx, header)? {
            BearerScope::Payments(merchant) => Ok(SandboxCaller::Authorized { merchant }),
            BearerScope::Tenant => Err(SandboxRefusal::not_authorized()),
        },
        Auth::PublicKey => {
            let entry = by_key(cx, &basic(header)?)?;
            refuse_secret_from_page(&entry, headers)?;
            Ok(SandboxCaller::Key { owner: entry.owner, account: entry.account })
        }
        Auth::SecretKey => {
            let entry = by_key(cx, &basic(header)?)?;
            refuse_secret_from_page(&entry, headers)?;
            match entry.kind {
                KeyKind::Secret => {
                    geo_rules::need_address(cx, &entry.owner.merchant)?;
                    Ok(SandboxCaller::Key { owner: entry.owner, account: entry.account })
                }
                KeyKind::Public => Err(SandboxRefusal::not_authorized()),
            }
        }
    }
}

/// Refuses a secret key sent by a page with 401. A browser adds the page's origin (gateway-api,
/// Authentication, 5 and 6).
pub(crate) fn refuse_secret_from_page(
    entry: &KeyEntry,
    headers: &HeaderMap,
) -> Result<(), SandboxRefusal> {
    if entry.kind == KeyKind::Secret && headers.contains_key(header::ORIGIN) {
        return Err(SandboxRefusal::not_authorized());
    }
    Ok(())
}

/// Returns the account of an account's own key in these headers, for the log.
pub(crate) fn account_of(cx: &ChangeUnit<'_>, headers: &HeaderMap) -> Option<String> {
    let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    by_key(cx, &basic(header).ok()?).ok()?.account
}

/// Returns the entry of a key of either kind.
pub(crate) fn by_key(cx: &ChangeUnit<'_>, key: &str) -> Result<KeyEntry, SandboxRefusal> {
    if !key.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(SandboxRefusal::not_authorized());
    }
    let entry: Option<KeyEntry> = cx.get(&format!("x/key/{key}"))?;
    let entry = entry.ok_or_else(SandboxRefusal::not_authorized)?;
    // Deauthorising revokes the accounts' keys, which the partner received; the merchant's own keys
    // stay.
    if entry.account.is_some() && deauthorise::is_deauthorised(cx, &entry.owner.merchant)? {
        return Err(SandboxRefusal::not_authorized());
    }
    Ok(entry)
}

fn bearer(cx: &ChangeUnit<'_>, header: Option<&str>) -> Result<BearerScope, SandboxRefusal> {
    let token = header.and_then(|text| text.strip_prefix("Bearer "));
    let token = token.map(str::trim).filter(|token| !token.is_empty());
    let token = token.ok_or_else(SandboxRefusal::not_authorized)?;
    cx.get(&bearer_key(token))?.ok_or_else(SandboxRefusal::not_authorized)
}

/// Returns the key of a Basic header: its user; the password must be empty.
fn basic(header: Option<&str>) -> Result<String, SandboxRefusal> {
    let encoded = header.and_then(|text| text.strip_prefix("Basic "));
    let bytes = encoded.and_then(|text| BASE64.decode(text.trim().as_bytes()).ok());
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let key = text.as_deref().and_then(|text| text.strip_suffix(':')).filter(|key| !key.is_empty());
    key.map(str::to_owned).ok_or_else(SandboxRefusal::not_authorized)
}
