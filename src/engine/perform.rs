//! Executes one effect: writes and syncs its intent, sends it, and then writes its answer.

use std::time::Duration;

use serde_json::{Value, json};

use super::access::{CredentialError, CredentialSource, access};
use super::epoch::{self, EpochGate};
use super::meter::Reservation;
use super::read::ReadFailure;
use super::shared::{EngineError, EngineShared};
use super::tasks::{EffectJob, TaskResult};
use super::unable::TaskFailure;
use super::{body, first_look, found, happened, once, pace, read, settle, unauthorised};
use crate::api::{Auth, Call};
use crate::effects::{EffectRow, Learned, ProvenState, effect_row, expect};
use crate::model::action::is_action;
use crate::model::intent::{EffectProof, Intent, IntentProgress, StoredRequest};
use crate::model::observed::{AppliedSpec, FactSource, Observation};
use crate::model::outcome::Outcome;
use crate::model::record::Record;
use crate::model::service_problem::ServiceProblem;
use crate::model::stake::Exposure;
use crate::store::vault::SealedValue;

/// Performs one effect to its end, or until it can only wait.
pub(super) async fn perform(shared: &EngineShared, job: EffectJob) -> TaskResult {
    let key = job.effect.key.clone();
    match run_steps(shared, job).await {
        Ok(finished) => finished,
        Err(CredentialError::Secret(error)) => {
            TaskResult::RetryLater(key, TaskFailure::Secret(error.message), Duration::ZERO)
        }
        Err(CredentialError::Engine(error)) => TaskResult::Broken(error),
    }
}

/// Performs every step of an effect, in order.
async fn run_steps(shared: &EngineShared, job: EffectJob) -> Result<TaskResult, CredentialError> {
    let row = row(job.effect.name)?;
    let (id, wallet) = (job.id, job.wallet.clone());
    access(shared, &wallet, job.effect.request.auth)?;
    let gate = epoch::gate(shared, row, &job.effect)?;
    if let EpochGate::Closed(unable) = gate {
        return Ok(TaskResult::RetryLater(job.effect.key, unable, Duration::ZERO));
    }
    let bytes = body::bytes(shared, &job.effect).map_err(CredentialError::Secret)?;
    let request = &job.effect.request;
    let at = (request.host, request.auth, request.web_url.as_deref());
    if let Err(shut) = pace::wait_until_ready(shared, &wallet, at).await {
        let unable = TaskFailure::Unreachable(shut.reason);
        return Ok(TaskResult::RetryLater(job.effect.key, unable, shut.wait));
    }
    match first_look::read_before_create(shared, row, &job).await {
        Ok(None) => {}
        Ok(Some(barred)) => return Ok(barred),
        Err(unread) => return unread.into_result(shared, job.effect.key, &wallet),
    }
    let baseline = match baseline(shared, row, &gate, &job).await {
        Ok(Ok(baseline)) => baseline,
        Ok(Err(unable)) => {
            return Ok(TaskResult::RetryLater(job.effect.key, unable, Duration::ZERO));
        }
        Err(unread) => return unread.into_result(shared, job.effect.key, &wallet),
    };
    let reserved = match shared.guard.reserve(id, &job.effect, job.rest).await? {
        Ok(reserved) => reserved,
        Err(over) => {
            let unable = TaskFailure::Blocked(over.to_string());
            return Ok(TaskResult::RetryLater(job.effect.key, unable, Duration::ZERO));
        }
    };
    let promise = shared.unsent_permits().acquire().await;
    if shared.superseded().contains(&job.effect.key) {
        return Ok(TaskResult::Changed(job.effect.key));
    }
    if let Some(stopped) = unauthorised::check_before_intent(shared, &job.effect)? {
        return Ok(stopped);
    }
    let spent = once::consume_record(shared, &job.effect);
    if once::is_expired(shared, &job.effect) {
        if let Some(spent) = spent {
            shared.write(Vec::new(), vec![spent]).await?;
        }
        return Ok(TaskResult::Changed(job.effect.key));
    }
    if spent.is_some() {
        // The details from which the token was made are no longer needed.
        let borrowed = body::borrowed_details(&job.effect.key);
        shared.vault.erase(&borrowed).map_err(EngineError::from)?;
    }
    let (request, blobs) = body::store(shared, &job.effect, bytes.as_deref())?;
    let intent = intent(job, request, baseline, &reserved);
    if let EpochGate::LookUp(reason) = gate {
        let intent = Intent { baseline: found::lookup_baseline(), ..intent };
        let (about, with) = ((&intent, &wallet), (blobs, spent));
        let looked = epoch::look_first(shared, row, about, with, reason).await?;
        drop(reserved);
        return Ok(looked);
    }
    let outcome = write_and_send(shared, (blobs, spent, reserved), &intent, &wallet).await?;
    drop(promise);
    Ok(handle_outcome(shared, row, &intent, &wallet, outcome).await?)
}

