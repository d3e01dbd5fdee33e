//! Plans: one step per resource, each with a verdict and a typed reason.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::reason::Reason;
use crate::base::id::{Key, Mode};
use crate::base::money::Money;
use crate::model::intents::effect::{Effect, ExposureCounts, StepWork};
use crate::model::state::condition::ConditionStatus;
use crate::model::state::health::Health;

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

/// One field before and after, private values masked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FieldChange {
    /// The path below `spec`.
    pub path: String,
    /// The value that was put on the service; null without one.
    pub before: Value,
    /// The file's value; null without one.
    pub after: Value,
}

/// Money that a step moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MoneyMove {
    pub amount: Money,
    pub mode: Mode,
    /// The kind of the movement: `invoiced`, `charged_now`, `collected_per_occurrence`. Money into
    /// a trust account has a meaning of its own, so that sums keep it apart.
    pub meaning: &'static str,
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

/// The planned action for one resource.
#[derive(Debug, Clone)]
pub struct Step {
    pub key: Key,
    pub action: PlannedAction,
    pub reason: Reason,
    /// Field by field, before and after.
    pub changes: Vec<FieldChange>,
    /// Money that the step moves.
    pub money: Vec<MoneyMove>,
    /// Dependent resources can proceed: the object exists and is usable.
    pub ready: bool,
    /// The health of its object, where it is known.
    pub health: Option<Box<Health>>,
    /// The service's id, where one is known.
    pub remote_id: Option<String>,
    /// File and line of the document.
    pub place: Option<(Arc<str>, usize)>,
    /// The executor's work for now; `None` while a prerequisite is missing.
    pub work: Option<Arc<StepWork>>,
    /// An effect on demand of an outside person, such as an applicant who clicks.
    pub on_demand: Option<Arc<Effect>>,
    /// The invoice that the new object would replace, if the replaced one stays in force.
    pub replaces: Option<Box<Replaced>>,
    /// Further counts for limits, besides money.
    pub counts: ExposureCounts,
}

impl Step {
    /// Makes a step without work.
    pub fn idle(key: Key, verdict: PlannedAction, reason: Reason) -> Self {
        Self {
            key,
            action: verdict,
            reason,
            changes: Vec::new(),
            money: Vec::new(),
            ready: false,
            health: None,
            remote_id: None,
            place: None,
            work: None,
            on_demand: None,
            replaces: None,
            counts: ExposureCounts::default(),
        }
    }

    /// Returns whether the object on the service matches its document. Unknown while an answer is
    /// lost, where no comparison is made, and without a document.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "every other reason is about the comparison"
    )]
    pub fn sync_status(&self) -> ConditionStatus {
        match &self.reason {
            Reason::InDoubt(_)
            | Reason::OnHold(_)
            | Reason::UnknownObjects(_)
            | Reason::Suspended
            | Reason::SuspendedBy(_)
            | Reason::PruneSuspended => ConditionStatus::Unknown,
            _ if self.action == PlannedAction::Orphan => ConditionStatus::Unknown,
            _ => ConditionStatus::from(self.ready && self.action == PlannedAction::Settled),
        }
    }

    /// Returns the health of its object.
    pub fn health(&self) -> Health {
        self.health.as_deref().cloned().unwrap_or_else(Health::healthy)
    }

    /// Returns whether its object is healthy, or its health is not known.
    pub fn is_healthy(&self) -> bool {
        self.health.as_deref().is_none_or(Health::is_healthy)
    }

    /// Returns whether the resource is ready (design.md part 4, "Ready means"): synced, not in
    /// doubt and not unhealthy.
    pub fn is_ready(&self) -> bool {
        self.sync_status() == ConditionStatus::True && self.is_healthy()
    }

    /// Returns the first message about the resource: its health, where that alone is not in order,
    /// else its reason.
    pub fn headline(&self) -> (&'static str, String) {
        match self.health.as_deref().filter(|health| !health.is_healthy()) {
            Some(health) if self.sync_status() == ConditionStatus::True => {
                (health.reason, health.message.clone())
            }
            Some(_) | None => (self.reason.word(), self.reason.to_string()),
        }
    }

    /// Returns whether a person has to act: exit code 3.
    pub fn needs_operator(&self) -> bool {
        self.reason.needs_operator()
    }
}

/// All steps, in dependency order, and their sums.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// One step per resource: a dependency comes before its dependents.
    pub steps: Vec<Step>,
    /// Sums of money by (currency, mode, meaning), in minor units.
    pub totals: BTreeMap<(String, Mode, &'static str), i64>,
}

impl Plan {
    /// Returns the number of steps that change something.
    pub fn changes(&self) -> usize {
        self.steps.iter().filter(|step| step.action.is_change()).count()
    }
}
