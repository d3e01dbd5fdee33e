//! What would be done, and why: one step per resource, each with a verdict and a typed reason.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::{Key, Mode};
use crate::base::money::Money;
use crate::model::bound::LiveBinding;
use crate::model::effect::{Effect, Work};

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

/// Why a step has its verdict: a word for machines and a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Everything is as the file says.
    InSync,
    /// The service does not have it yet.
    NotCreated,
    /// Fields differ from what was last put on the service.
    Changed,
    /// Fields differ that change only with a fresh one-time token.
    Renewed,
    /// The manifest's generation was raised.
    Replaced,
    /// The merchant's credentials or accounts are not known yet.
    NotConnected,
    /// The merchant's readable objects were not looked at yet.
    NotSurveyed,
    /// The document is gone and its policy is to delete.
    Removed,
    /// The document is gone and its policy is to leave the object.
    Orphaned,
    /// The document seems gone, but some file is broken, so absence is not believed.
    AbsenceNotBelieved,
    /// Something it refers to is not ready.
    WaitsFor(Vec<Key>),
    /// Fields changed that the service cannot change.
    CannotChange(Vec<String>),
    /// Underwriting has not decided yet.
    AwaitsDecision,
    /// The applicant has not finished the sign-up.
    AwaitsApplicant,
    /// A person has to approve this live binding.
    AwaitsApproval(Box<LiveBinding>),
    /// Its public keys are bound to this other merchant.
    BoundElsewhere(Key),
    /// Underwriting denied it, for this reason.
    Declined(String),
    /// A test of an application ended well.
    TestPassed,
    /// A test of an application was declined, as it was to be.
    TestFailed,
    /// The service refused it.
    Refused(String),
    /// An effect of it is on its way.
    InFlight,
    /// An answer was lost and is being settled.
    InDoubt(String),
    /// It is on hold.
    Held(String),
    /// Its document has problems.
    BrokenDocument,
    /// `reckon.dev/suspend` says so.
    Suspended,
    /// Something still uses it.
    InUse(Vec<Key>),
    /// Today is the one day on which it cannot be done.
    DueToday(String),
    /// What it refers to is for tests and it is not, or the other way round.
    OtherMode(String),
    /// What it refers to cannot serve it.
    Unfit(String),
    /// The merchant has no account that may take it, or what it has does not allow it.
    AccountUnfit(String),
    /// Its money is of another currency than the account's.
    CurrencyMismatch(String),
}

