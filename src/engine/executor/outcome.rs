//! Records how an effect ended: the checked answer, the refusal, or the doubt.

use std::time::Duration;

use super::settle;
use crate::effects::core::row::EffectRow;
use crate::engine::executor::answer::{handle_answer, handle_refusal};
use crate::engine::executor::progress::write_progress;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::failure::TaskFailure;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::model::intents::intent::{EffectProof, Intent, IntentProgress};
use crate::model::service::outcome::Outcome;

/// Records the meaning of a first answer.
pub(crate) async fn handle_outcome(
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
