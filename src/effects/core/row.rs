//! Register of effects and readings, one line each.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::api::call::{Call, Endpoint, Method};
use crate::base::id::{Key, Mode, RemoteId};
use crate::base::secret::Secret;
use crate::effects::core::expect;
use crate::model::effect::Effect;
use crate::model::intent::Intent;
use crate::model::outcome::ServiceProblem;
use crate::model::state::observed::Observed;
use crate::model::state::orphan::UnknownObject;

/// Results that are stored from an answer.
#[derive(Debug, Default)]
pub struct Learned {
    pub remote_id: Option<RemoteId>,
    pub exists: bool,
    /// Facts for the kind; never a secret, never a personal value.
    pub facts: Value,
    /// Secrets to be sealed; the fact of each name becomes a reference to it.
    pub secrets: Vec<(&'static str, Secret)>,
}

impl Learned {
    /// Stores an object with the id in `reply`, which must be usable.
    pub(crate) fn object(reply: &Value, facts: Value) -> Result<Self, String> {
        let remote_id = Some(expect::id(reply)?);
        Ok(Self { remote_id, ..Self::existing(facts) })
    }

    /// Stores facts of a resource that exists.
    pub(crate) fn existing(facts: Value) -> Self {
        Self { exists: true, facts, ..Self::default() }
    }
}

/// Read at the service that changes nothing.
#[derive(Debug, Clone)]
pub struct RemoteQuery {
    pub call: Call,
    /// Set for a list that is read to its end.
    pub pages: bool,
}

impl RemoteQuery {
    pub fn one(call: Call) -> Self {
        Self { call, pages: false }
    }

    /// List that is read to its end.
    pub fn list(call: Call) -> Self {
        Self { call, pages: true }
    }
}

/// Answer to a [`RemoteQuery`].
#[derive(Debug, Clone)]
pub enum RemoteAnswer {
    Body(Value),
    /// All items of a list.
    Items(Vec<Value>),
    /// 404: the item is unknown, or the service has no such path.
    Missing(ServiceProblem),
}

impl RemoteAnswer {
    /// Returns the items of a list; empty for another answer.
    pub fn items(&self) -> &[Value] {
        match self {
            Self::Items(items) => items,
            Self::Body(_) | Self::Missing(_) => &[],
        }
    }

    /// Returns whether the service does not know the path at all: its 404 names no object
    /// (service-facts 25).
    pub fn is_unknown_path(&self) -> bool {
        match self {
            Self::Missing(problem) => {
                problem.messages.iter().all(|message| message.context.is_none())
            }
            Self::Body(_) | Self::Items(_) => false,
        }
    }
}

/// Evidence on an effect whose answer was lost.
#[derive(Debug, Clone)]
pub enum LookupResult {
    /// Applied; holds the answer that was lost.
    Applied(Value),
    /// Refused without effect; holds the service's problem.
    Refused(ServiceProblem),
    /// Not found. One read proves nothing; two complete ones do.
    NotFound,
    /// Not in the visible events, which are the only evidence. Confirmed absent once an event is
    /// newer than the last moment at which the effect can have happened.
    NotVisibleYet {
        /// Time of the newest event by the service's clock.
        newest: Option<DateTime<Utc>>,
        /// Explanation for the person who settles the intent.
        why: String,
    },
    /// The service shows nothing of this absolute change. Once the request can no longer be in
    /// transit, the next change sends all of it again, from the current document. Holds the reason
    /// why nothing shows it.
    Superseded(String),
    /// The service shows nothing that could settle the effect.
    Inconclusive(String),
}

impl LookupResult {
    pub(crate) fn inconclusive(why: &str) -> Self {
        Self::Inconclusive(why.to_owned())
    }

    pub(crate) fn not_asked() -> Self {
        Self::inconclusive("the service was not asked")
    }
}

/// Lookup that gathers and judges evidence.
#[derive(Debug, Clone, Copy)]
pub struct Lookup {
    /// Reads that gather the evidence.
    pub queries: fn(&Intent) -> Vec<RemoteQuery>,
    /// Interprets the answers.
    pub judge: fn(&Intent, &[RemoteAnswer]) -> LookupResult,
}

/// Settlement policy for a lost answer (design.md part 3).
#[derive(Debug, Clone, Copy)]
pub enum LostReply {
    /// Send again: the same bytes cannot double the effect.
    Retry {
        /// Maximum sends, the first included.
        max_sends: u32,
        /// Set if the refusal of a later send proves that the first was refused too. Otherwise the
        /// result of the first send is lost, and the resource needs attention.
        refusal_settles: bool,
    },
    /// Look the effect up at the service, and send it again once confirmed absent.
    Lookup(Lookup),
    /// Wait for the service's webhook, which carries the mark.
    AwaitWebhook,
    /// Send again until an answer arrives: an object cannot be ended twice.
    RetryUntilGone {
        /// Maximum sends, the first included.
        max_sends: u32,
        /// Statuses of a refusal which mean that the object had ended before.
        gone_statuses: &'static [u16],
    },
    /// No evidence exists: the intent's own `on_doubt` decides.
    Undecidable,
}

/// State of an object after an effect that turns out to have happened before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProvenState {
    Exists,
    Gone,
}

