//! The overview, resources and plans as plain data: the source of JSON, of terminal output and of pages.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::base::hash::Digest;
use crate::base::id::{Key, Mode};
use crate::engine::protocol::alerts::UndeliveredAlertsView;
use crate::engine::protocol::next_steps::{NeedView, NextStep};
use crate::engine::protocol::payers::PaymentsView;
use crate::engine::protocol::time_rules::{TimeRuleView, holding_sentences};
use crate::model::change::{LimitExceeded, MonthlyDue, PlannedAction, Removal, Replaced};
use crate::model::holds::{Freeze, Hold, SyncGrant};
use crate::model::issue::{PlacedIssue, ProblemCounts, TreeProblems};
use crate::model::manifest::{Desired, TreeState};
use crate::model::plan::Standing;
use crate::model::state::drift::FieldChange;
use crate::model::state::health::Condition;
use crate::policy::PolicyRules;

/// Number of characters of a checksum that name a plan.
pub const CHECKSUM_SHORT: usize = 16;

/// Overview of the whole state: `/api/v1/status`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overview {
    pub resources: usize,
    pub ready: usize,
    /// Each resource counted in one class: their sum is `resources`.
    #[serde(default)]
    pub standings: StandingCounts,
    /// Resources that would change.
    pub changes: usize,
    /// Resources that need attention.
    pub stuck: usize,
    /// Orphans: remote objects whose document is missing and that are left as they are.
    pub orphaned: usize,
    /// Names that a person suspended; for a merchant, everything of it is suspended.
    #[serde(default)]
    pub suspended: usize,
    /// Resources with a task under way or queued.
    pub under_way: usize,
    pub open_intents: usize,
    /// Unusable documents.
    pub broken: usize,
    /// State of the tree: a missing document counts only if every file parsed.
    pub coverage: TreeState,
    /// Sequence of the last journal record.
    pub position: u64,
    /// Hash of the last journal record: an outside anchor for the chain.
    pub head: String,
    /// Delays of calls, if any.
    #[serde(default, skip_serializing_if = "TrafficView::is_free")]
    pub traffic: TrafficView,
    /// Free bytes of the state's file system, if they are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_low_bytes: Option<u64>,
    /// The sync of a manual daemon; left out for an automatic one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<Box<SyncView>>,
    /// The freeze in force: no change is sent before its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freeze: Option<Box<Freeze>>,
    /// The windows and freezes of the configuration, without the freezes that are over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<TimeRuleView>,
    /// The targets of alerts whose last one did not arrive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alerts: Vec<UndeliveredAlertsView>,
}

/// The sync of a daemon with `policy.sync: manual`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncView {
    /// True if the present documents wait for `sync`.
    pub awaits: bool,
    /// The last one; null if there was none.
    pub last: Option<SyncGrant>,
}

/// Number of resources in each class of [`Standing`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingCounts {
    pub needs_attention: usize,
    pub invalid: usize,
    pub unhealthy: usize,
    pub changing: usize,
    pub waiting: usize,
    pub suspended: usize,
    pub undocumented: usize,
    pub ready: usize,
}

impl Overview {
    /// Returns the sentences on what holds changes back, with the way out.
    pub fn hold_sentences(&self) -> Vec<String> {
        let freeze = self.freeze.iter().map(|freeze| freeze.sentence());
        freeze.chain(holding_sentences(&self.rules)).collect()
    }

    /// Returns true if no task is under way: an unready resource waits for a person or event.
    pub fn is_at_rest(&self) -> bool {
        self.under_way == 0
    }
}

/// One resource: an item of `/api/v1/resources` (design.md part 4).
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceView {
    pub kind: String,
    pub namespace: String,
    pub name: String,
    /// True if it matches its file, nothing of it is in doubt, and it has no problem.
    pub ready: bool,
    /// The class in which it is counted.
    pub standing: Standing,
    /// A CamelCase word.
    pub reason: String,
    /// One sentence.
    pub message: String,
    pub remote_id: Option<String>,
    #[serde(default)]
    pub conditions: Vec<Condition>,
    pub verdict: String,
    pub file: Option<String>,
    pub line: Option<usize>,
    /// Time of the newest known fact; later changes at the service are not known.
    pub last_known: Option<String>,
    /// Confidence in that fact now; only if there is an object.
    pub confidence: Option<Confidence>,
    /// Time at which the service last showed the known state; only if this process read it.
    pub verified_at: Option<String>,
    /// The merchant that it belongs to, as `Merchant/acme`.
    #[serde(default)]
    pub merchant: Option<String>,
    /// The labels of its document.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Minor units of the invoice, or of each payment of a recurring charge.
    #[serde(default)]
    pub amount: Option<i64>,
    /// ISO 4217.
    #[serde(default)]
    pub currency: Option<String>,
    /// The newest payment or attempt, and the next payment; only for resources that collect money.
    pub payments: Option<Box<PaymentsView>>,
    /// Number of times it was made again without proof that the first try failed.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub possible_orphans: u32,
    /// Commands that lead on, for a resource that is not ready; the first one is the nearest.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub next: Vec<NextStep>,
    /// The daemon's time: ages are relative to it; only in the view of one resource.
    pub at: Option<String>,
    /// The resources that its document needs, each with its own needs; only in the view of one
    /// resource.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub needs: Vec<NeedView>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub facts: BTreeMap<String, Value>,
}

impl ResourceView {
    /// Returns true if it has no document; a broken one counts as a document.
    pub fn has_no_document(&self) -> bool {
        self.file.is_none() && self.reason != "BrokenDocument"
    }

