//! A person's command that changes the service: an action becomes an effect, and the effect an
//! intent like any other. One name performs one thing, once; a repeated request only answers its
//! state.

mod afterwards;
mod fields;
mod ready;
mod removing;
mod view;

use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;

use super::Engine;
use super::lone::Behind;
use super::perform;
use super::question::Reply;
use super::schedule;
use super::shared::{EngineError, Shared};
use super::tasks::{Finished, Job};
use crate::base::id::{IntentId, Key};
use crate::base::outside::ServiceText;
use crate::model::action::Action;
use crate::model::effect::Effect;
use crate::model::intent::Cause;
use ready::Ready;
use view::{because, done, told, unsettled};

pub use view::{Acted, Stands};

/// Largest number of tries of an action whose call did not arrive, or was proved not to have
/// arrived.
const TRIES: u32 = 4;

/// An action on its way to the engine.
#[derive(Debug)]
pub struct Asked {
    pub action: Action,
    pub actor: String,
}

impl Engine {
    /// Performs an action; answers once it is settled, or can only be settled by a person.
    pub(super) fn act(&mut self, asked: Asked, reply: oneshot::Sender<Reply>) {
        if self.stopping {
            // No answer is sent: the client repeats the request in the next process.
            return;
        }
        let ready = match self.ready(&asked) {
            Ok(ready) => ready,
            Err(told) => return reply.send(Reply::Acted(told)).unwrap_or_default(),
        };
        let key = ready.effect.key.clone();
        if self.busy.contains(&key) {
            return self.lone.act_later(asked, reply);
        }
        match self.take_lane(&key, &ready.effect) {
            Ok(()) => self.start_action(key, &ready, reply),
            Err(Behind::Working) => self.lone.act_later(asked, reply),
            Err(Behind::Unsettled(held)) => {
                let why =
                    format!("{held} is not settled: nothing may tell the two apart (intents)");
                let told = told(Some(key), &asked.action.verb, Stands::Blocked, why);
                reply.send(Reply::Acted(Box::new(told))).unwrap_or_default();
            }
        }
    }

    /// Starts the task of an action.
    fn start_action(&mut self, key: Key, ready: &Ready, reply: oneshot::Sender<Reply>) {
        self.busy.insert(key);
        let afterwards = self.afterwards(&ready.effect);
        let jobs: Vec<Job> =
            (0..TRIES).map(|_| self.asked_job(ready.effect.clone(), &ready.actor)).collect();
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            let finished = acted(&shared, jobs, reply).await;
            afterwards.read(&shared, finished).await
        });
    }

    /// Builds a job as of a document, in the name of a person.
    fn asked_job(&mut self, effect: Effect, actor: &str) -> Job {
        let job = self.job(&effect.key.clone(), effect);
        Job { cause: Cause { actor: Some(actor.to_owned()), ..job.cause }, ..job }
    }
}

/// Tries an action until it is settled, and returns its result.
async fn acted(shared: &Shared, jobs: Vec<Job>, reply: oneshot::Sender<Reply>) -> Finished {
    let Some((key, verb)) = jobs.first().map(|job| (job.effect.key.clone(), verb(&job.effect)))
    else {
        return Finished::Broken(EngineError::Bug("an action has no try".to_owned()));
    };
    let mut told = told(Some(key.clone()), &verb, Stands::NotSent, "nothing was sent".to_owned());
    for (tries, job) in (1..).zip(jobs) {
        let id = job.id;
        let finished = perform::perform(shared, job).await;
        let stopped = matches!(finished, Finished::Stopped(_));
        let wait = match finished {
            Finished::Broken(error) => return Finished::Broken(error),
            Finished::Unauthorised(key, merchant) => {
                let why =
                    format!("the service takes the credentials of {} no more", merchant.short());
                let told = view::told(Some(key.clone()), &verb, Stands::Blocked, why);
                let finished = Finished::Unauthorised(key, merchant);
                return finished.answering(Reply::Acted(Box::new(told)), reply);
            }
            Finished::Again(_, unable, least) => {
                told = because(&key, &verb, &unable);
                least
            }
            Finished::Moved(_)
            | Finished::Barred(..)
            | Finished::Heard(_)
            | Finished::Swept(_)
            | Finished::Looked(_)
            | Finished::HooksRan(_)
            | Finished::Replayed
            | Finished::Enrolled
            | Finished::Retained
            | Finished::Granted(..)
            | Finished::Approved
            | Finished::Booked(_)
            | Finished::Released
            | Finished::Answered(..)
            | Finished::Stopped(_) => Duration::ZERO,
        };
        match now(shared, &key, &verb, id) {
            Ok(Some(settled)) => told = settled,
            Err(error) => return Finished::Broken(error),
            Ok(None) if stopped || told.stands == Stands::Blocked => {}
            Ok(None) => {
                let wait = wait.max(shared.random(|rng| schedule::delay(tries, rng)));
                if tries < TRIES && shared.rest(wait).await {
                    continue;
                }
            }
        }
        break;
    }
    Finished::Moved(key).answering(Reply::Acted(Box::new(told)), reply)
}

/// Returns the verb of an action's effect.
fn verb(effect: &Effect) -> String {
    effect.applied.spec.get("verb").and_then(Value::as_str).unwrap_or(effect.name).to_owned()
}

/// Returns the state of an action after a try; `None`: that try did not reach the service.
fn now(shared: &Shared, key: &Key, verb: &str, id: IntentId) -> Result<Option<Acted>, EngineError> {
    if let Some(open) = shared.facts.open(key)? {
        return Ok(Some(unsettled(key, verb, &open.state)));
    }
    let Some(known) = shared.facts.observed(key)? else { return Ok(None) };
    if known.exists {
        return Ok(Some(done(key, verb, &known)));
    }
    let refusal = known.refusal.as_ref().filter(|refusal| refusal.intent == id);
    Ok(refusal.map(|refusal| {
        let messages = refusal.problem.messages.iter();
        let words: Vec<String> = messages
            .map(|one| {
                let words = one.message.as_ref().map_or("refused", ServiceText::as_str);
                format!("{words} ({})", one.code)
            })
            .collect();
        let why = format!("{} (HTTP {})", words.join("; "), refusal.status);
        told(Some(key.clone()), verb, Stands::Refused, why)
    }))
}
