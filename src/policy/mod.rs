//! The operator's policy: limits, typical amounts, approvals, and the guards of removals.
//!
//! Pure. The plan checks before anything is sent (`engine/limits/rules.rs`), and the executor's meter
//! checks again before each intent is written (`engine/limits/budget.rs`). Both call the same functions,
//! with the totals so far.

pub mod limit_check;
pub mod limits;
pub mod permission;
pub mod prune;

pub use limits::Limits;
pub use permission::{AllowedMerchants, ApprovalRules, Rights, ScriptPower};

/// All rules of the operator's file on limits and approvals.
#[derive(Debug, Clone, Default)]
pub struct PolicyRules {
    pub limits: Limits,
    pub approvals: ApprovalRules,
}
