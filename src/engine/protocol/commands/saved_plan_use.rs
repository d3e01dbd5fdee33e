//! Decides if a saved plan may be applied, and records its one use.

use chrono::{DateTime, Utc};

use super::saved_plan_stale::PlanChange;
use crate::base::id::Key;

/// The reason why a saved plan is not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanUnfit {
    /// Another program made it, in a form of this version.
    Form(u32),
    /// It is for another partner.
    Partner(String),
    /// Another state made it.
    State,
    /// It was edited since it was saved.
    Edited,
    /// The state was restored since.
    Epoch { plan: u32, state: u32 },
    /// The state is behind the plan: it is an older copy.
    Ahead {
        /// The plan's journal position.
        plan: u64,
        /// The state's journal position.
        state: u64,
    },
    /// It was used.
    Used(Box<UsedBefore>),
    /// Its basis has changed.
    Stale(Vec<PlanChange>),
}

/// A use of a plan, and the state of its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedBefore {
    /// The plan's id.
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
