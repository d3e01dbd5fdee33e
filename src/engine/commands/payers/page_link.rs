//! Requests for an address that opens a page: an applicant's link, or the portal link of an
//! invoice. The page is made for that one person and handed back; the address is a secret.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::oneshot;

use crate::base::id::Key;
use crate::effects::onboarding::sign_up::PAGE;
use crate::engine::executor::perform;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::{EffectJob, TaskResult};
use crate::engine::protocol::commands::page_link::PageLink;
use crate::engine::view::EngineView;
use crate::model::intents::effect::Effect;

impl EngineView<'_> {
    /// Returns the effect that the resource's step offers to a visitor, unless the resource is
    /// busy.
    pub(crate) fn offered_effect(&self, key: &Key) -> Option<Effect> {
        let free = !self.scheduler.busy.contains(key) && !self.stopping;
        let step = free.then(|| self.planner.full_step(self.known_state, key)).flatten()?;
        let offer = step.on_demand.map(Arc::unwrap_or_clone);
        offer.or_else(|| self.planner.on_demand(self.known_state, key))
    }
}

pub(crate) async fn make_page(
    shared: &EngineShared,
    job: EffectJob,
    reply: oneshot::Sender<PageLink>,
) -> TaskResult {
    let (key, before) = (job.effect.key.clone(), page(shared, &job.effect.key));
    let mut finished = perform::perform(shared, job).await;
    if matches!(finished, TaskResult::RetryLater(..)) {
        // The engine does not retry: the visitor opens the link again.
        finished = TaskResult::Changed(key.clone());
    }
    let made = match (before, page(shared, &key)) {
        (Ok(before), Ok(after)) => Ok(after.filter(|after| before.as_ref() != Some(after))),
        (Err(error), _) | (_, Err(error)) => Err(error),
    };
    let opened = made.and_then(|made| made.map(|name| shared.credential(&name)).transpose());
    match opened {
        Ok(opened) => {
            // A visitor who has gone away opens the link again.
            reply.send(opened).unwrap_or_default();
            finished
        }
        Err(error) => TaskResult::Broken(error),
    }
}

/// Returns the vault's name of the page made last.
fn page(shared: &EngineShared, key: &Key) -> Result<Option<String>, EngineError> {
    let known = shared.facts.observed_state(key)?;
    let name = known.and_then(|known| {
        known.fact(PAGE).get("sealed").and_then(Value::as_str).map(str::to_owned)
    });
    Ok(name)
}
