//! Parts of long answers, for a page that shows one part at a time.

use serde::{Deserialize, Serialize};

use crate::base::id::{Key, Mode};
use crate::engine::protocol::resources::ListPart;
use crate::engine::protocol::views::{MoneyView, ResourceView, StepView};
use crate::model::issue::{PlacedIssue, ProblemCounts};
use crate::model::manifest::TreeState;

/// A part of the pending plan: the steps that are not settled, in the order of their keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanPart {
    pub coverage: TreeState,
    pub commit: Option<String>,
    /// Number of all resources, settled ones included.
    pub resources: usize,
    /// Number of steps that change something at the service.
    pub changes: usize,
    /// Number of steps that are not settled, shown or not.
    pub total: usize,
    pub part: ListPart,
    pub steps: Vec<StepView>,
    /// The money of the whole plan.
    pub totals: Vec<MoneyView>,
    /// The first problems of the files.
    pub problems: Vec<PlacedIssue>,
    pub omitted: ProblemCounts,
}

/// One resource with those that need it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceContext {
    pub resource: ResourceView,
    /// The first resources that need it.
    pub users: Vec<Key>,
    /// Number of resources that need it, listed or not.
    pub users_total: usize,
}

/// The money that existing objects collect, by currency and mode.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoneyOutlook {
    pub rows: Vec<OutlookRow>,
    /// Number of resources that the sums are made of so far.
    pub counted: usize,
    pub resources: usize,
}

/// Sums of one currency and mode, in minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutlookRow {
    /// ISO 4217.
    pub currency: String,
    pub mode: Mode,
    /// The newest payment of each resource, where it was made in the last 30 days.
    pub collected_30_days: i64,
    pub due_30_days: i64,
    pub due_12_months: i64,
    /// The months of `due_12_months`: the first one from today on, the last one up to the same day.
    pub months: Vec<MonthSum>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonthSum {
    /// As `2030-01`.
    pub month: String,
    pub amount: i64,
}
