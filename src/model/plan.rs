//! Plans: one step per resource, with a verdict, a typed reason, and whether a person has to act.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::{Key, Mode};
use crate::model::change::{LimitExceeded, PlannedAction, Removal, RemovalStatus, Replaced};
use crate::model::effect::{Effect, ExposureCounts, MoneyMove, StepWork};
use crate::model::operator::Suspension;
use crate::model::state::credentials::LiveBinding;
use crate::model::state::drift::FieldChange;
use crate::model::state::health::{ConditionStatus, Health};
use crate::model::state::orphan::{UnknownObject, describe_unknown_objects};
use crate::model::state::token_attachment::AwaitedDetails;

/// The reason of a step's verdict: a word for programs and a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
pub enum Reason {
    #[display("the service matches the file")]
    Settled,
    #[display("the object does not exist at the service yet")]
    NotCreated,
    /// Fields differ from the state that was last put on the service.
    #[display("the file changed")]
    Changed,
    /// Fields differ that change only with a fresh one-time token.
    #[display("the file changed; all details are sent again, with a new one-time token")]
    Renewed,
    #[display("a payer entered other details, which replace the saved ones")]
    DetailsGiven,
    #[display("drift: {} changed at the service; the value of the document is put back", _0.join(", "))]
    Drifted(Vec<String>),
    #[display(
        "drift: {} changed again after two corrections, so reckon leaves the change; find the program that makes it, \
         allow it with reckon.dev/ignore-drift, or change the document",
        _0.join(", ")
    )]
    DriftReturns(Vec<String>),
    /// Another program or person ended or removed the object.
    #[display(
        "{_0}, not by reckon; reckon does not create the object again: remove the document, or raise \
         reckon.dev/generation for a new object"
    )]
    Vanished(String),
    #[display("generation raised; the old object stays unchanged")]
    Replaced,
    #[display("credentials and accounts are not known yet")]
    NotConnected,
    #[display("the objects at the service are not read yet")]
    NotSurveyed,
    #[display("document missing (reckon.dev/deletion: delete)")]
    Removed,
    #[display("document missing; the object stays unchanged (reckon.dev/deletion: orphan)")]
    Orphaned,
    #[display(
        "document missing, but some files are invalid; nothing is removed until `reckon validate` passes"
    )]
    PruneSuspended,
    #[display("waits for {}", join_keys(_0))]
    WaitsFor(Vec<Key>),
    #[display(
        "the service cannot change {}; write the old value, or raise reckon.dev/generation (to 1 if there is none) to \
         create a new object: the old one stays unchanged",
        _0.join(", ")
    )]
    CannotChange(Vec<String>),
    #[display("underwriting has not decided yet")]
    AwaitsDecision,
    #[display(
        "waits for the applicant to finish the sign-up; `reckon events urls` prints the link to send"
    )]
    AwaitsApplicant,
    AwaitsIntake(Box<AwaitedDetails>),
    #[display(
        "waits for approval: check the accounts that the code of the application opened, then run `reckon approve {}`",
        _0.merchant.short()
    )]
    AwaitsApproval(Box<LiveBinding>),
    /// A lost state may have submitted this live application: a person has to approve it.
    #[display(
        "this state began empty, and the service lists no applications: a lost state may have submitted this one; if \
         underwriting does not have it, run `reckon approve {}`",
        _0.short()
    )]
    MaybeSubmitted(Box<Key>),
    /// The service refuses its credentials; holds the remedy.
    #[display("the service refuses the credentials: {_0}")]
    AwaitsAuthorization(String),
    #[display(
        "the credentials open the account of {}: write credentials of this merchant, and raise reckon.dev/generation",
        _0.short()
    )]
    BoundElsewhere(Key),
    #[display("underwriting declined the application ({_0}); the applicant has to contact support")]
    Declined(String),
    #[display("the test passed; its code is never exchanged")]
    TestPassed,
    #[display("the test was declined, as requested")]
    TestFailed,
    #[display("refused by the service: {_0}")]
    Refused(String),
    #[display("an effect is in progress")]
    InFlight,
    #[display("in doubt: an answer was lost ({_0}); settlement is in progress")]
    InDoubt(String),
    #[display("on hold: {_0}")]
    OnHold(String),
    #[display("on hold: {}", describe_unknown_objects(_0))]
    UnknownObjects(Box<[UnknownObject]>),
    #[display("the document is invalid: `reckon validate` shows the problems")]
    BrokenDocument,
    #[display("suspended by reckon.dev/suspend: remove the annotation to resume")]
    Suspended,
    SuspendedBy(Box<Suspension>),
    Removal(Box<RemovalStatus>),
    #[display("still used by {}: change or remove those first", join_keys(_0))]
    InUse(Vec<Key>),
    /// It cannot be done today, and today only.
    DueToday(String),
    OtherMode(String),
    Unsuitable(String),
    /// The merchant has no account that may take it, or the accounts do not allow it.
    AccountUnsuitable(String),
    CurrencyMismatch(String),
    OverLimit(Box<LimitExceeded>),
}

