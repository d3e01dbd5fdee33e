//! An approval of the plan in a signed commit: it is recorded like that of a command.
//!
//! The creator of such an event has verified the commit and its signature (`cli/commands/signed/approval.rs`). The
//! event is created in this process alone: no request of another process becomes one.

use crate::engine::commands::decision::Decision;
use crate::engine::handles::shared::EngineError;
use crate::engine::protocol::commands::plan_approval::PlanApprovalResult;
use crate::engine::protocol::commands::signed_approval::ApproveSigned;
use crate::engine::protocol::query::Reply;
use crate::engine::view::EngineView;
use crate::model::operator::approval::{ApprovalSignature, PlanApproval};

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
