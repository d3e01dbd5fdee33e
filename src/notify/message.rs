//! A notification, its target, the result of an attempt to send it, and its body in the form of the
//! target: bounded, with card numbers masked. Pure.

use serde_json::{Value, json};

use crate::base::secret::{Secret, mask_digits};

/// The longest key, in bytes.
const KEY_BYTES_MAX: usize = 256;

/// One notification. `Debug` shows its key and its target: the rest may hold a payer's text.
#[derive(Clone, PartialEq, derive_more::Debug)]
#[debug("Message({key} to {target})")]
pub struct OutgoingNotification {
    /// The notification's name for ever, in at most 256 visible characters of ASCII. A repeat has
    /// the same key.
    pub key: String,
    pub target: String,
    /// A text, or a map for a program; at most 64 KiB.
    pub body: Value,
    /// The same for a mail's readers of HTML; not sent to a web address.
    pub html: Option<String>,
    /// The subject of a mail; not sent to a web address.
    pub subject: Option<String>,
    /// Mail addresses, in place of the target's own.
    pub to: Option<Vec<String>>,
}

impl OutgoingNotification {
    /// Checks that the key can be sent to a receiver.
    pub(crate) fn check_key(&self) -> Result<(), String> {
        let visible = self.key.bytes().all(|byte| byte.is_ascii_graphic());
        if visible && (1..=KEY_BYTES_MAX).contains(&self.key.len()) {
            return Ok(());
        }
        Err(format!("its key is not 1 to {KEY_BYTES_MAX} visible characters of ASCII"))
    }
}

/// The only four results of an attempt. Reasons are for people and hold nothing secret or personal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum DeliveryResult {
    Done,
    /// Provably not delivered: no connection was made, or the receiver asked for a later attempt.
    /// It may be sent again.
    NotSent(String),
    /// The receiver, or a rule of ours, refuses it. The same would be refused again.
    Refused(String),
    /// In doubt: the receiver may have accepted it. Only a person may order that it is sent again.
    InDoubt(String),
}

/// One target. Addresses are secrets: anyone who knows a chat's address may write there, and a
/// person's address is personal.
#[derive(Debug, Clone)]
pub enum NotificationTarget {
    /// An address that takes a POST.
    Web {
        /// `https://`, or `http://` at a loopback IP.
        url: Secret,
        form: BodyFormat,
    },
    Mail(Box<SmtpTarget>),
}

/// The form of the body posted to a web address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFormat {
    /// The body as JSON: a map unchanged, a text as `{"text": …}`.
    Json,
    /// `{"text": …}`, the form that chats accept; a map is written out as text.
    Chat,
}

/// A mail server, with sender and recipients.
#[derive(Debug, Clone)]
pub struct SmtpTarget {
    /// The recipients of notifications that name none.
    pub to: Vec<Secret>,
    pub from: Secret,
    /// A name or an IP.
    pub host: String,
    pub port: u16,
    /// None where the server asks for no login.
    pub login: Option<SmtpLogin>,
    pub encryption: SmtpEncryption,
}

/// Credentials at a mail server.
#[derive(Debug, Clone)]
pub struct SmtpLogin {
    pub user: Secret,
    pub password: Secret,
}

/// The encryption of the connection to a mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpEncryption {
    /// Upgraded by `STARTTLS`; nothing is sent where the server does not support it.
    Starttls,
    /// TLS from the first byte on.
    Tls,
    /// None: for a server at a loopback IP alone.
    None,
}

/// The largest body, in bytes, of a text unchanged or of a map as JSON.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// Returns the body of a POST; an error if it is too large, or neither a text nor a map.
pub(crate) fn json_body(body: &Value, form: BodyFormat) -> Result<String, String> {
    Ok(match (check_body(body)?, form) {
        (map @ Value::Object(_), BodyFormat::Json) => mask_numbers(map).to_string(),
        (other, BodyFormat::Json | BodyFormat::Chat) => {
            json!({"text": render_text(other)}).to_string()
        }
    })
}

