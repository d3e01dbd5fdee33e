//! An exceeded limit: its name, the excess, its place, and the approval that permits it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::plan::PlannedAction;
use crate::base::plural::count_verb;

/// A limit that a step would exceed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitExceeded {
    /// The limit's name, such as `policy.limits.per_day`.
    pub limit: String,
    /// The allowed value, such as `5000.00 USD` or `10 deletes`.
    #[serde(rename = "allows")]
    pub allowed: String,
    /// The value that the step would cause.
    #[serde(rename = "would")]
    pub resulting: String,
    /// The place of the limit, such as `reckon.yaml:14`.
    pub place: String,
    pub scope: LimitScope,
    /// The step's action without this limit.
    #[serde(rename = "wants")]
    pub intended: PlannedAction,
    /// The people who approved it so far.
    pub approved_by: Vec<String>,
    /// Number of necessary approvers, as far as it is known.
    pub approvers: usize,
}

/// The part of a plan that a limit applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitScope {
    /// One amount by itself.
    Object,
    /// A sum, with this step added.
    Sum,
    /// A sum, with all steps of the plan added: none of them is done.
    Plan,
}

impl LimitExceeded {
    /// Returns the sentence with the command that approves the plan of this checksum.
    pub fn for_plan(&self, checksum: &str) -> String {
        self.sentence(&format!("`reckon approve {checksum}`"))
    }

    fn sentence(&self, command: &str) -> String {
        let Self { limit, allowed: allows, resulting: would, place, approvers, .. } = self;
        let what = if self.scope == LimitScope::Plan { "the whole plan" } else { "this step" };
        let who = if *approvers > 1 {
            format!("have {approvers} people approve")
        } else {
            "approve".to_owned()
        };
        format!(
            "{limit} allows {allows} ({place}), and {what} would make it {would}; raise the limit there, or {who} \
             the plan: {command}{}",
            self.approval_progress()
        )
    }

    /// Formats the people who approved the plan already, and the number of missing approvals.
    fn approval_progress(&self) -> String {
        let Self { approved_by, approvers, .. } = self;
        let missing = approvers.saturating_sub(approved_by.len());
        if approved_by.is_empty() || missing == 0 {
            return String::new();
        }
        let more = count_verb(missing, "more person has", "more people have");
        format!(" ({} approved; {more} to approve)", approved_by.join(", "))
    }
}

/// Formats the sentence without the checksum of the plan.
impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence("`reckon plan` shows the command"))
    }
}
