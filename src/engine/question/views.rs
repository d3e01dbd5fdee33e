//! The answers as plain data: what JSON, people and pages are made of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::due::DueView;
use super::payments::PaymentsView;
use super::traffic::TrafficView;
use crate::base::hash::Digest;
use crate::base::id::{Key, Mode};
use crate::model::condition::Condition;
use crate::model::desired::Coverage;
use crate::model::due::Due;
use crate::model::going::Removal;
use crate::model::issue::{Problem, ProblemCounts};
use crate::model::limit::Over;
use crate::model::plan::{FieldChange, Replaced, Verdict};

/// How things stand as a whole: `/api/v1/status`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    /// Resources in all.
    pub resources: usize,
    /// Those that are ready.
    pub ready: usize,
    /// Those that would change.
    pub changes: usize,
    /// Those that wait for a person.
    pub stuck: usize,
    /// Remote objects whose document is gone and that are left as they are.
    pub orphaned: usize,
    /// Names that a person suspended: of a merchant, everything of it stands still.
    #[serde(default)]
    pub suspended: usize,
    /// Resources that something is being done for, or queued.
    pub under_way: usize,
    /// Intents that are not closed.
    pub open_intents: usize,
    /// Documents that cannot be used.
    pub broken: usize,
    /// Whether absence of a document is believed.
    pub coverage: Coverage,
    /// The last journal record.
    pub position: u64,
    /// Its hash: an outside anchor for the chain.
    pub head: String,
    /// What calls wait for, where they wait.
    #[serde(default, skip_serializing_if = "TrafficView::is_free")]
    pub traffic: TrafficView,
}

impl Overview {
    /// Whether nothing is under way: what is not ready waits for a person or an outside event.
    pub fn is_at_rest(&self) -> bool {
        self.under_way == 0
    }
}

/// One resource: an item of `/api/v1/resources` (design.md part 4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceView {
    /// The kind.
    pub kind: String,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// Whether it is as the file says, nothing of it is in doubt, and nothing is wrong with it.
    pub ready: bool,
    /// A CamelCase word.
    pub reason: String,
    /// A sentence.
    pub message: String,
    /// The service's id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remote_id: Option<String>,
    /// How it is: each question with its answer, why, and since when.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// What would be done.
    pub verdict: String,
    /// The document's file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// The document's line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<usize>,
    /// When the newest fact was learnt: what the service says since is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_known: Option<String>,
    /// What that fact is worth now; only where there is an object.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confidence: Option<Confidence>,
    /// When the service was last seen to show it as it is known; only where this process looked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verified_at: Option<String>,
    /// The newest payment that it collected or tried to, and the next one; only of what collects money.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub payments: Option<Box<PaymentsView>>,
    /// How often it was made again without proof that the first try failed.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub possible_orphans: u32,
    /// What is known of it; only for one resource at a time.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub facts: BTreeMap<String, Value>,
}

impl ResourceView {
    /// Whether no document stands for it; a broken one does.
    pub fn has_no_document(&self) -> bool {
        self.file.is_none() && self.reason != "BrokenDocument"
    }

    /// Whether it is of this resource.
    pub fn is_of(&self, key: &Key) -> bool {
        self.kind == key.kind.as_str()
            && self.namespace == key.namespace.as_str()
            && self.name == key.name.as_str()
    }
}

/// What may be said of an object (design.md part 3, Kinds without read-back).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// It was read since, and is as it was put there, as far as it shows.
    Verified,
    /// It could be read, and was not since this process began: somebody may have changed it.
    LastKnown,
    /// The service does not show it: nobody can say whether it was changed.
    CannotBeVerified,
}

/// One list of the service that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookView {
    /// The merchant.
    pub merchant: String,
    /// Which of its lists.
    pub list: String,
    /// When; nothing where the service has no such list.
    pub at: Option<String>,
}

/// The plan and what it rests on: `plan -o json` and `/api/v1/plan` (design.md part 4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanView {
    /// The version of this form.
    pub version: u32,
    /// Whether absence is believed.
    pub coverage: Coverage,
    /// The last journal record it was made from.
    pub position: u64,
    /// That record's hash.
    pub head: String,
    /// The git commit of the tree.
    pub commit: Option<String>,
    /// A digest of the paths and bytes of the files that it was made of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub files: Option<Digest>,
    /// What an approval names: equal ones do the same.
    #[serde(default)]
    pub checksum: String,
    /// What was read of the service; everything else is as it was last known.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub looked_at: Vec<LookView>,
    /// The trees that it compares, where it is not about the service.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub against: Option<Box<Against>>,
    /// Resources in all, settled ones included.
    pub resources: usize,
    /// Every step that is not settled, in dependency order.
    pub steps: Vec<StepView>,
    /// What it adds up to.
    pub totals: Vec<MoneyView>,
    /// What is due by month, before these steps and after them: of the resources that they change.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub due: Vec<DueView>,
    /// The first problems of the files.
    pub problems: Vec<Problem>,
    /// The count of the files' other problems.
    #[serde(skip_serializing_if = "ProblemCounts::is_zero", default)]
    pub omitted: ProblemCounts,
}

impl PlanView {
    /// Whether a document of the tree is unusable.
    pub fn has_errors(&self) -> bool {
        self.all_problems().errors > 0
    }

    /// Counts of all problems of the files, shown or not.
    pub fn all_problems(&self) -> ProblemCounts {
        self.problems.iter().collect::<ProblemCounts>().plus(self.omitted)
    }
}

/// Two trees that are compared without a service: `plan --against`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Against {
    /// The commit that is taken for what is there.
    pub before: String,
    /// The commit that is wanted; none where it is the tree as it stands.
    pub after: Option<String>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepView {
    /// The kind.
    pub kind: String,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// What is done.
    pub verdict: Verdict,
    /// Why, as a CamelCase word.
    pub reason: String,
    /// Why, as a sentence.
    pub message: String,
    /// Whether a person has to act.
    pub stuck: bool,
    /// The document's file.
    pub file: Option<String>,
    /// The document's line.
    pub line: Option<usize>,
    /// Field by field, private values masked.
    pub changes: Vec<FieldChange>,
    /// Money set in motion.
    pub money: Vec<MoneyView>,
    /// What it changes about the money of each month; the plan has the sums.
    #[serde(skip)]
    pub due: Vec<Due>,
    /// The limit that stands in its way.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<Box<Over>>,
    /// The invoice that this one replaces, which stays payable.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub replaces: Option<Box<Replaced>>,
    /// What removal means for it, where its document is gone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub removal: Option<Removal>,
    /// What the service refused, and warnings of dates that are over, each at the field that it means.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub problems: Vec<Problem>,
    /// What it needs and what is not ready.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub waits_for: Vec<Key>,
}

/// An amount of money and what happens to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MoneyView {
    /// Three letters.
    pub currency: String,
    /// Test or live.
    pub mode: Mode,
    /// What happens to it.
    pub meaning: String,
    /// Minor units.
    pub amount: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
