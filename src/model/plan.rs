//! Plans: one step per resource, each with a verdict and a typed reason.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::id::{Key, Mode};
use crate::model::change::{PlannedAction, Replaced};
use crate::model::effect::{Effect, ExposureCounts, MoneyMove, StepWork};
use crate::model::state::drift::FieldChange;
use crate::model::state::health::{ConditionStatus, Health};

pub use crate::model::reason::Reason;

#[derive(Debug, Clone)]
pub struct Step {
    pub key: Key,
    pub action: PlannedAction,
    pub reason: Reason,
    pub changes: Vec<FieldChange>,
    pub money: Vec<MoneyMove>,
    /// Dependent resources can proceed: the object exists and is usable.
    pub ready: bool,
    pub health: Option<Box<Health>>,
    pub remote_id: Option<String>,
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

    pub fn health(&self) -> Health {
        self.health.as_deref().cloned().unwrap_or_else(Health::healthy)
    }

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
    pub fn changes(&self) -> usize {
        self.steps.iter().filter(|step| step.action.is_change()).count()
    }
}
