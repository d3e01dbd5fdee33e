//! Decides which fact an answer, or its absence, proves. A pure table, and the only one in the
//! crate; the class of a failure is the table of [`ErrorClass`].
//!
//! When in doubt, the outcome is in doubt. `Refused` and `NotSent` require proof that nothing
//! happened. `Done` is for exactly 200 (service-facts, 3 and 5), and for the 204 of the one path
//! that has nothing to say (service-facts, 4).
//!
//! A good answer loses the secrets of its own request. No answer of the service needs to repeat the
//! credential, the number or the code of its request. Otherwise they would enter facts, ids and
//! sentences, where only the service's own data belongs. These values are the call's credential, and
//! the content of its path, query and body. Fields are identified by their names on the wire. A field
//! that no table names counts as personal: only values listed as open may be repeated.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, TimeDelta, Utc};
use http::HeaderValue;
use serde_json::{Map, Value};

use crate::api::call::{Call, Endpoint};
use crate::api::merchant::allows_empty_reply;
use crate::api::method_token::GetToken;
use crate::api::onboarding::fields;
use crate::api::rules::{Problem, has_word};
use crate::base::outside_text::known::KnownValues;
use crate::base::outside_text::{ServiceText, UNREADABLE_CODE};
use crate::model::error_class::{ErrorClass, FailureSignal};
use crate::model::outcome::{Outcome, ServiceProblem};

/// The difference of two clocks that is not reported: a `Date` has whole seconds, and may be cached.
const CLOCK_TOLERANCE: TimeDelta = TimeDelta::seconds(30);

/// An answer as received from the wire.
#[derive(Clone)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    /// The header `Retry-After`, as sent.
    pub(crate) retry_after: Option<String>,
    /// The header `Date`, as sent.
    pub(crate) date: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl HttpAnswer {
    /// Returns the answer to this call: an empty 204 counts as 200 on the path that answers so.
    pub(crate) fn with_call(self, call: &Call) -> Self {
        let is_done = self.status == 204 && self.body.is_empty() && allows_empty_reply(call);
        let status = if is_done { 200 } else { self.status };
        Self { status, ..self }
    }

    /// Returns the seconds by which our clock was ahead of the service's between the beginning and
    /// the end of the call; `None` if the answer has no time.
    pub(crate) fn clock_ahead_s(&self, call: (DateTime<Utc>, DateTime<Utc>)) -> Option<i64> {
        clock_ahead_s(self.date.as_deref()?, call)
    }
}

/// The reason why there is no answer; texts are a library's or the peer's, unchanged.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum TransportFailure {
    /// No connection was made: refused, no such host, TLS handshake failed. Nothing was written.
    NotConnected(String),
    /// The connection broke after something may have been written.
    Broken(String),
    /// The time for the call ran out.
    TimedOut,
    /// The answer exceeds the accepted size.
    TooLarge,
}

/// An outcome, with its evidence about the failure, the host and later calls.
#[derive(Debug)]
pub(crate) struct CallVerdict {
    pub(crate) outcome: Outcome,
    /// The wait that the service requested, whatever the outcome: also after a 503.
    pub(crate) retry_after_s: Option<u64>,
    /// Seconds by which this machine's clock is ahead of the service's, as far as the answer shows.
    pub(crate) clock_ahead_s: Option<i64>,
    /// The class of the failure, if the call failed.
    pub(crate) class: Option<ErrorClass>,
    /// True if the host itself does not serve.
    pub(crate) is_down: bool,
    /// True if the client withheld the call, so that an immediate retry is useless.
    pub(crate) is_withheld: bool,
}

impl CallVerdict {
    pub(crate) fn withheld(reason: &str, wait_s: u64) -> Self {
        let reason = ServiceText::clean(reason, &KnownValues::default());
        let outcome = Outcome::NotSent { reason, retry_after_s: Some(wait_s) };
        Self { is_withheld: true, ..Self::from(outcome) }
    }

    fn with_sign(self, sign: FailureSignal<'_>) -> Self {
        Self { class: ErrorClass::of(sign), is_down: sign.is_host_down(), ..self }
    }
}

impl From<Outcome> for CallVerdict {
    fn from(outcome: Outcome) -> Self {
        let retry_after_s = match &outcome {
            Outcome::NotSent { retry_after_s, reason: _ } => *retry_after_s,
            Outcome::Done { .. } | Outcome::Refused { .. } | Outcome::InDoubt { .. } => None,
        };
        Self {
            outcome,
            retry_after_s,
            clock_ahead_s: None,
            class: None,
            is_down: false,
            is_withheld: false,
        }
    }
}

/// Returns the verdict on a call whose request held `known` values. This is the one place where the
/// service's words become ours. `now` turns a date in `Retry-After` into seconds.
pub(crate) fn classify(
    answer: Result<HttpAnswer, TransportFailure>,
    known: &KnownValues,
    now: DateTime<Utc>,
) -> CallVerdict {
    match answer {
        Ok(answer) => classify_answer(&answer, known, now),
        Err(failure) => classify_failure(failure, known),
    }
}

