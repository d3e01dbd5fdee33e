//! People's word that a plan may pass the limits.
//!
//! It names the plan's checksum, the sums that it stands for, and every step with its amounts. It is good
//! for these steps and these amounts or less, once each, and for nothing else (`policy/approval.rs`).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::id::{IntentId, Key, Mode};
use crate::base::money::Money;
use crate::model::stake::Wish;

/// A sum that was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ceiling {
    /// Test or live.
    pub mode: Mode,
    /// What happens to it.
    pub meaning: String,
    /// At most so much of it, all steps together.
    pub amount: Money,
}

/// One person's approval of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanApproval {
    /// Its name: no two approvals share one.
    pub id: String,
    /// The checksum of the plan that was looked at.
    pub checksum: String,
    /// What the plan adds up to.
    pub ceilings: Vec<Ceiling>,
    /// The steps, each with its amounts.
    pub steps: Vec<Wish>,
    /// Who said so.
    pub actor: String,
    /// When.
    pub at: DateTime<Utc>,
    /// The signed commit that says so, where it was no command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<Box<Signature>>,
}

/// The evidence of an approval that came in a signed commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// The approval's file, from the top of the repository.
    pub file: String,
    /// The commit that brought it.
    pub commit: String,
    /// The fingerprint of the key that signed the commit.
    pub key: String,
    /// When the approval ends, if its file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
}

/// An approval as the fold keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptApproval {
    /// What was approved.
    pub approval: PlanApproval,
    /// The steps that were done under it, each with its intent: an approval is used once.
    pub used: Vec<(Key, IntentId)>,
}

impl PlanApproval {
    /// Whether it came in this file of this commit.
    pub fn came_in(&self, file: &str, commit: &str) -> bool {
        self.signed.as_ref().is_some_and(|signed| signed.file == file && signed.commit == commit)
    }
}

impl KeptApproval {
    /// Whether this step was done under it already.
    pub fn is_used_for(&self, key: &Key) -> bool {
        self.used.iter().any(|(used, _)| used == key)
    }
}
