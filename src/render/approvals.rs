//! Renders approvals: a live binding for the person who approves it, an approval of a plan, and the
//! approvals in signed commits.

use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use crate::base::id::PublicKey;
use crate::base::wording::{count_noun, count_verb};
use crate::engine::protocol::approvals::PlanApprovalResult;
use crate::model::issue::PlacedIssue;
use crate::model::operator::ApprovalSignature;
use crate::model::state::credentials::{BindingApproval, LiveBinding};
use crate::render::words::{clean, or_not_known, push_line};

const LABEL_WIDTH: usize = 13;

pub fn live_binding(binding: &LiveBinding) -> String {
    let LiveBinding { merchant, application, generation, mode, name, public_keys } = binding;
    let mut out = format!("{} would be bound for real money to\n", clean(&merchant.short()));
    fact(&mut out, "name", &or_not_known(name.as_deref()));
    let keys: Vec<String> = public_keys.iter().map(PublicKey::as_str).map(clean).collect();
    fact(&mut out, "public keys", &keys.join(", "));
    fact(&mut out, "mode", mode.as_str());
    let by = format!("the code from the approval of {}", clean(&application.short()));
    fact(&mut out, "opened by", &by);
    fact(&mut out, "generation", &generation.to_string());
    out
}

pub fn approval_result(approval: &BindingApproval, is_running: bool) -> String {
    let next = if is_running { "the daemon continues" } else { "run `reckon apply` to continue" };
    let merchant = clean(&approval.binding.merchant.short());
    format!("{merchant} is approved by {}; {next}\n", clean(&approval.actor))
}

fn fact(out: &mut String, label: &str, text: &str) {
    push_line!(out, "  {label:LABEL_WIDTH$}{text}");
}

pub fn plan_approval_result(answer: &PlanApprovalResult) -> String {
    let PlanApprovalResult::Approved { approval, approved_by, approvers } = answer else {
        return String::new();
    };
    let mut out = String::new();
    let steps = count_noun(approval.steps.len(), "step");
    push_line!(out, "approved by {}: {steps}, once each, at most", clean(&approval.actor));
    for ceiling in &approval.ceilings {
        let meaning = clean(&ceiling.meaning).replace('_', " ");
        push_line!(out, "  {} {meaning} ({})", ceiling.amount, ceiling.mode.as_str());
    }
    let missing = approvers.saturating_sub(approved_by.len());
    let next = if missing == 0 {
        "it may pass the limits; run `reckon apply`, or let the daemon continue".to_owned()
    } else {
        let people = count_verb(missing, "more person", "more people");
        format!("{people} must approve it: so far {}", clean(&approved_by.join(", ")))
    };
    push_line!(out, "{next}");
    out
}

const WORD_WIDTH: usize = 10;
const COMMIT_LENGTH: usize = 12;

/// Every approval file, and the problems that invalidate all of them.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct SignedApprovalsView {
    /// Files, sorted by name.
    pub files: Vec<ApprovalFileView>,
    pub problems: Vec<PlacedIssue>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SignedFileStatus {
    Counts,
    /// The approval was recorded before, and is not judged again.
    Known,
    /// The file names another plan than the present one.
    OtherPlan,
    Refused,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApprovalFileView {
    /// Path from the folder of the configuration.
    pub file: String,
    #[serde(rename = "standing")]
    pub status: SignedFileStatus,
    pub signer: Option<String>,
    pub signature: Option<ApprovalSignature>,
    /// Number of people who have approved the plan, and the number required.
    pub approvers: Option<(usize, usize)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<PlacedIssue>,
}

impl ApprovalFileView {
    pub fn new(file: &str, status: SignedFileStatus) -> Self {
        let (signer, signature, approvers) = (None, None, None);
        Self { file: file.to_owned(), status, signer, signature, approvers, problems: Vec::new() }
    }
}

impl SignedApprovalsView {
    /// Returns every problem that invalidates an approval.
    pub fn problems(&self) -> impl Iterator<Item = &PlacedIssue> {
        self.problems.iter().chain(self.files.iter().flat_map(|file| &file.problems))
    }
}

pub fn signed_approvals(view: &SignedApprovalsView) -> String {
    let mut out = String::new();
    if view.files.is_empty() && view.problems.is_empty() {
        return "there are no committed approval files\n".to_owned();
    }
    for file in &view.files {
        push_line!(out, "{}", approval_file_line(file));
    }
    for problem in view.problems() {
        push_line!(out, "{}", approval_problem(problem));
    }
    out
}

pub fn approval_problem(problem: &PlacedIssue) -> String {
    let PlacedIssue { file, line, column, code, message, help, .. } = problem;
    let wrong = clean(&format!("error[{code}]: {file}:{line}:{column}: {message}"));
    format!("{wrong}\n  help: {}", clean(help))
}

pub fn approval_file_line(file: &ApprovalFileView) -> String {
    let (word, more) = match file.status {
        SignedFileStatus::Counts => ("counts", ""),
        SignedFileStatus::Known => ("known", "  recorded before"),
        SignedFileStatus::OtherPlan => ("waits", "  names another plan"),
        SignedFileStatus::Refused => ("refused", ""),
    };
    let signed = file.signer.as_ref().zip(file.signature.as_ref()).map(|(who, evidence)| {
        let commit = evidence.commit.get(..COMMIT_LENGTH).unwrap_or(&evidence.commit);
        format!("  signed by {who} in commit {commit}, {}", evidence.key)
    });
    let missing = file.approvers.filter(|(by, needed)| by < needed);
    let missing = missing.map(|(by, needed)| format!("  ({by} of {needed} people)"));
    let (signed, missing) = (signed.unwrap_or_default(), missing.unwrap_or_default());
    clean(&format!("{word:WORD_WIDTH$} {}{more}{signed}{missing}", file.file))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::base::id::Mode;

    #[test]
    fn all_that_is_approved_is_shown_and_steers_no_terminal() {
        let shown = LiveBinding {
            merchant: "Merchant/harbor".parse().unwrap(),
            application: "MerchantApplication/books/harbor".parse().unwrap(),
            generation: 2,
            mode: Mode::Live,
            name: Some("Harbor\u{1b}[2J Books".to_owned()),
            public_keys: BTreeSet::from([
                PublicKey::new("m_2").unwrap(),
                PublicKey::new("m_1").unwrap(),
            ]),
        };
        insta::assert_snapshot!(live_binding(&shown), @r"
        Merchant/harbor would be bound for real money to
          name         Harbor\u{1b}[2J Books
          public keys  m_1, m_2
          mode         live
          opened by    the code from the approval of MerchantApplication/books/harbor
          generation   2
        ");
        let at = "2026-11-21T12:00:00Z".parse().unwrap();
        let approval = BindingApproval { binding: shown, at, actor: "uid 1000".to_owned() };
        let text = "Merchant/harbor is approved by uid 1000; the daemon continues\n";
        assert_eq!(approval_result(&approval, true), text);
        assert!(approval_result(&approval, false).contains("`reckon apply`"));
    }
}