fn classify_answer(answer: &HttpAnswer, known: &KnownValues, now: DateTime<Utc>) -> CallVerdict {
    let (status, retry_after) = (answer.status, answer.retry_after.as_deref());
    let retry_after_s = retry_after.and_then(|text| retry_after_seconds(text, now));
    let mut told = ServiceProblem::default();
    if status != 200 {
        let problem: Problem = serde_json::from_slice(&answer.body).unwrap_or_default();
        told = ServiceProblem::clean(&problem, known);
    }
    let outcome = match proof(status) {
        StatusProof::Success => success_outcome(&answer.body, known),
        StatusProof::Refusal => Outcome::Refused { status, problem: told.clone() },
        StatusProof::Throttled => {
            Outcome::NotSent { reason: describe_status(status, ""), retry_after_s }
        }
        StatusProof::Nothing => Outcome::InDoubt { reason: describe_status(status, told.code()) },
    };
    let unreadable = status == 200 && matches!(outcome, Outcome::InDoubt { .. });
    let sign =
        if unreadable { FailureSignal::Unreadable } else { FailureSignal::Answer(status, &told) };
    CallVerdict { retry_after_s, ..CallVerdict::from(outcome) }.with_sign(sign)
}

fn classify_failure(failure: TransportFailure, known: &KnownValues) -> CallVerdict {
    let (outcome, sign) = match failure {
        TransportFailure::NotConnected(words) => {
            let reason = ServiceText::clean(&words, known);
            (Outcome::NotSent { reason, retry_after_s: None }, FailureSignal::NoAnswer)
        }
        TransportFailure::Broken(words) => {
            let reason = ServiceText::clean(&words, known);
            (Outcome::InDoubt { reason }, FailureSignal::NoAnswer)
        }
        TransportFailure::TimedOut => {
            (in_doubt("no answer within the time allowed"), FailureSignal::NoAnswer)
        }
        TransportFailure::TooLarge => {
            (in_doubt("the answer is larger than allowed"), FailureSignal::Unreadable)
        }
    };
    CallVerdict::from(outcome).with_sign(sign)
}

fn in_doubt(reason: &'static str) -> Outcome {
    Outcome::InDoubt { reason: reason.into() }
}

/// The fact that a status proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StatusProof {
    Success,
    Refusal,
    Throttled,
    Nothing,
}

/// The table. 201 and 204 are no success of the service (but for [`HttpAnswer::with_call`]). A 500
/// may follow the effect; so may 408 and statuses that no standard registers (499 of some proxies).
fn proof(status: u16) -> StatusProof {
    match status {
        200 => StatusProof::Success,
        429 => StatusProof::Throttled,
        400..=407 | 409..=417 | 421..=426 | 428 | 431 | 451 => StatusProof::Refusal,
        _ => StatusProof::Nothing,
    }
}

fn success_outcome(body: &[u8], known: &KnownValues) -> Outcome {
    if body.trim_ascii().is_empty() {
        return Outcome::Done { reply: Value::Null };
    }
    match serde_json::from_slice(body) {
        Ok(reply) => Outcome::Done { reply: without_secrets(reply, known) },
        Err(_unreadable) => in_doubt("the service answered 200 with an unreadable body"),
    }
}

/// Returns a sentence of ours about a status and a checked code.
fn describe_status(status: u16, code: &str) -> ServiceText {
    let is_told = !code.is_empty() && code != UNREADABLE_CODE;
    let code = if is_told { format!(" {code}") } else { String::new() };
    ServiceText::clean(&format!("the service answered {status}{code}"), &KnownValues::default())
}

/// Parses `Retry-After` into seconds: a number of them, or a date (zero when past).
fn retry_after_seconds(text: &str, now: DateTime<Utc>) -> Option<u64> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(seconds);
    }
    let date = DateTime::parse_from_rfc2822(text).ok()?;
    let wait = date.with_timezone(&Utc).signed_duration_since(now);
    Some(u64::try_from(wait.num_seconds()).unwrap_or(0))
}

/// Returns the seconds by which our clock was ahead of the service's during a call, negative where it
/// was behind. A `Date` within the call, or within [`CLOCK_TOLERANCE`] of it, gives zero.
fn clock_ahead_s(date: &str, (began, ended): (DateTime<Utc>, DateTime<Utc>)) -> Option<i64> {
    let date = DateTime::parse_from_rfc2822(date.trim()).ok()?.with_timezone(&Utc);
    let (ahead, behind) = (began.signed_duration_since(date), date.signed_duration_since(ended));
    Some(match (ahead > CLOCK_TOLERANCE, behind > CLOCK_TOLERANCE) {
        (true, _) => ahead.num_seconds(),
        (false, true) => behind.num_seconds().saturating_neg(),
        (false, false) => 0,
    })
}

