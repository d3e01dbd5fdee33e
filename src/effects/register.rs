//! The register: every effect and every reading there is, one line each.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::api::Call;
use crate::base::id::{Key, RemoteId};
use crate::base::secret::Secret;
use crate::model::adoption::Stray;
use crate::model::effect::Effect;
use crate::model::intent::Intent;
use crate::model::observed::Observed;
use crate::model::service_problem::ServiceProblem;

/// What an answer teaches.
#[derive(Debug, Default)]
pub struct Learned {
    /// The id of the object.
    pub remote_id: Option<RemoteId>,
    /// Whether the object exists now.
    pub exists: bool,
    /// Facts for the kind; never a secret, never a personal value.
    pub facts: Value,
    /// Secrets to be sealed; the fact of each name becomes a reference to it.
    pub secrets: Vec<(&'static str, Secret)>,
}

/// One question to the service that changes nothing.
#[derive(Debug, Clone)]
pub struct Query {
    /// The call.
    pub call: Call,
    /// Whether the answer is a list to be read to its end.
    pub pages: bool,
}

impl Query {
    /// A question with one answer.
    pub fn one(call: Call) -> Self {
        Self { call, pages: false }
    }

    /// A list, read to its end.
    pub fn list(call: Call) -> Self {
        Self { call, pages: true }
    }
}

/// The answer to a [`Query`].
#[derive(Debug, Clone)]
pub enum Answer {
    /// One body.
    Body(Value),
    /// Every item of a list.
    Items(Vec<Value>),
    /// 404: the item is unknown, or the service has no such path.
    Missing(ServiceProblem),
}

impl Answer {
    /// The items of a list, none if it is no list.
    pub fn items(&self) -> &[Value] {
        match self {
            Self::Items(items) => items,
            Self::Body(_) | Self::Missing(_) => &[],
        }
    }

    /// Whether the service does not know the path at all: its 404 names no object
    /// (service-facts 25).
    pub fn unknown_path(&self) -> bool {
        match self {
            Self::Missing(problem) => {
                problem.messages.iter().all(|message| message.context.is_none())
            }
            Self::Body(_) | Self::Items(_) => false,
        }
    }
}

/// What evidence says of an effect whose answer was lost.
#[derive(Debug, Clone)]
pub enum Finding {
    /// It happened; this is what its answer would have said.
    Happened(Value),
    /// It was refused, and did nothing; these are the service's words.
    Refused(ServiceProblem),
    /// It is not there. One look proves nothing; two complete ones do.
    Absent,
    /// The events that can be seen do not show it, and events are all there is to see. It is not there once
    /// an event is newer than the last moment at which it can have happened.
    Unseen {
        /// The newest event's time by the service's clock.
        newest: Option<DateTime<Utc>>,
        /// What a person is told who has to settle it.
        why: String,
    },
    /// The service shows nothing of it, and it is absolute: once nothing of it can be on its way any more, the next
    /// change says all of it again, whatever the file says by then. This is why nothing shows it.
    Overwritten(String),
    /// The service shows nothing that could settle it.
    Unknown(String),
}

/// What to do once absence is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// Send it again.
    Again,
    /// Wait for a person.
    Hold,
}

/// How evidence is gathered and judged.
#[derive(Debug, Clone, Copy)]
pub struct Search {
    /// What is read.
    pub queries: fn(&Intent) -> Vec<Query>,
    /// What the answers mean.
    pub judge: fn(&Intent, &[Answer]) -> Finding,
    /// What follows from proved absence.
    pub absent: Absent,
}

/// How a lost answer is settled (design.md part 3).
#[derive(Debug, Clone, Copy)]
pub enum Doubt {
    /// Sending the same bytes again cannot double it; at most so often in all.
    Resend {
        /// The most sends in all, the first included.
        most: u32,
        /// Whether a refusal of a later one says that the first was refused too; otherwise what
        /// the first one gave is lost, and a person has to look.
        refusal_settles: bool,
    },
    /// The service can be asked.
    Search(Search),
    /// The service tells by itself, by a notification that carries the mark.
    Notice,
    /// Sent again until an answer comes, at most so often in all: what was ended cannot be ended twice.
    Ends {
        /// The most sends in all, the first included.
        most: u32,
        /// The statuses of a refusal that says that it was ended before.
        gone: &'static [u16],
    },
    /// Nothing can prove it: the intent's own `on_doubt` decides.
    Unprovable,
}

/// How an object stands after an effect that happened before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proved {
    /// It is there.
    There,
    /// It is gone.
    Gone,
}

/// What an effect is kept apart from, beside others of its own resource: so that a lost answer can be told
/// from another's, and nothing newer meets what may still be on its way (design.md part 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// From nothing.
    Own,
    /// From every other of its name at its merchant: nothing marks it.
    Merchant,
    /// From every effect on the same object, whatever it does.
    Target,
    /// From every other of its name that is about the same.
    About,
    /// From others that do the very same while they are under way: then there is nothing left to do.
    Twin,
    /// From every look at what its merchant has: nothing is asked with its credentials after it.
    Last,
}

