//! Intents: the durable record of one effect, written before it is sent, and the table of its
//! states.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::call::{Auth, Host, Method};
use crate::base::hash::{Digest, Mark, SourceId};
use crate::base::id::{IntentId, Key, Mode, RemoteId};
use crate::model::effect::Exposure;
use crate::model::manifest::OnDoubt;
use crate::model::outcome::ServiceProblem;
use crate::model::state::observed::{AppliedSpec, Observation};

/// A durable record of one effect, with the exact request. Written before the request is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    pub id: IntentId,
    /// The effect's row in the register.
    pub effect: String,
    /// The resource that the effect is for.
    pub key: Key,
    /// The merchant that the effect concerns.
    pub merchant: Key,
    pub mode: Mode,
    /// The remote object that it changes.
    pub target: Option<RemoteId>,
    /// The permanent name of the required effect.
    pub source_id: SourceId,
    /// The same name as short text for fields of the service.
    pub mark: Mark,
    pub request: StoredRequest,
    /// Required values of the answer, by path (law 4).
    pub expect: BTreeMap<String, Value>,
    /// The state of the service once the effect is done.
    pub applied: AppliedSpec,
    /// The known state just before the call.
    pub baseline: Value,
    /// Further arguments besides its resource, as its row requires them; null for most.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[serde(rename = "about")]
    pub subject: Value,
    /// The settlement where no proof of the effect exists.
    pub on_doubt: OnDoubt,
    pub cause: Cause,
    pub at: DateTime<Utc>,
    /// The amounts and counts that limits apply to.
    #[serde(default, skip_serializing_if = "Exposure::is_empty")]
    #[serde(rename = "stake")]
    pub exposure: Exposure,
}

/// A stored request, which can be sent again with the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRequest {
    /// The endpoint's name.
    pub endpoint: String,
    pub method: Method,
    pub host: Host,
    /// The path with its parameters filled in.
    pub path: String,
    pub auth: Auth,
    /// The merchant's account whose own key authenticates the call; `None` for the merchant's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The address of the web host, where it is not the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_url: Option<String>,
    pub body: StoredBody,
}

/// The bytes of a body, or their place in the vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoredBody {
    None,
    /// JSON without private values.
    Plain(String),
    /// JSON with private values, in the vault.
    Sealed {
        /// The vault's name of the body.
        reference: String,
        /// A keyed digest of the bytes.
        digest: Digest,
    },
}

/// The origin of an intent: commit, file and line of its document, or the person who commanded it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The file, relative to `reckon.yaml`.
    pub file: Option<Arc<str>>,
    /// The line of its document.
    pub line: Option<usize>,
    /// The git commit of the tree, where there is one.
    pub commit: Option<String>,
    /// The file differed from its content in that commit: then no commit names its author.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncommitted: bool,
    /// The lines of the fields whose change made the effect, each with its first and last; empty:
    /// the whole document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<(usize, usize)>,
    /// The person who commanded it; `None` for an effect of a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

/// State of an intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentState {
    /// Written; the call may be in progress. An intent found open at a start is in doubt.
    Open {
        /// Number of times that it was sent, the present one included.
        attempt: u32,
    },
    /// The answer was lost.
    InDoubt {
        /// Number of times that it was sent.
        attempt: u32,
        /// The fate of the answer.
        reason: String,
    },
    /// On hold: only a person can settle it.
    #[serde(rename = "held")]
    OnHold {
        /// Number of times that it was sent.
        attempt: u32,
        /// The cause, with the evidence.
        reason: String,
    },
    /// Settled, in any way.
    Closed,
}

/// A later record about an intent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentProgress {
    /// It is about to be sent once more.
    #[serde(rename = "again")]
    Resent,
    /// The answer was lost.
    Doubt {
        /// The fate of the answer.
        reason: String,
        /// The request did not even arrive: it does not count as sent, and an earlier doubt
        /// remains.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unsent: bool,
    },
    /// The effect happened.
    Done { observation: Box<Observation>, proof: EffectProof },
    /// The service refused it and did nothing.
    Refused {
        /// The HTTP status.
        status: u16,
        /// The service's words.
        problem: ServiceProblem,
    },
    /// No request reached the service, or the effect is confirmed absent.
    NotSent {
        /// The evidence.
        reason: String,
    },
    /// No proof is possible. A creation will be repeated, and an orphan may remain. The fields of a
    /// change are unknown, and the next change sends all of them again.
    GivenUp {
        /// The justification.
        reason: String,
    },
    /// A person has to act.
    #[serde(rename = "held")]
    OnHold {
        reason: String,
        /// Facts that are known anyway, such as the id of an answer that does not match.
        observation: Option<Box<Observation>>,
    },
}

/// Evidence that an effect happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectProof {
    /// The service answered.
    Answer,
    /// A later lookup found it.
    Found,
    /// The service refused a second one.
    Duplicate,
    /// A person confirmed it.
    Person,
}

/// A progress that does not fit the state: an internal error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("intent {id} cannot go from {from} by {by}")]
pub struct IllegalTransition {
    pub id: IntentId,
    /// The present state.
    pub from: &'static str,
    /// The rejected progress.
    pub by: &'static str,
}

impl IntentState {
    /// Returns the state's name for people and machines.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Open { attempt: _ } => "open",
            Self::InDoubt { attempt: _, reason: _ } => "in_doubt",
            Self::OnHold { attempt: _, reason: _ } => "held",
            Self::Closed => "closed",
        }
    }

    /// Returns the number of tries.
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
    /// Returns the observation that a progress contains.
    pub fn observation(&self) -> Option<&Observation> {
        match self {
            Self::Done { observation, proof: _ } => Some(observation),
            Self::OnHold { reason: _, observation } => observation.as_deref(),
            Self::Resent
            | Self::Doubt { .. }
            | Self::NotSent { .. }
            | Self::Refused { .. }
            | Self::GivenUp { .. } => None,
        }
    }

    /// Returns the progress's name.
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

impl fmt::Display for EffectProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answer => "answered",
            Self::Found => "found",
            Self::Duplicate => "refused as a duplicate",
            Self::Person => "confirmed by a person",
        })
    }
}

/// An intent that is not closed, as the fold holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenIntent {
    pub intent: Intent,
    pub state: IntentState,
    /// Time since which it is in that state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime<Utc>>,
}

/// A person's statement that a repeated creation, or a possible duplicate at the service, was
/// handled: `intents dismiss`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrphanDismissed {
    /// The intent whose outcome was not known.
    pub intent: IntentId,
    /// The resource that was created again.
    pub key: Key,
    /// The reason for which it is no longer listed.
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
