//! Approval of a live authorisation by a person: lists the waiting ones, and records the approval.
//!
//! An approval covers exactly the authorisation that was displayed. If the merchant now waits for
//! another one, or for none, nothing is written.

use tokio::sync::oneshot;

use crate::engine::core::coordinator::Engine;
use crate::engine::core::handles::{EngineError, EngineShared};
use crate::engine::core::task_result::TaskResult;
use crate::engine::queries::protocol::Reply;
use crate::model::plans::plan::Reason;
use crate::model::record::Record;
use crate::model::state::credentials::{BindingApproval, LiveBinding};

/// An approval on its way to the engine.
#[derive(Debug)]
pub struct ApproveLive {
    /// The authorisation that was displayed and is approved.
    pub binding: LiveBinding,
    pub actor: String,
}

impl Engine {
    /// Returns every live authorisation that waits for a person.
    pub(crate) fn approvals(&self) -> Vec<LiveBinding> {
        let waits = self.planner.steps().filter_map(|step| {
            if let Reason::AwaitsApproval(binding) = &step.reason {
                return Some((**binding).clone());
            }
            None
        });
        waits.collect()
    }

    /// Records an approval in a task of its own; the engine continues once it is durable. The reply
    /// is empty if no merchant waits for this approval.
    pub(crate) fn approve(&mut self, approving: ApproveLive, reply: oneshot::Sender<Reply>) {
        let Some(approval) = self.approval(approving) else {
            return reply.send(Reply::Approved(None)).unwrap_or_default();
        };
        let key = approval.binding.merchant.clone();
        self.busy.insert(key.clone());
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match write(&shared, &approval).await {
                Ok(()) => {
                    let answer = Reply::Approved(Some(Box::new(approval)));
                    TaskResult::Changed(key).with_reply(answer, reply)
                }
                Err(error) => TaskResult::Broken(error),
            }
        });
    }

    /// Does the same in a process without tasks: for a command that holds the state itself.
    pub async fn approve_offline(&mut self, approving: ApproveLive) -> Result<Reply, EngineError> {
        let Some(approval) = self.approval(approving) else { return Ok(Reply::Approved(None)) };
        write(&self.shared, &approval).await?;
        let key = approval.binding.merchant.clone();
        self.known_state.refresh(&self.shared.facts, &key)?;
        self.replan([key].into());
        Ok(Reply::Approved(Some(Box::new(approval))))
    }

    /// Returns the approval to write, if the merchant waits for exactly this one and is not busy.
    fn approval(&self, approving: ApproveLive) -> Option<BindingApproval> {
        let ApproveLive { binding, actor } = approving;
        let step = self.planner.step(&binding.merchant)?;
        let waits = matches!(&step.reason, Reason::AwaitsApproval(wanted) if **wanted == binding);
        let free = !self.busy.contains(&binding.merchant) && !self.stopping;
        (waits && free).then(|| BindingApproval { binding, at: self.shared.now(), actor })
    }
}

async fn write(shared: &EngineShared, approval: &BindingApproval) -> Result<(), EngineError> {
    let record = Record::Approval(Box::new(approval.clone()));
    shared.write(Vec::new(), vec![record]).await?;
    tracing::info!(key = %approval.binding.merchant, actor = approval.actor, "approved");
    Ok(())
}
