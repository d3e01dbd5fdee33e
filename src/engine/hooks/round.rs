//! The hooks of a merchant's events, one event after the other: run, and written down with all that they ask for.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::reads::{Answers, Wanted};
use crate::api::reads::Read;
use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::engine::Event;
use crate::engine::question::{Question, Reply};
use crate::engine::shared::{EngineError, Shared};
use crate::engine::tasks::Finished;
use crate::hooks::{Failure, Handler, Hooks, Reads, on_stack};
use crate::kinds::step::MERCHANT;
use crate::model::action::is_action;
use crate::model::event::{EventStands, Told};
use crate::model::hook::Run;
use crate::model::ran::{DEPTH_MAX, Failed, FailedHook, Passed, Ran, TRIES_MAX};
use crate::model::record::Record;
use crate::model::showing::Showing;

/// Events whose hooks are written down together.
const BATCH_MAX: u64 = 64;
/// A run that has to be tried again with one more answer, so often at most: a script reads no more than that.
const ANSWERS_MAX: usize = 64;
/// The wait before a hook that failed is run again; it doubles with each try.
const AGAIN: TimeDelta = TimeDelta::seconds(30);

/// No hook waits longer than this for its next try.
const AGAIN_MAX: TimeDelta = TimeDelta::minutes(8);

/// Whether the time for the next try has come. A longer wait than there is says that the clock went back.
pub(super) fn is_due(again: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    again <= now || again.signed_duration_since(now) > AGAIN_MAX
}

/// Everything that a round needs.
pub(super) struct Round {
    pub(super) shared: Arc<Shared>,
    pub(super) hooks: Option<Hooks>,
    pub(super) merchant: Key,
    /// The way to the engine, for reads that it alone can answer.
    pub(super) engine: mpsc::UnboundedSender<Event>,
    /// Hooks of this merchant that failed and whose time has come.
    pub(super) failed: Vec<FailedHook>,
}

/// How the hooks of one event ended.
#[derive(Default)]
struct Ended {
    runs: Vec<Run>,
    failures: Vec<Failed>,
}

impl Round {
    /// Runs them all.
    pub(super) async fn run(self) -> Finished {
        match self.rounds().await {
            Ok(()) => Finished::HooksRan(self.merchant),
            Err(error) => Finished::Broken(error),
        }
    }

    async fn rounds(&self) -> Result<(), EngineError> {
        for failed in &self.failed {
            self.again(failed).await?;
        }
        loop {
            let ledger = self.shared.facts.event_ledger(&self.merchant)?;
            if ledger.ran_to >= ledger.told || self.shared.is_stopping() {
                return Ok(());
            }
            let to = ledger.told.min(ledger.ran_to.saturating_add(BATCH_MAX));
            let records = self.batch(ledger.ran_to.saturating_add(1), to).await?;
            self.shared.write(Vec::new(), records).await?;
        }
    }

    /// The records of these events. Events that no hook is for have one together.
    async fn batch(&self, from: u64, to: u64) -> Result<Vec<Record>, EngineError> {
        let answers = Arc::new(Answers::new(self.shared.clone(), self.merchant.clone()));
        let mut records = Vec::new();
        let mut last = None;
        for number in from..=to {
            let Some(told) = self.told(number)? else { continue };
            let handlers = self.hooks.as_ref().map(|hooks| hooks.handlers(&told.kind));
            let handlers = handlers.unwrap_or_default();
            if handlers.is_empty() {
                continue;
            }
            let ended = self.event(&told, &handlers, &answers, &BTreeMap::new()).await?;
            records.push(self.ran(&told, number, false, ended)?);
            last = Some(number);
        }
        if last != Some(to) {
            let passed = Passed { merchant: self.merchant.clone(), to };
            records.push(Record::Passed(Box::new(passed)));
        }
        Ok(records)
    }

    fn told(&self, number: u64) -> Result<Option<Box<Told>>, EngineError> {
        let Some(id) = self.shared.facts.event_at(&self.merchant, number)? else { return Ok(None) };
        self.told_of(&id)
    }

    fn told_of(&self, id: &str) -> Result<Option<Box<Told>>, EngineError> {
        let entry = self.shared.facts.event(&self.merchant, id)?;
        Ok(entry.and_then(|entry| match entry.stands {
            EventStands::Told(told) => Some(told),
            EventStands::Waiting | EventStands::OtherMode | EventStands::Forged => None,
        }))
    }

