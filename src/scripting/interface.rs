//! Scripts of operators: loaded as one set, checked like a program, run on one event at a time.
//!
//! This module is the only user of `rhai`. A run performs nothing: it reads through [`Reads`] and
//! returns a [`HookRun`]. Its caller turns all action requests of the run into intents, or none.
//! Scripts are deterministic: the same script, event and answers give the same run. There is no
//! clock, no random number and no fraction, and maps keep their order.
//!
//! [`Hooks::load`] refuses a whole set with every problem in it. Each host function is one row of
//! [`register`], which holds its arguments, its checks and its documentation.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rhai::{AST, Engine};
use serde_json::Value;

use super::check::known_names::ScriptNames;
use super::host::script_event::ScriptEvent;
use super::load::source::ScriptSource;
use super::load::{events, scripts};
use super::run::failure::RunFailure;
use super::run::runner;
use super::run::stack::on_stack;
use crate::base::hash::Digest;
use crate::model::events::hook::HookRun;
use crate::model::events::hook_run::ScriptIdentity;
use crate::model::events::script_values::ScriptValuesSize;
use crate::model::spec::issue::PlacedIssue;
use crate::policy::Rights;

/// Wall-clock time of a run, without its reads.
pub const TIME_MAX: Duration = Duration::from_millis(250);

/// External names that scripts may use.
#[derive(Debug, Clone, Default)]
pub struct ConfiguredNames {
    /// Targets of the configuration's `notify`.
    pub targets: BTreeSet<String>,
    /// Mail targets, each set if it takes any address.
    pub mail: BTreeMap<String, bool>,
    /// Rights that the configuration grants.
    pub rights: Rights,
    /// Kinds of documents.
    pub kinds: BTreeSet<String>,
}

/// Reads of a script. Every answer is recorded with the run, so that two runs can be compared.
pub trait Reads: Send + Sync {
    /// Returns a resource, `KIND/NAME` or `KIND/NAMESPACE/NAME`: `{kind, namespace, name, labels,
    /// spec, ready, reason, message, remote_id}`; null if it does not exist.
    fn resource(&self, key: &str) -> Result<Value, String>;
    /// Returns all resources of a kind that match the filter, sorted by name, as a list of the same
    /// form.
    fn find(&self, kind: &str, filter: &Value) -> Result<Value, String>;
    /// Returns the known state of a transaction of the service; null if it is unknown.
    fn transaction(&self, id: &str) -> Result<Value, String>;
    /// Returns the service's answer to a read of [`crate::api::reads`]. `args` holds its parameters
    /// and query by name, and `merchant`.
    fn remote(&self, name: &str, args: &Value) -> Result<Value, String>;
    /// Returns the value that an earlier run of this script stored; null if there is none.
    fn kv(&self, script: &str, key: &str) -> Result<Value, String>;
    /// Returns the size of this script's stored values, and of all scripts' together.
    fn kept_size(&self, _script: &str) -> Result<(ScriptValuesSize, ScriptValuesSize), String> {
        Ok((ScriptValuesSize::default(), ScriptValuesSize::default()))
    }
}

/// A script's function that an event calls.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventHandler {
    /// Name of the script: its file's name without `.rhai`.
    pub script: String,
    pub function: String,
}

/// A script that passed every check.
pub(crate) struct CompiledScript {
    pub(crate) name: String,
    pub(crate) ast: AST,
    pub(crate) hash: Digest,
    /// Hash without the script's own name.
    pub(crate) content_hash: Digest,
    pub(crate) functions: BTreeSet<String>,
    pub(crate) concurrency: usize,
    pub(crate) since: Option<DateTime<Utc>>,
}

/// Settings with which a script processes a merchant's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptQueue {
    /// Identity of the script, by name and by text.
    pub lane: ScriptIdentity,
    /// Events for which the script may run at once: its constant `CONCURRENCY`, 1 by default.
    pub concurrency: usize,
    /// Time from which a new script runs on already known events: its constant `SINCE`.
    pub since: Option<DateTime<Utc>>,
}

/// A set of scripts that passed every check. Cheap to clone.
#[derive(Clone)]
pub struct Hooks {
    pub(crate) engine: Arc<Engine>,
    pub(crate) scripts: Arc<BTreeMap<String, CompiledScript>>,
    pub(crate) hash: Digest,
    pub(crate) names: Arc<ScriptNames>,
    pub(crate) warnings: Arc<Vec<PlacedIssue>>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hooks({} scripts, {})", self.scripts.len(), self.hash.short())
    }
}

impl Hooks {
    /// Checks and loads a set. Files in the folder itself are scripts, and files in subfolders are
    /// modules that scripts import. Files in `templates` that end in `.txt` or `.html` are
    /// templates.
    ///
    /// # Errors
    ///
    /// Every problem of the set, with warnings; then no part of the set is used.
    pub fn load(
        sources: &[ScriptSource],
        known: &ConfiguredNames,
    ) -> Result<Self, Vec<PlacedIssue>> {
        on_stack(|| scripts::load(sources, known))
            .unwrap_or_else(|| Err(scripts::check_failure_problem(sources)))
    }

    /// Returns the SHA-256 of the names and texts of all files.
    pub fn hash(&self) -> Digest {
        self.hash
    }

    /// Returns the warnings of the set.
    pub fn warnings(&self) -> &[PlacedIssue] {
        &self.warnings
    }

    /// Returns the names of the scripts.
    pub fn scripts(&self) -> impl Iterator<Item = &str> {
        self.scripts.keys().map(String::as_str)
    }

    /// Returns the event settings of every script.
    pub fn queues(&self) -> impl Iterator<Item = ScriptQueue> {
        self.scripts.values().map(|script| ScriptQueue {
            lane: ScriptIdentity { script: script.name.clone(), text: script.content_hash },
            concurrency: script.concurrency,
            since: script.since,
        })
    }

    /// Returns the function of a script for events of this type.
    pub fn handler(&self, script: &str, event_type: &str) -> Option<EventHandler> {
        let script = self.scripts.get(script)?;
        let exact = events::handler_name(event_type);
        let names = [exact.as_str(), events::ANY];
        let function = names.into_iter().find(|name| script.functions.contains(*name))?;
        Some(EventHandler { script: script.name.clone(), function: function.to_owned() })
    }

    /// Returns the functions for events of this type. Each script provides the function of the
    /// type, else its `on_event`.
    pub fn handlers(&self, event_type: &str) -> Vec<EventHandler> {
        self.scripts.keys().filter_map(|script| self.handler(script, event_type)).collect()
    }

    /// Runs one function on one event, on this thread, which needs [`STACK_BYTES`] of stack. `time`
    /// bounds the run without its reads. A simulation passes `None`, where only the bound of
    /// operations applies.
    ///
    /// # Errors
    ///
    /// The failure of the run, which then requests nothing.
    pub fn run(
        &self,
        handler: &EventHandler,
        event: &Value,
        reads: &Arc<dyn Reads>,
        time: Option<Duration>,
    ) -> Result<HookRun, Box<RunFailure>> {
        self.run_event(handler, ScriptEvent::new(event), reads, time)
    }

    /// Runs one function on an event that was read for this run.
    ///
    /// # Errors
    ///
    /// The failure of the run, which then requests nothing.
    pub fn run_event(
        &self,
        handler: &EventHandler,
        event: ScriptEvent,
        reads: &Arc<dyn Reads>,
        time: Option<Duration>,
    ) -> Result<HookRun, Box<RunFailure>> {
        runner::run(self, handler, event, reads, time)
    }
}
