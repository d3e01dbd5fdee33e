//! Approval of the plan by a person: it must be the plan that was displayed, or nothing is written.
//!
//! The record names every step with its amounts. The approval is then valid for these and for no
//! others (`policy/approval.rs`), whatever the files contain later.

use std::collections::BTreeMap;

use crate::base::clock::timestamp;
use crate::base::fault_injection;
use crate::base::hash::sha256;
use crate::base::money::Currency;
use crate::engine::commands::decision::Decision;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::commands::plan_approval::{
    ApprovingPlan, PlanApprovalResult, ceilings,
};
use crate::engine::protocol::queries::views::{CHECKSUM_SHORT, PlanView};
use crate::engine::protocol::query::Reply;
use crate::engine::view::EngineView;
use crate::model::intents::exposure::SpendRequest;
use crate::model::operator::approval::PlanApproval;
use crate::model::record::Record;
use crate::policy::approval::first_excess;

impl EngineView<'_> {
    /// Decides about an approval of the plan.
    pub(crate) fn approve_plan(&self, approving: ApprovingPlan) -> Decision {
        match self.plan_approval(approving) {
            Ok(approval) => self.record_approval(approval),
            Err(refused) => Decision::answer(Reply::PlanApproved(refused)),
        }
    }

    /// Records an approval, and answers with the plan's approvers.
    pub(crate) fn record_approval(&self, approval: PlanApproval) -> Decision {
        let shared = self.shared.clone();
        Decision::run(async move {
            let answer = write(&shared, &approval).await?;
            Ok((TaskResult::Approved, Reply::PlanApproved(Box::new(answer))))
        })
    }

    /// Builds the approval to write.
    ///
    /// # Errors
    /// The plan is not the displayed one, or does not fit the request.
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
}

/// Records an approval, and returns the approval state of the plan with it.
async fn write(
    shared: &EngineShared,
    approval: &PlanApproval,
) -> Result<PlanApprovalResult, EngineError> {
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
