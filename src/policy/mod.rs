//! The operator's policy: limits, typical amounts, approvals, the guards of removals, and the times
//! of changes.
//!
//! Pure. The plan checks before anything is sent (`engine/limits/rules.rs`), and the executor's meter
//! checks again before each intent is written (`engine/limits/budget.rs`). Both call the same functions,
//! with the totals so far.

pub mod limit_check;
pub mod limits;
pub mod permission;
pub mod prune;
pub mod time_rules;

pub use limits::Limits;
pub use permission::{AllowedMerchants, ApprovalRules, Rights, ScriptPower};
pub use time_rules::TimeRules;

/// All rules of the operator's file on limits, approvals and times.
#[derive(Debug, Clone, Default)]
pub struct PolicyRules {
    pub limits: Limits,
    pub approvals: ApprovalRules,
    pub times: TimeRules,
}
