//! After a restore: what may have been sent since the backup is looked for before it is sent, and
//! what nothing can find is not sent.

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::access::Wallet;
use super::perform::write;
use super::question::Reply;
use super::shared::{EngineError, Shared};
use super::tasks::Finished;
use super::trail::Sought;
use super::unable::Unable;
use super::{Engine, settle};
use crate::base::id::Key;
use crate::base::planted;
use crate::effects::{Earlier, EffectRow, earlier};
use crate::model::effect::Effect;
use crate::model::epoch::{Epoch, Release};
use crate::model::intent::{Intent, Progress};
use crate::model::record::Record;
use crate::plan::World;
use crate::store::facts::{FactError, Facts};
use crate::store::vault::Sealed;

/// An answer about the state on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateReply {
    /// It is written down what was not sent since a backup; false where none was restored.
    Released(bool),
    /// Where in the journal something stands.
    Trail(Sought),
}

/// What the epoch says to an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Gate {
    /// It may be sent.
    Open,
    /// It is looked for first, for this reason.
    Look(String),
    /// It is not sent.
    Closed(Unable),
}

/// What the epoch says to an effect. Plans say it, too; whatever is sent passes here.
pub(super) fn gate(shared: &Shared, row: &EffectRow, effect: &Effect) -> Result<Gate, EngineError> {
    let earlier = earlier(row, effect);
    if earlier == Earlier::Harmless || planted::is("restore-without-epoch") {
        return Ok(Gate::Open);
    }
    if earlier == Earlier::Hidden {
        let why = unsure(&shared.facts, &effect.key)?;
        return Ok(why.map_or(Gate::Open, |why| Gate::Closed(Unable::Blocked(why))));
    }
    let Some(epoch) = shared.facts.epoch()?.filter(|epoch| epoch.looks) else {
        return Ok(Gate::Open);
    };
    let excused = shared.facts.looked_for(effect.name, effect.source_id.as_str())?
        || shared.facts.released(&effect.key)?;
    Ok(if excused { Gate::Open } else { Gate::Look(epoch.looked_for()) })
}

/// Why a resource that nothing can find may have been made since the backup, if it may.
pub(super) fn unsure(facts: &Facts, key: &Key) -> Result<Option<String>, FactError> {
    let Some(epoch) = facts.epoch()?.filter(|epoch| epoch.holds) else { return Ok(None) };
    Ok(if facts.released(key)? { None } else { Some(epoch.reason(key)) })
}

/// Why an intent that nothing can prove is not given up: it was written before a restore, and what
/// became of it since the backup is not known.
pub(super) fn older(facts: &Facts, intent: &Intent) -> Result<Option<String>, FactError> {
    let older = |epoch: &Epoch| epoch.holds && epoch.is_older(intent.id);
    let epoch = facts.epoch()?.filter(|epoch| older(epoch));
    Ok(epoch.map(|epoch| epoch.reason(&intent.key)))
}

/// Writes an intent down and, instead of sending it, looks for what it would do. Proved absent, the
/// next try is sent.
pub(super) async fn look_first(
    shared: &Shared,
    row: &EffectRow,
    (intent, wallet): (&Intent, &Wallet),
    (blobs, spent): (Vec<Sealed>, Option<Record>),
    reason: String,
) -> Result<Finished, EngineError> {
    let promise = Record::Intent(Box::new(intent.clone()));
    shared.write(blobs, spent.into_iter().chain([promise]).collect()).await?;
    write(shared, intent, Progress::Doubt { reason, unsent: false }).await?;
    settle::settle(shared, row, intent, wallet, 1).await
}

impl Engine {
    /// Writes down, in a task of its own, that nothing was sent for these resources since the backup.
    pub(super) fn release(&mut self, keys: Vec<Key>, actor: String, reply: oneshot::Sender<Reply>) {
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match released(&shared, keys, actor).await {
                Ok(done) => {
                    let answer = Reply::State(StateReply::Released(done));
                    Finished::Released.answering(answer, reply)
                }
                Err(error) => Finished::Broken(error),
            }
        });
    }

    /// The same in a process in which nothing runs: for a command that holds the state itself.
    pub async fn release_alone(
        &mut self,
        keys: Vec<Key>,
        actor: String,
    ) -> Result<Reply, EngineError> {
        Ok(Reply::State(StateReply::Released(released(&self.shared, keys, actor).await?)))
    }

    /// Makes every step again: what was held may be done now.
    pub(super) fn look_at_all(&mut self) -> Result<(), EngineError> {
        let known = self.world.known();
        for key in &known {
            self.world.refresh(&self.shared.facts, key)?;
        }
        let made = self.planner.all(&self.world);
        self.enqueue(made);
        Ok(())
    }
}

/// Writes a release down, if there is an epoch that it can be about.
async fn released(shared: &Shared, keys: Vec<Key>, actor: String) -> Result<bool, EngineError> {
    if shared.facts.epoch()?.is_none() {
        return Ok(false);
    }
    let release = Release { keys, at: shared.now(), actor };
    shared.write(Vec::new(), vec![Record::Released(Box::new(release))]).await?;
    Ok(true)
}
