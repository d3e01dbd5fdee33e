//! Partner webhooks about applications, as stored before the answer.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::Key;

/// One stored webhook. It is a hint: anyone can post one (partner-api, Events).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartnerWebhook {
    /// A keyed digest of its address and content: an equal one is the same webhook again.
    pub id: Digest,
    pub at: DateTime<Utc>,
    /// The reference at the end of its address's path.
    pub reference: String,
    /// The vault's name of the sealed body.
    pub body: String,
    /// The resource whose mark is the reference; `None`: no resource of ours has this mark.
    pub matched: Option<Key>,
    /// The reason for which it is ignored, in a sentence: anyone can post one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored: Option<String>,
}
