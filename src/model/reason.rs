//! Reasons of a step's verdict, and whether a person has to act.

use std::fmt;

use crate::base::id::Key;
use crate::model::change::{LimitExceeded, Removal, RemovalStatus};
use crate::model::operator::Suspension;
use crate::model::state::credentials::LiveBinding;
use crate::model::state::orphan::{UnknownObject, describe_unknown_objects};
use crate::model::state::token_attachment::AwaitedDetails;

/// The reason of a step's verdict: a word for programs and a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    Settled,
    NotCreated,
    /// Fields differ from the state that was last put on the service.
    Changed,
    /// Fields differ that change only with a fresh one-time token.
    Renewed,
    /// A payer gave other details than those that are saved.
    DetailsGiven,
    /// These fields drifted on the service.
    Drifted(Vec<String>),
    /// These fields were put back and drifted again, too often.
    DriftReturns(Vec<String>),
    /// Another program or person ended or removed the object.
    Vanished(String),
    Replaced,
    /// The merchant's credentials or accounts are not known yet.
    NotConnected,
    /// The merchant's readable objects were not surveyed yet.
    NotSurveyed,
    /// The document is missing and its policy is to delete.
    Removed,
    /// The document is missing and its policy is to leave the object.
    Orphaned,
    /// The document seems missing, but some file is invalid, so pruning is suspended.
    PruneSuspended,
    WaitsFor(Vec<Key>),
    /// Fields changed that the service cannot change.
    CannotChange(Vec<String>),
    /// Underwriting has not decided yet.
    AwaitsDecision,
    /// The applicant has not finished the sign-up.
    AwaitsApplicant,
    /// A payer has not given the details of a saved method.
    AwaitsIntake(Box<AwaitedDetails>),
    /// A person has to approve this live binding.
    AwaitsApproval(Box<LiveBinding>),
    /// A lost state may have submitted this live application: a person has to approve it.
    MaybeSubmitted(Box<Key>),
    /// The service refuses its credentials; holds the remedy.
    AwaitsAuthorization(String),
    /// Its public keys are bound to this other merchant.
    BoundElsewhere(Key),
    /// Underwriting denied it, for this reason.
    Declined(String),
    /// A test of an application succeeded.
    TestPassed,
    /// A test of an application was declined, as intended.
    TestFailed,
    Refused(String),
    /// An effect of the resource is in progress.
    InFlight,
    /// An answer was lost and is being settled.
    InDoubt(String),
    OnHold(String),
    /// Unknown objects with marks of ours block it.
    UnknownObjects(Box<[UnknownObject]>),
    BrokenDocument,
    Suspended,
    SuspendedBy(Box<Suspension>),
    /// It is being removed, has returned, or is being renamed.
    Removal(Box<RemovalStatus>),
    InUse(Vec<Key>),
    /// It cannot be done today, and today only.
    DueToday(String),
    /// The modes of the resource and of its reference differ.
    OtherMode(String),
    /// The resource that it refers to is unsuitable.
    Unsuitable(String),
    /// The merchant has no account that may take it, or the accounts do not allow it.
    AccountUnsuitable(String),
    /// The currencies of its money and of the account differ.
    CurrencyMismatch(String),
    /// A limit of the operator blocks it.
    OverLimit(Box<LimitExceeded>),
}