/// Builds the intent of an effect, with its request and its baseline.
fn intent(
    job: EffectJob,
    request: StoredRequest,
    baseline: Value,
    reserved: &Reservation,
) -> Intent {
    let EffectJob { id, effect, wallet: _, cause, rest: _, again } = job;
    let counts = !(again && crate::base::planted::is_active("retries-bypass-the-meter"));
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
        at: reserved.at(),
        exposure: if counts { reserved.stake() } else { Exposure::default() },
    }
}

/// Law 1: sends only once the intent is on disk; an injected fault reverses the order.
async fn write_and_send(
    shared: &EngineShared,
    (blobs, spent, reserved): (Vec<SealedValue>, Option<Record>, Reservation),
    intent: &Intent,
    wallet: &CredentialSource,
) -> Result<Outcome, EngineError> {
    let promise = Record::Intent(Box::new(intent.clone()));
    let promise: Vec<Record> = spent.into_iter().chain([promise]).collect();
    if crate::base::planted::is_active("send-before-sync") {
        shared.vault.write(&blobs)?;
        let outcome = send(shared, intent, wallet).await?;
        shared.write(blobs, promise).await?;
        return Ok(outcome);
    }
    shared.write(blobs, promise).await?;
    // The fold counts it from here on.
    drop(reserved);
    send(shared, intent, wallet).await
}

/// Returns the row of an effect.
pub(super) fn row(name: &str) -> Result<&'static EffectRow, EngineError> {
    effect_row(name).ok_or_else(|| EngineError::Bug(format!("unknown effect: {name}")))
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

/// Sends an intent's request, the same bytes each time.
pub(super) async fn send(
    shared: &EngineShared,
    intent: &Intent,
    wallet: &CredentialSource,
) -> Result<Outcome, EngineError> {
    let call = body::call(shared, intent)?;
    let access = match access_for(shared, wallet, &call) {
        Ok(access) => access,
        Err(CredentialError::Engine(error)) => return Err(error),
        Err(CredentialError::Secret(error)) => {
            return Ok(Outcome::not_sent(&error.message));
        }
    };
    let client = pace::client_for(shared, wallet, call.auth);
    let Some(web_url) = &intent.request.web_url else {
        return Ok(client.send(&call, &access).await);
    };
    match client.with_web_url(web_url) {
        Ok(brand) => Ok(brand.send(&call, &access).await),
        Err(error) => Ok(Outcome::not_sent(&error.to_string())),
    }
}

/// Returns the credential for a call.
fn access_for(
    shared: &EngineShared,
    wallet: &CredentialSource,
    call: &Call,
) -> Result<crate::client::Access, CredentialError> {
    if call.auth == Auth::None {
        return Ok(crate::client::Access::None);
    }
    access(shared, wallet, call.auth)
}

/// Records the meaning of a first answer.
async fn handle_outcome(
    shared: &EngineShared,
    row: &EffectRow,
    intent: &Intent,
    wallet: &CredentialSource,
    outcome: Outcome,
) -> Result<TaskResult, EngineError> {
    match outcome {
        Outcome::Done { reply } => {
            handle_answer(shared, row, intent, &reply, EffectProof::Answer).await
        }
        Outcome::Refused { status, problem } => {
            handle_refusal(shared, row, intent, status, problem).await
        }
        Outcome::NotSent { reason, retry_after_s } => {
            let (wait, reason) =
                (Duration::from_secs(retry_after_s.unwrap_or(0)), reason.to_string());
            write_progress(shared, intent, IntentProgress::NotSent { reason: reason.clone() })
                .await?;
            Ok(TaskResult::RetryLater(intent.key.clone(), TaskFailure::Unreachable(reason), wait))
        }
        Outcome::InDoubt { reason } => {
            let reason = reason.to_string();
            write_progress(shared, intent, IntentProgress::Doubt { reason, unsent: false }).await?;
            settle::settle(shared, row, intent, wallet, 1).await
        }
    }
}

/// Handles an answer of success: it is learnt if it matches the request, and otherwise the resource
/// is on hold.
pub(super) async fn handle_answer(
    shared: &EngineShared,
    row: &EffectRow,
    intent: &Intent,
    reply: &Value,
    proof: EffectProof,
) -> Result<TaskResult, EngineError> {
    let learned = (row.learn)(intent, reply);
    let stands =
        if proof == EffectProof::Found { found::found_state(shared, intent, reply)? } else { None };
    let expect = stands.as_ref().map_or(&intent.expect, |stands| &stands.expect);
    let differing = if checks_answers() && !(reply.is_null() && proof == EffectProof::Found) {
        expect::mismatches(expect, reply)
    } else {
        Vec::new()
    };
    match learned {
        Ok(learned) if differing.is_empty() => {
            let applied = stands.map_or_else(|| intent.applied.clone(), |stands| stands.applied);
            write_done(shared, intent, (learned, applied), proof).await
        }
        Ok(learned) => {
            let (observation, _) = observation(shared, intent, learned)?;
            let reason = format!("the answer is not what was asked: {}", differing.join("; "));
            let observation = Some(Box::new(Observation { applied: None, ..observation }));
            write_and_end(shared, intent, IntentProgress::OnHold { reason, observation }).await
        }
        Err(reason) => {
            write_and_end(shared, intent, IntentProgress::OnHold { reason, observation: None })
                .await
        }
    }
}

