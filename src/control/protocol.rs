//! The wire form of the requests of people and programs, and of their answers.
//!
//! It is the same over the socket and over HTTP, and is internal to this program: both sides must
//! have one version. A transport adds the actor and the encoding, and decides nothing. Code sends
//! the typed requests of [`super::requests`], which become values of this form.
//!
//! Over HTTP a request is one `POST` of one [`ControlRequest`], answered by one [`Response`]. A
//! slow response sends a space every [`BEAT`] as keep-alive, so that no intermediary takes the
//! connection for dead; JSON ignores leading white space.
//!
//! A client on another machine has neither state nor key. The daemon's process answers its
//! [`LocalQuery`]s about data beside the engine: files, journal, or another tree.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::engine::protocol::actions::ManualResolution;
use crate::engine::protocol::approvals::ApprovingPlan;
use crate::engine::protocol::events::ResyncEvents;
use crate::engine::protocol::input::AllowPrune;
use crate::engine::protocol::payers::{AttachToken, IntakeTerms};
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::engine::protocol::replay::ReplaySelection;
use crate::model::effect::{Action, RemoteGet};
use crate::model::holds::FreezeRequest;
use crate::model::operator::{RotationRequest, SuspensionRequest};
use crate::model::state::credentials::LiveBinding;
use crate::model::state::drift::{AdoptRequest, ForgetRequest, InventoryRequest};
use crate::model::state::lifecycle::ReleaseRequest;
use crate::store::audit::AuditRequest;

pub const CONTROL_PATH: &str = "/api/v1/control";
/// Header in which both sides state their version.
pub const VERSION_HEADER: &str = "reckon-version";
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Largest request, in bytes: it may hold a whole tree of specs.
pub const REQUEST_BYTES_MAX: usize = 128 << 20;
pub const RESPONSE_BYTES_MAX: usize = 1 << 30;
/// Interval of the keep-alive spaces.
pub const BEAT: Duration = Duration::from_secs(10);
/// The client gives the connection up after this long without any byte.
pub const SILENCE_MAX: Duration = Duration::from_mins(2);

/// A request: one JSON object, such as `{"ask":"plan"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlRequest {
    Ask(EngineQuery),
    /// Approves exactly this live authorisation.
    Approve(Box<LiveBinding>),
    Act(Box<Action>),
    Resolve(IntentId, ManualResolution),
    /// Approves the plan of this checksum; the transport supplies the actor.
    ApprovePlan(Box<ApprovingPlan>),
    Allow(AllowPrune),
    /// Answers the plan after the content of every file was read again: `"verify"`.
    Verify,
    /// Plans and starts this resource again at once, although an earlier failure delays it.
    Retry(Key),
    /// Answers the plan after a full sweep of the service: `"refresh"`.
    Refresh,
    /// Answers the portal link of this invoice: a secret.
    Link(Key),
    #[serde(rename = "pause")]
    Suspend(Box<SuspensionRequest>),
    /// Answers a one-time link to the daemon's page, for the actor of the request: a secret.
    EnterPage,
    Freeze(FreezeRequest),
    /// Lets a manual daemon make the service match the documents of the plan with this checksum.
    Sync(String),
    /// Records what was sent for these resources since the backup, or nothing; none: for any.
    Release(ReleaseRequest),
    /// Answers from the local data beside the engine.
    #[serde(rename = "look")]
    Local(Box<LocalQuery>),
    Import(Box<AdoptRequest>),
    Inventory(InventoryRequest),
    /// Answers the service's response to a read.
    #[serde(rename = "show")]
    RemoteGet(Box<RemoteGet>),
    /// Reads the tree again and imports these objects, one after the other.
    ImportAll(Vec<AdoptRequest>),
    /// Runs the hooks of this event again that failed for good.
    Replay(String),
    /// Runs a script again for the events of a period, whatever the outcome of its earlier runs.
    ReplaySince(Box<ReplaySelection>),
    /// Forgets a resource, or an object that carries a mark of ours.
    Forget(ForgetRequest),
    Attach(AttachToken),
    Rotate(RotationRequest),
    #[serde(rename = "recover")]
    ResyncEvents(ResyncEvents),
    Dismiss(String),
    /// Acknowledges the object that an intent may have created twice, for this reason.
    DismissOrphan(IntentId, String),
    ForgetScript(String),
    Compact {
        drop_history: bool,
    },
    /// Changes the state's key; only over the socket of the daemon's own machine.
    Rekey {
        /// File of the new key on that machine; `None`: the daemon makes one.
        new_key_file: Option<PathBuf>,
    },
}

