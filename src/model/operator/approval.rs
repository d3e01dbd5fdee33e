//! People's approval of a plan that exceeds limits.
//!
//! An approval names the plan's checksum, its sums, and every step with its amounts. It is valid
//! for these steps and these amounts or less, once each, and for nothing else
//! (`policy/approval.rs`).
//!
//! The use of a saved plan is recorded beside it: a plan is applied once.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::id::{IntentId, Key, Mode};
use crate::base::money::Money;
use crate::model::intents::exposure::SpendRequest;

/// An approved sum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ceiling {
    pub mode: Mode,
    /// The kind of the movement, as in the plan.
    pub meaning: String,
    /// Maximum amount, all steps together.
    pub amount: Money,
}

/// One person's approval of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanApproval {
    /// Unique among all approvals.
    pub id: String,
    /// The checksum of the plan that the person saw.
    pub checksum: String,
    /// The sums of the plan.
    pub ceilings: Vec<Ceiling>,
    /// The steps, each with its amounts.
    pub steps: Vec<SpendRequest>,
    pub actor: String,
    pub at: DateTime<Utc>,
    /// The signed commit that contains the approval, where it was no command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<Box<ApprovalSignature>>,
}

/// The evidence of an approval that came in a signed commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalSignature {
    /// The approval's file, from the top of the repository.
    pub file: String,
    /// The commit that added the file.
    pub commit: String,
    /// The fingerprint of the key that signed the commit.
    pub key: String,
    /// The end of the approval, if its file names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
}

/// An approval as the fold holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredApproval {
    pub approval: PlanApproval,
    /// The steps that were done under it, each with its intent: an approval is used once.
    pub used: Vec<(Key, IntentId)>,
}

impl PlanApproval {
    /// Returns whether the approval came in this file of this commit.
    pub fn is_from(&self, file: &str, commit: &str) -> bool {
        self.signed.as_ref().is_some_and(|signed| signed.file == file && signed.commit == commit)
    }
}

impl StoredApproval {
    /// Returns whether this step was already done under it.
    pub fn is_used_for(&self, key: &Key) -> bool {
        self.used.iter().any(|(used, _)| used == key)
    }
}

/// The one use of a saved plan. It is on disk before the first call of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanUse {
    /// The plan's id.
    pub plan: String,
    /// The consumed token: no plan with this token is applied again.
    pub token: String,
    /// The plan's checksum, which an approval can name.
    pub checksum: String,
    pub actor: String,
    pub at: DateTime<Utc>,
}
