//! Scripts of operators: loaded as one set, checked like a program, run on one event at a time.
//!
//! This folder is the only user of `rhai`. A run performs nothing: it reads through [`Reads`] and
//! returns a [`HookRun`]. Its caller turns all action requests of the run into intents, or none.
//! Scripts are deterministic: the same script, event and answers give the same run. There is no
//! clock, no random number and no fraction, and maps keep their order.
//!
//! [`Hooks::load`] refuses a whole set with every problem in it. Each host function is one row of
//! [`crate::scripting::engine::host_functions`], which holds its arguments, its checks and its
//! documentation. A run that would exceed the quota of stored values fails.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rhai::{AST, CallFnOptions, Dynamic, Engine, Scope};
use serde_json::Value;

use crate::base::hash::Digest;
use crate::model::events::hook::HookRun;
use crate::model::events::hook_run::ScriptIdentity;
use crate::model::events::scripts::{
    ALL_BYTES_MAX, ALL_KEYS_MAX, BYTES_MAX, KEYS_MAX, ScriptValuesSize, sum,
};
use crate::model::issue::PlacedIssue;
use crate::policy::ScriptPower;
use crate::scripting::engine::{FailureCause, RunFailure, classify_error};
use crate::scripting::host::script_event::{ScriptEvent, remove_private_of_event};
use crate::scripting::host::session::{Reads, RunOutput, RunSession};
use crate::scripting::language::limits::DeadlineGuard;
use crate::scripting::language::names::ScriptNames;
use crate::scripting::language::source::Issues;
use crate::scripting::language::values::ScriptResult;
use crate::scripting::language::{limits, names};

/// A script's function that an event calls.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventHandler {
    /// Name of the script: its file's name without `.rhai`.
    pub script: String,
    pub function: String,
}

/// A script that passed every check.
pub(crate) struct CompiledScript {
    /// The identity has the hash without the script's own name.
    pub(crate) queue: ScriptQueue,
    pub(crate) ast: AST,
    pub(crate) hash: Digest,
    pub(crate) functions: BTreeSet<String>,
}

/// Settings with which a script processes a merchant's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptQueue {
    pub lane: ScriptIdentity,
    /// Events for which the script may run at once: its constant `CONCURRENCY`, 1 by default.
    pub concurrency: usize,
    /// Time from which a new script runs on already known events: its constant `SINCE`.
    pub since: Option<DateTime<Utc>>,
}

/// A set of scripts that passed every check. Cheap to clone.
#[derive(Clone, derive_more::Debug)]
#[debug("Hooks({} scripts)", scripts.len())]
pub struct Hooks {
    pub(crate) engine: Arc<Engine>,
    pub(crate) scripts: Arc<BTreeMap<String, CompiledScript>>,
    pub(crate) names: Arc<ScriptNames>,
    pub(crate) warnings: Arc<Issues>,
}

impl Hooks {
    pub fn warnings(&self) -> &[PlacedIssue] {
        &self.warnings
    }

    pub fn scripts(&self) -> impl Iterator<Item = &str> {
        self.scripts.keys().map(String::as_str)
    }

    pub fn queues(&self) -> impl Iterator<Item = ScriptQueue> {
        self.scripts.values().map(|script| script.queue.clone())
    }

    pub fn handler(&self, script: &str, event_type: &str) -> Option<EventHandler> {
        let (script, compiled) = self.scripts.get_key_value(script)?;
        let exact = names::handler_name(event_type);
        let names = [exact.as_str(), names::ANY_EVENT];
        let function = names.into_iter().find(|name| compiled.functions.contains(*name))?;
        Some(EventHandler { script: script.clone(), function: function.to_owned() })
    }

    /// Returns the functions for events of this type; a script without one has its `on_event`.
    pub fn handlers(&self, event_type: &str) -> Vec<EventHandler> {
        self.scripts.keys().filter_map(|script| self.handler(script, event_type)).collect()
    }

