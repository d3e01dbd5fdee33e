//! Renders the results of approvals in signed commits.

use serde::Serialize;

use super::words::{clean, push_line as end};
use crate::model::issue::PlacedIssue;
use crate::model::operator::approval::ApprovalSignature;

/// Columns of the word before a file.
const WORD_WIDTH: usize = 10;
/// Characters shown of a commit's id.
const SHORT: usize = 12;

/// Every approval file, and the problems that invalidate all of them.
#[derive(Debug, Default, Serialize)]
pub struct SignedApprovalsView {
    /// Files, sorted by name.
    pub files: Vec<ApprovalFileView>,
    /// Problems that invalidate every file.
    pub problems: Vec<PlacedIssue>,
}

/// Result of an approval file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SignedFileStatus {
    /// The file approves the present plan.
    Counts,
    /// The approval was recorded before, and is not judged again.
    Known,
    /// The file names another plan than the present one.
    OtherPlan,
    /// The approval is refused.
    Refused,
}

/// One approval file.
#[derive(Debug, Serialize)]
pub struct ApprovalFileView {
    /// Path from the folder of the configuration.
    pub file: String,
    #[serde(rename = "standing")]
    pub status: SignedFileStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<ApprovalSignature>,
    /// Number of people who have approved the plan, and the number required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvers: Option<(usize, usize)>,
    /// Reasons for which the approval is refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<PlacedIssue>,
}

impl ApprovalFileView {
    /// Returns a file without further details.
    pub fn new(file: &str, standing: SignedFileStatus) -> Self {
        Self {
            file: file.to_owned(),
            status: standing,
            signer: None,
            signature: None,
            approvers: None,
            problems: Vec::new(),
        }
    }
}

impl SignedApprovalsView {
    /// Returns every problem that invalidates an approval.
    pub fn problems(&self) -> impl Iterator<Item = &PlacedIssue> {
        self.problems.iter().chain(self.files.iter().flat_map(|file| &file.problems))
    }
}

/// Renders all files for people.
pub fn text(view: &SignedApprovalsView) -> String {
    let mut out = String::new();
    if view.files.is_empty() && view.problems.is_empty() {
        return "there are no committed approval files\n".to_owned();
    }
    for file in &view.files {
        end(&mut out, &file_line(file));
    }
    for problem in view.problems() {
        end(&mut out, &problem_text(problem));
    }
    out
}

/// Renders a problem: its place, its code, the message and the help.
pub fn problem_text(problem: &PlacedIssue) -> String {
    let PlacedIssue { file, line, column, code, message, help, .. } = problem;
    let wrong = clean(&format!("error[{code}]: {file}:{line}:{column}: {message}"));
    format!("{wrong}\n  help: {}", clean(help))
}

/// Renders one file.
pub fn file_line(file: &ApprovalFileView) -> String {
    let (word, more) = match file.status {
        SignedFileStatus::Counts => ("counts", ""),
        SignedFileStatus::Known => ("known", "  recorded before"),
        SignedFileStatus::OtherPlan => ("waits", "  names another plan"),
        SignedFileStatus::Refused => ("refused", ""),
    };
    let signed = file.signer.as_ref().zip(file.signature.as_ref()).map(|(who, evidence)| {
        let commit = evidence.commit.get(..SHORT).unwrap_or(&evidence.commit);
        format!("  signed by {who} in commit {commit}, {}", evidence.key)
    });
    let missing = file.approvers.filter(|(by, needed)| by < needed);
    let missing = missing.map(|(by, needed)| format!("  ({by} of {needed} people)"));
    let (signed, missing) = (signed.unwrap_or_default(), missing.unwrap_or_default());
    clean(&format!("{word:WORD_WIDTH$} {}{more}{signed}{missing}", file.file))
}
