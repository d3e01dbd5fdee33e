//! A durable promise of one effect, and the table of its states.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::{Auth, Host, Method};
use crate::base::hash::{Digest, Mark, SourceId};
use crate::base::id::{IntentId, Key, Mode, RemoteId};
use crate::model::manifest::OnDoubt;
use crate::model::observed::{Applied, Observation};
use crate::model::service_problem::ServiceProblem;
use crate::model::stake::Stake;

/// A durable promise of one effect, with the exact request. Written before anything is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// Its number.
    pub id: IntentId,
    /// The effect's row in the register.
    pub effect: String,
    /// The resource it is for.
    pub key: Key,
    /// The merchant it concerns.
    pub merchant: Key,
    /// Test or live.
    pub mode: Mode,
    /// The remote object it changes.
    pub target: Option<RemoteId>,
    /// The name of the obligation.
    pub source_id: SourceId,
    /// The same name as short text for fields of the service.
    pub mark: Mark,
    /// The exact request.
    pub request: StoredRequest,
    /// What the answer has to say, by path (law 4).
    pub expect: BTreeMap<String, Value>,
    /// What will have been put on the service once it is done.
    pub applied: Applied,
    /// What was known just before it was sent.
    pub baseline: Value,
    /// What it is about besides its resource, as its row takes it; null for most.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub about: Value,
    /// What to do when nothing proves whether it happened.
    pub on_doubt: OnDoubt,
    /// Why it was made.
    pub cause: Cause,
    /// When.
    pub at: DateTime<Utc>,
    /// What limits count of it.
    #[serde(default, skip_serializing_if = "Stake::is_empty")]
    pub stake: Stake,
}

/// A request as it is kept: to be sent again, the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRequest {
    /// The endpoint's name.
    pub endpoint: String,
    /// The HTTP method.
    pub method: Method,
    /// The host.
    pub host: Host,
    /// The path, filled in.
    pub path: String,
    /// What lets it in.
    pub auth: Auth,
    /// The merchant's account whose own key lets it in; none for the merchant's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The address of the web host, where it is not the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_url: Option<String>,
    /// The body.
    pub body: StoredBody,
}

/// The bytes of a body, or where they are sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoredBody {
    /// No body.
    None,
    /// JSON that anyone may read.
    Plain(String),
    /// JSON with private values, in the vault.
    Sealed {
        /// Where in the vault.
        reference: String,
        /// A keyed digest of the bytes.
        digest: Digest,
    },
}

/// Why an intent was made: the commit, file and line that asked for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The file, relative to `reckon.yaml`.
    pub file: Option<Arc<str>>,
    /// The line of its document.
    pub line: Option<usize>,
    /// The git commit of the tree, where there is one.
    pub commit: Option<String>,
    /// Whether the file differed from its content in that commit: then no commit says who wrote it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncommitted: bool,
    /// The lines of the fields whose change made the effect, each with its first and last; none: the whole document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<(usize, usize)>,
    /// Who asked for it by a command; none for what a document asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

/// Where an intent stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentState {
    /// Written down; the call may be under way. Found like this at a start, it is in doubt.
    Open {
        /// How often it was sent, the present time included.
        attempt: u32,
    },
    /// The answer was lost.
    InDoubt {
        /// How often it was sent.
        attempt: u32,
        /// What happened to the answer.
        reason: String,
    },
    /// Nothing can settle it but a person.
    Held {
        /// How often it was sent.
        attempt: u32,
        /// Why, with the evidence.
        reason: String,
    },
    /// Settled, one way or the other.
    Closed,
}

/// What is written about an intent after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// It is about to be sent once more.
    Again,
    /// The answer was lost.
    Doubt {
        /// What happened to it.
        reason: String,
        /// Whether it did not even arrive: then it does not count as sent, and what was in doubt before still is.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unsent: bool,
    },
    /// It happened.
    Done {
        /// What it taught us.
        observation: Box<Observation>,
        /// How we know.
        proof: Proof,
    },
    /// The service refused it and did nothing.
    Refused {
        /// The HTTP status.
        status: u16,
        /// The service's words.
        problem: ServiceProblem,
    },
    /// Nothing reached the service, or its absence is proved.
    NotSent {
        /// How we know.
        reason: String,
    },
    /// Nothing can prove it. What was to be made will be made again, and an orphan may remain; what was to be changed
    /// is not known, and the next change says all of it again.
    GivenUp {
        /// Why that is allowed.
        reason: String,
    },
    /// A person has to look.
    Held {
        /// Why.
        reason: String,
        /// What is known all the same, such as the id of an answer that does not match.
        observation: Option<Box<Observation>>,
    },
}

