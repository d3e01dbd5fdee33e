//! Executes one effect: writes and syncs its intent, sends it, and then writes its answer. A single-use
//! value, such as a one-time token, is used by at most one intent (see [`SingleUse`]).

use std::time::Duration;

use serde_json::Value;

use crate::effects::core::row::EffectRow;
use crate::engine::executor::epoch::EpochGate;
use crate::engine::executor::progress::Attempt;
use crate::engine::executor::request::row_of;
use crate::engine::executor::{answer, epoch, evidence, request};
use crate::engine::handles::access::{self, CredentialError, access};
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::{EffectJob, TaskFailure, TaskResult};
use crate::engine::limits::budget::Reservation;
use crate::engine::readers::read::{self, ReadFailure};
use crate::model::effect::{Effect, Exposure, SingleUse};
use crate::model::intent::{EffectProof, Intent, IntentProgress, StoredRequest};
use crate::model::outcome::Outcome;
use crate::model::record::Record;
use crate::model::state::observed::FactSource;
use crate::store::vault::keys::SealedValue;

/// Performs one effect to its end, or until it can only wait.
pub(crate) async fn perform(shared: &EngineShared, job: EffectJob) -> EngineResult<TaskResult> {
    let key = job.effect.key.clone();
    run_steps(shared, job).await.or_else(|error| error.into_result(key))
}

async fn run_steps(shared: &EngineShared, job: EffectJob) -> Result<TaskResult, CredentialError> {
    let row = row_of(job.effect.name)?;
    let (id, wallet) = (job.id, job.wallet.clone());
    access(shared, &wallet, job.effect.request.auth)?;
    let gate = epoch::epoch_gate(shared, row, &job.effect)?;
    if let EpochGate::Closed(unable) = gate {
        return Ok(TaskResult::retry(job.effect.key, unable));
    }
    let bytes = request::body_bytes(shared, &job.effect).map_err(CredentialError::Secret)?;
    let request = &job.effect.request;
    let at = (request.host, request.auth, request.web_url.as_deref());
    if let Err(shut) = access::wait_until_ready(shared, &wallet, at).await {
        let unable = TaskFailure::Unreachable(shut.reason);
        return Ok(TaskResult::RetryLater(job.effect.key, unable, shut.wait));
    }
    match epoch::read_before_create(shared, row, &job).await {
        Ok(None) => {}
        Ok(Some(barred)) => return Ok(barred),
        Err(unread) => return Ok(unread.into_result(shared, job.effect.key, &wallet)?),
    }
    let baseline = match baseline(shared, row, &gate, &job).await {
        Ok(Ok(baseline)) => baseline,
        Ok(Err(unable)) => return Ok(TaskResult::retry(job.effect.key, unable)),
        Err(unread) => return Ok(unread.into_result(shared, job.effect.key, &wallet)?),
    };
    let reserved = shared.guard.reserve(id, &job.effect, job.rest).await;
    let reserved = match reserved? {
        Ok(reserved) => reserved,
        Err(over) => {
            let unable = TaskFailure::Blocked(over.to_string());
            return Ok(TaskResult::retry(job.effect.key, unable));
        }
    };
    let promise = shared.unsent_permits.acquire().await;
    if shared.superseded.contains(&job.effect.key) {
        return Ok(TaskResult::Changed(job.effect.key));
    }
    if let Some(stopped) = answer::check_before_intent(shared, &job.effect)? {
        return Ok(stopped);
    }
    let spent = consume_value_record(shared, &job.effect);
    if uses_expired_value(shared, &job.effect) {
        if let Some(spent) = spent {
            shared.write(Vec::new(), vec![spent]).await?;
        }
        return Ok(TaskResult::Changed(job.effect.key));
    }
    if spent.is_some() {
        // The details from which the token was made are no longer needed.
        shared.erase(&request::borrowed_details(&job.effect.key))?;
    }
    let (request, blobs) = request::stored_request(shared, &job.effect, bytes.as_deref())?;
    let mut intent = intent(job, request, baseline, &reserved);
    if let EpochGate::LookUp(reason) = gate {
        intent.baseline = evidence::lookup_baseline();
        let attempt = Attempt { shared, row, intent: &intent, wallet: &wallet };
        let looked = epoch::look_first(attempt, (blobs, spent), reason).await?;
        drop(reserved);
        return Ok(looked);
    }
    let attempt = Attempt { shared, row, intent: &intent, wallet: &wallet };
    let outcome = attempt.write_and_send((blobs, spent, reserved)).await?;
    drop(promise);
    Ok(attempt.handle_outcome(outcome).await?)
}

