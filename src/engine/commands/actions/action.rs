//! A person's command that changes the service: an action becomes an effect, and the effect an
//! intent like any other. One name performs one thing, once; a repeated request only answers its
//! state.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;

use super::report::{report, report_done, report_failure, report_unsettled};
use crate::base::id::{IntentId, Key};
use crate::base::outside_text::ServiceText;
use crate::engine::executor::perform;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::{EffectJob, TaskResult};
use crate::engine::protocol::commands::action_view::{ActionReport, ActionStatus};
use crate::engine::protocol::query::Reply;
use crate::engine::scheduler::backoff;
use crate::model::intents::effect::Effect;

/// Largest number of tries of an action whose call did not arrive, or was proved not to have
/// arrived.
pub(crate) const TRIES: u32 = 4;

/// Tries an action until it is settled, and returns its result.
pub(crate) async fn run_action(
    shared: &EngineShared,
    jobs: Vec<EffectJob>,
    reply: oneshot::Sender<Reply>,
) -> TaskResult {
    let Some((key, verb)) = jobs.first().map(|job| (job.effect.key.clone(), verb(&job.effect)))
    else {
        return TaskResult::Broken(EngineError::Bug("the action has no try".to_owned()));
    };
    let mut told =
        report(Some(key.clone()), &verb, ActionStatus::NotSent, "nothing was sent".to_owned());
    for (tries, job) in (1..).zip(jobs) {
        let id = job.id;
        let finished = perform::perform(shared, job).await;
        let stopped = matches!(finished, TaskResult::Stopped(_));
        #[expect(clippy::wildcard_enum_match_arm, reason = "every other end is followed at once")]
        let wait = match finished {
            TaskResult::Broken(error) => return TaskResult::Broken(error),
            TaskResult::Unauthorised(key, merchant) => {
                let why = format!("the service refuses the credentials of {}", merchant.short());
                let told = report(Some(key.clone()), &verb, ActionStatus::Blocked, why);
                let finished = TaskResult::Unauthorised(key, merchant);
                return finished.with_reply(Reply::Action(Box::new(told)), reply);
            }
            TaskResult::RetryLater(_, unable, least) => {
                told = report_failure(&key, &verb, &unable);
                least
            }
            _ => Duration::ZERO,
        };
        match current_report(shared, &key, &verb, id) {
            Ok(Some(settled)) => told = settled,
            Err(error) => return TaskResult::Broken(error),
            Ok(None) if stopped || told.status == ActionStatus::Blocked => {}
            Ok(None) => {
                let wait = wait.max(shared.random(|rng| backoff::jittered_delay(tries, rng)));
                if tries < TRIES && shared.sleep_or_stop(wait).await {
                    continue;
                }
            }
        }
        break;
    }
    TaskResult::Changed(key).with_reply(Reply::Action(Box::new(told)), reply)
}

/// Returns the verb of an action's effect.
fn verb(effect: &Effect) -> String {
    effect.applied.spec.get("verb").and_then(Value::as_str).unwrap_or(effect.name).to_owned()
}

/// Returns the state of an action after a try; `None`: that try did not reach the service.
fn current_report(
    shared: &EngineShared,
    key: &Key,
    verb: &str,
    id: IntentId,
) -> Result<Option<ActionReport>, EngineError> {
    if let Some(open) = shared.facts.open_intent(key)? {
        return Ok(Some(report_unsettled(key, verb, &open.state)));
    }
    let Some(known) = shared.facts.observed_state(key)? else { return Ok(None) };
    if known.exists {
        return Ok(Some(report_done(key, verb, &known)));
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
        report(Some(key.clone()), verb, ActionStatus::Refused, why)
    }))
}
