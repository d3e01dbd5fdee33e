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
    DetailsGiven,
    Drifted(Vec<String>),
    DriftReturns(Vec<String>),
    /// Another program or person ended or removed the object.
    Vanished(String),
    Replaced,
    NotConnected,
    NotSurveyed,
    Removed,
    Orphaned,
    PruneSuspended,
    WaitsFor(Vec<Key>),
    CannotChange(Vec<String>),
    AwaitsDecision,
    AwaitsApplicant,
    AwaitsIntake(Box<AwaitedDetails>),
    AwaitsApproval(Box<LiveBinding>),
    /// A lost state may have submitted this live application: a person has to approve it.
    MaybeSubmitted(Box<Key>),
    /// The service refuses its credentials; holds the remedy.
    AwaitsAuthorization(String),
    BoundElsewhere(Key),
    Declined(String),
    TestPassed,
    TestFailed,
    Refused(String),
    InFlight,
    InDoubt(String),
    OnHold(String),
    UnknownObjects(Box<[UnknownObject]>),
    BrokenDocument,
    Suspended,
    SuspendedBy(Box<Suspension>),
    Removal(Box<RemovalStatus>),
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

    /// Returns the word, and whether a person has to act.
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
        matches!(
            self,
            Self::AwaitsAuthorization(_) | Self::AccountUnsuitable(_) | Self::CurrencyMismatch(_)
        )
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
            Self::Drifted(fields) => write!(
                f,
                "drift: {} changed at the service; the value of the document is put back",
                fields.join(", ")
            ),
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
            Self::CannotChange(fields) => write!(
                f,
                "the service cannot change {}; write the old value, or raise reckon.dev/generation (to 1 if \
                     there is none) to create a new object: the old one stays unchanged",
                fields.join(", ")
            ),
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
            Self::Declined(why) => write!(
                f,
                "underwriting declined the application ({why}); the applicant has to contact support"
            ),
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
