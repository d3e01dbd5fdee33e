//! `/_sandbox/mailbox`: sent e-mails, as JSON, or as pages for clients that accept HTML.
//!
//! Assets of the pages also lie beneath `/_sandbox`: viewing the mailbox is no request to the
//! service and consumes no fault. Each e-mail is shown in its own frame, in which no script runs
//! and nothing is loaded.

use http::request::Parts;
use http::{HeaderValue, StatusCode, header};
use maud::{Markup, html};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::invoicing::mail::{self, StoredEmail};
use crate::sandbox::pages::{self, ASSETS, HTML, SandboxPage, moment, wants_page};
use crate::sandbox::state::store::ChangeUnit;

const ROOT: &str = "/_sandbox";
const MAILBOX: &str = "/_sandbox/mailbox";
/// E-mails in the HTML list, the newest; JSON lists all.
const LISTED_MAX: usize = 200;

/// Content security policy of an e-mail: inline styles, and links that open in a new window. The
/// same-origin right serves only the page's script, which reads the e-mail's height.
const POLICY: &str = "default-src 'none'; style-src-attr 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'self'; sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox";

/// The same rights as the frame's `sandbox` attribute.
const FRAME_RIGHTS: &str = "allow-same-origin allow-popups allow-popups-to-escape-sandbox";

/// GET of the mailbox, of one e-mail, or of an e-mail's HTML.
pub(crate) fn show(cx: &ChangeUnit, parts: &Parts, which: &[&str]) -> Result<SandboxAnswer> {
    let is_page = wants_page(parts);
    let answer = match which {
        [] if is_page => list(cx)?,
        [] => {
            let mails = mail::all(cx)?.into_iter().map(|(number, mail)| with_page(number, mail));
            SandboxAnswer::json(&json!({ "messages": mails.collect::<Vec<_>>() }))?
        }
        [number] if is_page => page(cx, number)?,
        [number] => one(cx, number)?,
        [number, "html"] => document(cx, number)?,
        _ => return Err(SandboxRefusal::no_path()),
    };
    Ok(answer.with(header::VARY, HeaderValue::from_static("accept")))
}

pub(crate) fn asset(name: &str) -> Result<SandboxAnswer> {
    let path = format!("/assets/{name}");
    let (_, content_type, content) =
        ASSETS.into_iter().find(|(of, _, _)| *of == path).ok_or_else(SandboxRefusal::no_path)?;
    Ok(pages::file(content_type, content))
}

fn one(cx: &ChangeUnit, number: &str) -> Result<SandboxAnswer> {
    let missing = || SandboxRefusal::not_found("Mail", number);
    let (number, mail) = find(cx, number)?.ok_or_else(missing)?;
    SandboxAnswer::json(&with_page(number, mail))
}

fn with_page(number: u64, mut mail: Value) -> Value {
    if let Value::Object(fields) = &mut mail {
        fields.insert("page".to_owned(), json!(format!("{MAILBOX}/{number}")));
    }
    mail
}

/// Returns the e-mail with this number, typed or as it is stored.
fn find<T: DeserializeOwned>(cx: &ChangeUnit, number: &str) -> Result<Option<(u64, T)>> {
    let Ok(number) = number.parse::<u64>() else { return Ok(None) };
    Ok(cx.get(&mail::key(number))?.map(|mail| (number, mail)))
}

fn list(cx: &ChangeUnit) -> Result<SandboxAnswer> {
    let all = mail::all(cx)?;
    let count = all.len();
    let shown = all.into_iter().rev().take(LISTED_MAX);
    let shown = shown.map(|(number, mail)| Ok((number, serde_json::from_value(mail)?)));
    let shown: Vec<(u64, StoredEmail)> = shown.collect::<Result<_>>()?;
    let inner = html! {
        @if shown.is_empty() { (empty()) } @else {
            p.quiet { (count_sentence(count)) }
            ol.mails { @for (number, mail) in &shown { (row(*number, mail)) } }
        }
    };
    let page = SandboxPage::new(&cx.environment.options.brand, "Mailbox", inner);
    Ok(page.answer_beneath(ROOT, StatusCode::OK))
}

fn empty() -> Markup {
    html! {
        p.notice role="status" { "No e-mail was sent yet." }
        p {
            "The sandbox sends them when an invoice is made: one to each address in its " code { "invoice_messages" }
            ", for a document of kind " code { "Invoice" } " and for " code { "POST /invoices" }
            ". A scenario that sends one:"
        }
        pre { "reckon sandbox --scenario examples/scenarios/invoices.yaml" }
    }
}

fn count_sentence(count: usize) -> String {
    let which = match count {
        1 => "One e-mail.".to_owned(),
        _ if count <= LISTED_MAX => format!("{count} e-mails, newest first."),
        _ => format!("The newest {LISTED_MAX} of {count} e-mails, newest first."),
    };
    format!("{which} None of them left this machine.")
}

fn row(number: u64, mail: &StoredEmail) -> Markup {
    let subject = if mail.subject.is_empty() { "(no subject)" } else { &mail.subject };
    html! {
        li {
            a href={ (MAILBOX) "/" (number) } { (subject) }
            span.hint { (moment(mail.time)) }
            span.hint { "to " (mail.to) }
        }
    }
}

fn page(cx: &ChangeUnit, number: &str) -> Result<SandboxAnswer> {
    let Some((number, mail)) = find::<StoredEmail>(cx, number)? else { return Ok(unknown(cx)) };
    let sender = format!("{} <{}>", mail.from_name, mail.from);
    let inner = html! {
        p.back { a href=(MAILBOX) { "All e-mails" } }
        dl {
            @for (name, text) in [("From", &sender), ("To", &mail.to), ("Subject", &mail.subject)] {
                dt { (name) } dd { (text) }
            }
            dt { "Sent" } dd { (moment(mail.time)) }
        }
        h2 { "As a mail program shows it" }
        iframe.mail title="The e-mail" src={ (MAILBOX) "/" (number) "/html" } sandbox=(FRAME_RIGHTS) {}
        h2 { "The same as plain text" }
        pre { (mail.text) }
    };
    let page = SandboxPage::new(&cx.environment.options.brand, "E-mail", inner);
    Ok(page.scripts(&["/assets/mail.js"]).answer_beneath(ROOT, StatusCode::OK))
}

fn document(cx: &ChangeUnit, number: &str) -> Result<SandboxAnswer> {
    let Some((_, mail)) = find::<StoredEmail>(cx, number)? else { return Ok(unknown(cx)) };
    let answer = SandboxAnswer::of(StatusCode::OK, HTML, mail.html.into_bytes());
    Ok(answer
        .with(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))
        .with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        .with(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
        .with(header::CACHE_CONTROL, HeaderValue::from_static("no-store")))
}

fn unknown(cx: &ChangeUnit) -> SandboxAnswer {
    let inner = html! {
        p { "This e-mail does not exist." }
        p.back { a href=(MAILBOX) { "All e-mails" } }
    };
    let page = SandboxPage::new(&cx.environment.options.brand, "Not found", inner);
    page.answer_beneath(ROOT, StatusCode::NOT_FOUND)
}
