//! A plan that is saved in a file and applied once.
//!
//! Guarantees: it holds no secret, and of private values only those that `plan` shows. It is sealed
//! with the state's key, so that no other state accepts it, nor an edited one. Its token is used up
//! in the journal before the first call, so that it is applied once, whatever happens then. Changes
//! since it was made are reported by name (`stale.rs`); a journal that moved for other reasons does
//! not matter.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::hash::{Digest, canonical, keyed_digest};
use crate::base::id::Key;
use crate::engine::protocol::queries::views::{MoneyView, PlanView};
use crate::model::operator::suspension::StepSelection;
use crate::model::plans::change::PlannedAction;

/// Labels of keyed digests: of the whole, of the state that made it, of documents and of facts.
const SEAL: &str = "saved-plan";

/// Options of a plan to be saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavePlan {
    /// The selected steps.
    pub scope: StepSelection,
    /// True if the tree differs from its commit, if there is one.
    pub dirty: Option<bool>,
}

/// A plan in a file.
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
    /// The selection.
    pub scope: StepSelection,
    /// The basis of its steps.
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
    /// The planned action.
    pub verdict: PlannedAction,
    /// The file of its document.
    pub file: Option<String>,
    /// The line of its document.
    pub line: Option<usize>,
    /// A keyed digest of its document; `None` if that is missing.
    pub document: Option<Digest>,
    /// Its known state: a keyed digest for each fact.
    pub observed: BTreeMap<String, String>,
    /// The money that it moves.
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