impl ControlRequest {
    /// Returns true if the request is read-only: it changes neither the state nor the service, and
    /// reveals no secret. A request counts as a change unless it is known to be read-only.
    pub fn is_read_only(&self) -> bool {
        use EngineQuery::{ScriptFind, ScriptResource, Settle, TrialRun};
        if let Self::Ask(question) = self {
            // Event data as scripts see it holds names and addresses.
            return !matches!(question, Settle | ScriptResource(_) | ScriptFind(..) | TrialRun(_));
        }
        if let Self::Local(look) = self {
            return !look.is_secret();
        }
        *self == Self::Verify
    }

    /// Returns true if only a process on the daemon's machine may ask: no token is enough.
    pub fn is_local(&self) -> bool {
        matches!(self, Self::Rekey { .. })
    }
}

/// The response: `{"Ok": …}` or `{"Err": {code, message, help}}`.
pub type Response = Result<Reply, ControlError>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct ControlError {
    /// Machine-readable code: one of the constants of this type.
    pub code: String,
    pub message: String,
    /// Remedy: the action or the command.
    pub help: String,
}

impl ControlError {
    pub const STOPPED: &str = "engine_stopped";
    pub const BAD_REQUEST: &str = "bad_request";
    pub const TOO_LONG: &str = "request_too_long";
    pub const BUSY: &str = "too_many_connections";
    pub const NOT_ALLOWED: &str = "not_allowed";
    pub const LOST: &str = "connection_lost";
    /// There is a socket, but it cannot be used.
    pub const UNUSABLE: &str = "socket_unusable";
    pub const TOKEN_NEEDED: &str = "token_needed";
    pub const WRONG_TOKEN: &str = "wrong_token";
    pub const READ_ONLY: &str = "read_only_token";
    pub const OTHER_VERSION: &str = "version_mismatch";
    /// No listener serves the page.
    pub const NO_PAGE: &str = "no_page";
    pub const BUG: &str = "our_mistake";

    pub fn new(code: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), help: help.into() }
    }

    /// Builds the error of an engine that ended, or is about to.
    pub(crate) fn engine_stopped() -> Self {
        Self::new(
            Self::STOPPED,
            "the engine stopped before it answered",
            "check the daemon's log, restart it and repeat the command",
        )
    }

    pub(crate) fn bug(message: &str) -> Self {
        Self::new(Self::BUG, format!("internal error: {message}"), "please report this bug")
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LocalQuery {
    /// The engine's answer to a question about its plan, for this tree instead of its own.
    #[serde(rename = "of")]
    PlanOf(SentTree, EngineQuery),
    /// Comparison of the daemon's tree with this one; answers [`TreeDifferences`].
    Compare(TreeContents),
    /// The reason of a present state, from the journal; null if the journal does not know it.
    Why {
        /// An id, a mark, an intent or a resource.
        what: String,
        /// True if the whole journal is to be verified.
        verify: bool,
    },
    /// One event with its history; null if this state does not know it.
    Event(String),
    /// A part of the audit trail.
    Audit(AuditRequest),
    /// The events verified since this time, as scripts see them, and their results.
    Past(DateTime<Utc>),
    /// The addresses that the service and applicants are given: secrets.
    Urls,
    /// A payer's link for a saved method, made for these terms: a secret.
    Intake {
        key: Key,
        terms: IntakeTerms,
        /// Days for which the link is valid.
        days: u16,
    },
}

/// A tree of specs to be sent. `Debug` shows only its size: documents may hold personal values.
#[derive(derive_more::Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[debug("SentTree({} files at {commit:?})", files.len())]
pub struct SentTree {
    /// Prefix of the paths of its files in reports.
    pub prefix: String,
    pub commit: Option<String>,
    /// The files of specs, by their paths below the folder.
    pub files: BTreeMap<String, String>,
    /// The files that documents name, by paths below their folder; `None`: the daemon's files.
    pub attached: Option<BTreeMap<String, SentFile>>,
}

/// Size and digest of a file that documents name. The content is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentFile {
    pub size: u64,
    pub sha256: Digest,
}

/// SHA-256 of every file of a tree, by path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeContents {
    pub files: BTreeMap<String, Digest>,
    pub attached: BTreeMap<String, Digest>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeDifferences {
    /// The commit that the daemon has checked out, if there is one.
    pub commit: Option<String>,
    /// Files that only the other tree has.
    pub missing: Vec<String>,
    pub more: Vec<String>,
    pub changed: Vec<String>,
    /// Files that documents name and that are missing or have different content.
    pub attached: Vec<String>,
    /// The obstacle to seeing all of the daemon's tree, if there is one.
    pub trouble: Option<String>,
}