    /// Runs one function on one event, on this thread, which needs [`STACK_BYTES`](crate::scripting::language::limits::STACK_BYTES) of stack. `time`
    /// bounds the run without its reads. A simulation passes `None`, where only the bound of
    /// operations applies.
    ///
    /// # Errors
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
    /// The failure of the run, which then requests nothing.
    pub fn run_event(
        &self,
        handler: &EventHandler,
        event: ScriptEvent,
        reads: &Arc<dyn Reads>,
        time: Option<Duration>,
    ) -> Result<HookRun, Box<RunFailure>> {
        let EventHandler { script: name, function } = handler;
        let failure = |cause, message, place, log| {
            let (script, function) = (name.clone(), function.clone());
            Box::new(RunFailure { script, function, cause, message, place, log })
        };
        let known = self.scripts.get(name);
        let Some(script) = known.filter(|script| script.functions.contains(function)) else {
            let message = "there is no such script or function".to_owned();
            return Err(failure(FailureCause::Missing, message, None, Vec::new()));
        };
        let (mut argument, about) = event.into_parts();
        let personal =
            self.names.configured.rights.allows(ScriptPower::Personal, about.merchant.as_ref());
        remove_private_of_event(&mut argument, personal);
        let session = RunSession::new(name, about, Arc::clone(&self.names), Arc::clone(reads));
        let (ended, operations) = self.call_function((script, function), argument, &session, time);
        let done = session.take();
        let over = exceeded_quota(&**reads, name, &done);
        match ended {
            Err(()) => {
                let message = "a function of ours failed where it never should";
                Err(failure(FailureCause::Panic, message.to_owned(), None, done.log))
            }
            Ok(Err(error)) => {
                let (why, message, place) = classify_error(&error);
                Err(failure(why, message, place, done.log))
            }
            Ok(Ok(_)) if over.is_some() => {
                Err(failure(FailureCause::LimitExceeded, over.unwrap_or_default(), None, done.log))
            }
            Ok(Ok(_)) => Ok(HookRun {
                script: name.clone(),
                function: function.clone(),
                hash: script.hash,
                requests: done.actions,
                kept: done.stored.into_iter().collect(),
                added: done.added.into_iter().collect(),
                reads: done.reads,
                log: done.log,
                operations,
                sealed: None,
                answers: done.answers,
            }),
        }
    }

    /// Calls the function. The outer error is a panic.
    fn call_function(
        &self,
        (script, function): (&CompiledScript, &str),
        argument: Dynamic,
        session: &RunSession,
        time: Option<Duration>,
    ) -> (Result<ScriptResult<Dynamic>, ()>, u64) {
        let timed = DeadlineGuard::start(time);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let options = CallFnOptions::new().with_tag(session.clone());
            let mut scope = Scope::new();
            let engine = &self.engine;
            engine.call_fn_with_options(options, &mut scope, &script.ast, function, (argument,))
        }));
        drop(timed);
        (ended.map_err(drop), limits::operations())
    }
}

/// Returns the quota that a run would exceed: never one, unless it increases the stored size.
fn exceeded_quota(reads: &dyn Reads, script: &str, done: &RunOutput) -> Option<String> {
    if done.stored.is_empty() && done.added.is_empty() {
        return None;
    }
    let (mut before, mut after) = (ScriptValuesSize::default(), ScriptValuesSize::default());
    let old = |key: &str| reads.kv(script, key).unwrap_or_default();
    let sums = done.added.iter().map(|(key, added)| {
        let old = old(key);
        (key, sum(&old, added).unwrap_or_default(), old)
    });
    let set = done.stored.iter().map(|(key, value)| (key, value.clone(), old(key)));
    let changes: Vec<(&String, Value, Value)> = set.chain(sums).collect();
    for (key, value, old) in &changes {
        before = before.plus(ScriptValuesSize::of(key, old));
        after = after.plus(ScriptValuesSize::of(key, value));
    }
    let (more_keys, more_bytes) = (after.keys > before.keys, after.bytes > before.bytes);
    if !more_keys && !more_bytes {
        return None;
    }
    let (own, all) = reads.kept_size(script).ok()?;
    let grown = |size: ScriptValuesSize| size.without(before).plus(after);
    let bounds = [
        (more_keys, grown(own).keys, KEYS_MAX, "keys of one script"),
        (more_bytes, grown(own).bytes, BYTES_MAX, "bytes of one script"),
        (more_keys, grown(all).keys, ALL_KEYS_MAX, "keys of all scripts together"),
        (more_bytes, grown(all).bytes, ALL_BYTES_MAX, "bytes of all scripts together"),
    ];
    let over = bounds.into_iter().find(|(grows, size, most, _)| *grows && size > most);
    over.map(|(_, size, most, what)| {
        format!(
            "it would keep {size} {what}, and {most} are kept at most: remove some with `kv_delete`"
        )
    })
}

#[cfg(test)]
mod tests;