impl Reason {
    /// Returns the word for programs, in CamelCase.
    pub fn word(&self) -> &'static str {
        self.row().0
    }

    /// Returns whether a person has to act: exit code 3.
    pub fn needs_operator(&self) -> bool {
        self.row().1
    }

    fn row(&self) -> (&'static str, bool) {
        match self {
            Self::Settled => ("InSync", false),
            Self::NotCreated => ("NotCreated", false),
            Self::Changed => ("Changed", false),
            Self::Renewed => ("Renewed", false),
            Self::DetailsGiven => ("Given", false),
            Self::Drifted(_) => ("Drifted", false),
            Self::DriftReturns(_) => ("DriftReturns", true),
            Self::Vanished(_) => ("Vanished", true),
            Self::Replaced => ("Replaced", false),
            Self::NotConnected => ("NotConnected", false),
            Self::NotSurveyed => ("NotSurveyed", false),
            Self::Removed => ("Removed", false),
            Self::Orphaned => ("Orphaned", false),
            Self::PruneSuspended => ("AbsenceNotBelieved", false),
            Self::WaitsFor(_) => ("WaitsFor", false),
            Self::CannotChange(_) => ("CannotChange", true),
            Self::AwaitsDecision => ("AwaitsDecision", false),
            Self::AwaitsApplicant => ("AwaitsApplicant", false),
            Self::AwaitsIntake(_) => ("AwaitsIntake", false),
            Self::AwaitsApproval(_) | Self::MaybeSubmitted(_) => ("AwaitsApproval", true),
            Self::AwaitsAuthorization(_) => ("AwaitsAuthorization", true),
            Self::BoundElsewhere(_) => ("BoundElsewhere", true),
            Self::Declined(_) => ("Declined", true),
            Self::TestPassed => ("TestPassed", false),
            Self::TestFailed => ("TestFailed", false),
            Self::Refused(_) => ("Refused", true),
            Self::InFlight => ("InFlight", false),
            Self::InDoubt(_) => ("InDoubt", true),
            Self::OnHold(_) => ("Held", true),
            Self::UnknownObjects(_) => ("UnknownMarks", true),
            Self::BrokenDocument => ("BrokenDocument", false),
            Self::Suspended | Self::SuspendedBy(_) => ("Suspended", false),
            Self::Removal(going) => (going.word(), going.needs_operator()),
            Self::InUse(_) => ("InUse", true),
            Self::DueToday(_) => ("DueToday", true),
            Self::OtherMode(_) => ("OtherMode", true),
            Self::Unsuitable(_) => ("Unfit", true),
            Self::AccountUnsuitable(_) => ("AccountUnfit", true),
            Self::CurrencyMismatch(_) => ("CurrencyMismatch", true),
            Self::OverLimit(_) => ("OverLimit", true),
        }
    }

    pub fn is_maybe_submitted(&self) -> bool {
        matches!(self, Self::MaybeSubmitted(_))
    }

    pub fn removal(&self) -> Option<Removal> {
        if let Self::Removal(going) = self {
            return going.removal();
        }
        let orphan = matches!(self, Self::Orphaned).then_some(Removal::Orphan);
        matches!(self, Self::Removed).then_some(Removal::Delete).or(orphan)
    }

    /// Returns whether data about a merchant, which may change later, or its lack blocks the step.
    pub fn depends_on_accounts(&self) -> bool {
        matches!(
            self,
            Self::AwaitsAuthorization(_) | Self::AccountUnsuitable(_) | Self::CurrencyMismatch(_)
        )
    }
}

