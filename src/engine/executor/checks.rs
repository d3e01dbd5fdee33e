//! The checks of an effect before its intent: a credential, the epoch, the host, the list of its kind,
//! the state before it, the limits. Each either lets the effect on or ends its task.

use serde_json::Value;

use crate::effects::core::row::EffectRow;
use crate::engine::executor::epoch::{self, EpochGate};
use crate::engine::executor::{answer, request};
use crate::engine::handles::access::{self, CredentialError};
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::{EffectJob, TaskFailure, TaskResult};
use crate::engine::limits::budget::Reservation;
use crate::engine::readers::read::{self, ReadFailure};
use crate::store::read_model::model::ReadModelError;
use crate::store::vault::frame::VaultError;

/// The end of an effect's task before its intent.
#[derive(Debug, derive_more::From)]
pub(crate) enum TaskEnd {
    Result(Box<TaskResult>),
    #[from(CredentialError, EngineError, ReadModelError, VaultError)]
    Failure(CredentialError),
}

impl From<TaskResult> for TaskEnd {
    fn from(result: TaskResult) -> Self {
        Self::Result(Box::new(result))
    }
}

/// The parts of an effect's intent that its checks gave.
pub(crate) struct CheckedEffect {
    /// [`EpochGate::Open`] or [`EpochGate::LookUp`].
    pub gate: EpochGate,
    /// The exact bytes of the body; `None` without one.
    pub bytes: Option<Vec<u8>>,
    pub baseline: Value,
    pub reserved: Reservation,
}

/// Checks everything that can take time: reads of the service, and the wait for a free limit.
pub(crate) async fn check(
    shared: &EngineShared,
    row: &EffectRow,
    job: &EffectJob,
) -> Result<CheckedEffect, TaskEnd> {
    access::access(shared, &job.wallet, job.effect.request.auth)?;
    let gate = match epoch::epoch_gate(shared, row, &job.effect)? {
        EpochGate::Closed(unable) => return Err(retry(job, unable)),
        EpochGate::Wait(reason, rest) => {
            let unable = TaskFailure::Waiting(reason);
            return Err(TaskResult::RetryLater(job.effect.key.clone(), unable, rest).into());
        }
        gate @ (EpochGate::Open | EpochGate::LookUp(_)) => gate,
    };
    let bytes = request::body_bytes(shared, &job.effect).map_err(CredentialError::Secret)?;
    await_host(shared, job).await?;
    let blocked = epoch::read_before_create(shared, row, job).await;
    if let Some(blocked) = blocked.map_err(|unread| unread_end(shared, job, unread))? {
        return Err(blocked.into());
    }
    let baseline = baseline(shared, row, &gate, job).await?;
    let reserved = shared.guard.reserve(job.id, &job.effect, job.rest).await?;
    let reserved = reserved.map_err(|over| retry(job, TaskFailure::Blocked(over.to_string())))?;
    Ok(CheckedEffect { gate, bytes, baseline, reserved })
}

/// Checks what may have changed meanwhile, directly before the intent.
pub(crate) fn check_again(shared: &EngineShared, job: &EffectJob) -> Result<(), TaskEnd> {
    if shared.superseded.contains(&job.effect.key) {
        return Err(TaskResult::Changed(job.effect.key.clone()).into());
    }
    let (times, merchant) = (&shared.settings.policy.times, &job.effect.merchant);
    if job.is_timed && times.hold(Some(merchant), shared.now()).is_some() {
        return Err(TaskResult::Changed(job.effect.key.clone()).into());
    }
    answer::check_before_intent(shared, &job.effect)?.map_or(Ok(()), |stopped| Err(stopped.into()))
}

fn retry(job: &EffectJob, unable: TaskFailure) -> TaskEnd {
    TaskResult::retry(job.effect.key.clone(), unable).into()
}

fn unread_end(shared: &EngineShared, job: &EffectJob, unread: ReadFailure) -> TaskEnd {
    unread
        .into_result(shared, job.effect.key.clone(), &job.wallet)
        .map_or_else(Into::into, Into::into)
}

/// Waits until the effect's host takes requests; ends the task for as long as it takes none.
async fn await_host(shared: &EngineShared, job: &EffectJob) -> Result<(), TaskEnd> {
    let request = &job.effect.request;
    let at = (request.host, request.auth, request.web_url.as_deref());
    access::wait_until_ready(shared, &job.wallet, at).await.map_err(|shut| {
        let unable = TaskFailure::Unreachable(shut.reason);
        TaskResult::RetryLater(job.effect.key.clone(), unable, shut.wait).into()
    })
}

/// Reads the state just before sending. An effect whose evidence needs that state is not sent
/// without it, nor is one whose baseline refuses it.
async fn baseline(
    shared: &EngineShared,
    row: &EffectRow,
    gate: &EpochGate,
    job: &EffectJob,
) -> Result<Value, TaskEnd> {
    // The effect to be looked up may be older than any present baseline.
    let Some(baseline) = row.baseline.filter(|_| *gate == EpochGate::Open) else {
        return Ok(Value::Null);
    };
    let queries = (baseline.queries)(&job.effect);
    if queries.is_empty() {
        return Ok(Value::Null);
    }
    let answers = read::answers(shared, &queries, &job.wallet).await;
    let before = (baseline.keep)(&answers.map_err(|unread| unread_end(shared, job, unread))?);
    match (baseline.refuse)(&job.effect, &before) {
        Some(why) => Err(retry(job, TaskFailure::Blocked(why))),
        None => Ok(before),
    }
}
