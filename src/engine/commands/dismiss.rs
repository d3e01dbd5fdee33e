//! Acknowledgements by a person, for failed hooks of an event or for an object that was made again:
//! the entry is no longer listed.

use tokio::sync::oneshot;

use crate::base::id::{IntentId, Key};
use crate::engine::core::coordinator::Engine;
use crate::engine::core::handles::{EngineError, EngineShared};
use crate::engine::core::task_result::TaskResult;
use crate::engine::queries::protocol::Reply;
use crate::model::events::hook_run::HooksAcknowledged;
use crate::model::intents::intent::OrphanDismissed;
use crate::model::record::Record;

impl Engine {
    /// Removes an event's failed hooks from the list; the reply follows once that is durable.
    pub(crate) fn dismiss(&mut self, event: String, actor: String, reply: oneshot::Sender<Reply>) {
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match write_dismissal(&shared, event, actor).await {
                Ok(found) => TaskResult::Replayed.with_reply(Reply::Dismissed(found), reply),
                Err(error) => TaskResult::Broken(error),
            }
        });
    }
}

impl Engine {
    /// Removes an object that was made again from the list; the reply follows once that is durable.
    pub(crate) fn dismiss_orphan(
        &mut self,
        (intent, reason): (IntentId, String),
        actor: String,
        reply: oneshot::Sender<Reply>,
    ) {
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match write_orphan_seen(&shared, (intent, reason), actor).await {
                Ok(found) => TaskResult::RecordWritten(found.clone())
                    .with_reply(Reply::OrphanSeen(found), reply),
                Err(error) => TaskResult::Broken(error),
            }
        });
    }
}

/// Records the acknowledgement if the intent is listed; returns the resource.
async fn write_orphan_seen(
    shared: &EngineShared,
    (intent, reason): (IntentId, String),
    actor: String,
) -> Result<Option<Key>, EngineError> {
    let listed = shared.facts.possible_orphans()?;
    let Some(orphan) = listed.into_iter().find(|orphan| orphan.intent == intent) else {
        return Ok(None);
    };
    let key = orphan.key;
    let seen = OrphanDismissed { intent, key: key.clone(), reason, actor, at: shared.now() };
    shared.write(Vec::new(), vec![Record::OrphanDismissed(Box::new(seen))]).await?;
    Ok(Some(key))
}

/// Records the acknowledgement; returns the number of entries that it covers.
async fn write_dismissal(
    shared: &EngineShared,
    event: String,
    actor: String,
) -> Result<usize, EngineError> {
    let undone = shared.facts.failed_actions()?;
    let undone = undone.iter().filter(|one| one.result.id.event == event).count();
    let failed = shared.facts.failed_of(&event)?;
    let dead = failed.iter().filter(|one| one.failed.retry_at.is_none()).count();
    let found = undone.saturating_add(dead);
    if found > 0 {
        let record = Record::HooksAcknowledged(Box::new(HooksAcknowledged {
            event,
            actor,
            at: shared.now(),
        }));
        shared.write(Vec::new(), vec![record]).await?;
    }
    Ok(found)
}
