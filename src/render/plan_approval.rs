//! Renders the result of an approval of a plan for people.

use super::words::{clean, push_line};
use crate::base::wording::{count_noun, count_verb};
use crate::engine::protocol::commands::plan_approval::PlanApprovalResult;

/// Renders the approved steps and amounts, the approver, and the number of missing approvers.
pub fn plan_approval_result(answer: &PlanApprovalResult) -> String {
    let PlanApprovalResult::Approved { approval, approved_by, approvers } = answer else {
        return String::new();
    };
    let mut out = String::new();
    let steps = count_noun(approval.steps.len(), "step");
    push_line(
        &mut out,
        &format!("approved by {}: {steps}, once each, at most", clean(&approval.actor)),
    );
    for ceiling in &approval.ceilings {
        let meaning = clean(&ceiling.meaning).replace('_', " ");
        push_line(&mut out, &format!("  {} {meaning} ({})", ceiling.amount, ceiling.mode.as_str()));
    }
    let missing = approvers.saturating_sub(approved_by.len());
    let next = if missing == 0 {
        "it may pass the limits; run `reckon apply`, or let the daemon continue".to_owned()
    } else {
        let people = count_verb(missing, "more person", "more people");
        format!("{people} must approve it: so far {}", clean(&approved_by.join(", ")))
    };
    push_line(&mut out, &next);
    out
}
