//! Executes one effect: writes and syncs its intent, sends it, and then writes its answer.

use std::time::Duration;

use serde_json::{Value, json};

use super::access::{NoAccess, Wallet, access};
use super::epoch::{self, Gate};
use super::meter::Reserved;
use super::read::Unread;
use super::shared::{EngineError, Shared};
use super::tasks::{Finished, Job};
use super::unable::Unable;
use super::{body, first_look, found, happened, once, pace, read, settle, unauthorised};
use crate::api::{Auth, Call};
use crate::effects::{EffectRow, Learned, Proved, effect_row, expect};
use crate::model::action::is_action;
use crate::model::intent::{Intent, Progress, Proof, StoredRequest};
use crate::model::observed::{Applied, Observation, Source};
use crate::model::outcome::Outcome;
use crate::model::record::Record;
use crate::model::service_problem::ServiceProblem;
use crate::model::stake::Stake;
use crate::store::vault::Sealed;

/// Performs one effect to its end, or until it can only wait.
pub(super) async fn perform(shared: &Shared, job: Job) -> Finished {
    let key = job.effect.key.clone();
    match tried(shared, job).await {
        Ok(finished) => finished,
        Err(NoAccess::Secret(error)) => {
            Finished::Again(key, Unable::Secret(error.message), Duration::ZERO)
        }
        Err(NoAccess::Engine(error)) => Finished::Broken(error),
    }
}

/// Performs every step of an effect, in order.
async fn tried(shared: &Shared, job: Job) -> Result<Finished, NoAccess> {
    let row = row(job.effect.name)?;
    let (id, wallet) = (job.id, job.wallet.clone());
    access(shared, &wallet, job.effect.request.auth)?;
    let gate = epoch::gate(shared, row, &job.effect)?;
    if let Gate::Closed(unable) = gate {
        return Ok(Finished::Again(job.effect.key, unable, Duration::ZERO));
    }
    let bytes = body::bytes(shared, &job.effect).map_err(NoAccess::Secret)?;
    let request = &job.effect.request;
    let at = (request.host, request.auth, request.web_url.as_deref());
    if let Err(shut) = pace::ready(shared, &wallet, at).await {
        let unable = Unable::Unreachable(shut.reason);
        return Ok(Finished::Again(job.effect.key, unable, shut.wait));
    }
    match first_look::before(shared, row, &job).await {
        Ok(None) => {}
        Ok(Some(barred)) => return Ok(barred),
        Err(unread) => return unread.finished(shared, job.effect.key, &wallet),
    }
    let baseline = match baseline(shared, row, &gate, &job).await {
        Ok(Ok(baseline)) => baseline,
        Ok(Err(unable)) => return Ok(Finished::Again(job.effect.key, unable, Duration::ZERO)),
        Err(unread) => return unread.finished(shared, job.effect.key, &wallet),
    };
    let reserved = match shared.guard.reserve(id, &job.effect, job.rest).await? {
        Ok(reserved) => reserved,
        Err(over) => {
            let unable = Unable::Blocked(over.to_string());
            return Ok(Finished::Again(job.effect.key, unable, Duration::ZERO));
        }
    };
    let promise = shared.promises().acquire().await;
    if shared.recalled().holds(&job.effect.key) {
        return Ok(Finished::Moved(job.effect.key));
    }
    if let Some(stopped) = unauthorised::before(shared, &job.effect)? {
        return Ok(stopped);
    }
    let spent = once::spent(shared, &job.effect);
    if once::is_too_old(shared, &job.effect) {
        if let Some(spent) = spent {
            shared.write(Vec::new(), vec![spent]).await?;
        }
        return Ok(Finished::Moved(job.effect.key));
    }
    if spent.is_some() {
        // The details from which the token was made are no longer needed.
        let borrowed = body::borrowed_details(&job.effect.key);
        shared.vault.erase(&borrowed).map_err(EngineError::from)?;
    }
    let (request, blobs) = body::store(shared, &job.effect, bytes.as_deref())?;
    let intent = intent(job, request, baseline, &reserved);
    if let Gate::Look(reason) = gate {
        let intent = Intent { baseline: found::looked_first(), ..intent };
        let (about, with) = ((&intent, &wallet), (blobs, spent));
        let looked = epoch::look_first(shared, row, about, with, reason).await?;
        drop(reserved);
        return Ok(looked);
    }
    let outcome = promised_and_sent(shared, (blobs, spent, reserved), &intent, &wallet).await?;
    drop(promise);
    Ok(conclude(shared, row, &intent, &wallet, outcome).await?)
}

