//! Approval of the plan by a person: it must be the plan that was displayed, or nothing is written.
//!
//! The record names every step with its amounts. The approval is then valid for these and for no
//! others (`policy/approval.rs`), whatever the files contain later.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::id::Mode;
use crate::base::money::{Currency, Money};
use crate::model::intents::exposure::SpendRequest;
use crate::model::operator::approval::{Ceiling, PlanApproval};

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

/// The result of an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanApprovalResult {
    /// The approval is recorded.
    Approved {
        approval: Box<PlanApproval>,
        /// The actors who have approved all of this plan.
        approved_by: Vec<String>,
        /// Number of approvers required.
        approvers: usize,
    },
    /// The plan has changed.
    Changed {
        /// The checksum of the present plan.
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
