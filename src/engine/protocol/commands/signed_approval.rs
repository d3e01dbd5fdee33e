//! An approval of the plan in a signed commit: it is recorded like that of a command.
//!
//! The creator of such an event has verified the commit and its signature (`cli/commands/signed/approval.rs`). The
//! event is created in this process alone: no request of another process becomes one.

use super::plan_approval::ApprovingPlan;
use crate::model::operator::approval::ApprovalSignature;

/// A signed approval on its way to the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApproveSigned {
    /// The approved plan; its actor is the signer.
    pub plan: ApprovingPlan,
    /// The evidence.
    pub signature: ApprovalSignature,
    /// The time of the signature, from the commit.
    pub at: chrono::DateTime<chrono::Utc>,
}