/// How we know that an effect happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// The service answered.
    Answer,
    /// It was found afterwards.
    Found,
    /// The service refused a second one.
    Duplicate,
    /// A person said so.
    Person,
}

/// A progress that does not fit the state: our own mistake.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("intent {id} cannot go from {from} by {by}")]
pub struct IllegalTransition {
    /// The intent.
    pub id: IntentId,
    /// The state it is in.
    pub from: &'static str,
    /// What was to happen.
    pub by: &'static str,
}

impl IntentState {
    /// The state's name for people and machines.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Open { attempt: _ } => "open",
            Self::InDoubt { attempt: _, reason: _ } => "in_doubt",
            Self::Held { attempt: _, reason: _ } => "held",
            Self::Closed => "closed",
        }
    }

    /// How often the intent was sent.
    pub fn attempt(&self) -> u32 {
        match self {
            Self::Open { attempt }
            | Self::InDoubt { attempt, reason: _ }
            | Self::Held { attempt, reason: _ } => *attempt,
            Self::Closed => 0,
        }
    }

    /// The state after `progress`: the one table of an intent's life.
    pub fn next(&self, id: IntentId, progress: &Progress) -> Result<Self, IllegalTransition> {
        let illegal = || IllegalTransition { id, from: self.word(), by: progress.word() };
        let attempt = self.attempt();
        match (self, progress) {
            (Self::Closed, _) | (Self::Open { .. }, Progress::Again | Progress::GivenUp { .. }) => {
                Err(illegal())
            }
            (Self::InDoubt { .. } | Self::Held { .. }, Progress::Again) => {
                Ok(Self::Open { attempt: attempt.saturating_add(1) })
            }
            (_, Progress::Doubt { reason, unsent }) => Ok(Self::InDoubt {
                attempt: attempt.saturating_sub(u32::from(*unsent)),
                reason: reason.clone(),
            }),
            (_, Progress::Held { reason, observation: _ }) => {
                Ok(Self::Held { attempt, reason: reason.clone() })
            }
            (
                _,
                Progress::Done { .. }
                | Progress::Refused { .. }
                | Progress::NotSent { .. }
                | Progress::GivenUp { .. },
            ) => Ok(Self::Closed),
        }
    }
}

impl Progress {
    /// The progress' name.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Again => "again",
            Self::Doubt { reason: _, unsent: _ } => "doubt",
            Self::Done { observation: _, proof: _ } => "done",
            Self::Refused { status: _, problem: _ } => "refused",
            Self::NotSent { reason: _ } => "not_sent",
            Self::GivenUp { reason: _ } => "given_up",
            Self::Held { reason: _, observation: _ } => "held",
        }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answer => "answered",
            Self::Found => "found",
            Self::Duplicate => "refused as a duplicate",
            Self::Person => "told by a person",
        })
    }
}

/// An intent that is not closed, as the fold keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenIntent {
    /// The promise.
    pub intent: Intent,
    /// Where it stands.
    pub state: IntentState,
    /// Since when it is in that state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime<Utc>>,
}

/// A person's word that what was made again, or may be at the service twice, was looked after: `intents dismiss`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrphanSeen {
    /// The intent whose fate was not known.
    pub intent: IntentId,
    /// The resource that was made again.
    pub key: Key,
    /// Why it is listed no more.
    pub reason: String,
    /// Who said so.
    pub actor: String,
    /// When.
    pub at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_arrive_does_not_count_as_sent() {
        let id = IntentId::new(1);
        let doubt = |unsent| Progress::Doubt { reason: "no answer".to_owned(), unsent };
        let mut state = IntentState::Open { attempt: 1 }.next(id, &doubt(false)).unwrap();
        for (unsent, sent) in [(true, 1), (true, 1), (false, 2), (true, 2)] {
            state = state.next(id, &Progress::Again).unwrap();
            state = state.next(id, &doubt(unsent)).unwrap();
            assert_eq!(state.attempt(), sent);
        }
        let plain = serde_json::to_value(doubt(false)).unwrap();
        assert_eq!(plain, serde_json::json!({"doubt": {"reason": "no answer"}}));
        assert_eq!(serde_json::from_value::<Progress>(plain).unwrap(), doubt(false));
    }
}