impl TreeContents {
    pub fn differences(&self, other: &Self) -> TreeDifferences {
        let only = |these: &Self, those: &Self| -> Vec<String> {
            these.files.keys().filter(|path| !those.files.contains_key(*path)).cloned().collect()
        };
        let other_content = |(path, digest): (&String, &Digest)| {
            let mine = self.files.get(path);
            mine.is_some_and(|mine| mine != digest).then(|| path.clone())
        };
        let attached = other.attached.iter();
        let attached = attached.filter(|(path, digest)| self.attached.get(*path) != Some(digest));
        TreeDifferences {
            missing: only(other, self),
            more: only(self, other),
            changed: other.files.iter().filter_map(other_content).collect(),
            attached: attached.map(|(path, _)| path.clone()).collect(),
            ..TreeDifferences::default()
        }
    }
}

impl TreeDifferences {
    pub fn is_none(&self) -> bool {
        let Self { commit: _, missing, more, changed, attached, trouble } = self;
        let files = [missing, more, changed, attached];
        files.iter().all(|files| files.is_empty()) && trouble.is_none()
    }
}

impl LocalQuery {
    pub fn is_secret(&self) -> bool {
        match self {
            // Events hold names and addresses.
            Self::Urls | Self::Intake { .. } | Self::Past(_) => true,
            Self::PlanOf(..)
            | Self::Compare(_)
            | Self::Why { .. }
            | Self::Event(_)
            | Self::Audit(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::sha256;
    use crate::engine::protocol::payers::IntakeTerms;

    #[test]
    fn what_is_not_known_to_look_is_taken_for_a_change() {
        let key: Key = "Invoice/jane".parse().unwrap();
        let intake = LocalQuery::Intake {
            key: key.clone(),
            terms: IntakeTerms { generation: 0, replaces: None },
            days: 7,
        };
        let why = LocalQuery::Why { what: "i-000001".to_owned(), verify: true };
        for request in [
            ControlRequest::Ask(EngineQuery::Plan),
            ControlRequest::Ask(EngineQuery::Resource(key.clone())),
            ControlRequest::Verify,
            ControlRequest::Local(Box::new(why)),
        ] {
            assert!(request.is_read_only(), "{request:?}");
        }
        for request in [
            ControlRequest::Ask(EngineQuery::Settle),
            ControlRequest::Refresh,
            ControlRequest::Retry(key.clone()),
            ControlRequest::Link(key.clone()),
            ControlRequest::EnterPage,
            ControlRequest::Suspend(Box::new(SuspensionRequest::Resume { key })),
            ControlRequest::Release(ReleaseRequest { keys: Vec::new(), done: false }),
            ControlRequest::Local(Box::new(LocalQuery::Urls)),
            ControlRequest::Local(Box::new(intake)),
        ] {
            assert!(!request.is_read_only(), "{request:?}");
        }
    }

    #[test]
    fn requests_and_responses_have_a_fixed_form() {
        let key = "Invoice/jane".parse().unwrap();
        let request = ControlRequest::Ask(EngineQuery::Resource(key));
        let text = r#"{"ask":{"resource":"Invoice/default/jane"}}"#;
        assert_eq!(serde_json::to_string(&request).unwrap(), text);
        assert_eq!(serde_json::from_str::<ControlRequest>(text).unwrap(), request);
        assert_eq!(
            serde_json::from_str::<ControlRequest>("\"verify\"").unwrap(),
            ControlRequest::Verify
        );
        let settled = serde_json::to_string(&Response::Ok(Reply::Settled)).unwrap();
        assert_eq!(settled, r#"{"Ok":"settled"}"#);
        let error = Response::Err(ControlError::new("a", "b", "c"));
        let text = r#"{"Err":{"code":"a","message":"b","help":"c"}}"#;
        assert_eq!(serde_json::to_string(&error).unwrap(), text);
    }

    fn contents(files: &[(&str, &str)], attached: &[(&str, &str)]) -> TreeContents {
        let digests = |files: &[(&str, &str)]| {
            let digest =
                |(path, text): &(&str, &str)| ((*path).to_owned(), sha256(text.as_bytes()));
            files.iter().map(digest).collect()
        };
        TreeContents { files: digests(files), attached: digests(attached) }
    }

    #[test]
    fn every_file_that_is_not_the_same_is_told_by_name_and_sort() {
        let mine = contents(&[("a", "1"), ("b", "2"), ("c", "3")], &[("x", "1"), ("z", "9")]);
        let theirs = contents(&[("b", "2"), ("c", "4"), ("d", "5")], &[("x", "1"), ("y", "1")]);
        let found = mine.differences(&theirs);
        assert_eq!((found.missing, found.more), (vec!["d".to_owned()], vec!["a".to_owned()]));
        assert_eq!((found.changed, found.attached), (vec!["c".to_owned()], vec!["y".to_owned()]));
        assert!(mine.differences(&mine).is_none());
        let trouble = Some("unreadable".to_owned());
        assert!(!TreeDifferences { trouble, ..TreeDifferences::default() }.is_none());
    }
}
