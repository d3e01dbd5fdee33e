//! One change of the service, or one reading of it, as plain data.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::call::{Auth, Host, Method};
use crate::base::hash::SourceId;
use crate::base::id::{Key, Mode, RemoteId};
use crate::model::intents::exposure::{ExposureCounts, MoneyMove};
use crate::model::manifest::OnDoubt;
use crate::model::state::observed::AppliedSpec;

/// Work that an executor can do for a resource now.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each step that can be done, and never a list"
)]
pub enum StepWork {
    /// Change the service.
    Effect(Effect),
    /// Read from the service.
    Read(RemoteReading),
    /// Record, without any call, that the service already matches the file.
    Record(AppliedSpec),
}

/// A reading; its named row in the register defines its calls and their results.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteReading {
    /// The row, such as `merchant.credentials`.
    pub name: &'static str,
    /// The resource that is read.
    pub key: Key,
    /// The merchant whose credentials it uses.
    pub merchant: Key,
    /// The merchant's mode.
    pub mode: Mode,
    /// The manifest that requires the reading.
    pub applied: AppliedSpec,
    /// Further arguments, as its row requires them; null for most.
    pub subject: Value,
}

/// A request before its secrets are put in. A JSON value `{"$secret": SOURCE}` in the body
/// represents a secret that is resolved as late as possible.
///
/// `Debug` leaves the body out, which may hold personal values.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectRequest {
    /// The endpoint's name.
    pub endpoint: String,
    pub method: Method,
    pub host: Host,
    /// The path with its parameters filled in.
    pub path: String,
    pub auth: Auth,
    /// The merchant's account whose own key authenticates the call; `None` for the merchant's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The address of the web host, where it is not the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_url: Option<String>,
    /// The JSON body; null for none.
    pub body: Value,
}

impl fmt::Debug for EffectRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({} {})", self.method.as_str(), self.path)
    }
}

/// One change of the service as plain data.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The effect's row in the register, such as `contact.create`.
    pub name: &'static str,
    /// The resource that the effect is for.
    pub key: Key,
    /// The merchant that the effect concerns.
    pub merchant: Key,
    pub mode: Mode,
    /// The remote object that it changes, if that exists already.
    pub target: Option<RemoteId>,
    /// The permanent name of the required effect.
    pub source_id: SourceId,
    pub request: EffectRequest,
    /// The body holds private values and has to be sealed.
    pub sealed: bool,
    /// Required values of the answer, by path (law 4).
    pub expect: BTreeMap<String, Value>,
    /// The state of the service once the effect is done.
    pub applied: AppliedSpec,
    /// Further arguments besides its resource, as its row requires them; null for most. Two effects
    /// of one name with equal arguments do the same.
    pub subject: Value,
    /// A single-use value in the body, such as a one-time token.
    pub single_use: Option<Box<SingleUse>>,
    /// The settlement where no proof of the effect exists.
    pub on_doubt: OnDoubt,
    /// The money that the effect moves; empty for an effect that moves none. Limits count it.
    pub moves: Vec<MoneyMove>,
    /// Further counts for limits.
    pub counts: ExposureCounts,
}

/// A value that works once and only for a short time. One intent uses it, regardless of the
/// outcome; an expired value is never used. Either way the resource forgets it. A value with
/// `again` is forgotten only by the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct SingleUse {
    /// Time of expiry.
    pub expires_at: DateTime<Utc>,
    /// The facts that make the resource forget it.
    pub clearing_facts: Value,
    /// A failed try leaves the value to the next one: the service itself accepts it once, and the
    /// created object is found by its mark.
    pub is_reusable: bool,
}
