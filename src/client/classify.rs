//! Decides which fact an answer, or its absence, proves. A pure table, and the only one in the
//! crate; the class of a failure is the table of [`Class`].
//!
//! When in doubt, the outcome is in doubt. `Refused` and `NotSent` require proof that nothing
//! happened. `Done` is for exactly 200 (service-facts, 3 and 5), and for the 204 of the one path
//! that has nothing to say (service-facts, 4).

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::api::{Call, Problem};
use crate::base::outside::{Known, ServiceText, UNREADABLE_CODE};
use crate::model::class::{Class, Sign};
use crate::model::outcome::Outcome;
use crate::model::service_problem::ServiceProblem;

mod reply;

/// An answer as received from the wire.
#[derive(Clone)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// The header `Retry-After`, as sent.
    pub(super) retry_after: Option<String>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// Returns the answer as one to this call: on the path that answers without content, 204 with
    /// an empty body counts as 200.
    pub(super) fn of(self, call: &Call) -> Self {
        let is_done = self.status == 204 && self.body.is_empty() && call.may_answer_nothing();
        let status = if is_done { 200 } else { self.status };
        Self { status, ..self }
    }
}

/// The reason why there is no answer; a text holds the words of a library and of the peer,
/// unchanged.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Failure {
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
pub(super) struct Verdict {
    pub(super) outcome: Outcome,
    /// The wait that the service requested, whatever the outcome: a read may be repeated after a
    /// 503 too.
    pub(super) retry_after_s: Option<u64>,
    /// The class of the failure, if the call failed.
    pub(super) class: Option<Class>,
    /// True if the host itself does not serve.
    pub(super) is_down: bool,
    /// True if the client withheld the call, so that an immediate retry is useless.
    pub(super) is_shut: bool,
}

impl Verdict {
    /// Returns the verdict on a withheld call.
    pub(super) fn shut(reason: &str, wait_s: u64) -> Self {
        let reason = ServiceText::cleaned(reason, &Known::default());
        let outcome = Outcome::NotSent { reason, retry_after_s: Some(wait_s) };
        Self { is_shut: true, ..Self::from(outcome) }
    }

    fn signed(self, sign: Sign<'_>) -> Self {
        Self { class: Class::of(sign), is_down: sign.is_of_the_host(), ..self }
    }
}

impl From<Outcome> for Verdict {
    fn from(outcome: Outcome) -> Self {
        let retry_after_s = match &outcome {
            Outcome::NotSent { retry_after_s, reason: _ } => *retry_after_s,
            Outcome::Done { .. } | Outcome::Refused { .. } | Outcome::InDoubt { .. } => None,
        };
        Self { outcome, retry_after_s, class: None, is_down: false, is_shut: false }
    }
}

/// Returns the verdict on a call whose request held `known` values. This is the one place where the
/// service's words become ours. `now` turns a date in `Retry-After` into seconds.
pub(super) fn classify(
    answer: Result<Answer, Failure>,
    known: &Known,
    now: DateTime<Utc>,
) -> Verdict {
    match answer {
        Ok(answer) => of_answer(&answer, known, now),
        Err(failure) => {
            let sign = sign_of(&failure);
            Verdict::from(of_failure(failure, known)).signed(sign)
        }
    }
}

fn of_answer(answer: &Answer, known: &Known, now: DateTime<Utc>) -> Verdict {
    let retry_after_s = answer.retry_after.as_deref().and_then(|text| seconds(text, now));
    let status = answer.status;
    let told = if status == 200 {
        ServiceProblem::default()
    } else {
        ServiceProblem::cleaned(&problem(&answer.body), known)
    };
    let outcome = match proof(status) {
        Proof::Success => done(&answer.body, known),
        Proof::Refusal => Outcome::Refused { status, problem: told.clone() },
        Proof::Throttled => Outcome::NotSent { reason: unproved(status, ""), retry_after_s },
        Proof::Nothing => Outcome::InDoubt { reason: unproved(status, told.code()) },
    };
    let unreadable = status == 200 && matches!(outcome, Outcome::InDoubt { .. });
    let sign = if unreadable { Sign::Unreadable } else { Sign::Answer(status, &told) };
    Verdict { retry_after_s, ..Verdict::from(outcome) }.signed(sign)
}

/// Returns the sign of a failure, for its class.
fn sign_of(failure: &Failure) -> Sign<'static> {
    match failure {
        Failure::NotConnected(_) | Failure::Broken(_) | Failure::TimedOut => Sign::Silence,
        Failure::TooLarge => Sign::Unreadable,
    }
}

fn of_failure(failure: Failure, known: &Known) -> Outcome {
    let in_doubt = |reason: &'static str| Outcome::InDoubt { reason: reason.into() };
    let cleaned = |words: String| ServiceText::cleaned(&words, known);
    match failure {
        Failure::NotConnected(words) => {
            Outcome::NotSent { reason: cleaned(words), retry_after_s: None }
        }
        Failure::Broken(words) => Outcome::InDoubt { reason: cleaned(words) },
        Failure::TimedOut => in_doubt("no answer within the time allowed"),
        Failure::TooLarge => in_doubt("the answer is larger than allowed"),
    }
}

/// The fact that a status proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    Success,
    Refusal,
    Throttled,
    Nothing,
}

/// The table. 201 and 204 are not the service's success (but for [`Answer::of`]), so something else
/// answered. A 500 may follow the effect; so may 408 and statuses that no standard registers (499
/// of some proxies).
fn proof(status: u16) -> Proof {
    match status {
        200 => Proof::Success,
        429 => Proof::Throttled,
        400..=407 | 409..=417 | 421..=426 | 428 | 431 | 451 => Proof::Refusal,
        _ => Proof::Nothing,
    }
}

fn done(body: &[u8], known: &Known) -> Outcome {
    if body.trim_ascii().is_empty() {
        return Outcome::Done { reply: Value::Null };
    }
    match serde_json::from_slice(body) {
        Ok(reply) => Outcome::Done { reply: reply::without_secrets(reply, known) },
        Err(_unreadable) => {
            Outcome::InDoubt { reason: "the service answered 200 with an unreadable body".into() }
        }
    }
}

fn problem(body: &[u8]) -> Problem {
    serde_json::from_slice(body).unwrap_or_default()
}

/// Returns a sentence of ours about a status and a checked code.
fn unproved(status: u16, code: &str) -> ServiceText {
    let is_told = !code.is_empty() && code != UNREADABLE_CODE;
    let code = if is_told { format!(" {code}") } else { String::new() };
    ServiceText::cleaned(&format!("the service answered {status}{code}"), &Known::default())
}

/// Parses `Retry-After` into seconds: a number of them, or a date (zero when past).
fn seconds(text: &str, now: DateTime<Utc>) -> Option<u64> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(seconds);
    }
    let date = DateTime::parse_from_rfc2822(text).ok()?;
    let wait = date.with_timezone(&Utc).signed_duration_since(now);
    Some(u64::try_from(wait.num_seconds()).unwrap_or(0))
}

#[cfg(test)]
mod tests;