    /// Runs a hook that failed before once more.
    async fn again(&self, failed: &FailedHook) -> Result<(), EngineError> {
        let Some(told) = self.told_of(&failed.event)? else { return Ok(()) };
        let Failed { script, function, tries, .. } = &failed.failed;
        let handler = Handler { script: script.clone(), function: function.clone() };
        let answers = Arc::new(Answers::new(self.shared.clone(), self.merchant.clone()));
        let tries = BTreeMap::from([(script.clone(), *tries)]);
        let ended = self.event(&told, &[handler], &answers, &tries).await?;
        let record = self.ran(&told, 0, true, ended)?;
        self.shared.write(Vec::new(), vec![record]).await
    }

    fn ran(
        &self,
        told: &Told,
        number: u64,
        again: bool,
        ended: Ended,
    ) -> Result<Record, EngineError> {
        let Ended { runs, failures } = ended;
        Ok(Record::Ran(Box::new(Ran {
            merchant: self.merchant.clone(),
            event: told.event.clone(),
            number,
            again,
            runs,
            failures,
            depth: self.depth(told)?,
            at: self.shared.now(),
        })))
    }

    /// How many hooks stand before an event in its chain of causes.
    fn depth(&self, told: &Told) -> Result<u32, EngineError> {
        let mut depth = 0;
        for key in told.about.iter().filter(|key| is_action(key)) {
            depth = depth.max(self.shared.facts.hook_depth(key)?);
        }
        Ok(depth)
    }

    /// Runs the hooks of one event.
    async fn event(
        &self,
        told: &Told,
        handlers: &[Handler],
        answers: &Arc<Answers>,
        tries: &BTreeMap<String, u32>,
    ) -> Result<Ended, EngineError> {
        let mut ended = Ended::default();
        let event = self.shown(told)?;
        answers.forget();
        let too_deep = self.depth(told)? >= DEPTH_MAX;
        for handler in handlers {
            let tries = tries.get(&handler.script).copied().unwrap_or(0).saturating_add(1);
            let result = if too_deep {
                Err("it would be one more link in a chain of events and hooks".to_owned())
            } else {
                self.one(handler, &event, answers).await.map_err(|why| why.to_string())
            };
            match result {
                Ok(run) => {
                    answers.keep(&run.script, &run.kept);
                    tell(&run, told);
                    ended.runs.push(run);
                }
                Err(message) => {
                    let again = self.next(tries).filter(|_| !too_deep);
                    tracing::warn!(
                        script = handler.script,
                        event = told.event,
                        reason = message,
                        "a hook failed"
                    );
                    let (script, function) = (handler.script.clone(), handler.function.clone());
                    ended.failures.push(Failed { script, function, message, tries, again });
                }
            }
        }
        Ok(ended)
    }

    /// When a hook that failed so often is run again.
    fn next(&self, tries: u32) -> Option<DateTime<Utc>> {
        let doublings = tries.saturating_sub(1);
        let wait = AGAIN.checked_mul(2_i32.saturating_pow(doublings))?;
        (tries < TRIES_MAX).then(|| self.shared.now().checked_add_signed(wait)).flatten()
    }

    /// Runs one hook, as often as it takes until all that it reads is there.
    async fn one(
        &self,
        handler: &Handler,
        event: &Value,
        answers: &Arc<Answers>,
    ) -> Result<Run, Box<Failure>> {
        let mut result = self.attempt(handler, event, answers).await;
        for _ in 0..ANSWERS_MAX {
            let Some(wanted) = answers.wanted() else { break };
            let answer = self.fetch(&wanted).await;
            answers.learn(&wanted, answer);
            result = self.attempt(handler, event, answers).await;
        }
        result
    }

    /// One try, on a thread of its own: a script takes time and stack.
    async fn attempt(
        &self,
        handler: &Handler,
        event: &Value,
        answers: &Arc<Answers>,
    ) -> Result<Run, Box<Failure>> {
        let failed = |message: &str| {
            Box::new(Failure {
                script: handler.script.clone(),
                function: handler.function.clone(),
                why: crate::hooks::Why::Gone,
                message: message.to_owned(),
                place: None,
                log: Vec::new(),
            })
        };
        let Some(hooks) = self.hooks.clone() else { return Err(failed("no scripts are loaded")) };
        let reads: Arc<dyn Reads> = answers.clone();
        let (handler, event, time) =
            (handler.clone(), event.clone(), self.shared.settings.hook_time);
        let run = move || on_stack(|| hooks.run(&handler, &event, &reads, time));
        let ran = match time {
            None => run(),
            Some(_) => tokio::task::spawn_blocking(run).await.ok().flatten(),
        };
        ran.unwrap_or_else(|| Err(failed("the run ended where it never should")))
    }

