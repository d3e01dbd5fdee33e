//! Records what an answer means: the effect is done, refused, or on hold.
//!
//! A refusal may not be the request's fault: the credentials are refused, or an object changed
//! concurrently. The client renews the partner's own token once; a further refusal is the operator's
//! matter. A merchant whose credentials are refused waits for a new authorization, and so does
//! everything that needs them: no call of theirs is sent. An effect refused in this way is closed as
//! not sent, so that it is tried again afterwards.

use std::time::Duration;

use serde_json::{Value, json};

use crate::effects::core::expect;
use crate::effects::core::row::{EffectRow, Learned, ProvenState};
use crate::engine::executor::progress::{write_and_end, write_progress};
use crate::engine::executor::{evidence, progress};
use crate::engine::handles::access::{
    CredentialSource, awaits_authorization, note_unauthorised, unauthorised_record,
};
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::{TaskFailure, TaskResult};
use crate::engine::readers::read;
use crate::model::effect::{Effect, is_action};
use crate::model::error_class::{ErrorClass, FailureSignal, Remedy};
use crate::model::intent::{EffectProof, Intent, IntentProgress};
use crate::model::outcome::ServiceProblem;
use crate::model::record::Record;
use crate::model::state::credentials::RefusedCredentials;
use crate::model::state::observed::{AppliedSpec, FactSource, Observation};
use crate::store::vault::keys::SealedValue;

/// Handles an answer of success: it is learnt if it matches the request, and otherwise the resource
/// is on hold.
pub(crate) async fn handle_answer(
    shared: &EngineShared,
    row: &EffectRow,
    intent: &Intent,
    reply: &Value,
    proof: EffectProof,
) -> Result<TaskResult, EngineError> {
    let learned = (row.learn)(intent, reply);
    let stands = if proof == EffectProof::Found {
        evidence::found_state(shared, intent, reply)?
    } else {
        None
    };
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
pub(crate) fn checks_answers() -> bool {
    !crate::base::fault_injection::is_active("settled-without-comparing")
}

pub(crate) async fn write_done(
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
    progress::report_effect(shared, intent, before.as_ref(), &told);
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
pub(crate) fn observation(
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
pub(crate) async fn handle_refusal(
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
    if let Some(finished) = handle_foreign_refusal(shared, intent, status, &problem).await? {
        return Ok(finished);
    }
    write_and_end(shared, intent, IntentProgress::Refused { status, problem }).await
}

/// Returns the end of a task whose refusal no change of its document can remedy; `None` for every
/// other refusal.
pub(crate) async fn handle_foreign_refusal(
    shared: &EngineShared,
    intent: &Intent,
    status: u16,
    problem: &ServiceProblem,
) -> Result<Option<TaskResult>, EngineError> {
    let auth = intent.request.auth;
    let after =
        ErrorClass::of(FailureSignal::Answer(status, problem)).map(|class| class.remedy(auth));
    let (key, reason) = (intent.key.clone(), format!("the service answered {status}"));
    Ok(match after {
        Some(Remedy::TryAgain | Remedy::SlowDown) => {
            write_progress(shared, intent, IntentProgress::NotSent { reason: reason.clone() })
                .await?;
            Some(TaskResult::RetryLater(key, TaskFailure::Unreachable(reason), Duration::ZERO))
        }
        Some(Remedy::AwaitOperator) => {
            write_progress(shared, intent, IntentProgress::NotSent { reason }).await?;
            Some(TaskResult::RetryLater(key, partner_refused(), Duration::ZERO))
        }
        Some(Remedy::AwaitAuthorization) => {
            let merchant = intent.merchant.clone();
            shared.refused_merchants.insert(&merchant);
            let at = shared.now();
            let closed = IntentProgress::NotSent { reason };
            let told = closed.clone();
            let closed = Record::Progress { intent: intent.id, at, progress: closed };
            let known = shared.merchant(&merchant)?.and_then(|known| known.applied.clone());
            let spec = known.as_ref().map_or(&Value::Null, |known| &known.spec);
            let generation = known.as_ref().map_or(0, |known| known.generation);
            let refused = unauthorised_record(
                shared,
                &merchant,
                RefusedCredentials::new(spec, generation, at),
            )?;
            let records = std::iter::once(closed).chain(refused).collect();
            shared.write(Vec::new(), records).await?;
            progress::report_effect(shared, intent, None, &told);
            Some(TaskResult::Unauthorised(key, merchant))
        }
        Some(Remedy::AwaitDocument) | None => None,
    })
}

/// Builds the failure of refused partner credentials, after the token was renewed.
fn partner_refused() -> TaskFailure {
    let why = "the service refuses the credentials of the partner application; check \
        partner.client_id and partner.client_secret in reckon.yaml";
    TaskFailure::Denied(why.to_owned())
}

/// Returns the end of a task that was about to write its intent, if the credentials were refused
/// meanwhile.
pub(crate) fn check_before_intent(
    shared: &EngineShared,
    effect: &Effect,
) -> Result<Option<TaskResult>, EngineError> {
    let theirs = ErrorClass::Unauthorised.remedy(effect.request.auth) == Remedy::AwaitAuthorization;
    let merchant = &effect.merchant;
    let awaits = theirs
        && (shared.refused_merchants.contains(merchant) || awaits_authorization(shared, merchant)?);
    Ok(awaits.then(|| TaskResult::Unauthorised(effect.key.clone(), effect.merchant.clone())))
}

/// Returns the end of a task that can look for evidence, or send again, only with accepted
/// credentials. Its intent stays in doubt.
pub(crate) fn check_before_lookup(
    shared: &EngineShared,
    intent: &Intent,
) -> Result<Option<TaskResult>, EngineError> {
    let awaits = awaits_authorization(shared, &intent.merchant)?;
    Ok(awaits.then(|| TaskResult::Unauthorised(intent.key.clone(), intent.merchant.clone())))
}

/// Returns the same, once a repeated call of an effect in doubt was answered with 401.
pub(crate) async fn resend_unauthorised(
    shared: &EngineShared,
    intent: &Intent,
    wallet: &CredentialSource,
) -> Result<Option<TaskResult>, EngineError> {
    if !note_unauthorised(shared, wallet, intent.request.auth).await? {
        return Ok(None);
    }
    let reason = "sent once more, and the credentials were refused (HTTP 401)".to_owned();
    write_progress(shared, intent, IntentProgress::Doubt { reason, unsent: false }).await?;
    check_before_lookup(shared, intent)
}
