//! A notification, its target, the result of an attempt to send it, and its body in the form of the
//! target: bounded, with card numbers masked. Pure.
//!
//! A mail is plain text in UTF-8, with HTML beside it if there is some, and an id derived from the
//! notification's key. No text of a script or a payer can add a header or a recipient. Addresses are
//! checked one by one, and a subject loses its line ends before it is encoded.

use chrono::{DateTime, Utc};
use data_encoding::HEXLOWER;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, SinglePart};
use lettre::{Address, Message as Mime};
use serde_json::{Value, json};

use crate::base::hash::sha256;
use crate::base::secret::{Secret, mask_digits};

const KEY_BYTES_MAX: usize = 256;

/// One notification. `Debug` shows its key and its target: the rest may hold a payer's text.
#[derive(Clone, PartialEq, derive_more::Debug)]
#[debug("Message({key} to {target})")]
pub struct OutgoingNotification {
    /// The name for ever, at most 256 visible characters of ASCII. A repeat has the same key.
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
    /// Provably not delivered: no connection, or the receiver asked for later. It may be sent again.
    NotSent(String),
    /// The receiver, or a rule of ours, refuses it. The same would be refused again.
    Refused(String),
    /// In doubt: the receiver may have accepted it. Only a person may order that it is sent again.
    InDoubt(String),
}

/// One target. Addresses are secrets: who knows a chat's may write there, a person's is personal.
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

#[derive(Debug, Clone)]
pub struct SmtpLogin {
    pub user: Secret,
    pub password: Secret,
}

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

const SUBJECT: &str = "A notification from reckon";
/// Longer subjects are cut.
const SUBJECT_CHARACTERS_MAX: usize = 200;
/// For more recipients, an operator uses a list at the mail server.
const RECIPIENTS_MAX: usize = 50;
/// Marks the mail as one that expects no answer (RFC 3834).
const AUTO_SUBMITTED: HeaderName = HeaderName::new_from_ascii_str("Auto-Submitted");

pub(crate) struct MimeMail {
    pub from: Address,
    /// At least one.
    pub to: Vec<Address>,
    /// Header and body, all ASCII, lines ended by CRLF.
    pub bytes: Vec<u8>,
}

/// Writes the mail; an error if there is no recipient, or an address or the body does not fit.
pub(crate) fn build_mail(
    mail: &SmtpTarget,
    message: &OutgoingNotification,
    now: DateTime<Utc>,
) -> Result<MimeMail, String> {
    let text = text_body(&message.body)?;
    let from =
        parse_address(mail.from.expose()).ok_or("the target's `from` is no e-mail address")?;
    let to = recipients(mail, message)?;
    let mailbox = |address: &Address| Mailbox::new(None, address.clone());
    let head = Mime::builder()
        .from(mailbox(&from))
        .subject(subject(message.subject.as_deref()))
        .date(now.into())
        .message_id(Some(message_id(&message.key, &from)))
        .raw_header(HeaderValue::new(AUTO_SUBMITTED, "auto-generated".to_owned()));
    let head = to.iter().fold(head, |head, address| head.to(mailbox(address)));
    let whole = match &message.html {
        None => head.singlepart(SinglePart::plain(text)),
        Some(html) => {
            let html = html_body(html)?;
            let parts = MultiPart::alternative().boundary(boundary(&message.key));
            let parts = parts.singlepart(SinglePart::plain(text));
            head.multipart(parts.singlepart(SinglePart::html(html)))
        }
    };
    let whole = whole.map_err(|error| format!("no mail can be made of it: {error}"))?;
    Ok(MimeMail { bytes: whole.formatted(), from, to })
}

/// Derives the id from the key, so that every attempt at a notification has the same one.
fn message_id(key: &str, from: &Address) -> String {
    format!("<{}@{}>", HEXLOWER.encode(sha256(key.as_bytes()).as_bytes()), from.domain())
}

/// Derives the separator of a mail's parts from the key: the same each time, and in no part.
fn boundary(key: &str) -> String {
    HEXLOWER.encode(sha256(format!("boundary {key}").as_bytes()).as_bytes())
}

fn subject(text: Option<&str>) -> String {
    let plain = mask_digits(text.unwrap_or_default());
    let plain = plain.replace(|found: char| found.is_control(), " ");
    match plain.trim() {
        "" => SUBJECT.to_owned(),
        text => text.chars().take(SUBJECT_CHARACTERS_MAX).collect(),
    }
}

fn recipients(mail: &SmtpTarget, message: &OutgoingNotification) -> Result<Vec<Address>, String> {
    let texts: Vec<&str> = match &message.to {
        Some(to) => to.iter().map(String::as_str).collect(),
        None => mail.to.iter().map(Secret::expose).collect(),
    };
    let count = texts.len();
    if count == 0 {
        return Err("the mail has no recipient".to_owned());
    }
    if count > RECIPIENTS_MAX {
        return Err(format!("it is for {count} addresses; at most {RECIPIENTS_MAX} are sent to"));
    }
    let read = |(at, text)| {
        parse_address(text)
            .ok_or_else(|| format!("recipient {at} of {count} is no e-mail address in plain ASCII"))
    };
    (1..).zip(texts).map(read).collect()
}

/// Parses an address that is safe in a command and in a header.
fn parse_address(text: &str) -> Option<Address> {
    let safe = |byte: u8| byte.is_ascii_graphic() && !b"<>(),;:\"\\".contains(&byte);
    text.bytes().all(safe).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests;
