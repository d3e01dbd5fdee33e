//! One change of the service, or one reading of it, as plain data.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::{Auth, Host, Method};
use crate::base::hash::SourceId;
use crate::base::id::{Key, Mode, RemoteId};
use crate::model::manifest::OnDoubt;
use crate::model::observed::Applied;
use crate::model::plan::MoneyMove;

/// What an executor can do about a resource now.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each step that can be done, and never a list"
)]
pub enum Work {
    /// Change the service.
    Effect(Effect),
    /// Read from it.
    Read(Reading),
    /// Write down, without any call, that the service already is as the file says.
    Note(Applied),
}

/// A reading: a named row of the register knows its calls and what they teach.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The row, such as `merchant.credentials`.
    pub name: &'static str,
    /// The resource it is about.
    pub key: Key,
    /// The merchant whose credentials it uses.
    pub merchant: Key,
    /// The merchant's mode.
    pub mode: Mode,
    /// The manifest that asked for it.
    pub applied: Applied,
    /// What it is about besides, as its row takes it; null for most.
    pub about: Value,
}

/// A request before its secrets are put in. A JSON value `{"$secret": SOURCE}` in the body stands
/// for a secret that is resolved as late as possible. `Debug` leaves the body out: it may hold personal values.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The endpoint's name.
    pub endpoint: String,
    /// The HTTP method.
    pub method: Method,
    /// The host.
    pub host: Host,
    /// The path, filled in.
    pub path: String,
    /// What lets it in.
    pub auth: Auth,
    /// The merchant's account whose own key lets it in; none for the merchant's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The address of the web host, where it is not the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_url: Option<String>,
    /// The JSON body; null for none.
    pub body: Value,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({} {})", self.method.as_str(), self.path)
    }
}

/// One change of the service as plain data.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// Its row in the register, such as `contact.create`.
    pub name: &'static str,
    /// The resource it is for.
    pub key: Key,
    /// The merchant it concerns.
    pub merchant: Key,
    /// Test or live.
    pub mode: Mode,
    /// The remote object it changes, if that exists already.
    pub target: Option<RemoteId>,
    /// The name of the obligation, for ever.
    pub source_id: SourceId,
    /// What is sent.
    pub request: Request,
    /// Whether the body holds private values and has to be sealed.
    pub sealed: bool,
    /// What the answer has to say, by path (law 4).
    pub expect: BTreeMap<String, Value>,
    /// What will have been put on the service once it is done.
    pub applied: Applied,
    /// What it is about besides its resource, as its row takes it; null for most. Two effects of one name that are
    /// about the same do the same.
    pub about: Value,
    /// Something in the body that works once, such as a one-time token.
    pub once: Option<Box<Once>>,
    /// What to do when nothing proves whether it happened.
    pub on_doubt: OnDoubt,
    /// The money that it sets in motion; empty for an effect that moves none. Limits count it.
    pub moves: Vec<MoneyMove>,
    /// What else limits count of it.
    pub counts: Counts,
}

/// What limits count besides money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Objects that are removed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deletes: u32,
    /// E-mails that the service sends for it, one for each address.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub emails: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Something that works once and not for long. One intent uses it, whatever becomes of that intent;
/// when it is too old, no intent does. Either way the resource forgets it. What may be used again is forgotten only
/// by the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Once {
    /// From then on it is too old.
    pub until: DateTime<Utc>,
    /// The facts that forget it.
    pub spent: Value,
    /// Whether a try that came to nothing leaves it to the next one: the service itself takes it once, and what it
    /// made is found by its mark.
    pub again: bool,
}
