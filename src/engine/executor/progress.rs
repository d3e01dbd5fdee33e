//! Writes the progress of an intent.

use crate::engine::handles::effect_report;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::model::intents::intent::{Intent, IntentProgress};
use crate::model::record::Record;

/// Writes progress and ends the task.
pub(crate) async fn write_and_end(
    shared: &EngineShared,
    intent: &Intent,
    progress: IntentProgress,
) -> Result<TaskResult, EngineError> {
    write_progress(shared, intent, progress).await?;
    Ok(TaskResult::Changed(intent.key.clone()))
}

/// Writes progress.
pub(crate) async fn write_progress(
    shared: &EngineShared,
    intent: &Intent,
    progress: IntentProgress,
) -> Result<(), EngineError> {
    let goes_on = matches!(progress, IntentProgress::Doubt { .. } | IntentProgress::Resent);
    let told = progress.clone();
    let record = Record::Progress { intent: intent.id, at: shared.now(), progress };
    shared.write(Vec::new(), vec![record]).await?;
    effect_report::report(
        shared,
        intent,
        shared.facts.observed_state(&intent.key)?.as_ref(),
        &told,
    );
    if goes_on {
        shared.in_doubt_signal().notify_one();
    }
    Ok(())
}

/// Puts an intent on hold: a person has to act.
pub(crate) async fn put_on_hold(
    shared: &EngineShared,
    intent: &Intent,
    reason: String,
) -> Result<TaskResult, EngineError> {
    write_and_end(shared, intent, IntentProgress::OnHold { reason, observation: None }).await
}
