//! Requests for an address that opens a page: an applicant's link, or the portal link of an
//! invoice. The page is made for that one person and handed back; the address is a secret.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use tokio::sync::oneshot;

use super::shared::{EngineError, Shared};
use super::tasks::{Finished, Job};
use super::{Engine, perform};
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::effects::PAGE;
use crate::model::effect::Effect;

/// The address; `None`: there is no page to open now.
pub type Page = Option<Secret>;

/// A link on its way to the person who asked for it: it crosses the control socket, and nothing
/// else.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Link(pub Secret);

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Link(***)")
    }
}

impl Serialize for Link {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.expose())
    }
}

impl Engine {
    /// Performs the effect that the resource offers to a visitor, and answers with the page.
    pub(super) fn visit(&mut self, key: &Key, reply: oneshot::Sender<Page>) {
        let Some(effect) = self.offered(key) else {
            return reply.send(None).unwrap_or_default();
        };
        self.busy.insert(key.clone());
        self.queue.remove(key);
        let (shared, job) = (self.shared.clone(), self.job(key, effect));
        self.tasks.spawn(async move { visited(&shared, job, reply).await });
    }

    /// Returns the effect that the resource's step offers to a visitor, unless the resource is
    /// busy.
    fn offered(&self, key: &Key) -> Option<Effect> {
        let free = !self.busy.contains(key) && !self.stopping;
        let step = free.then(|| self.planner.whole(&self.world, key)).flatten()?;
        let offer = step.offer.map(Arc::unwrap_or_clone);
        offer.or_else(|| self.planner.offer(&self.world, key))
    }
}

async fn visited(shared: &Shared, job: Job, reply: oneshot::Sender<Page>) -> Finished {
    let (key, before) = (job.effect.key.clone(), page(shared, &job.effect.key));
    let mut finished = perform::perform(shared, job).await;
    if matches!(finished, Finished::Again(..)) {
        // The engine does not retry: the visitor opens the link again.
        finished = Finished::Moved(key.clone());
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
        Err(error) => Finished::Broken(error),
    }
}

/// Returns the vault's name of the page made last.
fn page(shared: &Shared, key: &Key) -> Result<Option<String>, EngineError> {
    let known = shared.facts.observed(key)?;
    let name = known.and_then(|known| {
        known.fact(PAGE).get("sealed").and_then(Value::as_str).map(str::to_owned)
    });
    Ok(name)
}
