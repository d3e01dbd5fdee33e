//! A limit that something would exceed: which, by how much, where it is set, and the way past it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::counted::verbed;
use crate::model::plan::Verdict;

/// A limit that stands in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Over {
    /// Its name, such as `policy.limits.per_day`.
    pub limit: String,
    /// What it allows, such as `5000.00 USD` or `10 deletes`.
    pub allows: String,
    /// What it would become.
    pub would: String,
    /// Where it is set, such as `reckon.yaml:14`.
    pub place: String,
    /// How much of the plan it is about.
    pub scope: Scope,
    /// What would be done if it did not stand in the way.
    pub wants: Verdict,
    /// Who approved it so far.
    pub approved_by: Vec<String>,
    /// How many have to, as far as that is known.
    pub approvers: usize,
}

/// How much of a plan a limit is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One amount by itself.
    Object,
    /// A sum, with this step added.
    Sum,
    /// A sum, with all steps of the plan added: none of them is done.
    Plan,
}

impl Over {
    /// Returns the sentence with the command that approves the plan of this checksum.
    pub fn of_plan(&self, checksum: &str) -> String {
        self.sentence(&format!("`reckon approve {checksum}`"))
    }

    fn sentence(&self, command: &str) -> String {
        let Self { limit, allows, would, place, approvers, .. } = self;
        let what = if self.scope == Scope::Plan { "the whole plan" } else { "this" };
        let who = if *approvers > 1 {
            format!("have {approvers} people approve")
        } else {
            "approve".to_owned()
        };
        format!(
            "{limit} allows {allows} ({place}), and {what} would make it {would}: raise it there, or {who} the plan: \
             {command}{}",
            self.progress()
        )
    }

    /// The people who approved the plan already, and the count of those who have to.
    fn progress(&self) -> String {
        let Self { approved_by, approvers, .. } = self;
        let missing = approvers.saturating_sub(approved_by.len());
        if approved_by.is_empty() || missing == 0 {
            return String::new();
        }
        let more = verbed(missing, "more person has", "more people have");
        format!(" ({} did, {more} to)", approved_by.join(", "))
    }
}

/// The sentence where the checksum of the plan is not at hand.
impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence("`reckon plan` shows the command"))
    }
}
