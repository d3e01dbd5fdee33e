//! OAuth: the page on which the owner of a merchant allows or denies the partner access
//! (`{web_url}/oauth/authorize`; service-facts, 78), the authorization codes, and POST
//! /oauth/token (partner-api), which exchanges them.
//!
//! The redirect URI receives a code, or `access_denied`. For an unknown application or a foreign
//! redirect URI, the page shows an error and redirects nowhere. `state` is returned as sent; PKCE
//! parameters are accepted and ignored.

use http::{HeaderValue, StatusCode, Uri, header};
use maud::html;
use serde_json::Value;

use crate::api::call::encode;
use crate::api::credentials::{AccessToken, SCOPE_PAYMENTS, SCOPE_TENANT, TokenRequest};
use crate::base::secret::Secret;
use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::body;
use crate::sandbox::merchants::auth::{self, BearerScope, bearer_key};
use crate::sandbox::merchants::merchant::APPLICATION;
use crate::sandbox::pages::{SandboxPage, field, short};
use crate::sandbox::request::{ParsedRequest, pairs};
use crate::sandbox::state::objects::{LONG_LENGTH, alphanumerics};
use crate::sandbox::state::store::{ChangeUnit, SandboxEnvironment};

/// Older spelling of the scope `payments` (service-facts, 81).
pub(crate) const SCOPE_PAYMENTS_OLD: &str = "chargeio";

pub(crate) fn client_id(world: &SandboxEnvironment) -> String {
    alphanumerics(&world.seed, "partner/id", "", LONG_LENGTH)
}

pub(crate) fn client_secret(world: &SandboxEnvironment) -> Secret {
    alphanumerics(&world.seed, "partner/secret", "", LONG_LENGTH).into()
}

/// Issues a fresh authorization code for a merchant, valid for one exchange.
pub(crate) fn issue_code(cx: &mut ChangeUnit, merchant: &str) -> Result<String> {
    let code = cx.fresh_secret("code", LONG_LENGTH);
    cx.put(&format!("x/code/{code}"), &merchant)?;
    Ok(code)
}

/// POST /oauth/token: JSON or a form, credentials in the body, no `Authorization` header.
pub(crate) fn exchange_token(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<AccessToken> {
    if asked.headers.contains_key(header::AUTHORIZATION) {
        return Err(SandboxRefusal::invalid("The token endpoint takes no Authorization header"));
    }
    let body: Value = if asked.is_form() { asked.form() } else { asked.json()? };
    let request: TokenRequest = body::parse_body(body)?;
    body::check_token_request(cx, asked, request.scope.as_deref())?;
    let known = request.client_id == client_id(&cx.environment)
        && request.client_secret == Some(client_secret(&cx.environment));
    SandboxRefusal::ensure(known && cx.settings.enabled, SandboxRefusal::not_authorized)?;
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

fn use_code(cx: &mut ChangeUnit, request: &TokenRequest) -> Result<String> {
    if request.redirect_uri.as_deref() != Some(cx.settings.redirect_uri.as_str()) {
        return Err(SandboxRefusal::invalid("Redirect URI does not match"));
    }
    let code = request.code.as_ref().map_or("", Secret::expose);
    let key = format!("x/code/{code}");
    let invalid = || SandboxRefusal::invalid("Authorization code is invalid");
    SandboxRefusal::ensure(code.bytes().all(|byte| byte.is_ascii_alphanumeric()), invalid)?;
    let merchant = cx.get(&key)?.ok_or_else(invalid)?;
    cx.remove(&key);
    Ok(merchant)
}

fn grant(cx: &mut ChangeUnit, bearer: &BearerScope, scope: &str) -> Result<AccessToken> {
    let token = cx.fresh_secret("token", LONG_LENGTH);
    cx.put(&bearer_key(&token), bearer)?;
    Ok(AccessToken {
        access_token: Some(token.into()),
        token_type: "bearer".to_owned(),
        scope: scope.to_owned(),
        created_at: cx.now.timestamp(),
    })
}

pub(crate) const CONSENT_PATH: &str = "/oauth/authorize";

/// Query parameters carried from the page to its form.
const CARRIED: [&str; 5] = ["response_type", "client_id", "redirect_uri", "scope", "state"];

const ABILITIES: [&str; 4] = [
    "Take payments by card and eCheck, and refund them",
    "Save payment methods and schedule recurring payments",
    "Make contacts and send invoices in your name",
    "See your accounts and your transactions",
];

type ConsentParameters = std::collections::BTreeMap<String, Vec<String>>;

fn parameter<'a>(wish: &'a ConsentParameters, name: &str) -> &'a str {
    wish.get(name).and_then(|values| values.first()).map_or("", String::as_str)
}