impl Reason {
    /// Returns the word for programs, in CamelCase.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Settled => "InSync",
            Self::NotCreated => "NotCreated",
            Self::Changed => "Changed",
            Self::Renewed => "Renewed",
            Self::DetailsGiven => "Given",
            Self::Drifted(_) => "Drifted",
            Self::DriftReturns(_) => "DriftReturns",
            Self::Vanished(_) => "Vanished",
            Self::Replaced => "Replaced",
            Self::NotConnected => "NotConnected",
            Self::NotSurveyed => "NotSurveyed",
            Self::Removed => "Removed",
            Self::Orphaned => "Orphaned",
            Self::PruneSuspended => "AbsenceNotBelieved",
            Self::WaitsFor(_) => "WaitsFor",
            Self::CannotChange(_) => "CannotChange",
            Self::AwaitsDecision => "AwaitsDecision",
            Self::AwaitsApplicant => "AwaitsApplicant",
            Self::AwaitsIntake(_) => "AwaitsIntake",
            Self::AwaitsApproval(_) | Self::MaybeSubmitted(_) => "AwaitsApproval",
            Self::AwaitsAuthorization(_) => "AwaitsAuthorization",
            Self::BoundElsewhere(_) => "BoundElsewhere",
            Self::Declined(_) => "Declined",
            Self::TestPassed => "TestPassed",
            Self::TestFailed => "TestFailed",
            Self::Refused(_) => "Refused",
            Self::InFlight => "InFlight",
            Self::InDoubt(_) => "InDoubt",
            Self::OnHold(_) => "Held",
            Self::UnknownObjects(_) => "UnknownMarks",
            Self::BrokenDocument => "BrokenDocument",
            Self::Suspended | Self::SuspendedBy(_) => "Suspended",
            Self::Removal(going) => going.word(),
            Self::InUse(_) => "InUse",
            Self::DueToday(_) => "DueToday",
            Self::OtherMode(_) => "OtherMode",
            Self::Unsuitable(_) => "Unfit",
            Self::AccountUnsuitable(_) => "AccountUnfit",
            Self::CurrencyMismatch(_) => "CurrencyMismatch",
            Self::OverLimit(_) => "OverLimit",
        }
    }

    /// Returns whether a person has to act: exit code 3.
    pub fn needs_operator(&self) -> bool {
        match self {
            Self::Removal(going) => going.needs_operator(),
            Self::CannotChange(_)
            | Self::AwaitsApproval(_)
            | Self::MaybeSubmitted(_)
            | Self::AwaitsAuthorization(_)
            | Self::BoundElsewhere(_)
            | Self::DriftReturns(_)
            | Self::Vanished(_)
            | Self::Declined(_)
            | Self::Refused(_)
            | Self::InDoubt(_)
            | Self::OnHold(_)
            | Self::UnknownObjects(_)
            | Self::InUse(_)
            | Self::DueToday(_)
            | Self::OtherMode(_)
            | Self::Unsuitable(_)
            | Self::AccountUnsuitable(_)
            | Self::CurrencyMismatch(_)
            | Self::OverLimit(_) => true,
            Self::Settled
            | Self::NotCreated
            | Self::Changed
            | Self::Renewed
            | Self::DetailsGiven
            | Self::Drifted(_)
            | Self::Replaced
            | Self::NotConnected
            | Self::NotSurveyed
            | Self::Removed
            | Self::Orphaned
            | Self::PruneSuspended
            | Self::WaitsFor(_)
            | Self::AwaitsDecision
            | Self::AwaitsApplicant
            | Self::AwaitsIntake(_)
            | Self::TestPassed
            | Self::TestFailed
            | Self::InFlight
            | Self::BrokenDocument
            | Self::Suspended
            | Self::SuspendedBy(_) => false,
        }
    }

    /// Returns whether a live application waits for a person because a lost state may have
    /// submitted it.
    pub fn is_maybe_submitted(&self) -> bool {
        matches!(self, Self::MaybeSubmitted(_))
    }

    /// Returns the kind of removal, for a resource without a document.
    pub fn removal(&self) -> Option<Removal> {
        if let Self::Removal(going) = self {
            return going.removal();
        }
        let orphan = matches!(self, Self::Orphaned).then_some(Removal::Orphan);
        matches!(self, Self::Removed).then_some(Removal::Delete).or(orphan)
    }

    /// Returns whether the service's data about a merchant, or its lack, blocks the step: the data
    /// may change later.
    pub fn depends_on_accounts(&self) -> bool {
        let refused = matches!(self, Self::AwaitsAuthorization(_));
        refused || matches!(self, Self::AccountUnsuitable(_) | Self::CurrencyMismatch(_))
    }
}

