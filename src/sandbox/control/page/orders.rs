//! Orders from the forms of the page: a form becomes the JSON that a control path takes, and its
//! answer becomes a redirect to the page, or a page that names the refusal.

use http::request::Parts;
use http::{Method, StatusCode, header};
use maud::html;
use serde_json::{Map, Value};

use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::pages::{SandboxPage, wants_page};
use crate::sandbox::request::pairs;

/// Prefix of the control paths, and of the assets of their pages.
pub(super) const ROOT: &str = "/_sandbox";
const FORM: &str = "application/x-www-form-urlencoded";
/// Fields that a control path takes as whole numbers.
const NUMBERS: [&str; 3] = ["times", "status", "delay_ms"];
/// Prefix of the pages to which an order may lead, beside the first one.
const BACK_PREFIX: &str = "/_sandbox/merchants/";

/// Confirmations, by the first part of the control path.
const DONE: [(&str, &str); 5] = [
    ("clock", "The clock was turned."),
    ("faults", "The faults were changed."),
    ("events", "The event was made."),
    ("applications", "The application was decided."),
    ("transactions", "The payment was decided."),
];

/// An order of a form.
pub(crate) struct FormOrder {
    /// The body that the control path takes.
    pub(crate) body: Vec<u8>,
    back: String,
}

/// Returns true for the POST of a form by a client that shows pages. Programs that send forms, such
/// as curl, do not ask for HTML.
pub(crate) fn is_form(parts: &Parts) -> bool {
    let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_form =
        kind.and_then(|kind| kind.split(';').next()).is_some_and(|kind| kind.trim() == FORM);
    parts.method == Method::POST && is_form && wants_page(parts)
}

/// Parses a form; an empty field is no field.
pub(crate) fn parse(body: &[u8]) -> FormOrder {
    let (mut order, mut back) = (Map::new(), "/".to_owned());
    for (name, values) in pairs(&String::from_utf8_lossy(body)) {
        let Some(text) = values.into_iter().next().filter(|text| !text.trim().is_empty()) else {
            continue;
        };
        match name.as_str() {
            "back" if is_page(&text) => back = text,
            "back" => {}
            "until" => drop(order.insert("set".to_owned(), Value::String(utc(text.trim())))),
            _ => drop(order.insert(name.clone(), value_of(&name, text.trim()))),
        }
    }
    FormOrder { body: Value::Object(order).to_string().into_bytes(), back }
}

fn is_page(text: &str) -> bool {
    let id = text.strip_prefix(BACK_PREFIX);
    id.is_some_and(|id| {
        id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    })
}

fn value_of(name: &str, text: &str) -> Value {
    let number = NUMBERS.contains(&name).then(|| text.parse::<u64>().ok()).flatten();
    number.map_or_else(|| Value::from(text), Value::from)
}

/// Completes the time of an input, `2027-01-01T00:00`, to one of RFC 3339.
fn utc(text: &str) -> String {
    const MINUTES: usize = "2027-01-01T00:00".len();
    if text.len() == MINUTES { format!("{text}:00Z") } else { format!("{text}Z") }
}

/// Returns the text that confirms an order.
pub(super) fn done_text(word: &str) -> Option<&'static str> {
    DONE.iter().find(|(known, _)| *known == word).map(|(_, text)| *text)
}

/// Answers a form as a browser needs it.
pub(crate) fn answer(
    brand: &str,
    parts: &Parts,
    order: &FormOrder,
    result: Result<SandboxAnswer>,
) -> SandboxAnswer {
    match result {
        Ok(_) => {
            let word = parts.uri.path().split('/').filter(|part| !part.is_empty()).nth(1);
            let location = format!("{}?done={}", order.back, word.unwrap_or_default());
            SandboxAnswer::redirect(StatusCode::SEE_OTHER, &location)
        }
        Err(refusal) => refusal_page(brand, &refusal, &order.back),
    }
}

fn refusal_page(brand: &str, refusal: &SandboxRefusal, back: &str) -> SandboxAnswer {
    let messages = refusal.problem.messages.iter();
    let inner = html! {
        div.notice.bad role="alert" {
            @for message in messages {
                p { (message.message.as_deref().unwrap_or(&message.code)) @if let Some(place) = &message.context { " (" (place) ")" } }
            }
        }
        p { "Nothing was changed." }
        p.back { a href=(back) { "Back" } }
    };
    SandboxPage::new(brand, "Not done", inner).answer_beneath(ROOT, refusal.status)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::parse;

    fn order(form: &str) -> (Value, String) {
        let order = parse(form.as_bytes());
        (serde_json::from_slice(&order.body).unwrap(), order.back)
    }

    #[test]
    fn a_form_becomes_an_order_and_leads_to_pages_of_the_sandbox_alone() {
        let (body, back) = order("fault=delay&times=2&delay_ms=x&path=+&method=");
        assert_eq!(body, json!({"fault": "delay", "times": 2, "delay_ms": "x"}));
        assert_eq!(back, "/");
        assert_eq!(order("until=2027-01-01T00%3A00").0, json!({"set": "2027-01-01T00:00:00Z"}));
        assert_eq!(order("back=/_sandbox/merchants/a-B_1").1, "/_sandbox/merchants/a-B_1");
        for other in [
            "//evil.example",
            "https://evil.example",
            "/_sandbox/merchants/..%2F",
            "/_sandbox/merchants/a%0D%0Ax",
        ] {
            assert_eq!(order(&format!("back={other}")).1, "/", "{other}");
        }
    }
}
