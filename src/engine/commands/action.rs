//! A person's command that changes the service: an action becomes an effect, and the effect an
//! intent like any other. One name performs one thing, once; a repeated request only answers its
//! state.
//!
//! After a command that changed a merchant's accounts these are read before it is answered: documents
//! choose their accounts by their known state.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;

use crate::base::id::{IntentId, Key, RemoteId};
use crate::base::outside_text::ServiceText;
use crate::effects::register::ACCOUNT;
use crate::engine::executor::perform;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::{EffectJob, TaskFailure, TaskResult};
use crate::engine::protocol::actions::{ActionReport, ActionStatus};
use crate::engine::protocol::intents::unsettled_reason;
use crate::engine::protocol::query::Reply;
use crate::engine::readers::read::{self, RecordWhen};
use crate::engine::scheduler::backoff;
use crate::engine::view::EngineView;
use crate::model::effect::{Effect, RemoteReading};
use crate::model::intent::IntentState;
use crate::model::state::observed::{AppliedSpec, Observed};

/// Largest number of tries of an action whose call did not arrive, or was proved not to have
/// arrived.
pub(crate) const TRIES: u32 = 4;

/// Tries an action until it is settled, and returns its result.
pub(crate) async fn run_action(
    shared: &EngineShared,
    jobs: Vec<EffectJob>,
    reply: oneshot::Sender<Reply>,
) -> Result<TaskResult, EngineError> {
    let Some((key, verb)) = jobs.first().map(|job| (job.effect.key.clone(), verb_of(&job.effect)))
    else {
        return Err(EngineError::Bug("the action has no try".to_owned()));
    };
    let mut told =
        report(Some(key.clone()), &verb, ActionStatus::NotSent, "nothing was sent".to_owned());
    for (tries, job) in (1..).zip(jobs) {
        let id = job.id;
        let finished = perform::perform(shared, job).await?;
        let stopped = matches!(finished, TaskResult::Stopped(_));
        #[expect(clippy::wildcard_enum_match_arm, reason = "every other end is followed at once")]
        let wait = match finished {
            TaskResult::Unauthorised(key, merchant) => {
                let why = format!("the service refuses the credentials of {}", merchant.short());
                let told = report(Some(key.clone()), &verb, ActionStatus::Blocked, why);
                let finished = TaskResult::Unauthorised(key, merchant);
                return Ok(finished.with_reply(Reply::Action(Box::new(told)), reply));
            }
            TaskResult::RetryLater(_, unable, least) => {
                told = report_failure(&key, &verb, &unable);
                least
            }
            _ => Duration::ZERO,
        };
        match current_report(shared, &key, &verb, id)? {
            Some(settled) => told = settled,
            None if stopped || told.status == ActionStatus::Blocked => {}
            None => {
                let wait = wait.max(shared.random(|rng| backoff::jittered_delay(tries, rng)));
                if tries < TRIES && shared.sleep_or_stop(wait).await {
                    continue;
                }
            }
        }
        break;
    }
    Ok(TaskResult::Changed(key).with_reply(Reply::Action(Box::new(told)), reply))
}

fn verb_of(effect: &Effect) -> String {
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

pub(crate) fn report(
    key: Option<Key>,
    verb: &str,
    stands: ActionStatus,
    message: String,
) -> ActionReport {
    let (verb, facts) = (verb.to_owned(), BTreeMap::new());
    ActionReport { key, verb, status: stands, before: false, message, remote_id: None, facts }
}

pub(crate) fn report_failure(key: &Key, verb: &str, unable: &TaskFailure) -> ActionReport {
    let stands = match unable {
        TaskFailure::Blocked(_) | TaskFailure::Waiting(_) => ActionStatus::Blocked,
        TaskFailure::Secret(_)
        | TaskFailure::Unreachable(_)
        | TaskFailure::Mismatch(_)
        | TaskFailure::Denied(_) => ActionStatus::NotSent,
    };
    report(Some(key.clone()), verb, stands, unable.message().to_owned())
}

pub(crate) fn report_done(key: &Key, verb: &str, known: &Observed) -> ActionReport {
    let open = known.facts.as_object().into_iter().flatten();
    let open = open.filter(|(_, value)| value.get("sealed").is_none() && !value.is_null());
    let mut done = report(Some(key.clone()), verb, ActionStatus::Done, "done".to_owned());
    done.remote_id = known.remote_id.as_ref().map(RemoteId::to_string);
    done.facts = open.map(|(name, value)| (name.clone(), value.clone())).collect();
    done
}

pub(crate) fn report_unsettled(key: &Key, verb: &str, state: &IntentState) -> ActionReport {
    let on_hold = matches!(state, IntentState::OnHold { .. });
    let stands = if on_hold { ActionStatus::OnHold } else { ActionStatus::InDoubt };
    let why = unsettled_reason(state).unwrap_or("in flight").to_owned();
    report(Some(key.clone()), verb, stands, why)
}

/// Readings that follow a finished command; none for most commands.
pub(crate) struct FollowUpReadings {
    readings: Vec<RemoteReading>,
    wallet: CredentialSource,
}

/// Returns true if a command of this sort changes the known state of accounts.
pub(crate) fn is_about_accounts(applied: &AppliedSpec) -> bool {
    applied.spec.get("verb").is_some_and(|verb| verb == ACCOUNT)
}

impl EngineView<'_> {
    /// Returns the readings after an effect that a person asked for.
    pub(crate) fn afterwards(&self, effect: &Effect) -> FollowUpReadings {
        let wanted = is_about_accounts(&effect.applied);
        let readings = if wanted {
            self.planner.refresh_reads(self.known_state, &effect.merchant)
        } else {
            Vec::new()
        };
        FollowUpReadings { readings, wallet: self.known_state.credential_source(&effect.merchant) }
    }
}

impl FollowUpReadings {
    /// Runs the readings if the command is done. After a failed reading the known state stays.
    pub(crate) async fn read(
        self,
        shared: &EngineShared,
        finished: TaskResult,
    ) -> Result<TaskResult, EngineError> {
        let done = matches!(&finished, TaskResult::WithReply(_, Reply::Action(acted), _)
            if acted.status == ActionStatus::Done);
        for reading in self.readings.into_iter().filter(|_| done) {
            let read = read::read(shared, reading, &self.wallet, RecordWhen::IfChanged).await?;
            if !matches!(read, TaskResult::Changed(_)) {
                tracing::warn!(ended = ?read, "cannot read the accounts again");
                break;
            }
        }
        Ok(finished)
    }
}

#[cfg(test)]
mod tests;