    /// Makes a read for a script.
    async fn fetch(&self, wanted: &Wanted) -> Result<Value, String> {
        let (reply, answer) = oneshot::channel();
        let event = match wanted {
            Wanted::Resource(key) => Event::Ask(Question::Known(key.clone()), reply),
            Wanted::Find(kind, filter) => {
                Event::Ask(Question::Sought(kind.clone(), filter.clone()), reply)
            }
            Wanted::Remote(name, args) => Event::Show(self.showing(name, args)?, reply),
        };
        self.engine.send(event).map_err(|_| "the daemon ends".to_owned())?;
        match answer.await {
            Ok(Reply::Known(answer) | Reply::Shown(answer)) => answer,
            Ok(_) | Err(_) => Err("the daemon ends".to_owned()),
        }
    }

    /// A read of the service as the script wants it: its path's parameters and its query by name.
    fn showing(&self, name: &str, args: &Value) -> Result<Showing, String> {
        let read = Read::named(name).ok_or_else(|| format!("there is no read called {name}"))?;
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut given: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in args.as_object().into_iter().flatten() {
            given.insert(name.clone(), text(value));
        }
        let merchant = given.remove("merchant").map(|name| format!("Merchant/{name}").parse());
        let merchant = merchant.transpose().map_err(|error| format!("merchant: {error}"))?;
        let parameters = read.parameters().map(|name| {
            given.remove(name).ok_or_else(|| format!("{} needs the field {name}", read.name))
        });
        let parameters = parameters.collect::<Result<Vec<_>, _>>()?;
        let merchant = merchant.unwrap_or_else(|| self.merchant.clone());
        let query = given.into_iter().collect();
        Ok(Showing { merchant, read: name.to_owned(), parameters, query, body: None })
    }

    /// The event as scripts see it.
    fn shown(&self, told: &Told) -> Result<Value, EngineError> {
        let body = told.body.parse();
        let body =
            body.map_err(|error| EngineError::Bug(format!("an event names no blob: {error}")))?;
        let bytes = self.shared.vault.open_blob(&body)?;
        let event: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let merchant = self.shared.merchant(&self.merchant)?;
        let mode = merchant.map(|merchant| merchant.fact("mode").clone());
        let resource = told.about.iter().find(|key| !is_action(key));
        Ok(json!({
            "id": told.event,
            "type": told.kind,
            "created": timestamp(&told.created),
            "mode": mode,
            "merchant": (self.merchant.kind.as_str() == MERCHANT).then(|| named(&self.merchant)),
            "resource": resource.map(|key| format!("{}/{}", key.kind, named(key))),
            "data": data(&event),
            "previous": told.previous,
        }))
    }
}

/// The record that an event shows; why an application was declined stands beside it.
fn data(event: &Value) -> Value {
    let mut data = event.get("data").cloned().unwrap_or_default();
    if let (Some(data), Some(reason)) = (data.as_object_mut(), event.get("reason")) {
        data.insert("reason".to_owned(), reason.clone());
    }
    data
}

/// A name as documents write it: without the namespace where that is the usual one.
fn named(key: &Key) -> String {
    match key.namespace.as_str() {
        "default" => key.name.to_string(),
        namespace => format!("{namespace}/{}", key.name),
    }
}

/// What a script told the operator.
fn tell(run: &Run, told: &Told) {
    for line in &run.log {
        tracing::info!(script = run.script, event = told.event, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_goes_back_puts_no_try_off_for_long() {
        let now = DateTime::UNIX_EPOCH;
        let after = |minutes| is_due(now + TimeDelta::minutes(minutes), now);
        assert_eq!(
            [after(-1), after(0), after(1), after(8), after(9)],
            [true, true, false, false, true]
        );
        let doublings = i32::try_from(TRIES_MAX).unwrap() - 1;
        assert!(AGAIN * 2_i32.pow(u32::try_from(doublings).unwrap()) <= AGAIN_MAX);
    }
}
