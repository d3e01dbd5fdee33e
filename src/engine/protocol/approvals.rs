//! Approvals by people, and plans that are saved in files and applied once.
//!
//! An approval is valid for exactly what was displayed, the plan or the live authorisation. If that
//! has changed, nothing is written.
//!
//! Guarantees: a saved plan holds no secret, and of private values only those that `plan` shows. It is
//! sealed with the state's key, so that no other state accepts it, nor an edited one. Its token is used
//! up in the journal before the first call, so that it is applied once, whatever happens then. Changes
//! since it was made are reported by name; a journal that moved for other reasons does not matter.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::hash::{Digest, canonical, keyed_digest};
use crate::base::id::{Key, Mode};
use crate::base::money::{Currency, Money};
use crate::engine::protocol::views::{MoneyView, PlanView};
use crate::model::change::PlannedAction;
use crate::model::effect::SpendRequest;
use crate::model::operator::{ApprovalSignature, Ceiling, PlanApproval, StepSelection};
use crate::model::state::credentials::LiveBinding;

/// An approval on its way to the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovingPlan {
    /// The checksum of the displayed plan, or its beginning: 16 characters at least.
    pub checksum: String,
    /// The largest sum that may move in each currency; an empty list sets no ceiling.
    pub ceilings: Vec<Money>,
    #[serde(default)]
    pub actor: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanApprovalResult {
    Approved {
        approval: Box<PlanApproval>,
        approved_by: Vec<String>,
        approvers: usize,
    },
    Changed {
        checksum: String,
    },
    /// The plan has no exposure that limits count.
    Nothing,
    /// The plan moves more than the approver permitted.
    Beyond {
        /// The sum of that currency in the plan.
        moves: Money,
        /// The approver's ceiling; `None` if that currency was not named.
        ceiling: Option<Money>,
    },
}

/// Sums steps by mode, meaning and currency.
pub(crate) fn ceilings(steps: &[SpendRequest]) -> Vec<Ceiling> {
    let mut sums: BTreeMap<(Mode, &str, Currency), i64> = BTreeMap::new();
    for step in steps {
        for moved in &step.exposure.moves {
            let name = (step.mode, moved.meaning.as_str(), moved.amount.currency());
            let sum = sums.entry(name).or_default();
            *sum = sum.saturating_add(moved.amount.minor().saturating_abs());
        }
    }
    let ceiling = |((mode, meaning, currency), minor): ((Mode, &str, Currency), i64)| Ceiling {
        mode,
        meaning: meaning.to_owned(),
        amount: Money::new(minor, currency),
    };
    sums.into_iter().map(ceiling).collect()
}

#[derive(Debug)]
pub struct ApproveLive {
    /// The authorisation that was displayed and is approved.
    pub binding: LiveBinding,
    pub actor: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApproveSigned {
    /// The approved plan; its actor is the signer.
    pub plan: ApprovingPlan,
    pub signature: ApprovalSignature,
    /// The time of the signature, from the commit.
    pub at: DateTime<Utc>,
}

/// Labels of keyed digests: of the whole, of the state that made it, of documents and of facts.
const SEAL: &str = "saved-plan";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavePlan {
    pub scope: StepSelection,
    /// True if the tree differs from its commit, if there is one.
    pub dirty: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedPlan {
    /// The version of this form: [`SAVED_PLAN`]. The first field of the file.
    pub saved_plan: u32,
    /// Its name, for people and the journal.
    pub id: String,
    /// The token that its one use consumes.
    pub token: String,
    pub made_at: DateTime<Utc>,
    /// The version of the program that made it.
    pub program: String,
    /// The state that made it: a keyed digest that reveals nothing else.
    pub state: Digest,
    /// `partner.name`.
    pub partner: String,
    /// The epoch of the state: every restore opens a new one.
    pub epoch: u32,
    /// True if the tree differed from its commit.
    pub dirty: Option<bool>,
    pub scope: StepSelection,
    pub steps: Vec<SavedStep>,
    /// The plan, with its journal position, head, commit and checksum.
    pub plan: PlanView,
    /// A keyed digest over all of the above.
    pub seal: Digest,
}

/// A step that changes something, and its basis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedStep {
    pub key: Key,
    pub verdict: PlannedAction,
    pub file: Option<String>,
    pub line: Option<usize>,
    /// A keyed digest of its document; `None` if that is missing.
    pub document: Option<Digest>,
    /// Its known state: a keyed digest for each fact.
    pub observed: BTreeMap<String, String>,
    pub money: Vec<MoneyView>,
}

impl SavedPlan {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// It is no saved plan, or one that this program cannot read.
    pub fn read(text: &str) -> Result<(Self, Value), serde_json::Error> {
        let value: Value = serde_json::from_str(text)?;
        Ok((Self::deserialize(&value)?, value))
    }

    /// Returns true if it would change something.
    pub fn changes(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Returns the digest that seals the plan under this key. A plan that was read is digested as
    /// in its file ([`Self::seal_of`]), so that no part of the file escapes the check.
    pub(crate) fn seal_digest(&self, key: &[u8; 32]) -> Digest {
        Self::seal_of(serde_json::to_value(self).unwrap_or_default(), key)
    }

    /// Returns the digest that would seal the plan in this JSON value.
    pub fn seal_of(mut value: Value, key: &[u8; 32]) -> Digest {
        if let Some(fields) = value.as_object_mut() {
            fields.remove("seal");
        }
        keyed_digest(key, SEAL, &canonical(&value))
    }
}

/// The reason why a saved plan is not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanUnfit {
    /// Another program made it, in a form of this version.
    Form(u32),
    Partner(String),
    /// Another state made it.
    State,
    Edited,
    /// The state was restored since.
    Epoch {
        plan: u32,
        state: u32,
    },
    /// The state is behind the plan: it is an older copy.
    Ahead {
        plan: u64,
        state: u64,
    },
    Used(Box<UsedBefore>),
    /// Its basis has changed.
    Stale(Vec<PlanChange>),
}

/// A use of a plan, and the state of its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedBefore {
    pub plan: String,
    pub actor: String,
    pub at: DateTime<Utc>,
    /// The steps with nothing left to do.
    pub done: Vec<Key>,
    /// The steps with an unsettled effect.
    pub open: Vec<Key>,
    /// The steps that were not done.
    pub left: Vec<Key>,
}

/// One change since a plan was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChange {
    pub key: Key,
    /// The file of its document, now or then.
    pub file: Option<String>,
    pub line: Option<usize>,
    pub what: String,
}

#[cfg(test)]
mod tests;
