//! Manual settlement of an intent that nothing else can settle.

use std::sync::Arc;

use serde_json::json;

use super::decision::{CommandResult, Decision};
use crate::base::id::RemoteId;
use crate::effects::core::expect;
use crate::engine::executor::settle;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::effect_report;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::protocol::commands::resolve::{ManualResolution, ResolveIntent, ResolveResult};
use crate::engine::protocol::query::Reply;
use crate::engine::view::EngineView;
use crate::model::intents::intent::{EffectProof, IntentProgress, IntentState, OpenIntent};
use crate::model::record::Record;
use crate::model::state::observed::{FactSource, Observation};
use proof::ObjectCheck;

mod proof;

/// Records a person's decision and carries it out.
async fn run_resolution(
    shared: &EngineShared,
    open: Arc<OpenIntent>,
    wallet: CredentialSource,
    resolving: ResolveIntent,
) -> CommandResult {
    let key = open.intent.key.clone();
    if let Some(told) = check_given_id(shared, &open, &wallet, &resolving.said).await? {
        return Ok((TaskResult::Changed(key), Reply::Resolved(told)));
    }
    let finished = write_resolution(shared, &open, &wallet, resolving).await?;
    let told = match shared.facts.open_intent(&key)? {
        None => ResolveResult::Settled(key),
        Some(open) => ResolveResult::Unsettled(key, unsettled_reason(&open.state)),
    };
    Ok((finished, Reply::Resolved(told)))
}

/// Returns the reason why a person's id is not accepted, if it is not.
async fn check_given_id(
    shared: &EngineShared,
    open: &OpenIntent,
    wallet: &CredentialSource,
    said: &ManualResolution,
) -> Result<Option<ResolveResult>, EngineError> {
    let ManualResolution::Done(id) = said else { return Ok(None) };
    let key = open.intent.key.clone();
    Ok(match proof::check_object(shared, wallet, &open.intent, id).await? {
        ObjectCheck::Fits => None,
        ObjectCheck::Differs(why) => Some(ResolveResult::Differs(key, why)),
        ObjectCheck::Unreadable(why) => Some(ResolveResult::Unverified(key, why)),
    })
}

fn unsettled_reason(state: &IntentState) -> String {
    match state {
        IntentState::InDoubt { attempt: _, reason }
        | IntentState::OnHold { attempt: _, reason } => reason.clone(),
        IntentState::Open { .. } | IntentState::Closed => "in flight".to_owned(),
    }
}

async fn write_resolution(
    shared: &EngineShared,
    open: &OpenIntent,
    wallet: &CredentialSource,
    resolving: ResolveIntent,
) -> Result<TaskResult, EngineError> {
    let ResolveIntent { id, said, actor } = resolving;
    let at = shared.now();
    let word = Record::Resolved { intent: id, at, actor: actor.clone(), decision: said.word() };
    let key = open.intent.key.clone();
    tracing::info!(%key, intent = %id, actor, said = said.word(), "resolved");
    let progress = match said {
        ManualResolution::Done(remote_id) | ManualResolution::Unverified(remote_id) => {
            let observation = Box::new(observation(shared, open, remote_id)?);
            IntentProgress::Done { observation, proof: EffectProof::Person }
        }
        ManualResolution::NotDone => {
            IntentProgress::NotSent { reason: format!("{actor} said that it did not happen") }
        }
        ManualResolution::Retry => {
            let reason = format!("{actor} asked to settle it once more");
            let progress = IntentProgress::Doubt { reason, unsent: false };
            let doubt = Record::Progress { intent: id, at, progress };
            shared.write(Vec::new(), vec![word, doubt]).await?;
            let row = crate::engine::executor::send::row(&open.intent.effect)?;
            // An effect that was sent the permitted number of times is sent as often once more at a
            // person's request.
            return settle::settle(shared, row, &open.intent, wallet, 1).await;
        }
    };
    let (before, told) = (shared.facts.observed_state(&key)?, progress.clone());
    let progress = Record::Progress { intent: id, at, progress };
    shared.write(Vec::new(), vec![word, progress]).await?;
    effect_report::report(shared, &open.intent, before.as_ref(), &told);
    Ok(TaskResult::Changed(key))
}

/// Builds the observation of an object whose id a person gave: it exists as requested.
fn observation(
    shared: &EngineShared,
    open: &OpenIntent,
    remote_id: RemoteId,
) -> Result<Observation, EngineError> {
    let intent = &open.intent;
    let row = crate::engine::executor::send::row(&intent.effect)?;
    let learned = (row.learn)(intent, &expect::expected_answer(&intent.expect, &remote_id));
    // An effect that ends an object implies that, whatever its answer is; every other effect leaves
    // an object.
    let (exists, mut facts) =
        learned.map_or((true, json!({})), |learned| (learned.exists, learned.facts));
    let known = shared.facts.observed_state(&intent.key)?.and_then(|known| known.remote_id.clone());
    if let Some(facts) = facts.as_object_mut().filter(|_| known.as_ref() == Some(&remote_id)) {
        // Facts that an answer gave about this very object stay known.
        facts.retain(|_, fact| !fact.is_null());
    }
    Ok(Observation {
        key: intent.key.clone(),
        merchant: intent.merchant.clone(),
        at: shared.now(),
        source: FactSource::Operator,
        remote_id: Some(remote_id),
        exists: Some(exists),
        applied: Some(intent.applied.clone()),
        facts,
    })
}

impl EngineView<'_> {
    /// Decides about a person's settlement of an intent.
    pub(crate) fn resolve(&self, resolving: ResolveIntent) -> Decision {
        let mut open = self.known_state.open_intents();
        let Some(open) = open.find(|open| open.intent.id == resolving.id).cloned() else {
            return Decision::answer(Reply::Resolved(ResolveResult::Unknown));
        };
        let key = open.intent.key.clone();
        if self.scheduler.busy.contains(&key) {
            return Decision::answer(Reply::Resolved(ResolveResult::Busy(key)));
        }
        let account = open.intent.request.account.clone();
        let wallet = CredentialSource {
            account,
            ..self.known_state.credential_source(&open.intent.merchant)
        };
        let (shared, settled) = (self.shared.clone(), open.clone());
        let task = async move { run_resolution(&shared, settled, wallet, resolving).await };
        Decision::run(task).settling(open)
    }
}
