//! The page on which an applicant finishes a sign-up (partner-api, Sign-up redirect page).
//!
//! The address opens the page once, within five minutes. The opened form may be sent until it is
//! right. Then the application is submitted, the applicant is redirected to a page of thanks, and
//! the address is used up.

use chrono::TimeDelta;
use http::{StatusCode, header};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::record::{self, Found};
use super::{form, is_started, problems, submitted};
use crate::api::application::{ApplicationId, Submission};
use crate::api::wire::Timestamp;
use crate::base::clock::timestamp;
use crate::sandbox::answer::Answer;
use crate::sandbox::asked::Asked;
use crate::sandbox::ids::LONG;
use crate::sandbox::pages::Page;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;

/// Path of the page; only the applicant knows its token.
pub(crate) const PATH: &str = "/merchant_applications/sign_up/{token}";
/// Path of the page of thanks, where the form leads.
pub(crate) const THANKS_PATH: &str = "/merchant_applications/thank_you";
/// Time within which the address can be opened (partner-api, Limits).
const OPENS_FOR: TimeDelta = TimeDelta::minutes(5);
/// Bytes kept of a browser's header.
const HEADER_BYTES_MAX: usize = 1024;

/// An address that was issued.
#[derive(Serialize, Deserialize)]
struct Link {
    id: ApplicationId,
    expires: Timestamp,
    opened: bool,
}

fn key(token: &str) -> String {
    format!("x/sign_up/{token}")
}

/// Issues a fresh address for an application.
pub(crate) fn open(cx: &mut Cx<'_>, asked: &Asked, id: ApplicationId) -> Result<String, Refusal> {
    let token = cx.fresh("sign up", LONG);
    let expires = Timestamp(cx.now.checked_add_signed(OPENS_FOR).unwrap_or(cx.now));
    cx.put(&key(&token), &Link { id, expires, opened: false })?;
    Ok(format!("{}{}", web_url(cx, asked), PATH.replace("{token}", &token)))
}

/// Returns `{web_url}` of the brand: the host of the request, with the scheme of the sandbox's own
/// URL.
fn web_url(cx: &Cx<'_>, asked: &Asked) -> String {
    let own = cx.world.options.web_url.trim_end_matches('/');
    let host = asked.headers.get(header::HOST).and_then(|value| value.to_str().ok());
    match (host, own.split_once("://")) {
        (Some(host), Some((scheme, _))) => format!("{scheme}://{host}"),
        _ => own.to_owned(),
    }
}

/// GET of the page: the prefilled form. A second or late GET gets 410.
pub(crate) fn show(cx: &mut Cx<'_>, asked: &Asked) -> Result<Answer, Refusal> {
    let token = asked.parameter(0);
    let Some((mut link, found)) = usable(cx, token, |link| !link.opened)? else {
        return Ok(gone(cx));
    };
    link.opened = true;
    cx.put(&key(token), &link)?;
    Ok(form_page(cx, StatusCode::OK, form::inner(&found.inside.fields, &[])))
}

/// POST of the form: submits a complete application, and shows the form again for an incomplete
/// one.
pub(crate) fn finish(cx: &mut Cx<'_>, asked: &Asked) -> Result<Answer, Refusal> {
    let token = asked.parameter(0);
    let Some((_, mut found)) = usable(cx, token, |_| true)? else {
        return Ok(gone(cx));
    };
    let sent = if asked.is_form() { asked.form() } else { asked.json()? };
    let fields = completed(cx, asked, &found, sent);
    let problems = problems(cx, Submission::Complete, &fields)?;
    if !problems.is_empty() {
        let inner = form::inner(&fields, &problems);
        form::merge(&mut found.inside.fields, form::secrets(&fields));
        record::store(cx, &found)?;
        return Ok(form_page(cx, StatusCode::UNPROCESSABLE_ENTITY, inner));
    }
    found.inside.fields = fields;
    submitted(cx, found)?;
    cx.remove(&key(token));
    let thanks = format!("{}{THANKS_PATH}", web_url(cx, asked));
    Ok(Answer::redirect(StatusCode::SEE_OTHER, &thanks))
}

/// GET of the page of thanks.
pub(crate) fn thanks(cx: &Cx<'_>) -> Answer {
    let inner = html! {
        p.notice.good role="status" { "Thank you. Your application was submitted." }
        p { "We are reviewing it now. You will get our answer by e-mail; there is nothing else to do." }
    };
    plain(cx, StatusCode::OK, "Application submitted", inner)
}

/// Returns the link of a token and its application while they can be used: `fits` holds, and the
/// link was opened before or is in time.
fn usable(
    cx: &Cx<'_>,
    token: &str,
    fits: impl Fn(&Link) -> bool,
) -> Result<Option<(Link, Found)>, Refusal> {
    if !token.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(None);
    }
    let link: Option<Link> = cx.get(&key(token))?;
    let Some(link) = link.filter(|link| fits(link) && (link.opened || cx.now < link.expires.0))
    else {
        return Ok(None);
    };
    let found: Option<Found> = cx.any(record::KIND, &link.id.to_string())?;
    Ok(found.filter(is_started).map(|found| (link, found)))
}

/// Merges the partner's values, the applicant's input, and the data that the service sees of the
/// applicant. Reference and plan stay the partner's.
fn completed(cx: &Cx<'_>, asked: &Asked, found: &Found, sent: Value) -> Map<String, Value> {
    let mut fields = found.inside.fields.clone();
    let header = |name: header::HeaderName| {
        let value = asked.headers.get(name)?.to_str().ok()?;
        value.get(..value.len().min(HEADER_BYTES_MAX)).map(Value::from)
    };
    let seen = [
        ("browser_user_agent", header(header::USER_AGENT)),
        ("browser_language", header(header::ACCEPT_LANGUAGE)),
        ("ip_address", Some(Value::from("127.0.0.1"))),
        ("ip_address_timestamp", Some(Value::from(timestamp(&cx.now)))),
    ];
    for (name, value) in seen {
        fields.extend(value.map(|value| (name.to_owned(), value)));
    }
    form::merge(&mut fields, form::read(sent));
    record::natural(fields)
}

fn form_page(cx: &Cx<'_>, status: StatusCode, inner: Markup) -> Answer {
    let page = Page::new(&cx.world.options.brand, "Merchant application", inner);
    page.scripts(&["/assets/sign.js"]).answer(status)
}

/// Renders a short page.
fn plain(cx: &Cx<'_>, status: StatusCode, title: &str, inner: Markup) -> Answer {
    Page::new(&cx.world.options.brand, title, inner).narrow().answer(status)
}

/// Answers 410 for an address that is used up, too old or unknown, without saying which.
fn gone(cx: &Cx<'_>) -> Answer {
    let inner =
        html! { p { "This page has been used or is no longer valid. Ask for a new link." } };
    plain(cx, StatusCode::GONE, "No longer valid", inner)
}
