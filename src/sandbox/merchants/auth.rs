//! Authentication and origin of calls (both documents, Authentication; gateway-api, Limits and
//! Errors; service-facts, 15 and 26), the authorization of the partner, and its end.
//!
//! Strict: a wrong, missing, misplaced or unsuitable credential is answered with 401, without the
//! reason; so is a call from an address or country that the merchant does not accept. Every caller
//! is on this machine. Only the payer's address, which the caller relays, can be elsewhere; its
//! country comes from the tenant's settings, or is `US`.
//!
//! OAuth: the owner of a merchant allows or denies the partner access on a page
//! (`{web_url}/oauth/authorize`; service-facts, 78). POST /oauth/token (partner-api) exchanges the
//! authorization code. The redirect URI receives a code, or `access_denied`. For an unknown
//! application or a foreign redirect URI, the page shows an error and redirects nowhere. `state` is
//! returned as sent; PKCE parameters are accepted and ignored.
//!
//! Deauthorising (partner-api, deauthorize application) revokes the partner's access to a
//! merchant: bearer tokens, codes not yet exchanged, and the keys of its accounts, which `GET
//! /gateway-credentials` shows. The merchant, its records and its own keys stay. Exchanging a
//! fresh code starts a new authorization.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use data_encoding::BASE64;
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use ipnet::IpNet;
use maud::html;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::call::{Auth, encode};
use crate::api::credentials::{AccessToken, SCOPE_PAYMENTS, SCOPE_TENANT, TokenRequest};
use crate::base::secret::Secret;
use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::body;
use crate::sandbox::merchants::merchant::{APPLICATION, KeyEntry, KeyKind};
use crate::sandbox::pages::{SandboxPage, field, short};
use crate::sandbox::request::{ParsedRequest, SandboxCaller, pairs};
use crate::sandbox::state::objects::{LONG_LENGTH, alphanumerics};
use crate::sandbox::state::store::{ChangeUnit, SandboxEnvironment};

#[derive(Debug, Serialize, Deserialize)]
enum BearerScope {
    Tenant,
    Payments(String),
}

fn bearer_key(token: &str) -> String {
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

/// Refuses a secret key sent by a page, whose origin a browser adds (gateway-api,
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
    let entry: Option<Arc<KeyEntry>> = cx.get_cached(&format!("x/key/{key}"))?;
    let entry = entry.map(Arc::unwrap_or_clone).ok_or_else(SandboxRefusal::not_authorized)?;
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

/// Ends the authorization of the merchant with this key. 404 for an unknown key or an ended one.
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

/// Parses the first and last address of `10.0.0.0/8`, `10.0.0.1-10.0.0.9` or `10.0.0.1`.
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

fn need_address(cx: &ChangeUnit, merchant: &str) -> Result<()> {
    let policy = cx.policy(merchant)?;
    let ranges = &policy.allowed_addresses;
    let fits = ranges.is_empty() || ranges.iter().any(|range| is_within(range, CALLER));
    SandboxRefusal::ensure(fits, SandboxRefusal::not_authorized)
}

pub(crate) fn need_country(cx: &ChangeUnit, asked: &ParsedRequest, account: &str) -> Result<()> {
    let policy = cx.policy(&asked.owner()?.merchant)?;
    let Some(allowed) = policy.allowed_countries.get(account).filter(|set| !set.is_empty()) else {
        return Ok(());
    };
    let relayed = asked.headers().get(RELAYED).and_then(|value| value.to_str().ok());
    let address = relayed.and_then(|text| text.trim().parse().ok()).unwrap_or(CALLER);
    let listed = policy.ip_countries.iter().find(|(range, _)| is_within(range, address));
    let country = listed.map_or(COUNTRY_DEFAULT, |(_, country)| country);
    SandboxRefusal::ensure(allowed.contains(country), SandboxRefusal::not_authorized)
}

/// Older spelling of the scope `payments` (service-facts, 81).
pub(crate) const SCOPE_PAYMENTS_OLD: &str = "chargeio";

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
    if asked.headers().contains_key(header::AUTHORIZATION) {
        return Err(SandboxRefusal::invalid("The token endpoint takes no Authorization header"));
    }
    let body: Value = if asked.is_form() { asked.form() } else { asked.json()? };
    let request: TokenRequest = body::parse_body(body)?;
    body::check_token_request(cx, asked, request.scope.as_deref())?;
    let known = request.client_id == cx.environment.client_id
        && request.client_secret == Some(client_secret(&cx.environment));
    SandboxRefusal::ensure(known && cx.settings.enabled, SandboxRefusal::not_authorized)?;
    match (request.grant_type.as_str(), request.scope.as_deref()) {
        ("client_credentials", Some(SCOPE_TENANT)) => grant(cx, &BearerScope::Tenant, SCOPE_TENANT),
        ("authorization_code", None | Some(SCOPE_PAYMENTS | SCOPE_PAYMENTS_OLD)) => {
            let merchant = use_code(cx, &request)?;
            cx.remove(&deauthorised_key(&merchant));
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

type ConsentParameters = BTreeMap<String, Vec<String>>;

fn parameter<'a>(wish: &'a ConsentParameters, name: &str) -> &'a str {
    wish.get(name).and_then(|values| values.first()).map_or("", String::as_str)
}

pub(crate) fn show_consent(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<SandboxAnswer> {
    match request_error(cx, &asked.query) {
        Some(why) => Ok(render_error(cx, why)),
        None => consent_page(cx, &asked.query, false),
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
        return consent_page(cx, &wish, true);
    };
    let code = issue_code(cx, &merchant.id)?;
    Ok(redirect_back(&wish, "code", &code))
}

/// Returns the reason why the page cannot ask; then no redirect is safe either.
fn request_error(cx: &ChangeUnit, wish: &ConsentParameters) -> Option<&'static str> {
    let is_known = parameter(wish, "client_id") == cx.environment.client_id;
    if !is_known || !cx.settings.enabled {
        return Some("The application that sent you here is not known.");
    }
    let why = "The application that sent you here names a return address that is not its own.";
    if parameter(wish, "redirect_uri") != cx.settings.redirect_uri {
        return Some(why);
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
    let target = format!("{uri}{joint}{name}={value}{state}");
    let answer = SandboxAnswer::redirect(StatusCode::SEE_OTHER, &target);
    answer.with(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
}

fn render_error(cx: &ChangeUnit, why: &str) -> SandboxAnswer {
    let inner = html! {
        p.notice.bad role="alert" { (why) }
        p { "No access was granted." }
    };
    short(cx, StatusCode::BAD_REQUEST, "This request cannot continue", inner)
}

/// Renders the page; `is_wrong` means that the owner chose no known merchant.
fn consent_page(
    cx: &ChangeUnit,
    wish: &ConsentParameters,
    is_wrong: bool,
) -> Result<SandboxAnswer> {
    let merchants = cx.merchants()?;
    let error = is_wrong.then_some("Choose the business that you act for");
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
