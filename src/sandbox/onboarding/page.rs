//! The page on which an applicant finishes a sign-up (partner-api, Sign-up redirect page), and the
//! input of its form, parsed and merged into the known fields.
//!
//! The address opens the page once, within five minutes. The opened form may be sent until it is
//! right. Then the application is submitted, the applicant is redirected to a page of thanks, and
//! the address is used up. An applicant without scripts types a name, which becomes the signature
//! (partner-api, `signature`).

use chrono::TimeDelta;
use http::{StatusCode, header};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::api::onboarding::application::{ApplicationId, SignUpPage, StartedSignUp, Submission};
use crate::api::onboarding::fields::{self, ApplicationPrivacy, SECOND_OWNER};
use crate::api::wire::Timestamp;
use crate::base::clock::timestamp;
use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::onboarding::applications::{is_started, problems, submit_and_schedule};
use crate::sandbox::onboarding::record::StoredApplication;
use crate::sandbox::onboarding::{applications, form, record};
use crate::sandbox::pages::{SandboxPage, short};
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::objects::{LONG_LENGTH, ObjectKind};
use crate::sandbox::state::store::ChangeUnit;

/// Path of the page; only the applicant knows its token.
pub(crate) const PATH: &str = "/merchant_applications/sign_up/{token}";
pub(crate) const THANKS_PATH: &str = "/merchant_applications/thank_you";
/// Time within which the address can be opened (partner-api, Limits).
const OPENS_FOR: TimeDelta = TimeDelta::minutes(5);
/// Bytes kept of a browser's header.
const HEADER_BYTES_MAX: usize = 1024;

#[derive(Serialize, Deserialize)]
struct SignUpLink {
    id: ApplicationId,
    expires: Timestamp,
    opened: bool,
}

fn key(token: &str) -> String {
    format!("x/sign_up/{token}")
}

/// Returns the brand's `{web_url}`: the request's host with the scheme of the sandbox's own URL.
fn web_url(cx: &ChangeUnit, asked: &ParsedRequest) -> String {
    let own = cx.environment.options.web_url.trim_end_matches('/');
    let host = asked.headers().get(header::HOST).and_then(|value| value.to_str().ok());
    match (host, own.split_once("://")) {
        (Some(host), Some((scheme, _))) => format!("{scheme}://{host}"),
        _ => own.to_owned(),
    }
}

