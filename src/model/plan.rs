//! What would be done, and why: one step per resource, each with a verdict and a typed reason.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::{Key, Mode};
use crate::base::money::Money;
use crate::model::condition::Status;
use crate::model::effect::{Counts, Effect, Work};
use crate::model::health::Health;

pub use crate::model::reason::Reason;

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The service matches; nothing is done.
    Settled,
    /// A remote object is made.
    Create,
    /// A remote object is changed where it is.
    Update,
    /// A remote object is removed.
    Delete,
    /// Something is read, to know more.
    Read,
    /// The document is gone; the remote object is left as it is.
    Orphan,
    /// Nothing can be done before something else happens.
    Wait,
    /// Nothing can be done before a person changes something.
    Blocked,
}

impl Verdict {
    /// Whether a step of this verdict stands for a change that `apply` would make.
    pub fn changes(self) -> bool {
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
    /// What was put on the service; null when there was nothing.
    pub before: Value,
    /// What the file wants; null when it wants nothing.
    pub after: Value,
}

/// Money that a step sets in motion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MoneyMove {
    /// How much.
    pub amount: Money,
    /// Test or live.
    pub mode: Mode,
    /// What happens to it: `invoiced`, `charged_now`, `collected_per_occurrence`; what goes into a trust
    /// account has a meaning of its own, so that sums keep it apart.
    pub meaning: &'static str,
}

/// An invoice that a new one replaces. The service cannot end it: whoever has its link can pay it.
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
        let old = old.map_or("(its number is not known)", String::as_str);
        write!(f, "old invoice {old} stays payable; the new one is {}", self.source_id)
    }
}

/// What is to be done about one resource.
#[derive(Debug, Clone)]
pub struct Step {
    /// The resource.
    pub key: Key,
    /// What is done.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// Field by field, before and after.
    pub changes: Vec<FieldChange>,
    /// Money set in motion.
    pub money: Vec<MoneyMove>,
    /// Whether what depends on the resource can go on: its object is there and usable.
    pub ready: bool,
    /// The health of its object, where there is something to say of it.
    pub health: Option<Box<Health>>,
    /// The service's id, where one is known.
    pub remote_id: Option<String>,
    /// File and line of the document.
    pub place: Option<(Arc<str>, usize)>,
    /// What the executor would do now; `None` while something is missing.
    pub work: Option<Arc<Work>>,
    /// What someone outside may ask for, such as an applicant who clicks.
    pub offer: Option<Arc<Effect>>,
    /// What the new object would replace, where that goes on.
    pub replaces: Option<Box<Replaced>>,
    /// What limits count of it besides its money.
    pub counts: Counts,
}

impl Step {
    /// A step that does nothing.
    pub fn idle(key: Key, verdict: Verdict, reason: Reason) -> Self {
        Self {
            key,
            verdict,
            reason,
            changes: Vec::new(),
            money: Vec::new(),
            ready: false,
            health: None,
            remote_id: None,
            place: None,
            work: None,
            offer: None,
            replaces: None,
            counts: Counts::default(),
        }
    }

    /// Whether the service has the object as its document says. Neither can be said while an answer is lost, where
    /// nothing is compared, and where no document is.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "every other reason is about the comparison"
    )]
    pub fn synced(&self) -> Status {
        match &self.reason {
            Reason::InDoubt(_)
            | Reason::Held(_)
            | Reason::Strays(_)
            | Reason::Suspended
            | Reason::SuspendedBy(_)
            | Reason::AbsenceNotBelieved => Status::Unknown,
            _ if self.verdict == Verdict::Orphan => Status::Unknown,
            _ => Status::from(self.ready && self.verdict == Verdict::Settled),
        }
    }

    /// The health of its object.
    pub fn health(&self) -> Health {
        self.health.as_deref().cloned().unwrap_or_else(Health::well)
    }

    /// Whether its object is healthy, or there is nothing to say of it.
    pub fn is_well(&self) -> bool {
        self.health.as_deref().is_none_or(Health::is_well)
    }

    /// Whether the resource is ready (design.md part 4, "Ready means"): synced, not in doubt and not unhealthy.
    pub fn is_ready(&self) -> bool {
        self.synced() == Status::True && self.is_well()
    }

    /// What is to be said first of the resource: its health, where that alone is not as it should be.
    pub fn headline(&self) -> (&'static str, String) {
        match self.health.as_deref().filter(|health| !health.is_well()) {
            Some(health) if self.synced() == Status::True => {
                (health.reason, health.message.clone())
            }
            Some(_) | None => (self.reason.word(), self.reason.to_string()),
        }
    }

    /// Whether a person has to act: exit code 3.
    pub fn stuck(&self) -> bool {
        self.reason.needs_a_person()
    }
}

/// All steps, in dependency order, and what they add up to.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// One step per resource: what is needed comes before what needs it.
    pub steps: Vec<Step>,
    /// Sums of money by (currency, mode, meaning), in minor units.
    pub totals: BTreeMap<(String, Mode, &'static str), i64>,
}

impl Plan {
    /// How many steps change something.
    pub fn changes(&self) -> usize {
        self.steps.iter().filter(|step| step.verdict.changes()).count()
    }
}
