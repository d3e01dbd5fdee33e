//! Intents: the durable record of one effect, written before it is sent, and its states.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::hash::{Digest, Mark, SourceId};
use crate::base::id::{IntentId, Key, Mode, RemoteId};
use crate::model::effect::{Exposure, ServiceRequest};
use crate::model::manifest::OnDoubt;
use crate::model::outcome::ServiceProblem;
use crate::model::state::observed::{AppliedSpec, Observation};

/// A durable record of one effect, with the exact request. Written before the request is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    pub id: IntentId,
    pub effect: String,
    pub key: Key,
    pub merchant: Key,
    pub mode: Mode,
    pub target: Option<RemoteId>,
    pub source_id: SourceId,
    /// The same name as short text for fields of the service.
    pub mark: Mark,
    pub request: StoredRequest,
    /// Required values of the answer, by path (law 4).
    pub expect: BTreeMap<String, Value>,
    pub applied: AppliedSpec,
    /// The known state just before the call.
    pub baseline: Value,
    /// Further arguments besides its resource, as its row requires them; null for most.
    #[serde(default, skip_serializing_if = "Value::is_null", rename = "about")]
    pub subject: Value,
    pub on_doubt: OnDoubt,
    pub cause: Cause,
    pub at: DateTime<Utc>,
    /// The amounts and counts that limits apply to.
    #[serde(default, skip_serializing_if = "Exposure::is_empty", rename = "stake")]
    pub exposure: Exposure,
}

/// A stored request, which can be sent again with the same bytes.
pub type StoredRequest = ServiceRequest<StoredBody>;

/// The bytes of a body, or their place in the vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoredBody {
    None,
    /// JSON without private values.
    Plain(String),
    /// JSON with private values: its name in the vault, and a keyed digest of the bytes.
    Sealed {
        reference: String,
        digest: Digest,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// The file, relative to `reckon.yaml`.
    pub file: Option<Arc<str>>,
    pub line: Option<usize>,
    pub commit: Option<String>,
    /// The file differed from its content in that commit: then no commit names its author.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncommitted: bool,
    /// First and last lines of the fields that made the effect; empty: the whole document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<(usize, usize)>,
    /// The person who commanded it; `None` for an effect of a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentState {
    /// Written; the call may be in progress. An intent found open at a start is in doubt. `attempt`
    /// is the number of times that it was sent, the present one included.
    Open {
        attempt: u32,
    },
    InDoubt {
        attempt: u32,
        reason: String,
    },
    /// On hold: only a person can settle it.
    #[serde(rename = "held")]
    OnHold {
        attempt: u32,
        reason: String,
    },
    Closed,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentProgress {
    #[serde(rename = "again")]
    Resent,
    Doubt {
        reason: String,
        /// The request did not arrive: it does not count as sent; an earlier doubt remains.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unsent: bool,
    },
    Done {
        observation: Box<Observation>,
        proof: EffectProof,
    },
    Refused {
        status: u16,
        problem: ServiceProblem,
    },
    /// No request reached the service, or the effect is confirmed absent.
    NotSent {
        reason: String,
    },
    /// No proof is possible. A creation will be repeated, and an orphan may remain. The fields of a
    /// change are unknown, and the next change sends all of them again.
    GivenUp {
        reason: String,
    },
    #[serde(rename = "held")]
    OnHold {
        reason: String,
        /// Facts that are known anyway, such as the id of an answer that does not match.
        observation: Option<Box<Observation>>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, derive_more::Display)]
#[serde(rename_all = "snake_case")]
pub enum EffectProof {
    #[display("answered")]
    Answer,
    #[display("found")]
    Found,
    /// The service refused a second one.
    #[display("refused as a duplicate")]
    Duplicate,
    #[display("confirmed by a person")]
    Person,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("intent {id} cannot go from {from} by {by}")]
pub struct IllegalTransition {
    pub id: IntentId,
    pub from: &'static str,
    pub by: &'static str,
}

impl IntentState {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Open { attempt: _ } => "open",
            Self::InDoubt { attempt: _, reason: _ } => "in_doubt",
            Self::OnHold { attempt: _, reason: _ } => "held",
            Self::Closed => "closed",
        }
    }

    pub fn attempt(&self) -> u32 {
        match self {
            Self::Open { attempt }
            | Self::InDoubt { attempt, reason: _ }
            | Self::OnHold { attempt, reason: _ } => *attempt,
            Self::Closed => 0,
        }
    }

    /// Returns the state after `progress`: the one table of an intent's life.
    pub fn next(&self, id: IntentId, progress: &IntentProgress) -> Result<Self, IllegalTransition> {
        let illegal = || IllegalTransition { id, from: self.word(), by: progress.word() };
        let attempt = self.attempt();
        match (self, progress) {
            (Self::Closed, _)
            | (Self::Open { .. }, IntentProgress::Resent | IntentProgress::GivenUp { .. }) => {
                Err(illegal())
            }
            (Self::InDoubt { .. } | Self::OnHold { .. }, IntentProgress::Resent) => {
                Ok(Self::Open { attempt: attempt.saturating_add(1) })
            }
            (_, IntentProgress::Doubt { reason, unsent }) => Ok(Self::InDoubt {
                attempt: attempt.saturating_sub(u32::from(*unsent)),
                reason: reason.clone(),
            }),
            (_, IntentProgress::OnHold { reason, observation: _ }) => {
                Ok(Self::OnHold { attempt, reason: reason.clone() })
            }
            (
                _,
                IntentProgress::Done { .. }
                | IntentProgress::Refused { .. }
                | IntentProgress::NotSent { .. }
                | IntentProgress::GivenUp { .. },
            ) => Ok(Self::Closed),
        }
    }
}

impl IntentProgress {
    pub fn observation(&self) -> Option<&Observation> {
        if let Self::Done { observation, proof: _ } = self {
            return Some(observation);
        }
        if let Self::OnHold { reason: _, observation } = self {
            observation.as_deref()
        } else {
            None
        }
    }

    pub fn word(&self) -> &'static str {
        match self {
            Self::Resent => "again",
            Self::Doubt { reason: _, unsent: _ } => "doubt",
            Self::Done { observation: _, proof: _ } => "done",
            Self::Refused { status: _, problem: _ } => "refused",
            Self::NotSent { reason: _ } => "not_sent",
            Self::GivenUp { reason: _ } => "given_up",
            Self::OnHold { reason: _, observation: _ } => "held",
        }
    }
}

/// An intent that is not closed, as the fold holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenIntent {
    pub intent: Intent,
    pub state: IntentState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime<Utc>>,
}

/// A person handled a repeated creation or a possible duplicate: `intents dismiss`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrphanDismissed {
    pub intent: IntentId,
    pub key: Key,
    pub reason: String,
    pub actor: String,
    pub at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_arrive_does_not_count_as_sent() {
        let id = IntentId::new(1);
        let doubt = |unsent| IntentProgress::Doubt { reason: "no answer".to_owned(), unsent };
        let mut state = IntentState::Open { attempt: 1 }.next(id, &doubt(false)).unwrap();
        for (unsent, sent) in [(true, 1), (true, 1), (false, 2), (true, 2)] {
            state = state.next(id, &IntentProgress::Resent).unwrap();
            state = state.next(id, &doubt(unsent)).unwrap();
            assert_eq!(state.attempt(), sent);
        }
        let plain = serde_json::to_value(doubt(false)).unwrap();
        assert_eq!(plain, serde_json::json!({"doubt": {"reason": "no answer"}}));
        assert_eq!(serde_json::from_value::<IntentProgress>(plain).unwrap(), doubt(false));
    }
}
