//! A batch: one script's way through some events, from the first to the last on one thread. It
//! leaves the thread only if a run needs an answer of another part of the program.
//!
//! A run cannot wait. So a read without an answer ends the try; the answer is fetched, and the
//! script runs again from its beginning. A script is deterministic, so it reaches the same place.
//! Requests of a try count only if it is the last one.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::engine::handles::shared::EngineResult;
use crate::engine::hooks::context::{BatchContext, FailedRun, StartedRun, WorkItem};
use crate::model::events::hook::HookRun;
use crate::model::events::scripts::ScriptValuesSize;
use crate::model::record::Record;
use crate::scripting::engine::{FailureCause, RunFailure};
use crate::scripting::hooks::EventHandler;
use crate::scripting::host::session::Reads;

/// Largest number of answers fetched for one run: a script reads no more than that.
const ANSWERS_MAX: usize = 64;
/// Weight of actions, reads and values after which nothing begins before they are written.
const WEIGHT_MAX: usize = 4096;

#[derive(Debug, Clone, Copy)]
pub(crate) struct StretchLimits {
    /// The time for the whole stretch; `None`: the clock is read.
    pub(crate) now: Option<DateTime<Utc>>,
    /// Duration in which another event may be begun; `None`: without limit.
    pub(crate) left: Option<Duration>,
}

/// A run that waits for an answer.
struct OpenRun {
    begun: StartedRun,
    answers: Arc<Answers>,
    fetched: usize,
}

pub(crate) struct HookBatch {
    context: Arc<BatchContext>,
    todo: VecDeque<WorkItem>,
    open: Option<OpenRun>,
    /// True once any run was begun.
    has_begun: bool,
    weight: usize,
    /// The number of the last event that was handled.
    pub(crate) at: u64,
    pub(crate) records: Vec<Record>,
}

impl HookBatch {
    pub(crate) fn new(
        context: Arc<BatchContext>,
        todo: impl IntoIterator<Item = WorkItem>,
    ) -> Self {
        let todo = todo.into_iter().collect();
        Self { context, todo, open: None, has_begun: false, weight: 0, at: 0, records: Vec::new() }
    }

    /// Continues on a thread with enough stack until nothing is left, time is up, or an answer is
    /// needed. Returns the needed read.
    pub(crate) fn run_stretch(&mut self, pace: StretchLimits) -> EngineResult<Option<NeededRead>> {
        let since = Instant::now();
        while self.is_open(pace, since)? {
            let Some(open) = &mut self.open else { break };
            let ended = open.run(&self.context)?;
            // The read at which the try stopped.
            let wanted = open.answers.state.lock().wanted.take();
            if let Some(wanted) = wanted.filter(|_| open.fetched < ANSWERS_MAX) {
                return Ok(Some(wanted));
            }
            self.close(ended, pace);
        }
        Ok(None)
    }

    pub(crate) fn fail(&mut self, pace: StretchLimits) -> EngineResult<()> {
        if self.is_open(pace, Instant::now())? {
            self.close(Err(FailedRun::of("there is no thread to run it on")), pace);
        }
        Ok(())
    }

    pub(crate) fn add_answer(&mut self, wanted: &NeededRead, answer: Result<Value, String>) {
        if let Some(open) = &mut self.open {
            open.fetched = open.fetched.saturating_add(1);
            open.answers.add_answer(wanted, answer);
        }
    }

    /// Returns true if a run is open; begins the next one otherwise.
    fn is_open(&mut self, pace: StretchLimits, since: Instant) -> EngineResult<bool> {
        let in_time = || pace.left.is_none_or(|left| since.elapsed() < left);
        while self.open.is_none() && (!self.has_begun || (self.weight < WEIGHT_MAX && in_time())) {
            let Some(todo) = self.todo.front() else { return Ok(false) };
            let begun = self.context.begin(todo)?;
            let answers = Arc::new(Answers::new(self.context.clone()));
            self.open = begun.map(|begun| OpenRun { begun, answers, fetched: 0 });
            self.has_begun = true;
            if let Some(WorkItem::Event(number, _)) = self.todo.pop_front() {
                self.at = number;
            }
        }
        Ok(self.open.is_some())
    }

    fn close(&mut self, ended: Result<HookRun, FailedRun>, pace: StretchLimits) {
        let Some(OpenRun { begun, .. }) = self.open.take() else { return };
        let weight = ended.as_ref().map_or(0, weight);
        self.weight = self.weight.saturating_add(weight);
        let at = pace.now.unwrap_or_else(|| self.context.shared.now());
        self.records.push(self.context.run_record(begun, ended, at));
    }
}