impl fmt::Display for Reason {
    #[expect(clippy::too_many_lines, reason = "a table: one sentence for each reason")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settled => write!(f, "the service matches the file"),
            Self::NotCreated => write!(f, "the object does not exist at the service yet"),
            Self::Changed => write!(f, "the file changed"),
            Self::Renewed => {
                write!(f, "the file changed; all details are sent again, with a new one-time token")
            }
            Self::DetailsGiven => {
                write!(f, "a payer entered other details, which replace the saved ones")
            }
            Self::Drifted(fields) => {
                write!(
                    f,
                    "drift: {} changed at the service; the value of the document is put back",
                    fields.join(", ")
                )
            }
            Self::DriftReturns(fields) => write!(
                f,
                "drift: {} changed again after two corrections, so reckon leaves the change; find the program that \
                 makes it, allow it with reckon.dev/ignore-drift, or change the document",
                fields.join(", ")
            ),
            Self::Vanished(why) => write!(
                f,
                "{why}, not by reckon; reckon does not create the object again: remove the document, or raise \
                 reckon.dev/generation for a new object"
            ),
            Self::Replaced => write!(f, "generation raised; the old object stays unchanged"),
            Self::NotConnected => write!(f, "credentials and accounts are not known yet"),
            Self::NotSurveyed => write!(f, "the objects at the service are not read yet"),
            Self::Removed => write!(f, "document missing (reckon.dev/deletion: delete)"),
            Self::Orphaned => write!(
                f,
                "document missing; the object stays unchanged (reckon.dev/deletion: orphan)"
            ),
            Self::PruneSuspended => write!(
                f,
                "document missing, but some files are invalid; nothing is removed until `reckon validate` passes"
            ),
            Self::WaitsFor(keys) => write!(f, "waits for {}", join_keys(keys)),
            Self::CannotChange(fields) => {
                write!(
                    f,
                    "the service cannot change {}; write the old value, or raise reckon.dev/generation (to 1 if \
                     there is none) to create a new object: the old one stays unchanged",
                    fields.join(", ")
                )
            }
            Self::AwaitsDecision => write!(f, "underwriting has not decided yet"),
            Self::AwaitsApplicant => write!(
                f,
                "waits for the applicant to finish the sign-up; `reckon events urls` prints the link to send"
            ),
            Self::AwaitsIntake(awaited) => write!(f, "{awaited}"),
            Self::AwaitsApproval(binding) => write!(
                f,
                "waits for approval: check the accounts that the code of the application opened, then run `reckon \
                 approve {}`",
                binding.merchant.short()
            ),
            Self::MaybeSubmitted(application) => {
                let name = application.short();
                write!(
                    f,
                    "this state began empty, and the service lists no applications: a lost state may have submitted \
                     this one; if underwriting does not have it, run `reckon approve {name}`"
                )
            }
            Self::AwaitsAuthorization(help) => {
                write!(f, "the service refuses the credentials: {help}")
            }
            Self::BoundElsewhere(other) => write!(
                f,
                "the credentials open the account of {}: write credentials of this merchant, and raise \
                 reckon.dev/generation",
                other.short()
            ),
            Self::Declined(why) => {
                write!(
                    f,
                    "underwriting declined the application ({why}); the applicant has to contact support"
                )
            }
            Self::TestPassed => write!(f, "the test passed; its code is never exchanged"),
            Self::TestFailed => write!(f, "the test was declined, as requested"),
            Self::Refused(why) => {
                write!(f, "refused by the service: {why}")
            }
            Self::InFlight => write!(f, "an effect is in progress"),
            Self::InDoubt(why) => {
                write!(f, "in doubt: an answer was lost ({why}); settlement is in progress")
            }
            Self::OnHold(why) => write!(f, "on hold: {why}"),
            Self::UnknownObjects(strays) => {
                write!(f, "on hold: {}", describe_unknown_objects(strays))
            }
            Self::BrokenDocument => {
                write!(f, "the document is invalid: `reckon validate` shows the problems")
            }
            Self::Suspended => {
                write!(f, "suspended by reckon.dev/suspend: remove the annotation to resume")
            }
            Self::SuspendedBy(suspension) => write!(f, "{suspension}"),
            Self::Removal(going) => write!(f, "{going}"),
            Self::InUse(keys) => {
                write!(f, "still used by {}: change or remove those first", join_keys(keys))
            }
            Self::DueToday(why)
            | Self::OtherMode(why)
            | Self::Unsuitable(why)
            | Self::AccountUnsuitable(why)
            | Self::CurrencyMismatch(why) => write!(f, "{why}"),
            Self::OverLimit(over) => write!(f, "{over}"),
        }
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
