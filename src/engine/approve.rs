//! A person's approval of a live binding: what waits for one, and how it is written down.
//!
//! Approved is exactly what was shown. If the merchant waits for another binding by now, or for none,
//! nothing is written.

use tokio::sync::oneshot;

use super::question::Reply;
use super::shared::EngineError;
use super::tasks::Finished;
use super::{Engine, Shared};
use crate::model::bound::{Approval, LiveBinding};
use crate::model::plan::Reason;
use crate::model::record::Record;

/// An approval on its way to the engine.
#[derive(Debug)]
pub struct Approving {
    /// What was shown and is approved.
    pub binding: LiveBinding,
    /// Who approves.
    pub actor: String,
}

impl Engine {
    /// Every live binding that waits for a person.
    pub(super) fn approvals(&self) -> Vec<LiveBinding> {
        let waits = self.planner.steps().filter_map(|step| {
            if let Reason::AwaitsApproval(binding) = &step.reason {
                return Some((**binding).clone());
            }
            None
        });
        waits.collect()
    }

    /// Writes an approval down in a task of its own, and goes on once it is durable. The reply is empty if
    /// nothing waits for it.
    pub(super) fn approve(&mut self, approving: Approving, reply: oneshot::Sender<Reply>) {
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
                    Finished::Moved(key).answering(answer, reply)
                }
                Err(error) => Finished::Broken(error),
            }
        });
    }

    /// The same in a process in which nothing runs: for a command that holds the state itself.
    pub async fn approve_alone(&mut self, approving: Approving) -> Result<Reply, EngineError> {
        let Some(approval) = self.approval(approving) else { return Ok(Reply::Approved(None)) };
        write(&self.shared, &approval).await?;
        let key = approval.binding.merchant.clone();
        self.world.refresh(&self.shared.facts, &key)?;
        self.look_again([key].into());
        Ok(Reply::Approved(Some(Box::new(approval))))
    }

    /// The approval to be written, if just this waits for one and nothing is under way for it.
    fn approval(&self, approving: Approving) -> Option<Approval> {
        let Approving { binding, actor } = approving;
        let step = self.planner.step(&binding.merchant)?;
        let waits = matches!(&step.reason, Reason::AwaitsApproval(wanted) if **wanted == binding);
        let free = !self.busy.contains(&binding.merchant) && !self.stopping;
        (waits && free).then(|| Approval { binding, at: self.shared.now(), actor })
    }
}

async fn write(shared: &Shared, approval: &Approval) -> Result<(), EngineError> {
    let record = Record::Approval(Box::new(approval.clone()));
    shared.write(Vec::new(), vec![record]).await?;
    tracing::info!(key = %approval.binding.merchant, actor = approval.actor, "approved");
    Ok(())
}