fn weight(run: &HookRun) -> usize {
    run.requests.len().saturating_add(run.reads.len()).saturating_add(run.kept.len())
}

impl OpenRun {
    /// Runs one try on this thread. A panic in it affects nothing else.
    fn run(&mut self, ground: &BatchContext) -> EngineResult<Result<HookRun, FailedRun>> {
        if self.begun.is_too_deep() {
            let why = "it would be one more link in a chain of events and hooks";
            return Ok(Err(FailedRun::of(why)));
        }
        let StartedRun { event, handler, verified: told, .. } = &mut self.begun;
        let event = match event.take() {
            Some(event) => Some(event),
            None => ground.event_for_run(told)?,
        };
        let Some(event) = event else {
            return Ok(Err(FailedRun::of("what the event says was erased with its merchant")));
        };
        let reads: Arc<dyn Reads> = self.answers.clone();
        let time = ground.shared.settings.hook_time;
        let run = || ground.hooks.run_event(handler, event, &reads, time);
        let ran = catch_unwind(AssertUnwindSafe(run));
        let ran = ran.unwrap_or_else(|_| Err(Box::new(panic_failure(handler))));
        Ok(ran.map_err(|why| FailedRun::from(&*why)))
    }
}

fn panic_failure(handler: &EventHandler) -> RunFailure {
    RunFailure {
        script: handler.script.clone(),
        function: handler.function.clone(),
        cause: FailureCause::Panic,
        message: "the run ended where it never should".to_owned(),
        place: None,
        log: Vec::new(),
    }
}

/// A read that another part of the program has to make.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NeededRead {
    Resource(String),
    /// All resources of a kind with these fields.
    Find(String, Value),
    /// A read of the service: its name and arguments.
    GatewayGet(String, Value),
}

impl NeededRead {
    fn key(&self) -> String {
        match self {
            Self::Resource(key) => json!(["resource", key]).to_string(),
            Self::Find(kind, filter) => json!(["find", kind, filter]).to_string(),
            Self::GatewayGet(name, args) => json!(["remote", name, args]).to_string(),
        }
    }
}

pub(crate) struct Answers {
    context: Arc<BatchContext>,
    state: Mutex<AnswerState>,
}

#[derive(Default)]
struct AnswerState {
    known: BTreeMap<String, Result<Value, String>>,
    wanted: Option<NeededRead>,
}

impl Answers {
    pub(crate) fn new(ground: Arc<BatchContext>) -> Self {
        Self { context: ground, state: Mutex::default() }
    }

    pub(crate) fn add_answer(&self, wanted: &NeededRead, answer: Result<Value, String>) {
        self.state.lock().known.insert(wanted.key(), answer);
    }

    fn ask(&self, wanted: NeededRead) -> Result<Value, String> {
        let mut state = self.state.lock();
        if let Some(known) = state.known.get(&wanted.key()) {
            return known.clone();
        }
        state.wanted.get_or_insert(wanted);
        Err("the answer is being fetched".to_owned())
    }
}

impl Reads for Answers {
    fn resource(&self, key: &str) -> Result<Value, String> {
        self.ask(NeededRead::Resource(key.to_owned()))
    }

    fn find(&self, kind: &str, filter: &Value) -> Result<Value, String> {
        self.ask(NeededRead::Find(kind.to_owned(), filter.clone()))
    }

    fn transaction(&self, id: &str) -> Result<Value, String> {
        let BatchContext { shared, merchant, .. } = &*self.context;
        let known = shared.facts.remote_object(merchant, id);
        let known = known.map_err(|error| error.to_string())?;
        Ok(known.map_or(Value::Null, |known| json!(known)))
    }

    fn remote(&self, name: &str, args: &Value) -> Result<Value, String> {
        self.ask(NeededRead::GatewayGet(name.to_owned(), args.clone()))
    }

    fn kv(&self, script: &str, key: &str) -> Result<Value, String> {
        if let Some(kept) = self.context.unwritten.lock().get(key) {
            return Ok(kept.clone());
        }
        self.context.shared.facts.stored_value(script, key).map_err(|error| error.to_string())
    }

    fn kept_size(&self, script: &str) -> Result<(ScriptValuesSize, ScriptValuesSize), String> {
        let facts = &self.context.shared.facts;
        let sizes = facts.stored_size(script).and_then(|own| Ok((own, facts.stored_total()?)));
        sizes.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests;
