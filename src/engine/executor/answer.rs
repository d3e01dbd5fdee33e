//! Records what an answer means: the effect is done, refused, or on hold.

use serde_json::{Value, json};

use crate::effects::core::expect;
use crate::effects::core::row::{EffectRow, Learned, ProvenState};
use crate::engine::executor::progress::write_and_end;
use crate::engine::executor::{found_object, refused_credentials};
use crate::engine::handles::effect_report;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::readers::read;
use crate::model::action::is_action;
use crate::model::intents::intent::{EffectProof, Intent, IntentProgress};
use crate::model::record::Record;
use crate::model::service::outcome::ServiceProblem;
use crate::model::state::observed::{AppliedSpec, FactSource, Observation};
use crate::store::vault::blob::SealedValue;

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
        found_object::found_state(shared, intent, reply)?
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

/// Records that the effect happened.
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
    effect_report::report(shared, intent, before.as_ref(), &told);
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
    if let Some(finished) =
        refused_credentials::handle_foreign_refusal(shared, intent, status, &problem).await?
    {
        return Ok(finished);
    }
    write_and_end(shared, intent, IntentProgress::Refused { status, problem }).await
}
