//! `{web_url}/oauth/authorize`: the owner of a merchant allows or denies the partner access
//! (service-facts, 78).
//!
//! The redirect URI receives a code, or `access_denied`. For an unknown application or a foreign
//! redirect URI, the page shows an error and redirects nowhere. `state` is returned as sent; PKCE
//! parameters are accepted and ignored.

use http::{HeaderValue, StatusCode, Uri, header};
use maud::html;

use super::merchant::APPLICATION;
use super::oauth::{SCOPE_PAYMENTS_OLD, client_id, issue_code};
use crate::api::call::encode;
use crate::api::methods::token::SCOPE_PAYMENTS;
use crate::sandbox::answer::{SandboxAnswer, SandboxRefusal};
use crate::sandbox::http::request::{ParsedRequest, pairs};
use crate::sandbox::pages::{SandboxPage, field};
use crate::sandbox::state::store::ChangeUnit;

/// Path of the page.
pub(crate) const PATH: &str = "/oauth/authorize";

/// Query parameters carried from the page to its form.
const CARRIED: [&str; 5] = ["response_type", "client_id", "redirect_uri", "scope", "state"];

/// Permissions that the page lists.
const ABILITIES: [&str; 4] = [
    "Take payments by card and eCheck, and refund them",
    "Save payment methods and schedule recurring payments",
    "Make contacts and send invoices in your name",
    "See your accounts and your transactions",
];

/// Parameters of the request, by name.
type ConsentParameters = std::collections::BTreeMap<String, Vec<String>>;

fn parameter<'a>(wish: &'a ConsentParameters, name: &str) -> &'a str {
    wish.get(name).and_then(|values| values.first()).map_or("", String::as_str)
}

/// GET of the page.
pub(crate) fn show(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<SandboxAnswer, SandboxRefusal> {
    match request_error(cx, &asked.query) {
        Some(why) => Ok(render_error(cx, why)),
        None => page(cx, &asked.query, None),
    }
}

/// POST of the owner's choice.
pub(crate) fn decide(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<SandboxAnswer, SandboxRefusal> {
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
        return page(cx, &wish, Some("Choose the business that you act for"));
    };
    let code = issue_code(cx, &merchant.id)?;
    Ok(redirect_back(&wish, "code", &code))
}

/// Returns the reason why the page cannot ask; then no redirect is safe either.
fn request_error(cx: &ChangeUnit<'_>, wish: &ConsentParameters) -> Option<&'static str> {
    let is_known = parameter(wish, "client_id") == client_id(cx.environment);
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

/// Redirects to the partner with one parameter and the state.
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

fn render_error(cx: &ChangeUnit<'_>, why: &str) -> SandboxAnswer {
    let inner = html! {
        p.notice.bad role="alert" { (why) }
        p { "No access was granted." }
    };
    let (brand, title) = (&cx.environment.options.brand, "This request cannot continue");
    SandboxPage::new(brand, title, inner).narrow().answer(StatusCode::BAD_REQUEST)
}

fn page(
    cx: &ChangeUnit<'_>,
    wish: &ConsentParameters,
    error: Option<&str>,
) -> Result<SandboxAnswer, SandboxRefusal> {
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

/// Returns the origin of an address: the form's final target.
fn origin(address: &str) -> Option<String> {
    let uri: Uri = address.parse().ok()?;
    Some(format!("{}://{}", uri.scheme_str()?, uri.authority()?))
}