/// Returns the text of a mail; errors as [`json_body`].
pub(crate) fn text_body(body: &Value) -> Result<String, String> {
    check_body(body).map(render_text)
}

/// Returns the HTML of a mail; an error if it is too large.
pub(crate) fn html_body(html: &str) -> Result<String, String> {
    check_size("HTML", html.len()).map(|()| mask_digits(html))
}

fn check_size(what: &str, bytes: usize) -> Result<(), String> {
    if bytes > BODY_BYTES_MAX {
        return Err(format!("its {what} has {bytes} bytes; at most {BODY_BYTES_MAX} are sent"));
    }
    Ok(())
}

fn check_body(body: &Value) -> Result<&Value, String> {
    let bytes = match body {
        Value::String(text) => text.len(),
        Value::Object(_) => body.to_string().len(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err("its body is neither a text nor a map".to_owned());
        }
    };
    check_size("body", bytes).map(|()| body)
}

/// Renders the body for people.
fn render_text(body: &Value) -> String {
    match body.as_str() {
        Some(text) => mask_digits(text),
        None => format!("{:#}", mask_numbers(body)),
    }
}

/// Masks card numbers in texts, numbers and names of fields.
fn mask_numbers(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::Number(number) => {
            let text = number.to_string();
            let shown = mask_digits(&text);
            if shown == text { value.clone() } else { Value::String(shown) }
        }
        Value::String(text) => Value::String(mask_digits(text)),
        Value::Array(items) => items.iter().map(mask_numbers).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (mask_digits(name), mask_numbers(value))).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_shows_no_card_either() {
        assert_eq!(html_body("<p>4242424242424242</p>"), Ok("<p>•••• 4242</p>".to_owned()));
    }

    #[test]
    fn a_map_is_posted_as_it_is_and_a_text_as_a_map() {
        let map = json!({"b": 1, "a": [true, null]});
        assert_eq!(json_body(&map, BodyFormat::Json).unwrap(), r#"{"b":1,"a":[true,null]}"#);
        assert_eq!(
            json_body(&json!("x\n\"y\""), BodyFormat::Json).unwrap(),
            r#"{"text":"x\n\"y\""}"#
        );
        assert_eq!(json_body(&json!("x"), BodyFormat::Chat).unwrap(), r#"{"text":"x"}"#);
        assert_eq!(
            json_body(&json!({"a": 1}), BodyFormat::Chat).unwrap(),
            r#"{"text":"{\n  \"a\": 1\n}"}"#
        );
        assert_eq!(text_body(&json!({"a": 1})).unwrap(), "{\n  \"a\": 1\n}");
    }

    #[test]
    fn a_body_of_another_sort_or_too_large_is_refused() {
        for odd in [json!(null), json!(7), json!(true), json!(["x"])] {
            assert_eq!(text_body(&odd).unwrap_err(), "its body is neither a text nor a map");
            assert!(json_body(&odd, BodyFormat::Chat).is_err(), "{odd}");
        }
        let full = "x".repeat(BODY_BYTES_MAX);
        assert!(text_body(&json!(full)).is_ok());
        for over in [json!(format!("{full}x")), json!({"a": full})] {
            assert!(text_body(&over).unwrap_err().ends_with("; at most 65536 are sent"));
            assert!(json_body(&over, BodyFormat::Json).is_err());
        }
    }

    #[test]
    fn card_numbers_are_masked_wherever_they_slipped_in() {
        let card = "4242 4242 4242 4242";
        let body = json!({"note": card, "list": [4_242_424_242_424_242_u64], card: {"n": 7}});
        let expect = r#"{"note":"•••• 4242","list":["•••• 4242"],"•••• 4242":{"n":7}}"#;
        assert_eq!(json_body(&body, BodyFormat::Json).unwrap(), expect);
        for shown in [text_body(&body), json_body(&body, BodyFormat::Chat), text_body(&json!(card))]
        {
            let shown = shown.unwrap();
            assert!(shown.contains("•••• 4242") && !shown.contains("4242 4242"), "{shown}");
        }
    }
}
