//! The overall status as `/api/v1/status` and `status -o json` show it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::control::handle::ConfigurationView;
use crate::engine::protocol::diagnostics::StatusView;
use crate::engine::protocol::events::EventsView;
use crate::engine::protocol::hooks::HooksView;
use crate::engine::protocol::views::{Overview, ResourceView};
use crate::model::issue::{PlacedIssue, ProblemCounts};

/// The engine's status, its overview at the top level, with what the server knows.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StatusBody {
    version: &'static str,
    /// The daemon's time: ages are relative to it.
    at: String,
    #[serde(flatten)]
    overview: Overview,
    /// Intents that are not closed, by state: their number, and the age of the oldest in seconds.
    intents: BTreeMap<String, (u64, i64)>,
    /// The first resources that are not ready, the most urgent first.
    not_ready: Vec<ResourceView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// The first problems of the documents.
    problems: Vec<PlacedIssue>,
    #[serde(skip_serializing_if = "ProblemCounts::is_zero")]
    omitted: ProblemCounts,
    hooks: HooksView,
    events: EventsView,
    /// Webhooks that were answered since the process began, by answer; only from a daemon.
    #[serde(skip_serializing_if = "Option::is_none")]
    posts: Option<BTreeMap<String, u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    configuration: Option<ConfigurationView>,
}

impl StatusBody {
    pub(crate) fn new(
        status: StatusView,
        posts: Option<BTreeMap<String, u64>>,
        configuration: Option<ConfigurationView>,
    ) -> Self {
        let StatusView { at, overview, intents, not_ready, commit, problems, omitted, .. } = status;
        Self {
            version: env!("CARGO_PKG_VERSION"),
            at,
            overview,
            intents,
            not_ready,
            commit,
            problems,
            omitted,
            hooks: status.hooks,
            events: status.events,
            posts,
            configuration,
        }
    }
}
