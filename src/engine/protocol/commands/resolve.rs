//! Manual settlement of an intent that nothing else can settle.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::id::{IntentId, Key, RemoteId};

/// A person's decision about an intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ManualResolution {
    /// It happened; this is the object's id, which is read at the service.
    Done(RemoteId),
    /// It happened; this is the object's id, which only the person vouches for.
    Unverified(RemoteId),
    /// It did not happen, and cannot any more.
    NotDone,
    /// It is settled once more as its effect's row defines: sent again, or looked up.
    Retry,
}

/// A person's decision on its way to the engine.
#[derive(Debug)]
pub struct ResolveIntent {
    pub id: IntentId,
    pub said: ManualResolution,
    pub actor: String,
}

/// The result of a manual settlement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolveResult {
    /// There is no such unsettled intent.
    Unknown,
    /// It is being settled now; nothing was written.
    Busy(Key),
    /// It is settled.
    Settled(Key),
    /// It was tried once more, and is still not settled.
    Unsettled(Key, String),
    /// The object of the id differs from the request, for this reason. Nothing was written.
    Differs(Key, String),
    /// The object cannot be read, for this reason. A person has to confirm it with `unverified`;
    /// nothing was written.
    Unverified(Key, String),
}

impl FromStr for ManualResolution {
    type Err = String;

    /// Parses `done:REMOTE_ID`, `unverified:REMOTE_ID`, `not-done` or `retry`.
    ///
    /// # Errors
    /// The text to write instead.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("done", id)) => {
                RemoteId::new(id).map(Self::Done).map_err(|error| error.to_string())
            }
            Some(("unverified", id)) => {
                RemoteId::new(id).map(Self::Unverified).map_err(|error| error.to_string())
            }
            None if text == "not-done" => Ok(Self::NotDone),
            None if text == "retry" => Ok(Self::Retry),
            None if text == "done" => {
                Err("write the id of the created object: done:REMOTE_ID".to_owned())
            }
            Some(_) | None => {
                Err("write done:REMOTE_ID, unverified:REMOTE_ID, not-done or retry".to_owned())
            }
        }
    }
}

impl ManualResolution {
    /// Returns the word for the journal.
    pub(crate) fn word(&self) -> String {
        match self {
            Self::Done(id) => format!("done:{id}"),
            Self::Unverified(id) => format!("unverified:{id}"),
            Self::NotDone => "not-done".to_owned(),
            Self::Retry => "retry".to_owned(),
        }
    }
}
