//! A batch: one script's way through some events, from the first to the last on one thread. It
//! leaves the thread only if a run needs an answer of another part of the program.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio::time::Instant;

use super::ground::{Begun, Ground, Todo};
use super::reads::{Answers, Wanted};
use crate::engine::shared::EngineError;
use crate::hooks::{Failure, Handler, Reads, Why};
use crate::model::hook::Run;
use crate::model::record::Record;

/// Largest number of answers fetched for one run: a script reads no more than that.
const ANSWERS_MAX: usize = 64;
/// Weight of actions, reads and kept values after which nothing further begins before they are
/// written: they take memory.
const WEIGHT_MAX: usize = 4096;

/// The time during one stretch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// The time for the whole stretch; `None`: the clock is read.
    pub(super) now: Option<DateTime<Utc>>,
    /// Duration in which another event may be begun; `None`: without limit.
    pub(super) left: Option<Duration>,
}

/// A run that waits for an answer.
struct Open {
    begun: Begun,
    answers: Arc<Answers>,
    fetched: usize,
}

/// The batch itself.
pub(super) struct Course {
    ground: Arc<Ground>,
    todo: VecDeque<Todo>,
    open: Option<Open>,
    /// True once any run was begun.
    has_begun: bool,
    weight: usize,
    /// The number of the last event that was handled.
    pub(super) at: u64,
    /// The records of the runs, in order.
    pub(super) records: Vec<Record>,
}

impl Course {
    pub(super) fn new(ground: Arc<Ground>, todo: impl IntoIterator<Item = Todo>) -> Self {
        Self {
            ground,
            todo: todo.into_iter().collect(),
            open: None,
            has_begun: false,
            weight: 0,
            at: 0,
            records: Vec::new(),
        }
    }

    /// Continues on a thread with enough stack until nothing is left, time is up, or an answer is
    /// needed. Returns the needed read.
    pub(super) fn go(&mut self, pace: Pace) -> Result<Option<Wanted>, EngineError> {
        let since = Instant::now();
        while self.is_open(pace, since)? {
            let Some(open) = &mut self.open else { break };
            let ended = open.run(&self.ground)?;
            if let Some(wanted) = self.wanted() {
                return Ok(Some(wanted));
            }
            self.close(ended, pace);
        }
        Ok(None)
    }

    /// Fails the next run, for which there is no thread.
    pub(super) fn fail(&mut self, pace: Pace) -> Result<(), EngineError> {
        if self.is_open(pace, Instant::now())? {
            self.close(Err("there is no thread to run it on".to_owned()), pace);
        }
        Ok(())
    }

    /// Adds an answer.
    pub(super) fn learn(&mut self, wanted: &Wanted, answer: Result<Value, String>) {
        if let Some(open) = &mut self.open {
            open.fetched = open.fetched.saturating_add(1);
            open.answers.learn(wanted, answer);
        }
    }

    /// Returns true if a run is open; begins the next one otherwise.
    fn is_open(&mut self, pace: Pace, since: Instant) -> Result<bool, EngineError> {
        let in_time = || pace.left.is_none_or(|left| since.elapsed() < left);
        while self.open.is_none() && (!self.has_begun || (self.weight < WEIGHT_MAX && in_time())) {
            let Some(todo) = self.todo.front() else { return Ok(false) };
            let begun = self.ground.begin(todo)?;
            self.open = begun.map(|begun| Open::new(begun, &self.ground));
            self.has_begun = true;
            if let Some(Todo::Event(number, _)) = self.todo.pop_front() {
                self.at = number;
            }
        }
        Ok(self.open.is_some())
    }

    /// Returns the read that the open run needs.
    fn wanted(&self) -> Option<Wanted> {
        let open = self.open.as_ref()?;
        open.answers.wanted().filter(|_| open.fetched < ANSWERS_MAX)
    }

    /// Records the end of the open run.
    fn close(&mut self, ended: Result<Run, String>, pace: Pace) {
        let Some(Open { begun, .. }) = self.open.take() else { return };
        let weight = ended.as_ref().map_or(0, weight);
        self.weight = self.weight.saturating_add(weight);
        let at = pace.now.unwrap_or_else(|| self.ground.shared.now());
        self.records.push(self.ground.ended(begun, ended, at));
    }
}

/// Returns the weight of a run's result.
fn weight(run: &Run) -> usize {
    run.wishes.len().saturating_add(run.looks.len()).saturating_add(run.kept.len())
}

impl Open {
    fn new(begun: Begun, ground: &Arc<Ground>) -> Self {
        Self { begun, answers: Arc::new(Answers::new(ground.clone())), fetched: 0 }
    }

    /// Runs one try on this thread. A panic in it affects nothing else.
    fn run(&mut self, ground: &Ground) -> Result<Result<Run, String>, EngineError> {
        if self.begun.is_too_deep() {
            let why = "it would be one more link in a chain of events and hooks";
            return Ok(Err(why.to_owned()));
        }
        let Begun { event, handler, told, .. } = &mut self.begun;
        let event = match event.take() {
            Some(event) => Some(event),
            None => ground.given(told)?,
        };
        let Some(event) = event else {
            return Ok(Err("what the event says was erased with its merchant".to_owned()));
        };
        let reads: Arc<dyn Reads> = self.answers.clone();
        let time = ground.shared.settings.hook_time;
        let run = || ground.hooks.run_given(handler, event, &reads, time);
        let ran = catch_unwind(AssertUnwindSafe(run));
        let ran = ran.unwrap_or_else(|_| Err(Box::new(lost(handler))));
        Ok(ran.map_err(|why| why.to_string()))
    }
}

fn lost(handler: &Handler) -> Failure {
    Failure {
        script: handler.script.clone(),
        function: handler.function.clone(),
        why: Why::Panic,
        message: "the run ended where it never should".to_owned(),
        place: None,
        log: Vec::new(),
    }
}