/// Replaces each secret of the answer by `***`, in texts, numbers and names of fields.
pub(crate) fn without_secrets(reply: Value, known: &KnownValues) -> Value {
    match known.shortest_secret() {
        Some(shortest) => replace_secrets(reply, known, shortest),
        None => reply,
    }
}

/// Replaces secrets; texts shorter than `shortest` are none.
fn replace_secrets(value: Value, known: &KnownValues, shortest: usize) -> Value {
    let secret =
        |text: &str| (text.len() >= shortest).then(|| known.without_secrets(text)).flatten();
    match value {
        Value::String(text) => Value::String(secret(&text).unwrap_or(text)),
        Value::Number(number) => {
            secret(&number.to_string()).map_or(Value::Number(number), Value::String)
        }
        Value::Array(items) => {
            items.into_iter().map(|item| replace_secrets(item, known, shortest)).collect()
        }
        Value::Object(fields) => {
            let each = |(name, value): (String, Value)| {
                (secret(&name).unwrap_or(name), replace_secrets(value, known, shortest))
            };
            Value::Object(fields.into_iter().map(each).collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) => value,
    }
}

/// Fields of the service's own words, of money, dates, names of objects and our marks.
const OPEN: &str = "\
    type currency amount total_amount first_amount surcharge_amount gratuity quantity rate_type \
    rate_per_quantity status state interval_unit interval_delay days start end max_occurrences \
    max_amount card_type account_type account_holder_type payment_type authorized_uses test_mode \
    scope grant_type auto_capture invoice_date due_date timezone source_id reference account_id \
    contact_id bank_account_id charge_id recurring_charge_id owner_id plan page page_size sort \
    sort_by order cvv_policy avs_policy accepted_card_types required_payment_fields \
    transaction_allowed_countries host owner_title job_title structure business_type industry_code \
    mime_type";

/// Parts of the names of fields that hold names of people and places.
const NAMES: &[&str] = &["name", "address", "city", "street"];

/// Names of fields that hold secrets, and the ends of such names.
const SECRETS: &str = "\
    number cvv code secret token token_id ssn tax_id ein license signature birth password key data \
    one_time_token client_secret content";

/// The privacy of a field's values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldPrivacy {
    Open,
    Named,
    Personal,
    Secret,
}

/// Returns the values that an answer to this call must not repeat.
pub(crate) fn sensitive_values(call: &Call, authorization: Option<&HeaderValue>) -> KnownValues {
    let mut known = KnownValues::default();
    let header = authorization.and_then(|header| std::str::from_utf8(header.as_bytes()).ok());
    if let Some(header) = header {
        hide_credential(&mut known, header);
    }
    if call.endpoint == GetToken::NAME
        && let Some(token) = call.path.rsplit('/').next()
    {
        known.hide_secret(token);
    }
    for (name, value) in &call.query {
        hide_value(&mut known, field_privacy(name), value);
    }
    let body = call.body.as_deref().and_then(|body| serde_json::from_slice(body).ok());
    hide_all(&mut known, FieldPrivacy::Personal, &body.unwrap_or(Value::Null));
    known
}

/// Hides a header's credential: a token, or a key in base64.
fn hide_credential(known: &mut KnownValues, header: &str) {
    let Some((_, credential)) = header.split_once(' ') else { return };
    known.hide_secret(credential);
    let pair = STANDARD.decode(credential).ok().and_then(|pair| String::from_utf8(pair).ok());
    if let Some(key) = pair.as_deref().and_then(|pair| pair.split(':').next()) {
        known.hide_secret(key);
    }
}

/// Hides every value of a body; `around` is the sort of the field that holds it.
fn hide_all(known: &mut KnownValues, around: FieldPrivacy, value: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                hide_all(known, field_privacy(name), value);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| hide_all(known, around, item)),
        Value::String(text) => hide_value(known, around, text),
        Value::Number(number) => hide_value(known, around, &number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}

fn hide_value(known: &mut KnownValues, sort: FieldPrivacy, value: &str) {
    match sort {
        FieldPrivacy::Open => {}
        FieldPrivacy::Named => known.hide_words(value),
        FieldPrivacy::Personal => known.hide(value),
        FieldPrivacy::Secret => known.hide_secret(value),
    }
}

fn field_privacy(name: &str) -> FieldPrivacy {
    let ends = |end: &str| {
        name.strip_suffix(end).is_some_and(|head| head.is_empty() || head.ends_with('_'))
    };
    let applied = fields::FIELDS.iter().find(|field| field.name == name);
    if has_word(OPEN, name) {
        FieldPrivacy::Open
    } else if applied.is_some_and(|field| field.privacy == fields::ApplicationPrivacy::Secret) {
        FieldPrivacy::Secret
    } else if NAMES.iter().any(|part| name.contains(part)) {
        FieldPrivacy::Named
    } else if SECRETS.split(' ').any(ends) {
        FieldPrivacy::Secret
    } else {
        FieldPrivacy::Personal
    }
}

#[cfg(test)]
mod tests;
