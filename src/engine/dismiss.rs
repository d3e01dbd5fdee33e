//! A person has seen what became of the hooks of an event: it is listed no more.

use tokio::sync::oneshot;

use super::Engine;
use super::question::Reply;
use super::shared::{EngineError, Shared};
use super::tasks::Finished;
use crate::model::ran::Dismissed;
use crate::model::record::Record;

impl Engine {
    /// Lists what became of an event's hooks no more; whoever asked hears once that is durable.
    pub(super) fn dismiss(&mut self, event: String, actor: String, reply: oneshot::Sender<Reply>) {
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match dismissed(&shared, event, actor).await {
                Ok(found) => Finished::Heard(None).answering(Reply::Dismissed(found), reply),
                Err(error) => Finished::Broken(error),
            }
        });
    }
}

/// Writes it down; answers how much it is about.
async fn dismissed(shared: &Shared, event: String, actor: String) -> Result<usize, EngineError> {
    let undone = shared.facts.undone()?;
    let undone = undone.iter().filter(|one| one.granted.id.event == event).count();
    let failed = shared.facts.failed_hooks()?;
    let dead = failed.iter().filter(|one| one.event == event && one.failed.again.is_none()).count();
    let found = undone.saturating_add(dead);
    if found > 0 {
        let record = Record::Dismissed(Box::new(Dismissed { event, actor, at: shared.now() }));
        shared.write(Vec::new(), vec![record]).await?;
    }
    Ok(found)
}
