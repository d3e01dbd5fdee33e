//! One run of a script: tried as often as it takes until all that it reads is there.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::oneshot;

use super::event::showing;
use super::reads::{Answers, Wanted};
use super::round::Round;
use crate::engine::Event;
use crate::engine::question::{Question, Reply};
use crate::hooks::{Failure, Handler, Reads, Why, on_stack};
use crate::model::hook::Run;

/// A run that has to be tried again with one more answer, so often at most: a script reads no more than that.
const ANSWERS_MAX: usize = 64;

impl Round {
    /// Runs one hook.
    pub(super) async fn one(
        &self,
        handler: &Handler,
        event: &Value,
        answers: Answers,
    ) -> Result<Run, Box<Failure>> {
        let answers = Arc::new(answers);
        let mut result = self.attempt(handler, event, &answers).await;
        for _ in 0..ANSWERS_MAX {
            let Some(wanted) = answers.wanted() else { break };
            let answer = self.fetch(&wanted).await;
            answers.learn(&wanted, answer);
            result = self.attempt(handler, event, &answers).await;
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
        let (hooks, time) = (self.hooks.clone(), self.shared.settings.hook_time);
        let reads: Arc<dyn Reads> = answers.clone();
        let (own, event) = (handler.clone(), event.clone());
        let run = move || on_stack(|| hooks.run(&own, &event, &reads, time));
        let ran = match time {
            None => run(),
            Some(_) => self.pool.run(&handler.script, run).await.flatten(),
        };
        ran.unwrap_or_else(|| Err(Box::new(lost(handler))))
    }

    /// Makes a read for a script.
    async fn fetch(&self, wanted: &Wanted) -> Result<Value, String> {
        let (reply, answer) = oneshot::channel();
        let event = match wanted {
            Wanted::Resource(key) => Event::Ask(Question::Known(key.clone()), reply),
            Wanted::Find(kind, filter) => {
                Event::Ask(Question::Sought(kind.clone(), filter.clone()), reply)
            }
            Wanted::Remote(name, args) => Event::Show(showing(&self.merchant, name, args)?, reply),
        };
        self.engine.send(event).map_err(|_| "the daemon ends".to_owned())?;
        match answer.await {
            Ok(Reply::Known(answer) | Reply::Shown(answer)) => answer,
            Ok(_) | Err(_) => Err("the daemon ends".to_owned()),
        }
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
