//! The result of a call: four cases, and no fifth (design, words).
//!
//! An answer that did not arrive means *unknown*, not *failed*, so the type has no case for
//! "failed". An [`Outcome`] states that the effect happened, that it did not, or that the truth
//! must be found out.
//!
//! A refusal holds the service's own words, cleaned. The wire's form (`api::Problem`) is converted
//! where an answer is classified. Both have the same JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api;
use crate::base::outside_text::known::KnownValues;
use crate::base::outside_text::{ServiceCode, ServicePlace, ServiceText};

/// The only four results of a call. `Debug` leaves the reply out: it may hold a token or a key.
#[derive(Clone, PartialEq, Serialize, Deserialize, derive_more::Debug)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Status 200, or the 204 without a reply (service-facts, 3 and 4). An empty body is `Null`.
    #[debug("Done")]
    Done { reply: Value },
    /// The service refused and did nothing: a 4xx. The problem has no messages when there was no
    /// error body or it could not be read.
    #[debug("Refused({status} {})", problem.code())]
    Refused { status: u16, problem: ServiceProblem },
    /// Proved without effect: the connection was never made, the request was never written, or the
    /// service asked to come again later (429). The reason is for people, and never holds a secret.
    #[debug("NotSent({reason}; wait {retry_after_s:?} s)")]
    NotSent { reason: ServiceText, retry_after_s: Option<u64> },
    /// Any other result: a timeout, a reset, 5xx, 3xx, 408, a 200 that cannot be read, an answer
    /// too large. The reason is for people, and never holds a secret.
    #[debug("InDoubt({reason})")]
    InDoubt { reason: ServiceText },
}

impl Outcome {
    /// Makes a `NotSent` for an internal reason, which may repeat the operator's own text.
    pub fn not_sent(reason: &str) -> Self {
        let reason = ServiceText::clean(reason, &KnownValues::default());
        Self::NotSent { reason, retry_after_s: None }
    }
}

const MESSAGES_MAX: usize = 8;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceProblem {
    /// One entry per field or rule; at most eight.
    #[serde(default)]
    pub messages: Vec<ServiceMessage>,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceMessage {
    /// Machine-readable code, such as `invalid_data` or `card_declined`.
    #[serde(default)]
    pub code: ServiceCode,
    /// `error` or `info`.
    pub level: Option<ServiceCode>,
    /// `gateway` or `payment_processor`.
    pub facility: Option<ServiceCode>,
    pub message: Option<ServiceText>,
    /// The field's path, or `Type[id]` of a missing object.
    pub context: Option<ServicePlace>,
    pub sub_code: Option<ServiceCode>,
    /// The transaction that records a decline.
    pub entity_id: Option<ServicePlace>,
}

impl ServiceProblem {
    /// Cleans the body of an answer to a request that held `known` values.
    pub fn clean(wire: &api::rules::Problem, known: &KnownValues) -> Self {
        let messages = wire.messages.iter().take(MESSAGES_MAX);
        Self { messages: messages.map(|message| ServiceMessage::clean(message, known)).collect() }
    }

    /// Makes a refusal that an object showed later: its code, and a sentence of ours.
    pub fn from_code(code: &str, sentence: &str) -> Self {
        Self::clean(&api::rules::Problem::new(code, sentence), &KnownValues::default())
    }

    pub fn code(&self) -> &str {
        self.messages.first().map_or("", |message| message.code.as_str())
    }

    /// Returns whether an object of this type (`Token`) was not found: the context is `Type[id]`.
    pub fn lacks(&self, kind: &str) -> bool {
        let places = self.messages.iter().filter_map(|message| message.context.as_ref());
        let rest = |place: &ServicePlace| place.as_str().strip_prefix(kind).map(str::to_owned);
        self.code() == "resource_not_found"
            && places.filter_map(rest).any(|rest| rest.starts_with('['))
    }

    pub fn describe(&self) -> String {
        let words = self.messages.iter().map(|message| {
            let place = message.context.as_ref().map(ServicePlace::as_str);
            match place.filter(|place| !place.is_empty()) {
                Some(place) => format!("{place}: {}", message.text()),
                None => message.text().to_owned(),
            }
        });
        words.collect::<Vec<_>>().join("; ")
    }

    pub fn sentences(&self) -> String {
        self.messages.iter().map(ServiceMessage::text).collect::<Vec<_>>().join("; ")
    }
}

impl ServiceMessage {
    fn clean(wire: &api::rules::ProblemMessage, known: &KnownValues) -> Self {
        let code = |text: &String| ServiceCode::parse(text, known);
        let place = |text: &String| ServicePlace::parse(text, known);
        Self {
            code: code(&wire.code),
            level: wire.level.as_ref().map(code),
            facility: wire.facility.as_ref().map(code),
            message: wire.message.as_ref().map(|text| ServiceText::clean(text, known)),
            context: wire.context.as_ref().map(place),
            sub_code: wire.sub_code.as_ref().map(code),
            entity_id: wire.entity_id.as_ref().map(place),
        }
    }

    pub fn text(&self) -> &str {
        self.message.as_ref().map_or(self.code.as_str(), ServiceText::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_stored_under_the_name_of_its_kind() {
        let doubt = Outcome::InDoubt { reason: "timeout".into() };
        let stored = serde_json::to_string(&doubt).unwrap();
        assert_eq!(stored, r#"{"in_doubt":{"reason":"timeout"}}"#);
        assert_eq!(serde_json::from_str::<Outcome>(&stored).unwrap(), doubt);
    }

    #[test]
    fn a_reply_does_not_show() {
        let done = Outcome::Done { reply: serde_json::json!({"access_token": "canary"}) };
        assert_eq!(format!("{done:?}"), "Done");
    }

    /// Closes S2: an older record is readable, and shows none of its private values.
    #[test]
    fn an_old_refusal_stays_readable_and_is_cleaned() {
        let old = include_str!("../../tests/data/refusal-quoting-a-card.json");
        let problem: ServiceProblem = serde_json::from_str(old).unwrap();
        assert_eq!(problem.code(), "invalid_data");
        let words = problem.describe();
        assert_eq!(words, "card.number: number *** account *** of Jane; invalid_data");
        assert!(!serde_json::to_string(&problem).unwrap().contains("4242"));
    }

    #[test]
    fn a_refusal_of_today_has_the_form_of_before() {
        let wire = api::rules::Problem {
            messages: vec![api::rules::ProblemMessage::new("a_code", "why").with_context("x.y")],
        };
        let known = ServiceProblem::clean(&wire, &KnownValues::default());
        assert_eq!(serde_json::to_value(&known).unwrap(), serde_json::to_value(&wire).unwrap());
        let many = api::rules::Problem { messages: vec![wire.messages[0].clone(); 50_000] };
        assert_eq!(
            ServiceProblem::clean(&many, &KnownValues::default()).messages.len(),
            MESSAGES_MAX
        );
    }
}
