//! What the operator allows: limits, how much is usual, what an approval lets through, and the guards of removals.
//!
//! Pure. The plan asks before anything is sent (`engine/limits.rs`), and the executor's meter asks again
//! before each intent is written (`engine/meter.rs`); both ask the same functions, with what was counted so far.

pub mod approval;
pub mod limits;
pub mod meter;
pub mod prune;
pub mod script_rights;
pub mod usual;

pub use approval::ApprovalRules;
pub use limits::Limits;
pub use script_rights::{Power, Rights, Whose};

/// Everything that the operator's file says about it.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// What may not be exceeded.
    pub limits: Limits,
    /// What a person's word takes to get past a limit.
    pub approvals: ApprovalRules,
}
