//! Refusals that are not the request's fault: refused credentials, or an object that changed
//! concurrently.
//!
//! The client renews the partner's own token once; a further refusal is the operator's matter. A
//! merchant whose credentials are refused waits for a new authorization, and so does everything
//! that needs them: no call of theirs is sent. An effect refused in this way is closed as not sent,
//! so that it is tried again afterwards.

use std::time::Duration;

use serde_json::Value;

use crate::engine::executor::progress::write_progress;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::effect_report;
use crate::engine::handles::failure::TaskFailure;
use crate::engine::handles::refused_credentials::{
    awaits_authorization, note_unauthorised, unauthorised_record,
};
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::{Intent, IntentProgress};
use crate::model::record::Record;
use crate::model::service::error_class::{ErrorClass, FailureSignal, Remedy};
use crate::model::service::outcome::ServiceProblem;
use crate::model::state::credentials::RefusedCredentials;

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
            shared.refused_merchants().note(&merchant);
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
            effect_report::report(shared, intent, None, &told);
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
        && (shared.refused_merchants().contains(merchant)
            || awaits_authorization(shared, merchant)?);
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
