//! POST /oauth/token (partner-api), and the authorization codes that it exchanges.

use http::header;
use serde_json::Value;

use super::auth;
use super::auth::{BearerScope, bearer_key};
use crate::api::methods::token::{AccessToken, SCOPE_PAYMENTS, SCOPE_TENANT, TokenRequest};
use crate::base::secret::Secret;
use crate::sandbox::answer::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::http::{documented_surface, lenient_json};
use crate::sandbox::state::lists::{LONG_LENGTH, alphanumerics};
use crate::sandbox::state::store::{ChangeUnit, SandboxEnvironment};

/// Older spelling of the scope `payments` (service-facts, 81).
pub(crate) const SCOPE_PAYMENTS_OLD: &str = "chargeio";

/// Returns the partner application's id.
pub(crate) fn client_id(world: &SandboxEnvironment) -> String {
    alphanumerics(&world.seed, "partner/id", "", LONG_LENGTH)
}

/// Returns the partner application's secret.
pub(crate) fn client_secret(world: &SandboxEnvironment) -> Secret {
    alphanumerics(&world.seed, "partner/secret", "", LONG_LENGTH).into()
}

/// Issues a fresh authorization code for a merchant, valid for one exchange.
pub(crate) fn issue_code(
    cx: &mut ChangeUnit<'_>,
    merchant: &str,
) -> Result<String, SandboxRefusal> {
    let code = cx.fresh_secret("code", LONG_LENGTH);
    cx.put(&format!("x/code/{code}"), &merchant)?;
    Ok(code)
}

/// POST /oauth/token: JSON or a form, credentials in the body, no `Authorization` header.
pub(crate) fn exchange(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<AccessToken, SandboxRefusal> {
    if asked.headers.contains_key(header::AUTHORIZATION) {
        return Err(SandboxRefusal::invalid("The token endpoint takes no Authorization header"));
    }
    let body: Value = if asked.is_form() { asked.form() } else { asked.json()? };
    let request: TokenRequest = lenient_json::parse_body(body)?;
    documented_surface::token(cx, asked, request.scope.as_deref())?;
    let known = request.client_id == client_id(cx.environment)
        && request.client_secret == Some(client_secret(cx.environment));
    if !known || !cx.settings.enabled {
        return Err(SandboxRefusal::not_authorized());
    }
    match (request.grant_type.as_str(), request.scope.as_deref()) {
        ("client_credentials", Some(SCOPE_TENANT)) => grant(cx, &BearerScope::Tenant, SCOPE_TENANT),
        ("authorization_code", None | Some(SCOPE_PAYMENTS | SCOPE_PAYMENTS_OLD)) => {
            let merchant = use_code(cx, &request)?;
            auth::reauthorise(cx, &merchant);
            grant(cx, &BearerScope::Payments(merchant), SCOPE_PAYMENTS)
        }
        ("client_credentials" | "authorization_code", _) => {
            Err(SandboxRefusal::invalid("Scope does not fit the grant type"))
        }
        _ => Err(SandboxRefusal::invalid("Grant type is not supported")),
    }
}

/// Returns the merchant of a code, and uses the code up.
fn use_code(cx: &mut ChangeUnit<'_>, request: &TokenRequest) -> Result<String, SandboxRefusal> {
    if request.redirect_uri.as_deref() != Some(cx.settings.redirect_uri.as_str()) {
        return Err(SandboxRefusal::invalid("Redirect URI does not match"));
    }
    let code = request.code.as_ref().map_or("", Secret::expose);
    let key = format!("x/code/{code}");
    if !code.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(SandboxRefusal::invalid("Authorization code is invalid"));
    }
    let merchant = cx.get(&key)?;
    let merchant =
        merchant.ok_or_else(|| SandboxRefusal::invalid("Authorization code is invalid"))?;
    cx.remove(&key);
    Ok(merchant)
}

fn grant(
    cx: &mut ChangeUnit<'_>,
    bearer: &BearerScope,
    scope: &str,
) -> Result<AccessToken, SandboxRefusal> {
    let token = cx.fresh_secret("token", LONG_LENGTH);
    cx.put(&bearer_key(&token), bearer)?;
    Ok(AccessToken {
        access_token: Some(token.into()),
        token_type: "bearer".to_owned(),
        scope: scope.to_owned(),
        created_at: cx.now.timestamp(),
    })
}
