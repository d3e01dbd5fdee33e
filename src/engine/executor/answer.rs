//! Records what an answer means: the effect is done, refused, or on hold.
//!
//! A refusal may not be the request's fault: the credentials are refused, or an object changed
//! concurrently. The client renews the partner's own token once; a further refusal is the operator's
//! matter. A merchant whose credentials are refused waits for a new authorization, and so does
//! everything that needs them: no call of theirs is sent. An effect refused in this way is closed as
//! not sent, so that it is tried again afterwards.

use serde_json::{Value, json};

use crate::base::fault_injection;
use crate::effects::core::expect;
use crate::effects::core::row::{Learned, ProvenState};
use crate::engine::executor::progress::Attempt;
use crate::engine::executor::{evidence, progress};
use crate::engine::handles::access::{
    awaits_authorization, note_unauthorised, unauthorised_record,
};
use crate::engine::handles::shared::{EngineResult, EngineShared};
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

const PARTNER_REFUSED: &str = "the service refuses the credentials of the partner application; \
    check partner.client_id and partner.client_secret in reckon.yaml";

impl Attempt<'_> {
    /// Handles an answer of success: learnt if it matches the request, else it is put on hold.
    pub(crate) async fn handle_answer(
        self,
        reply: &Value,
        proof: EffectProof,
    ) -> EngineResult<TaskResult> {
        let Self { shared, row, intent, .. } = self;
        let learned = (row.learn)(intent, reply);
        let stands = if proof == EffectProof::Found {
            evidence::found_state(shared, intent, reply)?
        } else {
            None
        };
        let expect = stands.as_ref().map_or(&intent.expect, |stands| &stands.expect);
        // An injected fault skips the check of law 4.
        let is_checked = !fault_injection::is_active("settled-without-comparing");
        let differing = if is_checked && !(reply.is_null() && proof == EffectProof::Found) {
            expect::mismatches(expect, reply)
        } else {
            Vec::new()
        };
        match learned {
            Ok(learned) if differing.is_empty() => {
                let applied = stands.map(|stands| stands.applied);
                let applied = applied.unwrap_or_else(|| intent.applied.clone());
                self.write_done((learned, applied), proof).await
            }
            Ok(learned) => {
                let (observation, _) = self.observation(learned)?;
                let reason = format!("the answer is not what was asked: {}", differing.join("; "));
                let observation = Some(Box::new(Observation { applied: None, ..observation }));
                self.write_and_end(IntentProgress::OnHold { reason, observation }).await
            }
            Err(reason) => self.put_on_hold(reason).await,
        }
    }

    async fn write_done(
        self,
        (learned, applied): (Learned, AppliedSpec),
        proof: EffectProof,
    ) -> EngineResult<TaskResult> {
        let Self { shared, intent, .. } = self;
        let (observation, blobs) = self.observation(learned)?;
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
                shared.erase(&name.to_string())?;
            }
        }
        Ok(TaskResult::Changed(intent.key.clone()))
    }

    /// Builds the observation of an answer, its secrets sealed.
    fn observation(self, learned: Learned) -> EngineResult<(Observation, Vec<SealedValue>)> {
        let Self { shared, intent, .. } = self;
        let (facts, blobs) =
            read::seal_facts(shared, &intent.key, learned.facts, &learned.secrets)?;
        let observation = Observation {
            remote_id: learned.remote_id,
            exists: Some(learned.exists),
            applied: Some(intent.applied.clone()),
            ..shared.observation((&intent.key, &intent.merchant), FactSource::Answer, facts)
        };
        Ok((observation, blobs))
    }

    /// Handles a refusal. A refusal that proves an earlier success counts as a success.
    pub(crate) async fn handle_refusal(
        self,
        status: u16,
        problem: ServiceProblem,
    ) -> EngineResult<TaskResult> {
        let Self { row, intent, .. } = self;
        if row.is_ended_by(status) {
            return self.handle_answer(&Value::Null, EffectProof::Duplicate).await;
        }
        // A command that finds its state already reached did nothing, and its actor gets the refusal.
        let proved = (row.proven_state)(&problem).filter(|_| !is_action(&intent.key));
        if let Some(proved) = proved {
            let exists = proved == ProvenState::Exists;
            let learned = Learned { exists, facts: json!({}), ..Learned::default() };
            let applied = intent.applied.clone();
            return self.write_done((learned, applied), EffectProof::Duplicate).await;
        }
        tracing::warn!(key = %intent.key, effect = %intent.effect, status, code = problem.code(), "refused");
        if let Some(finished) = self.handle_foreign_refusal(status, &problem).await? {
            return Ok(finished);
        }
        self.write_and_end(IntentProgress::Refused { status, problem }).await
    }

    /// Returns the end of a task whose refusal no document can remedy; `None` for other refusals.
    async fn handle_foreign_refusal(
        self,
        status: u16,
        problem: &ServiceProblem,
    ) -> EngineResult<Option<TaskResult>> {
        let class = ErrorClass::of(FailureSignal::Answer(status, problem));
        let remedy = class.map(|class| class.remedy(self.intent.request.auth));
        let (key, reason) = (self.intent.key.clone(), format!("the service answered {status}"));
        let closed = IntentProgress::NotSent { reason: reason.clone() };
        let failure = match remedy {
            Some(Remedy::TryAgain | Remedy::SlowDown) => TaskFailure::Unreachable(reason),
            // The token was renewed before.
            Some(Remedy::AwaitOperator) => TaskFailure::Denied(PARTNER_REFUSED.to_owned()),
            Some(Remedy::AwaitAuthorization) => {
                self.write_unauthorised(closed).await?;
                return Ok(Some(TaskResult::Unauthorised(key, self.intent.merchant.clone())));
            }
            Some(Remedy::AwaitDocument) | None => return Ok(None),
        };
        self.write_progress(closed).await?;
        Ok(Some(TaskResult::retry(key, failure)))
    }

    /// Closes the intent, and records that the merchant's credentials are refused.
    async fn write_unauthorised(self, progress: IntentProgress) -> EngineResult<()> {
        let Self { shared, intent, .. } = self;
        let merchant = &intent.merchant;
        shared.refused_merchants.insert(merchant);
        let (at, told) = (shared.now(), progress.clone());
        let closed = Record::Progress { intent: intent.id, at, progress };
        let known = shared.merchant(merchant)?.and_then(|known| known.applied.clone());
        let (spec, generation) =
            known.as_ref().map_or((&Value::Null, 0), |known| (&known.spec, known.generation));
        let refused = RefusedCredentials::new(spec, generation, at);
        let refused = unauthorised_record(shared, merchant, refused)?;
        let records = std::iter::once(closed).chain(refused).collect();
        shared.write(Vec::new(), records).await?;
        progress::report_effect(shared, intent, None, &told);
        Ok(())
    }

    /// Returns the end of a task that can look for evidence, or send again, only with accepted
    /// credentials. Its intent stays in doubt.
    pub(crate) fn check_before_lookup(self) -> EngineResult<Option<TaskResult>> {
        let Intent { key, merchant, .. } = self.intent;
        let awaits = awaits_authorization(self.shared, merchant)?;
        Ok(awaits.then(|| TaskResult::Unauthorised(key.clone(), merchant.clone())))
    }

    /// Returns the same, once a repeated call of an effect in doubt was answered with 401.
    pub(crate) async fn resend_unauthorised(self) -> EngineResult<Option<TaskResult>> {
        if !note_unauthorised(self.shared, self.wallet, self.intent.request.auth).await? {
            return Ok(None);
        }
        let reason = "sent once more, and the credentials were refused (HTTP 401)".to_owned();
        self.write_doubt(reason).await?;
        self.check_before_lookup()
    }
}

/// Returns the end of a task that is about to write its intent, if its credentials were refused.
pub(crate) fn check_before_intent(
    shared: &EngineShared,
    effect: &Effect,
) -> EngineResult<Option<TaskResult>> {
    let theirs = ErrorClass::Unauthorised.remedy(effect.request.auth) == Remedy::AwaitAuthorization;
    let merchant = &effect.merchant;
    let awaits = theirs
        && (shared.refused_merchants.contains(merchant) || awaits_authorization(shared, merchant)?);
    Ok(awaits.then(|| TaskResult::Unauthorised(effect.key.clone(), effect.merchant.clone())))
}
