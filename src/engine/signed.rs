//! An approval of the plan that came in a signed commit: journaled as the one of a command is.
//!
//! Who made such an event has looked at the commit and its signature (`cli/signed.rs`). It is made in this
//! process alone: no request of another process becomes one.

use tokio::sync::oneshot;

use super::Engine;
use super::plan_approval::{ApprovingPlan, PlanAnswer, write};
use super::question::Reply;
use super::shared::EngineError;
use super::tasks::Finished;
use crate::model::plan_approval::{PlanApproval, Signature};

/// A signed approval on its way to the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signing {
    /// What is approved; its actor is the signer.
    pub plan: ApprovingPlan,
    /// The evidence.
    pub signature: Signature,
    /// When it was signed, as the commit says.
    pub at: chrono::DateTime<chrono::Utc>,
}

impl Engine {
    /// Writes it down in a task of its own, and goes on once it is durable.
    pub(super) fn approve_signed(&mut self, signing: Signing, reply: oneshot::Sender<Reply>) {
        let approval = match self.signed_approval(signing) {
            Ok(Ok(approval)) => approval,
            Ok(Err(refused)) => {
                // Whoever asked may have gone away.
                return drop(reply.send(Reply::PlanApproved(refused)));
            }
            Err(error) => {
                self.tasks.spawn(async move { Finished::Broken(error) });
                return;
            }
        };
        self.write_approval(approval, reply);
    }

    /// The same in a process in which nothing runs.
    pub async fn approve_signed_alone(
        &mut self,
        signing: Signing,
    ) -> Result<PlanAnswer, EngineError> {
        match self.signed_approval(signing)? {
            Err(refused) => Ok(*refused),
            Ok(approval) => {
                let answer = write(&self.shared, &approval).await?;
                self.approved();
                Ok(answer)
            }
        }
    }

    /// The approval to be written. What came in a commit is written down once: it is used once.
    fn signed_approval(
        &self,
        signing: Signing,
    ) -> Result<Result<PlanApproval, Box<PlanAnswer>>, EngineError> {
        let Signing { plan, signature, at } = signing;
        let kept = self.shared.facts.plan_approvals()?;
        let Signature { file, commit, .. } = &signature;
        if kept.iter().any(|kept| kept.approval.came_in(file, commit)) {
            return Ok(Err(Box::new(PlanAnswer::Nothing)));
        }
        let approval = self.plan_approval(plan);
        Ok(approval.map(|approval| PlanApproval {
            at: at.min(approval.at),
            signed: Some(Box::new(signature)),
            ..approval
        }))
    }
}
