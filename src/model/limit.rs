//! A limit that something would exceed: which, by how much, where it is set, and the way past it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::plan::Verdict;

/// What stands for the checksum of the present plan, until that is known.
pub const CHECKSUM: &str = "CHECKSUM";

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

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, allows, would, place, scope, wants: _, approved_by, approvers } = self;
        let what = if *scope == Scope::Plan { "the whole plan" } else { "this" };
        write!(
            f,
            "{limit} allows {allows} ({place}), and {what} would make it {would}: raise it there, "
        )?;
        if *approvers > 1 {
            write!(f, "or have {approvers} people approve the plan: `reckon approve {CHECKSUM}`")?;
        } else {
            write!(f, "or approve the plan: `reckon approve {CHECKSUM}`")?;
        }
        let missing = approvers.saturating_sub(approved_by.len());
        if !approved_by.is_empty() && missing > 0 {
            let more = if missing == 1 { "person has" } else { "people have" };
            write!(f, " ({} did, {missing} more {more} to)", approved_by.join(", "))?;
        }
        Ok(())
    }
}
