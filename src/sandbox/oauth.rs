//! POST /oauth/token (partner-api), and the authorization codes that it exchanges.

use http::header;
use serde_json::Value;

use crate::api::token::{AccessToken, SCOPE_PAYMENTS, SCOPE_TENANT, TokenRequest};
use crate::base::secret::Secret;
use crate::sandbox::asked::Asked;
use crate::sandbox::auth::{Bearer, bearer_key};
use crate::sandbox::ids::{LONG, alphanumerics};
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::{Cx, World};
use crate::sandbox::{deauthorise, documented, lenient};

/// Older spelling of the scope `payments` (service-facts, 81).
pub(crate) const SCOPE_PAYMENTS_OLD: &str = "chargeio";

/// Returns the partner application's id.
pub(crate) fn client_id(world: &World) -> String {
    alphanumerics(&world.seed, "partner/id", "", LONG)
}

/// Returns the partner application's secret.
pub(crate) fn client_secret(world: &World) -> Secret {
    alphanumerics(&world.seed, "partner/secret", "", LONG).into()
}

/// Issues a fresh authorization code for a merchant, valid for one exchange.
pub(crate) fn issue_code(cx: &mut Cx<'_>, merchant: &str) -> Result<String, Refusal> {
    let code = cx.fresh("code", LONG);
    cx.put(&format!("x/code/{code}"), &merchant)?;
    Ok(code)
}

/// POST /oauth/token: JSON or a form, credentials in the body, no `Authorization` header.
pub(crate) fn exchange(cx: &mut Cx<'_>, asked: &Asked) -> Result<AccessToken, Refusal> {
    if asked.headers.contains_key(header::AUTHORIZATION) {
        return Err(Refusal::invalid("The token endpoint takes no Authorization header"));
    }
    let body: Value = if asked.is_form() { asked.form() } else { asked.json()? };
    let request: TokenRequest = lenient::read(body)?;
    documented::token(cx, asked, request.scope.as_deref())?;
    let known = request.client_id == client_id(cx.world)
        && request.client_secret == Some(client_secret(cx.world));
    if !known || !cx.settings.enabled {
        return Err(Refusal::not_authorized());
    }
    match (request.grant_type.as_str(), request.scope.as_deref()) {
        ("client_credentials", Some(SCOPE_TENANT)) => grant(cx, &Bearer::Tenant, SCOPE_TENANT),
        ("authorization_code", None | Some(SCOPE_PAYMENTS | SCOPE_PAYMENTS_OLD)) => {
            let merchant = use_code(cx, &request)?;
            deauthorise::undo(cx, &merchant);
            grant(cx, &Bearer::Payments(merchant), SCOPE_PAYMENTS)
        }
        ("client_credentials" | "authorization_code", _) => {
            Err(Refusal::invalid("Scope does not fit the grant type"))
        }
        _ => Err(Refusal::invalid("Grant type is not supported")),
    }
}

/// Returns the merchant of a code, and uses the code up.
fn use_code(cx: &mut Cx<'_>, request: &TokenRequest) -> Result<String, Refusal> {
    if request.redirect_uri.as_deref() != Some(cx.settings.redirect_uri.as_str()) {
        return Err(Refusal::invalid("Redirect URI does not match"));
    }
    let code = request.code.as_ref().map_or("", Secret::expose);
    let key = format!("x/code/{code}");
    if !code.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(Refusal::invalid("Authorization code is invalid"));
    }
    let merchant = cx.get(&key)?;
    let merchant = merchant.ok_or_else(|| Refusal::invalid("Authorization code is invalid"))?;
    cx.remove(&key);
    Ok(merchant)
}

fn grant(cx: &mut Cx<'_>, bearer: &Bearer, scope: &str) -> Result<AccessToken, Refusal> {
    let token = cx.fresh("token", LONG);
    cx.put(&bearer_key(&token), bearer)?;
    Ok(AccessToken {
        access_token: Some(token.into()),
        token_type: "bearer".to_owned(),
        scope: scope.to_owned(),
        created_at: cx.now.timestamp(),
    })
}
