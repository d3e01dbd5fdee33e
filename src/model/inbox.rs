//! A notification that the service sent by itself, as it was stored before it was answered.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::Key;

/// One stored notification. It is a hint: anyone can post one (partner-api, Events).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboxEvent {
    /// A keyed digest of where it came to and what it said: an equal one is the same one again.
    pub id: Digest,
    /// When it came.
    pub at: DateTime<Utc>,
    /// The reference at the end of the path that it was posted to.
    pub reference: String,
    /// The vault's name of the sealed body.
    pub body: String,
    /// The resource that the reference is the mark of; `None`: it is not one of ours.
    pub matched: Option<Key>,
    /// Why it teaches nothing, in a sentence: anyone can post one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored: Option<String>,
}