pub(crate) fn show_consent(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<SandboxAnswer> {
    match request_error(cx, &asked.query) {
        Some(why) => Ok(render_error(cx, why)),
        None => consent_page(cx, &asked.query, None),
    }
}

pub(crate) fn decide_consent(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<SandboxAnswer> {
    let wish = pairs(&String::from_utf8_lossy(&asked.body));
    if let Some(why) = request_error(cx, &wish) {
        return Ok(render_error(cx, why));
    }
    if parameter(&wish, "answer") != "allow" {
        return Ok(redirect_back(&wish, "error", "access_denied"));
    }
    let chosen = parameter(&wish, "merchant");
    let all = cx.merchants()?;
    let Some(merchant) = all.iter().find(|merchant| merchant.name == chosen) else {
        return consent_page(cx, &wish, Some("Choose the business that you act for"));
    };
    let code = issue_code(cx, &merchant.id)?;
    Ok(redirect_back(&wish, "code", &code))
}

/// Returns the reason why the page cannot ask; then no redirect is safe either.
fn request_error(cx: &ChangeUnit, wish: &ConsentParameters) -> Option<&'static str> {
    let is_known = parameter(wish, "client_id") == client_id(&cx.environment);
    if !is_known || !cx.settings.enabled {
        return Some("The application that sent you here is not known.");
    }
    if parameter(wish, "redirect_uri") != cx.settings.redirect_uri {
        return Some(
            "The application that sent you here names a return address that is not its own.",
        );
    }
    if parameter(wish, "response_type") != "code" {
        return Some("The application that sent you here must request a code.");
    }
    let fits = matches!(parameter(wish, "scope"), "" | SCOPE_PAYMENTS | SCOPE_PAYMENTS_OLD);
    (!fits).then_some("The application requests a permission that you cannot give here.")
}

fn redirect_back(wish: &ConsentParameters, name: &str, value: &str) -> SandboxAnswer {
    let uri = parameter(wish, "redirect_uri");
    let joint = if uri.contains('?') { '&' } else { '?' };
    let state = match parameter(wish, "state") {
        "" => String::new(),
        state => format!("&state={}", encode(state)),
    };
    let answer = SandboxAnswer::redirect(
        StatusCode::SEE_OTHER,
        &format!("{uri}{joint}{name}={value}{state}"),
    );
    answer.with(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
}

fn render_error(cx: &ChangeUnit, why: &str) -> SandboxAnswer {
    let inner = html! {
        p.notice.bad role="alert" { (why) }
        p { "No access was granted." }
    };
    short(cx, StatusCode::BAD_REQUEST, "This request cannot continue", inner)
}

fn consent_page(
    cx: &ChangeUnit,
    wish: &ConsentParameters,
    error: Option<&str>,
) -> Result<SandboxAnswer> {
    let merchants = cx.merchants()?;
    let is_wrong = error.is_some();
    let select = html! {
        select #merchant name="merchant" required autofocus[is_wrong] aria-invalid=[is_wrong.then_some("true")]
            aria-describedby=[is_wrong.then_some("merchant-error")] {
            option value="" { "Choose one" }
            @for merchant in &merchants { option value=(merchant.name) { (merchant.shown_name()) } }
        }
    };
    let inner = html! {
        p { strong { (APPLICATION) } " asks to act for your business. It will be able to:" }
        ul.plain { @for ability in ABILITIES { li { (ability) } } }
        form method="post" novalidate {
            @for name in CARRIED { input type="hidden" name=(name) value=(parameter(wish, name)); }
            (field("merchant", "Your business", &select, error))
            div.actions {
                button name="answer" value="allow" { "Allow" }
                button.plain name="answer" value="deny" { "Do not allow" }
            }
        }
    };
    let status = if is_wrong { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let brand = &cx.environment.options.brand;
    let page = SandboxPage::new(brand, "Allow access", inner).narrow();
    Ok(page.leads_to(origin(parameter(wish, "redirect_uri"))).answer(status))
}

fn origin(address: &str) -> Option<String> {
    let uri: Uri = address.parse().ok()?;
    Some(format!("{}://{}", uri.scheme_str()?, uri.authority()?))
}