/// Builds the intent of an effect, with its request and its baseline.
fn intent(job: Job, request: StoredRequest, baseline: Value, reserved: &Reserved) -> Intent {
    let Job { id, effect, wallet: _, cause, rest: _, again } = job;
    let counts = !(again && crate::base::planted::is("retries-bypass-the-meter"));
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
        about: effect.about,
        on_doubt: effect.on_doubt,
        cause,
        at: reserved.at(),
        stake: if counts { reserved.stake() } else { Stake::default() },
    }
}

/// Law 1: sends only once the intent is on disk; an injected fault reverses the order.
async fn promised_and_sent(
    shared: &Shared,
    (blobs, spent, reserved): (Vec<Sealed>, Option<Record>, Reserved),
    intent: &Intent,
    wallet: &Wallet,
) -> Result<Outcome, EngineError> {
    let promise = Record::Intent(Box::new(intent.clone()));
    let promise: Vec<Record> = spent.into_iter().chain([promise]).collect();
    if crate::base::planted::is("send-before-sync") {
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
    effect_row(name).ok_or_else(|| EngineError::Bug(format!("no effect is called {name}")))
}

/// Reads the state just before sending. An effect whose evidence needs that state is not sent
/// without it, nor is one whose baseline refuses it.
async fn baseline(
    shared: &Shared,
    row: &EffectRow,
    gate: &Gate,
    job: &Job,
) -> Result<Result<Value, Unable>, Unread> {
    // The effect to be looked up may be older than any present baseline.
    let Some(baseline) = row.baseline.filter(|_| *gate == Gate::Open) else {
        return Ok(Ok(Value::Null));
    };
    let queries = (baseline.queries)(&job.effect);
    if queries.is_empty() {
        return Ok(Ok(Value::Null));
    }
    let before = (baseline.keep)(&read::answers(shared, &queries, &job.wallet).await?);
    Ok(match (baseline.refuse)(&job.effect, &before) {
        Some(why) => Err(Unable::Blocked(why)),
        None => Ok(before),
    })
}

/// Sends an intent's request, the same bytes each time.
pub(super) async fn send(
    shared: &Shared,
    intent: &Intent,
    wallet: &Wallet,
) -> Result<Outcome, EngineError> {
    let call = body::call(shared, intent)?;
    let access = match access_for(shared, wallet, &call) {
        Ok(access) => access,
        Err(NoAccess::Engine(error)) => return Err(error),
        Err(NoAccess::Secret(error)) => {
            return Ok(Outcome::not_sent(&error.message));
        }
    };
    let client = pace::calls(shared, wallet, call.auth);
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
    shared: &Shared,
    wallet: &Wallet,
    call: &Call,
) -> Result<crate::client::Access, NoAccess> {
    if call.auth == Auth::None {
        return Ok(crate::client::Access::None);
    }
    access(shared, wallet, call.auth)
}

/// Records the meaning of a first answer.
async fn conclude(
    shared: &Shared,
    row: &EffectRow,
    intent: &Intent,
    wallet: &Wallet,
    outcome: Outcome,
) -> Result<Finished, EngineError> {
    match outcome {
        Outcome::Done { reply } => answered(shared, row, intent, &reply, Proof::Answer).await,
        Outcome::Refused { status, problem } => refused(shared, row, intent, status, problem).await,
        Outcome::NotSent { reason, retry_after_s } => {
            let (wait, reason) =
                (Duration::from_secs(retry_after_s.unwrap_or(0)), reason.to_string());
            write(shared, intent, Progress::NotSent { reason: reason.clone() }).await?;
            Ok(Finished::Again(intent.key.clone(), Unable::Unreachable(reason), wait))
        }
        Outcome::InDoubt { reason } => {
            let reason = reason.to_string();
            write(shared, intent, Progress::Doubt { reason, unsent: false }).await?;
            settle::settle(shared, row, intent, wallet, 1).await
        }
    }
}

/// Handles an answer of success: it is learnt if it matches the request, and otherwise the resource
/// is on hold.
pub(super) async fn answered(
    shared: &Shared,
    row: &EffectRow,
    intent: &Intent,
    reply: &Value,
    proof: Proof,
) -> Result<Finished, EngineError> {
    let learned = (row.learn)(intent, reply);
    let stands = if proof == Proof::Found { found::standing(shared, intent, reply)? } else { None };
    let expect = stands.as_ref().map_or(&intent.expect, |stands| &stands.expect);
    let differing = if differs_matter() && !(reply.is_null() && proof == Proof::Found) {
        expect::mismatches(expect, reply)
    } else {
        Vec::new()
    };
    match learned {
        Ok(learned) if differing.is_empty() => {
            let applied = stands.map_or_else(|| intent.applied.clone(), |stands| stands.applied);
            done(shared, intent, (learned, applied), proof).await
        }
        Ok(learned) => {
            let (observation, _) = observation(shared, intent, learned)?;
            let reason = format!("the answer is not what was asked: {}", differing.join("; "));
            let observation = Some(Box::new(Observation { applied: None, ..observation }));
            moved(shared, intent, Progress::Held { reason, observation }).await
        }
        Err(reason) => moved(shared, intent, Progress::Held { reason, observation: None }).await,
    }
}

/// Returns true: law 4 is checked; an injected fault skips the check.
fn differs_matter() -> bool {
    !crate::base::planted::is("settled-without-comparing")
}

/// Records that the effect happened.
async fn done(
    shared: &Shared,
    intent: &Intent,
    (learned, applied): (Learned, Applied),
    proof: Proof,
) -> Result<Finished, EngineError> {
    let (observation, blobs) = observation(shared, intent, learned)?;
    let observation = Observation { applied: Some(applied), ..observation };
    let gone = observation.exists == Some(false);
    let before = shared.facts.observed(&intent.key)?;
    let progress = Progress::Done { observation: Box::new(observation), proof };
    let told = progress.clone();
    let record = Record::Progress { intent: intent.id, at: shared.now(), progress };
    shared.write(blobs, vec![record]).await?;
    happened::tell(shared, intent, before.as_ref(), &told);
    if gone {
        let known = shared.facts.observed(&intent.key)?;
        let former = known.iter().flat_map(|known| &known.former);
        for name in former.chain([&intent.key]) {
            shared.vault.erase(&name.to_string())?;
        }
    }
    Ok(Finished::Moved(intent.key.clone()))
}

/// Builds the observation of an answer, its secrets sealed.
fn observation(
    shared: &Shared,
    intent: &Intent,
    learned: Learned,
) -> Result<(Observation, Vec<Sealed>), EngineError> {
    let (facts, blobs) = read::sealed_facts(shared, &intent.key, learned.facts, &learned.secrets)?;
    let observation = Observation {
        key: intent.key.clone(),
        merchant: intent.merchant.clone(),
        at: shared.now(),
        source: Source::Answer,
        remote_id: learned.remote_id,
        exists: Some(learned.exists),
        applied: Some(intent.applied.clone()),
        facts,
    };
    Ok((observation, blobs))
}

/// Handles a refusal. A refusal that proves an earlier success counts as a success.
pub(super) async fn refused(
    shared: &Shared,
    row: &EffectRow,
    intent: &Intent,
    status: u16,
    problem: ServiceProblem,
) -> Result<Finished, EngineError> {
    if row.is_ended_by(status) {
        return answered(shared, row, intent, &Value::Null, Proof::Duplicate).await;
    }
    // A command that finds its state already reached did nothing, and its actor gets the refusal.
    let proved = (row.proves)(&problem).filter(|_| !is_action(&intent.key));
    if let Some(proved) = proved {
        let exists = proved == Proved::There;
        let learned = Learned { exists, facts: json!({}), ..Learned::default() };
        return done(shared, intent, (learned, intent.applied.clone()), Proof::Duplicate).await;
    }
    tracing::warn!(key = %intent.key, effect = %intent.effect, status, code = problem.code(), "refused");
    if let Some(finished) = unauthorised::not_its_fault(shared, intent, status, &problem).await? {
        return Ok(finished);
    }
    moved(shared, intent, Progress::Refused { status, problem }).await
}

/// Writes progress and ends the task.
pub(super) async fn moved(
    shared: &Shared,
    intent: &Intent,
    progress: Progress,
) -> Result<Finished, EngineError> {
    write(shared, intent, progress).await?;
    Ok(Finished::Moved(intent.key.clone()))
}

/// Writes progress.
pub(super) async fn write(
    shared: &Shared,
    intent: &Intent,
    progress: Progress,
) -> Result<(), EngineError> {
    let goes_on = matches!(progress, Progress::Doubt { .. } | Progress::Again);
    let told = progress.clone();
    let record = Record::Progress { intent: intent.id, at: shared.now(), progress };
    shared.write(Vec::new(), vec![record]).await?;
    happened::tell(shared, intent, shared.facts.observed(&intent.key)?.as_ref(), &told);
    if goes_on {
        shared.doubted().notify_one();
    }
    Ok(())
}
