//! What an answer, or its absence, proves. A pure table, and the only one in the crate.
//!
//! When in doubt, it is in doubt: `Refused` and `NotSent` are for what proves that nothing
//! happened, `Done` for exactly 200 (service-facts, 3 and 5).

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::api::Problem;
use crate::model::outcome::Outcome;

/// An answer as it came from the wire.
#[derive(Clone)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// The header `Retry-After`, as sent.
    pub(super) retry_after: Option<String>,
    pub(super) body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// No connection came about: refused, no such host, TLS handshake failed. Nothing was written.
    NotConnected(String),
    /// The connection broke after something may have been written.
    Broken(String),
    /// The time for the call ran out.
    TimedOut,
    /// The answer is larger than we are willing to hold.
    TooLarge,
}

/// An outcome, and how long the service asked to wait whatever the outcome is: a read may come again
/// after a 503 too.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) outcome: Outcome,
    pub(super) retry_after_s: Option<u64>,
}

impl From<Outcome> for Verdict {
    fn from(outcome: Outcome) -> Self {
        let retry_after_s = match &outcome {
            Outcome::NotSent { retry_after_s, reason: _ } => *retry_after_s,
            Outcome::Done { .. } | Outcome::Refused { .. } | Outcome::InDoubt { .. } => None,
        };
        Self { outcome, retry_after_s }
    }
}

/// The verdict on a call; `now` turns a date in `Retry-After` into seconds.
pub(super) fn classify(answer: Result<Answer, Failure>, now: DateTime<Utc>) -> Verdict {
    match answer {
        Ok(answer) => of_answer(&answer, now),
        Err(failure) => Verdict::from(of_failure(failure)),
    }
}

fn of_answer(answer: &Answer, now: DateTime<Utc>) -> Verdict {
    let retry_after_s = answer.retry_after.as_deref().and_then(|text| seconds(text, now));
    let status = answer.status;
    let outcome = match proof(status) {
        Proof::Success => done(&answer.body),
        Proof::Refusal => Outcome::Refused { status, problem: problem(&answer.body) },
        Proof::Throttled => {
            Outcome::NotSent { reason: format!("the service answered {status}"), retry_after_s }
        }
        Proof::Nothing => Outcome::InDoubt { reason: unproved(status, &answer.body) },
    };
    Verdict { outcome, retry_after_s }
}

fn of_failure(failure: Failure) -> Outcome {
    let in_doubt = |reason: &str| Outcome::InDoubt { reason: reason.to_owned() };
    match failure {
        Failure::NotConnected(reason) => Outcome::NotSent { reason, retry_after_s: None },
        Failure::Broken(reason) => Outcome::InDoubt { reason },
        Failure::TimedOut => in_doubt("no answer within the time allowed"),
        Failure::TooLarge => in_doubt("the answer is larger than allowed"),
    }
}

/// What a status proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    Success,
    Refusal,
    Throttled,
    Nothing,
}

/// The table. 201 and 204 are not the service's success, so something else answered; a 500 may
/// follow the effect; 408 and statuses that no standard registers (499 of some proxies) may too.
fn proof(status: u16) -> Proof {
    match status {
        200 => Proof::Success,
        429 => Proof::Throttled,
        400..=407 | 409..=417 | 421..=426 | 428 | 431 | 451 => Proof::Refusal,
        _ => Proof::Nothing,
    }
}

fn done(body: &[u8]) -> Outcome {
    if body.trim_ascii().is_empty() {
        return Outcome::Done { reply: Value::Null };
    }
    match serde_json::from_slice(body) {
        Ok(reply) => Outcome::Done { reply },
        Err(_unreadable) => Outcome::InDoubt {
            reason: "the service answered 200 with an unreadable body".to_owned(),
        },
    }
}

fn problem(body: &[u8]) -> Problem {
    serde_json::from_slice(body).unwrap_or_default()
}

fn unproved(status: u16, body: &[u8]) -> String {
    let problem = problem(body);
    let code = problem.code();
    let is_word = !code.is_empty() && code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    if is_word {
        format!("the service answered {status} {code}")
    } else {
        format!("the service answered {status}")
    }
}

/// `Retry-After` in seconds: a number of them, or a date (zero when it is past).
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