/// Returns true: law 4 is checked; an injected fault skips the check.
fn checks_answers() -> bool {
    !crate::base::planted::is_active("settled-without-comparing")
}

/// Records that the effect happened.
async fn write_done(
    shared: &EngineShared,
    intent: &Intent,
    (learned, applied): (Learned, AppliedSpec),
    proof: EffectProof,
) -> Result<TaskResult, EngineError> {
    let (observation, blobs) = observation(shared, intent, learned)?;
    let observation = Observation { applied: Some(applied), ..observation };
    let gone = observation.exists == Some(false);
    let before = shared.facts.observed_state(&intent.key)?;
    let progress = IntentProgress::Done { observation: Box::new(observation), proof };
    let told = progress.clone();
    let record = Record::Progress { intent: intent.id, at: shared.now(), progress };
    shared.write(blobs, vec![record]).await?;
    happened::report(shared, intent, before.as_ref(), &told);
    if gone {
        let known = shared.facts.observed_state(&intent.key)?;
        let former = known.iter().flat_map(|known| &known.former);
        for name in former.chain([&intent.key]) {
            shared.vault.erase(&name.to_string())?;
        }
    }
    Ok(TaskResult::Changed(intent.key.clone()))
}

/// Builds the observation of an answer, its secrets sealed.
fn observation(
    shared: &EngineShared,
    intent: &Intent,
    learned: Learned,
) -> Result<(Observation, Vec<SealedValue>), EngineError> {
    let (facts, blobs) = read::seal_facts(shared, &intent.key, learned.facts, &learned.secrets)?;
    let observation = Observation {
        key: intent.key.clone(),
        merchant: intent.merchant.clone(),
        at: shared.now(),
        source: FactSource::Answer,
        remote_id: learned.remote_id,
        exists: Some(learned.exists),
        applied: Some(intent.applied.clone()),
        facts,
    };
    Ok((observation, blobs))
}

/// Handles a refusal. A refusal that proves an earlier success counts as a success.
pub(super) async fn handle_refusal(
    shared: &EngineShared,
    row: &EffectRow,
    intent: &Intent,
    status: u16,
    problem: ServiceProblem,
) -> Result<TaskResult, EngineError> {
    if row.is_ended_by(status) {
        return handle_answer(shared, row, intent, &Value::Null, EffectProof::Duplicate).await;
    }
    // A command that finds its state already reached did nothing, and its actor gets the refusal.
    let proved = (row.proven_state)(&problem).filter(|_| !is_action(&intent.key));
    if let Some(proved) = proved {
        let exists = proved == ProvenState::Exists;
        let learned = Learned { exists, facts: json!({}), ..Learned::default() };
        return write_done(
            shared,
            intent,
            (learned, intent.applied.clone()),
            EffectProof::Duplicate,
        )
        .await;
    }
    tracing::warn!(key = %intent.key, effect = %intent.effect, status, code = problem.code(), "refused");
    if let Some(finished) =
        unauthorised::handle_foreign_refusal(shared, intent, status, &problem).await?
    {
        return Ok(finished);
    }
    write_and_end(shared, intent, IntentProgress::Refused { status, problem }).await
}

/// Writes progress and ends the task.
pub(super) async fn write_and_end(
    shared: &EngineShared,
    intent: &Intent,
    progress: IntentProgress,
) -> Result<TaskResult, EngineError> {
    write_progress(shared, intent, progress).await?;
    Ok(TaskResult::Changed(intent.key.clone()))
}

/// Writes progress.
pub(super) async fn write_progress(
    shared: &EngineShared,
    intent: &Intent,
    progress: IntentProgress,
) -> Result<(), EngineError> {
    let goes_on = matches!(progress, IntentProgress::Doubt { .. } | IntentProgress::Resent);
    let told = progress.clone();
    let record = Record::Progress { intent: intent.id, at: shared.now(), progress };
    shared.write(Vec::new(), vec![record]).await?;
    happened::report(shared, intent, shared.facts.observed_state(&intent.key)?.as_ref(), &told);
    if goes_on {
        shared.in_doubt_signal().notify_one();
    }
    Ok(())
}