/// Formats short names of keys: the first few and the number of the others.
fn join_keys(keys: &[Key]) -> String {
    let shown: Vec<String> = keys.iter().take(3).map(Key::short).collect();
    match keys.len().saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

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
    pub replaces: Option<Box<Replaced>>,
    pub counts: ExposureCounts,
}

impl Step {
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

    /// Returns the status of [`Self::health`].
    pub fn health_status(&self) -> ConditionStatus {
        self.health.as_deref().map_or(ConditionStatus::True, |health| health.status)
    }

    pub fn is_healthy(&self) -> bool {
        self.health.as_deref().is_none_or(Health::is_healthy)
    }

    /// Returns whether the resource is ready (design.md part 4, "Ready means"): synced and healthy.
    pub fn is_ready(&self) -> bool {
        self.sync_status() == ConditionStatus::True && self.is_healthy()
    }

    /// Returns the word of [`Self::headline`].
    pub fn headline_word(&self) -> &'static str {
        self.first_health_problem().map_or_else(|| self.reason.word(), |health| health.reason)
    }

    /// Returns the health, where that alone is not in order.
    fn first_health_problem(&self) -> Option<&Health> {
        let synced = self.sync_status() == ConditionStatus::True;
        self.health.as_deref().filter(|health| synced && !health.is_healthy())
    }

    /// Returns the first message: the health, where that alone is not in order, else the reason.
    pub fn headline(&self) -> (&'static str, String) {
        match self.first_health_problem() {
            Some(health) => (health.reason, health.message.clone()),
            None => (self.reason.word(), self.reason.to_string()),
        }
    }

    pub fn needs_operator(&self) -> bool {
        self.reason.needs_operator()
    }
}

/// The class in which a resource is counted: each resource is in exactly one, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A person has to act.
    NeedsAttention,
    /// Its document is unusable.
    Invalid,
    /// It matches its document, and the object is not in order: a payment failed, a card expired.
    Unhealthy,
    /// reckon changes it, or would change it.
    Changing,
    /// It waits for another resource, for a person outside, or for the service.
    Waiting,
    Suspended,
    /// The object is left at the service, although no document describes it.
    Undocumented,
    Ready,
}

impl Step {
    /// Returns the class of the resource by its step alone; a failed attempt may change it.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "every other reason is classed by its action"
    )]
    pub fn standing(&self) -> Standing {
        if self.is_ready() {
            return Standing::Ready;
        }
        if self.needs_operator() {
            return Standing::NeedsAttention;
        }
        match &self.reason {
            Reason::BrokenDocument => Standing::Invalid,
            Reason::Suspended | Reason::SuspendedBy(_) => Standing::Suspended,
            Reason::Orphaned | Reason::PruneSuspended => Standing::Undocumented,
            Reason::InFlight => Standing::Changing,
            // Its step is known, but not due.
            Reason::WaitsFor(_) => Standing::Waiting,
            _ if self.first_health_problem().is_some() => Standing::Unhealthy,
            _ if self.action.is_change() => Standing::Changing,
            _ => Standing::Waiting,
        }
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
