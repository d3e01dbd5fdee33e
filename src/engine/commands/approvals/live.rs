//! Approval of a live authorisation by a person: lists the waiting ones, and records the approval.
//!
//! An approval covers exactly the authorisation that was displayed. If the merchant now waits for
//! another one, or for none, nothing is written.

use crate::engine::commands::decision::Decision;
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::commands::approve::ApproveLive;
use crate::engine::protocol::query::Reply;
use crate::engine::view::EngineView;
use crate::model::plans::plan::Reason;
use crate::model::record::Record;
use crate::model::state::credentials::{BindingApproval, LiveBinding};

impl EngineView<'_> {
    /// Decides about an approval. The reply is empty if no merchant waits for this approval.
    pub(crate) fn approve(&self, approving: ApproveLive) -> Decision {
        let Some(approval) = self.approval(approving) else {
            return Decision::answer(Reply::Approved(None));
        };
        let key = approval.binding.merchant.clone();
        let record = Record::Approval(Box::new(approval.clone()));
        let answer = Reply::Approved(Some(Box::new(approval)));
        Decision::append(vec![record], TaskResult::Changed(key.clone()), answer).locking([key])
    }

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

    /// Returns the approval to write, if the merchant waits for exactly this one and is not busy.
    fn approval(&self, approving: ApproveLive) -> Option<BindingApproval> {
        let ApproveLive { binding, actor } = approving;
        let step = self.planner.step(&binding.merchant)?;
        let waits = matches!(&step.reason, Reason::AwaitsApproval(wanted) if **wanted == binding);
        let free = !self.scheduler.busy.contains(&binding.merchant) && !self.stopping;
        (waits && free).then(|| BindingApproval { binding, at: self.shared.now(), actor })
    }
}
