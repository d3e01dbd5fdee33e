//! An approval of the plan in a signed commit: it is recorded like that of a command.
//!
//! The creator of such an event has verified the commit and its signature (`cli/commands/signed/approval.rs`). The
//! event is created in this process alone: no request of another process becomes one.

use tokio::sync::oneshot;

use super::plan_approval::{ApprovingPlan, PlanApprovalResult, write};
use crate::engine::core::coordinator::Engine;
use crate::engine::core::handles::EngineError;
use crate::engine::core::task_result::TaskResult;
use crate::engine::queries::protocol::Reply;
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

impl Engine {
    /// Records an approval in a task of its own; the engine continues once it is durable.
    pub(crate) fn approve_signed(&mut self, signing: ApproveSigned, reply: oneshot::Sender<Reply>) {
        let approval = match self.signed_approval(signing) {
            Ok(Ok(approval)) => approval,
            Ok(Err(refused)) => {
                // The asker may have gone away.
                return drop(reply.send(Reply::PlanApproved(refused)));
            }
            Err(error) => {
                self.tasks.spawn(async move { TaskResult::Broken(error) });
                return;
            }
        };
        self.write_approval(approval, reply);
    }

    /// Does the same in a process without tasks.
    pub async fn approve_signed_offline(
        &mut self,
        signing: ApproveSigned,
    ) -> Result<PlanApprovalResult, EngineError> {
        match self.signed_approval(signing)? {
            Err(refused) => Ok(*refused),
            Ok(approval) => {
                let answer = write(&self.shared, &approval).await?;
                self.plan_approved();
                Ok(answer)
            }
        }
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
