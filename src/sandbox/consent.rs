//! `{web_url}/oauth/authorize`: the owner of a merchant allows or denies the partner access
//! (service-facts, 78).
//!
//! The redirect URI receives a code, or `access_denied`. For an unknown application or a foreign
//! redirect URI, the page shows an error and redirects nowhere. `state` is returned as sent; PKCE
//! parameters are accepted and ignored.

use http::{HeaderValue, StatusCode, Uri, header};
use maud::html;

use crate::api::encode;
use crate::api::token::SCOPE_PAYMENTS;
use crate::sandbox::answer::Answer;
use crate::sandbox::asked::{Asked, pairs};
use crate::sandbox::merchants::APPLICATION;
use crate::sandbox::oauth::{SCOPE_PAYMENTS_OLD, client_id, issue_code};
use crate::sandbox::pages::{Page, field};
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;

/// Path of the page.
pub(crate) const PATH: &str = "/oauth/authorize";
/// Query parameters carried from the page to its form.
const CARRIED: [&str; 5] = ["response_type", "client_id", "redirect_uri", "scope", "state"];
/// Permissions that the page lists.
const ABILITIES: [&str; 4] = [
    "Take payments by card and eCheck, and give them back",
    "Save payment methods and schedule recurring payments",
    "Make contacts and send invoices in your name",
    "See your accounts and your transactions",
];

/// Parameters of the request, by name.
type Wish = std::collections::BTreeMap<String, Vec<String>>;

fn one<'a>(wish: &'a Wish, name: &str) -> &'a str {
    wish.get(name).and_then(|values| values.first()).map_or("", String::as_str)
}

/// GET of the page.
pub(crate) fn show(cx: &mut Cx<'_>, asked: &Asked) -> Result<Answer, Refusal> {
    match wrong(cx, &asked.query) {
        Some(why) => Ok(stopped(cx, why)),
        None => page(cx, &asked.query, None),
    }
}

/// POST of the owner's choice.
pub(crate) fn decide(cx: &mut Cx<'_>, asked: &Asked) -> Result<Answer, Refusal> {
    let wish = pairs(&String::from_utf8_lossy(&asked.body));
    if let Some(why) = wrong(cx, &wish) {
        return Ok(stopped(cx, why));
    }
    if one(&wish, "answer") != "allow" {
        return Ok(back(&wish, "error", "access_denied"));
    }
    let chosen = one(&wish, "merchant");
    let all = cx.merchants()?;
    let Some(merchant) = all.iter().find(|merchant| merchant.name == chosen) else {
        return page(cx, &wish, Some("Choose the business that you act for"));
    };
    let code = issue_code(cx, &merchant.id)?;
    Ok(back(&wish, "code", &code))
}

/// Returns the reason why the page cannot ask; then no redirect is safe either.
fn wrong(cx: &Cx<'_>, wish: &Wish) -> Option<&'static str> {
    let is_known = one(wish, "client_id") == client_id(cx.world);
    if !is_known || !cx.settings.enabled {
        return Some("The application that sent you here is not known.");
    }
    if one(wish, "redirect_uri") != cx.settings.redirect_uri {
        return Some(
            "The application that sent you here wants you back at an address that is not its own.",
        );
    }
    if one(wish, "response_type") != "code" {
        return Some("The application asks for something other than a code.");
    }
    let fits = matches!(one(wish, "scope"), "" | SCOPE_PAYMENTS | SCOPE_PAYMENTS_OLD);
    (!fits).then_some("The application asks for a permission that you cannot give here.")
}

/// Redirects to the partner with one parameter and the state.
fn back(wish: &Wish, name: &str, value: &str) -> Answer {
    let uri = one(wish, "redirect_uri");
    let joint = if uri.contains('?') { '&' } else { '?' };
    let state = match one(wish, "state") {
        "" => String::new(),
        state => format!("&state={}", encode(state)),
    };
    let answer =
        Answer::redirect(StatusCode::SEE_OTHER, &format!("{uri}{joint}{name}={value}{state}"));
    answer.with(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
}

fn stopped(cx: &Cx<'_>, why: &str) -> Answer {
    let inner = html! {
        p.notice.bad role="alert" { (why) }
        p { "Nothing was allowed." }
    };
    let (brand, title) = (&cx.world.options.brand, "This request cannot go on");
    Page::new(brand, title, inner).narrow().answer(StatusCode::BAD_REQUEST)
}

fn page(cx: &Cx<'_>, wish: &Wish, error: Option<&str>) -> Result<Answer, Refusal> {
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
            @for name in CARRIED { input type="hidden" name=(name) value=(one(wish, name)); }
            (field("merchant", "Your business", &select, error))
            div.actions {
                button name="answer" value="allow" { "Allow" }
                button.plain name="answer" value="deny" { "Do not allow" }
            }
        }
    };
    let status = if is_wrong { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let brand = &cx.world.options.brand;
    let page = Page::new(brand, "Allow access", inner).narrow();
    Ok(page.leads_to(origin(one(wish, "redirect_uri"))).answer(status))
}

/// Returns the origin of an address: the form's final target.
fn origin(address: &str) -> Option<String> {
    let uri: Uri = address.parse().ok()?;
    Some(format!("{}://{}", uri.scheme_str()?, uri.authority()?))
}
