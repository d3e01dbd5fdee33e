//! Approvals by a person: of the plan, of a live authorisation, and of the plan by a signed commit.
//!
//! It must be what was displayed, or nothing is written. The record of a plan names every step with its
//! amounts. The approval is then valid for these and for no others (`policy/permission.rs`), whatever the
//! files contain later. The creator of a signed approval has verified the commit and its signature; it
//! is created in this process alone: no request of another process becomes one.

use std::collections::BTreeMap;

use crate::base::clock::timestamp;
use crate::base::fault_injection;
use crate::base::hash::sha256;
use crate::base::money::Currency;
use crate::engine::commands::decision::Decision;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::approvals::{
    ApproveLive, ApproveSigned, ApprovingPlan, PlanApprovalResult, ceilings,
};
use crate::engine::protocol::query::Reply;
use crate::engine::protocol::views::{CHECKSUM_SHORT, PlanView};
use crate::engine::view::EngineView;
use crate::model::effect::SpendRequest;
use crate::model::operator::{ApprovalSignature, PlanApproval};
use crate::model::plan::Reason;
use crate::model::record::Record;
use crate::model::state::credentials::{BindingApproval, LiveBinding};
use crate::policy::permission::first_excess;

impl EngineView<'_> {
    pub(crate) fn approve_plan(&self, approving: ApprovingPlan) -> Decision {
        self.record_approval(self.plan_approval(approving))
    }

    /// Records an approval, and answers with the plan's approvers.
    fn record_approval(&self, decided: Result<PlanApproval, Box<PlanApprovalResult>>) -> Decision {
        let approval = match decided {
            Ok(approval) => approval,
            Err(refused) => return Decision::answer(Reply::PlanApproved(refused)),
        };
        let shared = self.shared.clone();
        Decision::run(async move {
            let answer = write_approval(&shared, &approval).await?;
            Ok((TaskResult::Approved, Reply::PlanApproved(Box::new(answer))))
        })
    }

    /// Builds the approval to write. Fails unless the plan is the displayed one and fits it.
    pub(crate) fn plan_approval(
        &self,
        approving: ApprovingPlan,
    ) -> Result<PlanApproval, Box<PlanApprovalResult>> {
        let ApprovingPlan { checksum: named, ceilings: said, actor } = approving;
        let PlanView { checksum, .. } = self.plan_view();
        let same = checksum.starts_with(&named) || fault_injection::is_active("approval-reused");
        if named.len() < CHECKSUM_SHORT || !same {
            return Err(Box::new(PlanApprovalResult::Changed { checksum }));
        }
        let mut steps: Vec<SpendRequest> = self.spend_requests().collect();
        for step in &mut steps {
            step.amountless_digest = Some(self.digest_without_amounts(&step.key));
        }
        if steps.is_empty() {
            return Err(Box::new(PlanApprovalResult::Nothing));
        }
        let mut sums: BTreeMap<Currency, i64> = BTreeMap::new();
        for (currency, amount) in steps.iter().flat_map(|step| step.exposure.sums()) {
            let sum = sums.entry(currency).or_default();
            *sum = sum.saturating_add(amount);
        }
        if let Some((moves, ceiling)) = first_excess(&said, &sums) {
            return Err(Box::new(PlanApprovalResult::Beyond { moves, ceiling: ceiling.copied() }));
        }
        let at = self.shared.now();
        let head = self.shared.writer.head().sequence;
        let id = sha256(format!("{checksum} {actor} {} {head}", timestamp(&at)).as_bytes());
        let id = id.to_string().chars().take(CHECKSUM_SHORT).collect();
        let ceilings = ceilings(&steps);
        Ok(PlanApproval { id, checksum, ceilings, steps, actor, at, signed: None })
    }

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
            let Reason::AwaitsApproval(binding) = &step.reason else { return None };
            Some((**binding).clone())
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

    pub(crate) fn approve_signed(&self, signing: ApproveSigned) -> EngineResult<Decision> {
        Ok(self.record_approval(self.signed_approval(signing)?))
    }

    /// Returns the approval to write. An approval of a commit is recorded once, so it is used once.
    fn signed_approval(
        &self,
        signing: ApproveSigned,
    ) -> EngineResult<Result<PlanApproval, Box<PlanApprovalResult>>> {
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

/// Records an approval, and returns the approval state of the plan with it.
async fn write_approval(
    shared: &EngineShared,
    approval: &PlanApproval,
) -> EngineResult<PlanApprovalResult> {
    let record = Record::PlanApproval(Box::new(approval.clone()));
    shared.write(Vec::new(), vec![record]).await?;
    tracing::info!(checksum = approval.checksum, actor = approval.actor, "plan approved");
    let rules = &shared.settings.policy.approvals;
    let kept = shared.facts.plan_approvals()?;
    let same = kept.iter().map(|kept| &kept.approval);
    let same =
        same.filter(|one| one.checksum == approval.checksum && rules.is_valid(one, approval.at));
    let mut approved_by: Vec<String> = same.map(|one| one.actor.clone()).collect();
    approved_by.sort();
    approved_by.dedup();
    Ok(PlanApprovalResult::Approved {
        approval: Box::new(approval.clone()),
        approved_by,
        approvers: rules.approvers_needed(&approval.steps),
    })
}

#[cfg(test)]
mod tests;
