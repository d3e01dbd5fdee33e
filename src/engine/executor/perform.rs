//! Executes one effect: writes and syncs its intent, sends it, and then writes its answer. A single-use
//! value, such as a one-time token, is used by at most one intent (see [`SingleUse`]).

use std::time::Duration;

use serde_json::Value;

use crate::engine::executor::checks::{self, CheckedEffect, TaskEnd};
use crate::engine::executor::epoch::EpochGate;
use crate::engine::executor::progress::Attempt;
use crate::engine::executor::request::row_of;
use crate::engine::executor::{epoch, evidence, request};
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::{EffectJob, TaskFailure, TaskResult};
use crate::engine::limits::budget::Reservation;
use crate::model::effect::{Effect, Exposure, SingleUse};
use crate::model::intent::{EffectProof, Intent, IntentProgress, StoredRequest};
use crate::model::outcome::Outcome;
use crate::model::record::Record;
use crate::model::state::observed::FactSource;
use crate::store::vault::keys::SealedValue;

/// Performs one effect to its end, or until it can only wait.
pub(crate) async fn perform(shared: &EngineShared, job: EffectJob) -> EngineResult<TaskResult> {
    let key = job.effect.key.clone();
    match run_steps(shared, job).await {
        Ok(result) => Ok(result),
        Err(TaskEnd::Result(result)) => Ok(*result),
        Err(TaskEnd::Failure(error)) => error.into_result(key),
    }
}

async fn run_steps(shared: &EngineShared, job: EffectJob) -> Result<TaskResult, TaskEnd> {
    let row = row_of(job.effect.name)?;
    let CheckedEffect { gate, bytes, baseline, reserved } =
        checks::check(shared, row, &job).await?;
    let permit = shared.unsent_permits.acquire().await;
    checks::check_again(shared, &job)?;
    let spent = consume_value(shared, &job.effect).await?;
    let (request, blobs) = request::stored_request(shared, &job.effect, bytes.as_deref())?;
    let wallet = job.wallet.clone();
    let mut intent = intent(job, request, baseline, &reserved);
    if let EpochGate::LookUp(reason) = gate {
        intent.baseline = evidence::lookup_baseline();
        let attempt = Attempt { shared, row, intent: &intent, wallet: &wallet };
        return Ok(epoch::look_first(attempt, (blobs, spent), reason).await?);
    }
    let attempt = Attempt { shared, row, intent: &intent, wallet: &wallet };
    let outcome = attempt.write_and_send((blobs, spent, reserved)).await?;
    drop(permit);
    Ok(attempt.handle_outcome(outcome).await?)
}

/// Forgets the value that an effect uses, where it works once. Returns the record to write with the
/// intent; ends the task if the value is too old.
async fn consume_value(shared: &EngineShared, effect: &Effect) -> Result<Option<Record>, TaskEnd> {
    let spent = consume_value_record(shared, effect);
    if uses_expired_value(shared, effect) {
        if let Some(spent) = spent {
            shared.write(Vec::new(), vec![spent]).await?;
        }
        return Err(TaskResult::Changed(effect.key.clone()).into());
    }
    if spent.is_some() {
        // The details from which the token was made are no longer needed.
        shared.erase(&request::borrowed_details(&effect.key))?;
    }
    Ok(spent)
}

pub(crate) fn intent(
    job: EffectJob,
    request: StoredRequest,
    baseline: Value,
    reserved: &Reservation,
) -> Intent {
    let EffectJob { id, effect, wallet: _, cause, rest: _, again, is_timed: _ } = job;
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