/// Scope in which an effect excludes others, in addition to those of its own resource. It keeps a
/// lost answer distinguishable from another's, and keeps newer effects from meeting one still in
/// transit (design.md part 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// No further exclusion.
    None,
    /// Excludes others of its name at its merchant: no mark identifies it.
    PerMerchant,
    /// Excludes every other effect on the same object.
    PerObject,
    /// Excludes others of its name with the same `about`.
    PerContent,
    /// Excludes identical effects in flight: once the first succeeds, nothing is left to do.
    Dedup,
    /// Excludes every read of its merchant's objects: nothing uses its credentials afterwards.
    Exclusive,
}

/// Reads just before an effect is sent.
#[derive(Debug, Clone, Copy)]
pub struct Baseline {
    /// The reads; none for an effect that needs none this time.
    pub queries: fn(&Effect) -> Vec<RemoteQuery>,
    /// Returns the stored part of the answers. A service without the object answers
    /// [`RemoteAnswer::Missing`]: that gives no evidence.
    pub keep: fn(&[RemoteAnswer]) -> Value,
    /// Returns the reason not to send the effect, given the stored part: the object does not match
    /// the request.
    pub refuse: fn(&Effect, &Value) -> Option<String>,
}

#[derive(Debug)]
pub struct EffectRow {
    pub name: &'static str,
    pub method: Method,
    /// Path of the request, with parameters in braces.
    pub path: &'static str,
    pub lost_reply: LostReply,
    /// Reads just before sending, for later comparison.
    pub baseline: Option<Baseline>,
    /// Exclusion while the effect is in flight or not settled.
    pub isolation: Isolation,
    /// Returns the results of an answer, or the reason why it does not match the request (law 4).
    pub learn: fn(&Intent, &Value) -> Result<Learned, String>,
    /// Returns the state of the object if a refusal proves that the effect happened before.
    pub proven_state: fn(&ServiceProblem) -> Option<ProvenState>,
}

/// Maximum sends before the resource needs attention: far more than a bad hour needs.
const SENDS_MAX: u32 = 50;

impl EffectRow {
    /// Row of an effect without a baseline, of which no refusal proves that it happened before.
    pub(crate) const fn new<E: Endpoint>(
        name: &'static str,
        lost_reply: LostReply,
        isolation: Isolation,
        learn: fn(&Intent, &Value) -> Result<Learned, String>,
    ) -> Self {
        let (method, path, proven_state) = (E::METHOD, E::PATH, |_: &ServiceProblem| None);
        Self { name, method, path, lost_reply, baseline: None, isolation, learn, proven_state }
    }

    /// Row of an effect that the same bytes cannot double: it is sent again until it is answered.
    pub(crate) const fn resent<E: Endpoint>(
        name: &'static str,
        isolation: Isolation,
        learn: fn(&Intent, &Value) -> Result<Learned, String>,
    ) -> Self {
        let lost_reply = LostReply::Retry { max_sends: SENDS_MAX, refusal_settles: true };
        Self::new::<E>(name, lost_reply, isolation, learn)
    }

    /// Row of an effect that a read shows: it is looked up, and sent again once confirmed absent.
    pub(crate) const fn looked_up<E: Endpoint>(
        name: &'static str,
        isolation: Isolation,
        queries: fn(&Intent) -> Vec<RemoteQuery>,
        judge: fn(&Intent, &[RemoteAnswer]) -> LookupResult,
        learn: fn(&Intent, &Value) -> Result<Learned, String>,
    ) -> Self {
        Self::new::<E>(name, LostReply::Lookup(Lookup { queries, judge }), isolation, learn)
    }

    pub(crate) const fn with_baseline(mut self, baseline: Baseline) -> Self {
        self.baseline = Some(baseline);
        self
    }

    pub(crate) const fn with_proven_state(
        mut self,
        proven_state: fn(&ServiceProblem) -> Option<ProvenState>,
    ) -> Self {
        self.proven_state = proven_state;
        self
    }

    /// Returns whether a refusal of this status means that the object had ended before.
    pub fn is_ended_by(&self, status: u16) -> bool {
        matches!(self.lost_reply, LostReply::RetryUntilGone { max_sends: _, gone_statuses } if gone_statuses.contains(&status))
    }
}

#[derive(Debug)]
pub struct ReadingRow {
    pub name: &'static str,
    /// Returns the queries for the subject of the reading.
    pub queries: fn(about: &Value) -> Vec<RemoteQuery>,
    /// Returns the results for the resource, or the reason why the answers cannot be used.
    pub learn: fn(&ReadingCx<'_>, &[RemoteAnswer]) -> Result<Learned, ReadingError>,
}

/// Reason why a reading gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadingError {
    /// Objects with marks that this state does not know: they block the merchant.
    UnknownObjects(Vec<UnknownObject>),
    /// A later reading may succeed.
    RetryLater(String),
    /// The credentials belong to something else: an environment error (exit code 4).
    Mismatch(String),
    /// The service is still processing, as expected.
    InProgress(String),
}

/// Inputs of a reading beside its answers.
#[derive(Clone, Copy, derive_more::Debug)]
#[debug("ReadCx({key})")]
pub struct ReadingCx<'a> {
    pub key: &'a Key,
    pub mode: Mode,
    pub generation: u32,
    /// State known so far.
    pub observed: Option<&'a Observed>,
    /// Subject of the reading; null for most.
    pub about: &'a Value,
    /// Returns whether the journal knows a mark.
    pub knows_mark: &'a dyn Fn(&str) -> bool,
}

/// Baseline check that accepts every object.
pub(crate) fn accept_any(_: &Effect, _: &Value) -> Option<String> {
    None
}
