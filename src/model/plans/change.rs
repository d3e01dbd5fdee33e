//! The planned change of one resource: its action, the invoice that it replaces, the money that
//! falls due by it in a month, and the limit that it exceeds.

use std::fmt;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::base::id::Mode;
use crate::base::money::Currency;
use crate::base::wording::count_verb;

/// The action of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlannedAction {
    /// The service matches; no action.
    #[serde(rename = "settled")]
    Settled,
    /// A remote object is created.
    Create,
    /// A remote object is changed in place.
    Update,
    /// A remote object is removed.
    Delete,
    /// The service is read, to learn more.
    Read,
    /// The document is missing; the remote object is left unchanged.
    Orphan,
    /// The step waits for another event.
    Wait,
    /// A person has to change something first.
    Blocked,
}

impl PlannedAction {
    /// Returns whether a step of this verdict is a change that `apply` would make.
    pub fn is_change(self) -> bool {
        match self {
            Self::Create | Self::Update | Self::Delete | Self::Read => true,
            Self::Settled | Self::Orphan | Self::Wait | Self::Blocked => false,
        }
    }
}

/// An invoice that a new one replaces. The service cannot end it: anyone with its link can pay it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// The name of the new one on the service.
    pub source_id: String,
    /// The old one's number, where it is known.
    pub old_number: Option<String>,
    /// The old one's id, where it is known.
    pub old_id: Option<String>,
    /// Always true.
    pub old_stays_payable: bool,
}

impl fmt::Display for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let old = self.old_number.as_ref().or(self.old_id.as_ref());
        let old = old.map_or("(number unknown)", String::as_str);
        write!(f, "old invoice {old} stays payable; the new one is {}", self.source_id)
    }
}

/// The change of one month's due money by one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonthlyDue {
    /// The first day of the month.
    pub month: NaiveDate,
    pub currency: Currency,
    pub mode: Mode,
    /// Minor units that are due before the step.
    pub before: i64,
    /// Minor units that are due after the step.
    pub after: i64,
}

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
