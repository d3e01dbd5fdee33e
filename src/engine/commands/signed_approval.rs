//! An approval of the plan in a signed commit: it is recorded like that of a command.
//!
//! The creator of such an event has verified the commit and its signature (`cli/commands/signed/approval.rs`). The
//! event is created in this process alone: no request of another process becomes one.

use super::decision::Decision;
use super::plan_approval::{ApprovingPlan, PlanApprovalResult};
use crate::engine::core::handles::EngineError;
use crate::engine::queries::protocol::Reply;
use crate::engine::view::EngineView;
use crate::model::operator::approval::{ApprovalSignature, PlanApproval};

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

impl EngineView<'_> {
    /// Decides about an approval of the plan by a signed commit.
    pub(crate) fn approve_signed(&self, signing: ApproveSigned) -> Result<Decision, EngineError> {
        Ok(match self.signed_approval(signing)? {
            Ok(approval) => self.record_approval(approval),
            Err(refused) => Decision::answer(Reply::PlanApproved(refused)),
        })
    }

    /// Returns the approval to write. An approval of a commit is recorded once, so it is used once.
    fn signed_approval(
        &self,
        signing: ApproveSigned,
    ) -> Result<Result<PlanApproval, Box<PlanApprovalResult>>, EngineError> {
        let ApproveSigned { plan, signature, at } = signing;
        let kept = self.shared.facts.plan_approvals()?;
        let ApprovalSignature { file, commit, .. } = &signature;
        if kept.iter().any(|kept| kept.approval.is_from(file, commit)) {
            return Ok(Err(Box::new(PlanApprovalResult::Nothing)));
        }
        let approval = self.plan_approval(plan);
        Ok(approval.map(|approval| PlanApproval {
            at: at.min(approval.at),
            signed: Some(Box::new(signature)),
            ..approval
        }))
    }
}
