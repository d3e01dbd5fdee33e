//! Answers about the process and its state on disk: metrics, positions in the journal for `why`, and
//! data of other parts of the process.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::histogram::HistogramCounts;
use crate::base::id::{IntentId, Key};
use crate::client::calls::CallTotals;
use crate::engine::protocol::events::EventsView;
use crate::engine::protocol::hooks::HooksView;
use crate::engine::protocol::views::{Overview, ResourceView};
use crate::model::events::event::EventLedger;
use crate::model::events::scripts::ScriptValuesSize;
use crate::model::issue::{PlacedIssue, ProblemCounts};
use crate::model::state::health::PaymentCounts;
use crate::store::journal::chain::Head;

/// The engine's part of the overall status.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StatusView {
    /// The daemon's time: ages are relative to it.
    pub at: String,
    pub overview: Overview,
    /// Intents that are not closed, by state, with the age of the oldest of each in seconds.
    pub intents: BTreeMap<String, (u64, i64)>,
    /// The first resources that are not ready, the most urgent first.
    pub not_ready: Vec<ResourceView>,
    /// The commit of the documents, where they are in a repository.
    pub commit: Option<String>,
    /// The first problems of the documents.
    pub problems: Vec<PlacedIssue>,
    pub omitted: ProblemCounts,
    pub hooks: HooksView,
    /// The receivers of events; without the events themselves.
    pub events: EventsView,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metrics {
    pub overview: Overview,
    /// Intents that are not closed, by state, with the age of the oldest of each in seconds.
    pub intents: BTreeMap<String, (u64, i64)>,
    /// Resources that are not ready or differ from their file, by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Resources by each condition and its status.
    #[serde(default)]
    pub conditions: BTreeMap<String, BTreeMap<String, u64>>,
    pub over_limit: u64,
    pub backoff: u64,
    pub possible_orphans: u64,
    /// Calls to the service since the process began.
    #[serde(default)]
    pub calls: CallTotals,
    /// The last time at which nothing was left that could be done; `None` before the first.
    #[serde(default)]
    pub reconciled_at: Option<DateTime<Utc>>,
    /// Durations of the journal's syncs.
    pub syncs: HistogramCounts,
    /// Free bytes of the state's file system; `None` if they are not known.
    #[serde(default)]
    pub disk_free_bytes: Option<u64>,
    pub events: EventTotals,
    /// Posts answered since the process began, by answer; the HTTP server adds them.
    pub posts: BTreeMap<String, u64>,
    /// Alerts since the process began, by target and result.
    #[serde(default)]
    pub alerts: AlertCounts,
    /// A newer configuration has a problem and is not used; the HTTP server adds it.
    #[serde(default)]
    pub configuration_refused: bool,
}

/// Number of alerts by target and result.
pub type AlertCounts = BTreeMap<String, BTreeMap<String, u64>>;

/// Merchants with series of their own, at most: more would be too many series for a monitor.
pub const MERCHANTS_SHOWN_MAX: usize = 100;

/// Events and hooks of all merchants and applications together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventTotals {
    pub ledger: EventLedger,
    /// Payments by merchant; empty for a state with more than [`MERCHANTS_SHOWN_MAX`] merchants.
    #[serde(default)]
    pub payments: BTreeMap<String, PaymentCounts>,
    /// Seconds since the newest event, by the service's clock and ours; `None`: there is no event.
    pub age_seconds: Option<i64>,
    /// Seconds since the last read of a merchant's list: the greatest of all merchants.
    pub lag_seconds: Option<i64>,
    /// Actions that hooks requested and that are not settled.
    pub actions_waiting: u64,
    /// Hooks that failed and are run again.
    pub hooks_again: u64,
    /// Hooks that failed for good.
    pub hooks_dead: u64,
    /// Partner webhooks that were ignored.
    #[serde(default)]
    pub notices_ignored: u64,
    /// Scripts whose file is missing and whose place is kept.
    #[serde(default)]
    pub hooks_absent: u64,
    /// Scripts that receive no further events after too many failures: one for each merchant.
    #[serde(default)]
    pub hooks_stopped: u64,
    #[serde(default)]
    pub kept: ScriptValuesSize,
    /// Seconds since the horizon of dropped events, of the merchant that is furthest behind.
    #[serde(default)]
    pub horizon_age_seconds: Option<i64>,
}

/// The subject of a question for a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhySubject {
    Resource(Key),
    /// An intent, settled or not.
    Intent(IntentId),
    /// Any other word that a command prints: a service id, a mark, an event, an approval, a plan.
    Remote(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenances {
    /// The resources of the subject; empty if the journal does not know it.
    pub resources: Vec<RecordRefs>,
    /// The meaning of the word, in sentences, if it is no resource itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<String>,
    pub head: Head,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordRefs {
    pub key: Key,
    /// The sequences of all records about it, rising.
    pub sequences: Vec<u64>,
}

/// The value. It may hold secrets, such as webhook addresses, so `Debug` shows nothing of it.
#[derive(derive_more::Debug, Clone, PartialEq, Serialize, Deserialize)]
#[debug("Told(…)")]
#[serde(transparent)]
pub struct LocalReply(pub Value);

/// An answer about the state on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateReply {
    /// The release is recorded; false if no backup was restored.
    Released(bool),
    /// Positions in the journal for `why`.
    Trail(Provenances),
}