/// GET of the page: the prefilled form. A second or late GET gets 410.
pub(crate) fn show(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<SandboxAnswer> {
    let token = asked.parameter(0);
    let Some((mut link, found)) = find_usable_link(cx, token, |link| !link.opened)? else {
        return Ok(render_gone(cx));
    };
    link.opened = true;
    cx.put(&key(token), &link)?;
    Ok(form_page(cx, StatusCode::OK, form::render_form(&found.internal.fields, &[])))
}

/// POST of the form: submits a complete application; an incomplete one shows the form again.
pub(crate) fn finish(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<SandboxAnswer> {
    let token = asked.parameter(0);
    let Some((_, mut found)) = find_usable_link(cx, token, |_| true)? else {
        return Ok(render_gone(cx));
    };
    let sent = if asked.is_form() { asked.form() } else { asked.json()? };
    let fields = merge_submission(cx, asked, &found, sent);
    let problems = problems(cx, Submission::Complete, &fields)?;
    if !problems.is_empty() {
        let inner = form::render_form(&fields, &problems);
        merge_fields(&mut found.internal.fields, secrets(&fields));
        record::store(cx, &found)?;
        return Ok(form_page(cx, StatusCode::UNPROCESSABLE_ENTITY, inner));
    }
    found.internal.fields = fields;
    submit_and_schedule(cx, found)?;
    cx.remove(&key(token));
    let thanks = format!("{}{THANKS_PATH}", web_url(cx, asked));
    Ok(SandboxAnswer::redirect(StatusCode::SEE_OTHER, &thanks))
}

pub(crate) fn thanks(cx: &ChangeUnit) -> SandboxAnswer {
    let inner = html! {
        p.notice.good role="status" { "Thank you. Your application was submitted." }
        p { "We are reviewing it now. You will get our answer by e-mail; there is nothing else to do." }
    };
    short(cx, StatusCode::OK, "Application submitted", inner)
}

/// Returns a link that fits and was opened before or is in time, and its open application.
fn find_usable_link(
    cx: &ChangeUnit,
    token: &str,
    fits: impl Fn(&SignUpLink) -> bool,
) -> Result<Option<(SignUpLink, StoredApplication)>> {
    if !token.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(None);
    }
    let link: Option<SignUpLink> = cx.get(&key(token))?;
    let Some(link) = link.filter(|link| fits(link) && (link.opened || cx.now < link.expires.0))
    else {
        return Ok(None);
    };
    let found: Option<StoredApplication> =
        cx.look_up(ObjectKind::APPLICATION, &link.id.to_string())?;
    Ok(found.filter(is_started).map(|found| (link, found)))
}

/// Merges the partner's values, the applicant's input, and the data that the service sees of the
/// applicant. Reference and plan stay the partner's.
fn merge_submission(
    cx: &ChangeUnit,
    asked: &ParsedRequest,
    found: &StoredApplication,
    sent: Value,
) -> Map<String, Value> {
    let mut fields = found.internal.fields.clone();
    let header = |name: header::HeaderName| {
        let value = asked.headers().get(name)?.to_str().ok()?;
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
    merge_fields(&mut fields, parse_submission(sent));
    record::normalise_fields(fields)
}

fn form_page(cx: &ChangeUnit, status: StatusCode, inner: Markup) -> SandboxAnswer {
    let page = SandboxPage::new(&cx.environment.options.brand, "Merchant application", inner);
    page.scripts(&["/assets/sign.js"]).answer(status)
}

/// Answers 410 for an address that is used up, too old or unknown, without saying which.
fn render_gone(cx: &ChangeUnit) -> SandboxAnswer {
    let text = "This page has been used or is no longer valid. Ask for a new link.";
    short(cx, StatusCode::GONE, "No longer valid", html! { p { (text) } })
}

/// POST of a sign-up: its fields are flat.
pub(crate) fn sign_up(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<StartedSignUp> {
    let Value::Object(fields) = asked.json()? else {
        return Err(SandboxRefusal::malformed_body("Body is not an object"));
    };
    let fields = applications::counted_fields(cx, fields);
    applications::validate(cx, Submission::SignUp, &fields)?;
    let found = record::create(cx, Submission::SignUp, fields)?;
    let id = found.object.id;
    let token = cx.fresh_secret("sign up", LONG_LENGTH);
    let expires = Timestamp(cx.after(OPENS_FOR));
    cx.put(&key(&token), &SignUpLink { id, expires, opened: false })?;
    let page = format!("{}{}", web_url(cx, asked), PATH.replace("{token}", &token));
    let redirect_uri = Some(page.into());
    Ok(StartedSignUp { merchant_application: SignUpPage { id, redirect_uri } })
}

const SIGNATURE: &str = "signature";

/// Parses a submitted form. Empty inputs are left out; the second owner's inputs become one object,
/// which is empty where all of them were left empty.
fn parse_submission(sent: Value) -> Map<String, Value> {
    let Value::Object(sent) = sent else { return Map::new() };
    let is_empty = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
    let mut fields = Map::new();
    let mut second = None;
    for (name, value) in sent {
        let own = name.strip_prefix(SECOND_OWNER).and_then(|rest| rest.strip_prefix('.'));
        if let Some(own) = own {
            let second = second.get_or_insert_with(Map::new);
            if !is_empty(&value) {
                second.insert(own.to_owned(), value);
            }
        } else if !is_empty(&value) && !matches!(name.as_str(), "reference" | "plan" | "test") {
            let value = if name == SIGNATURE { signature(value) } else { value };
            fields.insert(name, value);
        }
    }
    fields.extend(second.map(|second| (SECOND_OWNER.to_owned(), Value::Object(second))));
    fields
}

/// Merges the submitted values into the known ones; an empty second owner is removed.
fn merge_fields(fields: &mut Map<String, Value>, sent: Map<String, Value>) {
    for (name, value) in sent {
        match (fields.get_mut(&name), value) {
            (_, Value::Object(none)) if none.is_empty() => drop(fields.shift_remove(&name)),
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (_, value) => drop(fields.insert(name, value)),
        }
    }
}

/// Returns the secrets, which are stored while the form is corrected: no page shows them again.
pub(crate) fn secrets(all: &Map<String, Value>) -> Map<String, Value> {
    let is_secret = |path: &str| {
        fields::find(path).is_some_and(|field| field.privacy == ApplicationPrivacy::Secret)
    };
    let secret =
        |path: &str, value: &Value| (is_secret(path) && !value.is_object()).then(|| value.clone());
    let mut kept = record::map_fields(all, secret);
    kept.retain(|_, value| value.as_object().is_none_or(|own| !own.is_empty()));
    kept
}

/// Points between the starts of two letters.
const STEP: usize = 16;
/// Height of the base line, and the range of heights that letters reach.
const FOOT: usize = 100;
const TOP: usize = 40;

/// Returns a signature as strokes: JSON as it is, a typed name as a line of hills, one a letter.
pub(crate) fn signature(typed: Value) -> Value {
    let is_name =
        |text: &&str| !text.trim().is_empty() && !text.trim_start().starts_with(['[', '{']);
    match typed.as_str().filter(is_name) {
        Some(name) => Value::String(Value::Array(hills(name.trim())).to_string()),
        None => typed,
    }
}

fn hills(name: &str) -> Vec<Value> {
    let starts = (20_usize..).step_by(STEP);
    let hills = name.chars().zip(starts).map(|(letter, left)| {
        let (middle, right) = (left.saturating_add(8), left.saturating_add(STEP));
        let code = usize::try_from(u32::from(letter)).unwrap_or_default();
        let top = TOP.saturating_add(code.checked_rem(TOP).unwrap_or_default());
        [
            json!({"mx": left, "my": FOOT, "lx": middle, "ly": top}),
            json!({"mx": middle, "my": top, "lx": right, "ly": FOOT}),
        ]
    });
    hills.flatten().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::signature;

    /// Closes E16: the form can be finished without scripts.
    #[test]
    fn a_typed_name_becomes_strokes_and_strokes_stay_as_they_are() {
        let made = signature(json!(" Jo "));
        let strokes: Value = serde_json::from_str(made.as_str().unwrap()).unwrap();
        assert_eq!(strokes.as_array().unwrap().len(), 4);
        assert_eq!(strokes[0], json!({"mx": 20, "my": 100, "lx": 28, "ly": 74}));
        for kept in [json!("[{\"lx\":1}]"), json!("{}"), json!(""), json!(3)] {
            assert_eq!(signature(kept.clone()), kept);
        }
    }
}