impl Reason {
    /// The machine's word, CamelCase.
    pub fn word(&self) -> &'static str {
        match self {
            Self::InSync => "InSync",
            Self::NotCreated => "NotCreated",
            Self::Changed => "Changed",
            Self::Renewed => "Renewed",
            Self::Replaced => "Replaced",
            Self::NotConnected => "NotConnected",
            Self::NotSurveyed => "NotSurveyed",
            Self::Removed => "Removed",
            Self::Orphaned => "Orphaned",
            Self::AbsenceNotBelieved => "AbsenceNotBelieved",
            Self::WaitsFor(_) => "WaitsFor",
            Self::CannotChange(_) => "CannotChange",
            Self::AwaitsDecision => "AwaitsDecision",
            Self::AwaitsApplicant => "AwaitsApplicant",
            Self::AwaitsApproval(_) => "AwaitsApproval",
            Self::BoundElsewhere(_) => "BoundElsewhere",
            Self::Declined(_) => "Declined",
            Self::TestPassed => "TestPassed",
            Self::TestFailed => "TestFailed",
            Self::Refused(_) => "Refused",
            Self::InFlight => "InFlight",
            Self::InDoubt(_) => "InDoubt",
            Self::Held(_) => "Held",
            Self::BrokenDocument => "BrokenDocument",
            Self::Suspended => "Suspended",
            Self::InUse(_) => "InUse",
            Self::DueToday(_) => "DueToday",
            Self::OtherMode(_) => "OtherMode",
            Self::Unfit(_) => "Unfit",
            Self::AccountUnfit(_) => "AccountUnfit",
            Self::CurrencyMismatch(_) => "CurrencyMismatch",
        }
    }

    /// Whether what the service says of a merchant's accounts stands in the way: it may say otherwise later.
    pub fn is_about_accounts(&self) -> bool {
        matches!(self, Self::AccountUnfit(_) | Self::CurrencyMismatch(_))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InSync => write!(f, "the service matches the file"),
            Self::NotCreated => write!(f, "the service does not have it yet"),
            Self::Changed => write!(f, "the file changed"),
            Self::Renewed => {
                write!(f, "the file changed; all details are sent again, by a fresh one-time token")
            }
            Self::Replaced => write!(f, "its generation was raised; the old one stays as it is"),
            Self::NotConnected => write!(f, "its credentials and accounts are not known yet"),
            Self::NotSurveyed => write!(f, "its readable objects were not looked at yet"),
            Self::Removed => write!(f, "its document is gone, and says deletion: delete"),
            Self::Orphaned => write!(
                f,
                "its document is gone; the object is left as it is (reckon.dev/deletion: orphan)"
            ),
            Self::AbsenceNotBelieved => write!(
                f,
                "its document was not seen, but some file is broken: nothing is removed until \
                 every file reads well"
            ),
            Self::WaitsFor(keys) => write!(f, "waits for {}", list(keys)),
            Self::CannotChange(fields) => {
                write!(f, "the service cannot change {}", fields.join(", "))
            }
            Self::AwaitsDecision => write!(f, "underwriting has not decided yet"),
            Self::AwaitsApplicant => write!(
                f,
                "waits for the applicant to finish it; `reckon events urls` prints the link to send"
            ),
            Self::AwaitsApproval(binding) => write!(
                f,
                "waits for the approval of a person: look at what its code opened, and say \
                 `reckon approve {}`",
                binding.merchant.short()
            ),
            Self::BoundElsewhere(other) => write!(
                f,
                "its credentials open the account that {} is bound to: give it its own and raise \
                 reckon.dev/generation",
                other.short()
            ),
            Self::Declined(why) => {
                write!(f, "underwriting declined it ({why}); the applicant has to contact support")
            }
            Self::TestPassed => write!(f, "the test ended well; its code is never exchanged"),
            Self::TestFailed => write!(f, "the test was declined, as it was to be"),
            Self::Refused(why) => write!(f, "the service refused it: {why}"),
            Self::InFlight => write!(f, "a call for it is on its way"),
            Self::InDoubt(why) => write!(f, "an answer was lost ({why}); it is being settled"),
            Self::Held(why) => write!(f, "on hold: {why}"),
            Self::BrokenDocument => write!(f, "its document has problems (see validate)"),
            Self::Suspended => write!(f, "suspended by reckon.dev/suspend"),
            Self::InUse(keys) => write!(f, "still used by {}", list(keys)),
            Self::DueToday(why)
            | Self::OtherMode(why)
            | Self::Unfit(why)
            | Self::AccountUnfit(why)
            | Self::CurrencyMismatch(why) => write!(f, "{why}"),
        }
    }
}

/// Short names of keys, the first few and how many more.
fn list(keys: &[Key]) -> String {
    let shown: Vec<String> = keys.iter().take(3).map(Key::short).collect();
    match keys.len().saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
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
    /// Whether the resource is ready (design.md part 4, "Ready means").
    pub ready: bool,
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
            remote_id: None,
            place: None,
            work: None,
            offer: None,
            replaces: None,
        }
    }

    /// Whether a person has to act: exit code 3.
    pub fn stuck(&self) -> bool {
        match &self.reason {
            Reason::CannotChange(_)
            | Reason::AwaitsApproval(_)
            | Reason::BoundElsewhere(_)
            | Reason::Declined(_)
            | Reason::Refused(_)
            | Reason::InDoubt(_)
            | Reason::Held(_)
            | Reason::InUse(_)
            | Reason::DueToday(_)
            | Reason::OtherMode(_)
            | Reason::Unfit(_)
            | Reason::AccountUnfit(_)
            | Reason::CurrencyMismatch(_) => true,
            Reason::InSync
            | Reason::NotCreated
            | Reason::Changed
            | Reason::Renewed
            | Reason::Replaced
            | Reason::NotConnected
            | Reason::NotSurveyed
            | Reason::Removed
            | Reason::Orphaned
            | Reason::AbsenceNotBelieved
            | Reason::WaitsFor(_)
            | Reason::AwaitsDecision
            | Reason::AwaitsApplicant
            | Reason::TestPassed
            | Reason::TestFailed
            | Reason::InFlight
            | Reason::BrokenDocument
            | Reason::Suspended => false,
        }
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