    pub fn is_of(&self, key: &Key) -> bool {
        self.kind == key.kind.as_str()
            && self.namespace == key.namespace.as_str()
            && self.name == key.name.as_str()
    }
}

/// Confidence in the known state of an object (design.md part 3, Kinds without read-back).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// It was read since, and its visible part is as applied.
    Verified,
    /// It can be read, but was not since this process began: it may have been changed.
    LastKnown,
    /// The service does not show it, so a change cannot be detected.
    CannotBeVerified,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListReadView {
    pub merchant: String,
    pub list: String,
    /// Time of the read; `None` if the service has no such list.
    pub at: Option<String>,
}

/// The plan and its basis: `plan -o json` and `/api/v1/plan` (design.md part 4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanView {
    pub version: u32,
    /// State of the tree: a missing document counts only if every file parsed.
    pub coverage: TreeState,
    /// Sequence of the last journal record behind the plan.
    pub position: u64,
    /// Hash of that record.
    pub head: String,
    pub commit: Option<String>,
    /// A digest of the paths and bytes of the files behind the plan.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub files: Option<Digest>,
    /// The checksum that an approval names: plans with equal checksums do the same.
    #[serde(default)]
    pub checksum: String,
    /// Lists that were read at the service; everything else is as last known.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub looked_at: Vec<ListReadView>,
    /// The compared trees, if the plan does not concern the service.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub against: Option<Box<Against>>,
    /// The reason for which no change of a document is sent now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Box<Hold>>,
    /// The windows and freezes of the configuration that hold changes back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<TimeRuleView>,
    /// Number of resources, settled ones included.
    pub resources: usize,
    /// Every step that is not settled, in dependency order.
    pub steps: Vec<StepView>,
    pub totals: Vec<MoneyView>,
    /// Money due by month, before and after these steps, for the resources that they change.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub due: Vec<DueView>,
    /// The first problems of the files.
    pub problems: Vec<PlacedIssue>,
    #[serde(skip_serializing_if = "ProblemCounts::is_zero", default)]
    pub omitted: ProblemCounts,
}

impl PlanView {
    /// Returns true if a document of the tree is unusable.
    pub fn has_errors(&self) -> bool {
        self.all_problems().errors > 0
    }

    /// Counts all problems of the files, listed or not.
    pub fn all_problems(&self) -> ProblemCounts {
        self.problems.iter().collect::<ProblemCounts>().plus(self.omitted)
    }
}

/// Two trees that are compared without a service: `plan --against`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Against {
    /// The commit that is assumed to be applied.
    pub before: String,
    /// The wanted commit; `None` if it is the present tree.
    pub after: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepView {
    pub kind: String,
    pub namespace: String,
    pub name: String,
    pub verdict: PlannedAction,
    /// The reason, as a CamelCase word.
    pub reason: String,
    /// The reason, as a sentence.
    pub message: String,
    /// True if a person has to act.
    pub stuck: bool,
    pub file: Option<String>,
    pub line: Option<usize>,
    /// Field by field, private values masked.
    pub changes: Vec<FieldChange>,
    pub money: Vec<MoneyView>,
    /// Change of the money due in each month; the plan has the sums.
    #[serde(skip)]
    pub due: Vec<MonthlyDue>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<Box<LimitExceeded>>,
    /// The replaced invoice, which stays payable.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub replaces: Option<Box<Replaced>>,
    /// The form of its removal, if its document is missing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub removal: Option<Removal>,
    /// The service's refusals, and warnings of dates that are over, each at its field.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub problems: Vec<PlacedIssue>,
    /// The merchant that it belongs to, as `Merchant/acme`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub merchant: Option<String>,
    /// The window or freeze of the configuration that holds it back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub held_by: Option<String>,
    /// Unready resources that it needs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub waits_for: Vec<Key>,
    /// Commands that lead on, if a person has to act.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub next: Vec<NextStep>,
}

/// An amount of money and its purpose.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct MoneyView {
    /// ISO 4217.
    pub currency: String,
    pub mode: Mode,
    pub meaning: String,
    /// In minor units.
    pub amount: i64,
}

pub(crate) fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DueView {
    /// The month: `2030-01`.
    pub month: String,
    /// ISO 4217.
    pub currency: String,
    pub mode: Mode,
    /// Minor units in the present state.
    pub before: i64,
    /// Minor units once the steps are done.
    pub after: i64,
    /// The difference in minor units; negative if less is due.
    pub difference: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficView {
    /// Merchants whose calls the service throttles; the partner's own calls count as one.
    #[serde(default)]
    pub slowed: usize,
    /// Answers 429 since the process began.
    #[serde(default)]
    pub throttled: u64,
    /// Hosts that are down and not called for a while.
    #[serde(default)]
    pub silent: Vec<DownHostView>,
    /// Seconds by which this machine's clock is ahead of the service's, as the last answer showed;
    /// negative: behind. Zero within half a minute.
    #[serde(default)]
    pub clock_ahead_seconds: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DownHostView {
    pub host: String,
    /// Start of the failures.
    pub since: String,
    pub next: String,
}

impl TrafficView {
    /// Returns true if no call is delayed, and the clocks agree.
    pub fn is_free(&self) -> bool {
        let Self { slowed, throttled, silent, clock_ahead_seconds } = self;
        *slowed == 0 && *throttled == 0 && silent.is_empty() && *clock_ahead_seconds == 0
    }
}

#[derive(Debug)]
pub struct ComparedTrees<'a> {
    /// The tree that is assumed to be applied.
    pub before: &'a Desired,
    /// The wanted tree.
    pub after: &'a Desired,
    pub against: Against,
    /// The problems of both trees' files.
    pub problems: TreeProblems,
    pub rules: &'a PolicyRules,
}