/// What is asked just before an effect is sent.
#[derive(Debug, Clone, Copy)]
pub struct Baseline {
    /// The questions; none for an effect that needs none this time.
    pub queries: fn(&Effect) -> Vec<Query>,
    /// What is kept of their answers. A service that does not have what was asked for answers
    /// [`Answer::Missing`]: it gives no evidence.
    pub keep: fn(&[Answer]) -> Value,
    /// Why the effect must not be sent, given what was kept: what it meets is not what it was asked for.
    pub refuse: fn(&Effect, &Value) -> Option<String>,
}

/// One effect.
#[derive(Debug)]
pub struct EffectRow {
    /// Its name.
    pub name: &'static str,
    /// How a lost answer is settled.
    pub doubt: Doubt,
    /// What is asked just before sending, to have something to compare with later.
    pub baseline: Option<Baseline>,
    /// What it is kept apart from while it is under way or not settled.
    pub lane: Lane,
    /// What the answer teaches, or why it is not the answer to what was asked (law 4).
    pub learn: fn(&Intent, &Value) -> Result<Learned, String>,
    /// What a refusal proves of the object: that the effect happened before.
    pub proves: fn(&ServiceProblem) -> Option<Proved>,
}

impl EffectRow {
    /// Whether a refusal of this status says that what was to end had ended before.
    pub fn is_ended_by(&self, status: u16) -> bool {
        matches!(self.doubt, Doubt::Ends { most: _, gone } if gone.contains(&status))
    }
}

/// One reading.
#[derive(Debug)]
pub struct ReadingRow {
    /// Its name.
    pub name: &'static str,
    /// What is asked, given what the reading is about.
    pub queries: fn(about: &Value) -> Vec<Query>,
    /// What the answers teach about the resource, or why they cannot be used.
    pub learn: fn(&ReadCx<'_>, &[Answer]) -> Result<Learned, Trouble>,
}

/// Why a reading taught nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// A person has to look: the resource goes on hold.
    Hold(String),
    /// Objects with marks of ours that this state does not know: they stand in the way of the merchant.
    Strays(Vec<Stray>),
    /// It may be better later.
    Later(String),
    /// The credentials are those of something else: the environment (exit code 4).
    Mismatch(String),
    /// The service is still at work, as it should be.
    Wait(String),
}

/// What a reading may look at besides its answers.
#[derive(Clone, Copy)]
pub struct ReadCx<'a> {
    /// The resource.
    pub key: &'a Key,
    /// Test or live.
    pub mode: crate::base::id::Mode,
    /// The generation of its document.
    pub generation: u32,
    /// What is known of it so far.
    pub observed: Option<&'a Observed>,
    /// What the reading was told it is about; null for most.
    pub about: &'a Value,
    /// Whether the journal knows a mark.
    pub knows_mark: &'a dyn Fn(&str) -> bool,
}

impl std::fmt::Debug for ReadCx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ReadCx({})", self.key)
    }
}

/// Every effect there is.
pub static EFFECTS: &[EffectRow] = &[
    super::application_submit::ROW,
    super::application_sign_up::ROW,
    super::code_exchange::ROW,
    super::contact_create::ROW,
    super::contact_hash::ROW,
    super::file_upload::ROW,
    super::invoice_create::ROW,
    super::method_save::CARD,
    super::method_change::CARD,
    super::method_delete::CARD,
    super::method_save::BANK,
    super::method_change::BANK,
    super::method_delete::BANK,
    super::token_create::ROW,
    super::recurring_create::ROW,
    super::recurring_change::ROW,
    super::charge_recur::ROW,
    super::charge_schedule::ROW,
    super::charge::CHARGE,
    super::charge::CREDIT,
    super::charge_capture::ROW,
    super::refund::ROW,
    super::transaction_void::ROW,
    super::transaction_sign::ROW,
    super::occurrence_pay::ROW,
    super::recurring_cancel::ROW,
    super::recurring_end::ROW,
    super::occurrence_ignore::ROW,
    super::merchant_deauthorise::ROW,
    super::merchant_change::ROW,
    super::account_change::CARD,
    super::account_change::BANK,
    super::merchant_purge::ROW,
    super::recurring_delete::ROW,
    super::vault_save::ROW,
];

/// Every reading there is.
pub static READINGS: &[ReadingRow] = &[
    super::merchant_read::CREDENTIALS_ROW,
    super::merchant_read::KEYS_ROW,
    super::merchant_accounts::ROW,
    super::merchant_survey::ROW,
    super::surcharge_read::ROW,
    super::file_upload::STATE_ROW,
    super::recurring_look::ROW,
];

/// The row of an effect.
pub fn effect_row(name: &str) -> Option<&'static EffectRow> {
    EFFECTS.iter().find(|row| row.name == name)
}

/// The row of a reading.
pub fn reading_row(name: &str) -> Option<&'static ReadingRow> {
    READINGS.iter().find(|row| row.name == name)
}

/// Nothing that is met refuses the effect.
pub(super) fn fits(_: &Effect, _: &Value) -> Option<String> {
    None
}

/// No refusal of this effect proves that it happened before.
pub(super) fn nothing(_: &ServiceProblem) -> Option<Proved> {
    None
}