pub(crate) fn intent(
    job: EffectJob,
    request: StoredRequest,
    baseline: Value,
    reserved: &Reservation,
) -> Intent {
    let EffectJob { id, effect, wallet: _, cause, rest: _, again } = job;
    let counts = !(again && crate::base::fault_injection::is_active("retries-bypass-the-meter"));
    Intent {
        id,
        effect: effect.name.to_owned(),
        mark: effect.source_id.mark(),
        key: effect.key,
        merchant: effect.merchant,
        mode: effect.mode,
        target: effect.target,
        source_id: effect.source_id,
        request,
        expect: effect.expect,
        applied: effect.applied,
        baseline,
        subject: effect.subject,
        on_doubt: effect.on_doubt,
        cause,
        at: reserved.at,
        exposure: if counts { reserved.stake.clone() } else { Exposure::default() },
    }
}

impl Attempt<'_> {
    /// Law 1: sends only once the intent is on disk; an injected fault reverses the order.
    async fn write_and_send(
        self,
        (blobs, spent, reserved): (Vec<SealedValue>, Option<Record>, Reservation),
    ) -> EngineResult<Outcome> {
        let shared = self.shared;
        let promise = Record::Intent(Box::new(self.intent.clone()));
        let promise: Vec<Record> = spent.into_iter().chain([promise]).collect();
        if crate::base::fault_injection::is_active("send-before-sync") {
            shared.vault.write(&blobs)?;
            let outcome = self.send().await?;
            shared.write(blobs, promise).await?;
            return Ok(outcome);
        }
        shared.write(blobs, promise).await?;
        // The fold counts it from here on.
        drop(reserved);
        self.send().await
    }

    /// Records the meaning of a first answer.
    async fn handle_outcome(self, outcome: Outcome) -> EngineResult<TaskResult> {
        match outcome {
            Outcome::Done { reply } => self.handle_answer(&reply, EffectProof::Answer).await,
            Outcome::Refused { status, problem } => self.handle_refusal(status, problem).await,
            Outcome::NotSent { reason, retry_after_s } => {
                let wait = Duration::from_secs(retry_after_s.unwrap_or(0));
                let (key, reason) = (self.intent.key.clone(), reason.to_string());
                self.write_progress(IntentProgress::NotSent { reason: reason.clone() }).await?;
                Ok(TaskResult::RetryLater(key, TaskFailure::Unreachable(reason), wait))
            }
            Outcome::InDoubt { reason } => {
                self.write_doubt(reason.to_string()).await?;
                self.settle(1).await
            }
        }
    }
}

/// Reads the state just before sending. An effect whose evidence needs that state is not sent
/// without it, nor is one whose baseline refuses it.
async fn baseline(
    shared: &EngineShared,
    row: &EffectRow,
    gate: &EpochGate,
    job: &EffectJob,
) -> Result<Result<Value, TaskFailure>, ReadFailure> {
    // The effect to be looked up may be older than any present baseline.
    let Some(baseline) = row.baseline.filter(|_| *gate == EpochGate::Open) else {
        return Ok(Ok(Value::Null));
    };
    let queries = (baseline.queries)(&job.effect);
    if queries.is_empty() {
        return Ok(Ok(Value::Null));
    }
    let before = (baseline.keep)(&read::answers(shared, &queries, &job.wallet).await?);
    Ok(match (baseline.refuse)(&job.effect, &before) {
        Some(why) => Err(TaskFailure::Blocked(why)),
        None => Ok(before),
    })
}

/// Returns true if an effect uses a value that is too old.
pub(crate) fn uses_expired_value(shared: &EngineShared, effect: &Effect) -> bool {
    effect.single_use.as_ref().is_some_and(|once| once.expires_at <= shared.now())
}

/// Returns the record that forgets the value which an effect uses. It precedes the intent, so that
/// no part of a batch that a power failure cut leaves the value to a second intent. A reusable
/// value has no such record.
pub(crate) fn consume_value_record(shared: &EngineShared, effect: &Effect) -> Option<Record> {
    let SingleUse { expires_at: _, clearing_facts: spent, is_reusable: again } =
        effect.single_use.as_deref()?;
    let keys = (&effect.key, &effect.merchant);
    let fact = || shared.observation(keys, FactSource::Answer, spent.clone());
    (!again).then(|| Record::Observation(Box::new(fact())))
}

#[cfg(test)]
mod tests;
