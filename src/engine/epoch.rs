//! Gate for effects after a restore. An effect that may have been sent since the backup is looked
//! up before it is sent; one that cannot be looked up is not sent.

use chrono::{DateTime, Utc};
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
use crate::base::clock::timestamp;
use crate::base::id::{Key, Mode};
use crate::base::planted;
use crate::effects::{Earlier, EffectRow, earlier, only_a_notice_tells};
use crate::model::effect::Effect;
use crate::model::epoch::{Epoch, Release, Releasing};
use crate::model::intent::{Intent, Progress};
use crate::model::plan::Reason;
use crate::model::ran::Pending;
use crate::model::record::Record;
use crate::plan::World;
use crate::store::facts::{FactError, Facts};
use crate::store::vault::Sealed;

/// The reason to look up an action whose event existed when this state began.
const BEFORE: &str = "its event was there before the list of events was read first: a state that is lost may have answered it";

/// An answer about the state on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateReply {
    /// The release is recorded; false if no backup was restored.
    Released(bool),
    /// Positions in the journal for `why`.
    Trail(Sought),
}

/// The epoch's decision about an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Gate {
    Open,
    /// It is looked up first, for this reason.
    Look(String),
    /// It is not sent.
    Closed(Unable),
}

/// Decides about an effect. Plans contain the same decision, but everything that is sent passes
/// here.
pub(super) fn gate(shared: &Shared, row: &EffectRow, effect: &Effect) -> Result<Gate, EngineError> {
    let earlier = earlier(row, effect);
    if earlier == Earlier::Harmless || planted::is("restore-without-epoch") {
        return Ok(Gate::Open);
    }
    if earlier == Earlier::Hidden {
        let why = match unsure(&shared.facts, &effect.key)? {
            None if awaits_approval(shared, row, effect)? => {
                Some(Reason::MaybeSubmitted(Box::new(effect.key.clone())).to_string())
            }
            why => why,
        };
        return Ok(why.map_or(Gate::Open, |why| Gate::Closed(Unable::Blocked(why))));
    }
    let reason = match shared.facts.epoch()? {
        Some(epoch) if !epoch.looks => return Ok(Gate::Open),
        Some(epoch) => epoch.looked_for(),
        None if shared.facts.is_doubted(&effect.key)? => BEFORE.to_owned(),
        None => return Ok(Gate::Open),
    };
    let excused = shared.facts.looked_for(effect.name, effect.source_id.as_str())?
        || shared.facts.released(&effect.key)?;
    Ok(if excused { Gate::Open } else { Gate::Look(reason) })
}

/// Returns the reason if a resource that cannot be looked up may have been made since the backup.
pub(super) fn unsure(facts: &Facts, key: &Key) -> Result<Option<String>, FactError> {
    let Some(epoch) = facts.epoch()?.filter(|epoch| epoch.holds) else { return Ok(None) };
    Ok(if facts.released(key)? { None } else { Some(epoch.reason(key)) })
}

/// Returns true if a live application waits for a person: a lost state may have submitted it.
fn awaits_approval(shared: &Shared, row: &EffectRow, effect: &Effect) -> Result<bool, FactError> {
    let is_live = only_a_notice_tells(row) && effect.mode == Mode::Live;
    Ok(is_live && shared.settings.cautious_start && unapproved(&shared.facts, &effect.key)?)
}

/// Returns true if a lost state may have made this resource, and no person released it.
pub(super) fn unapproved(facts: &Facts, key: &Key) -> Result<bool, FactError> {
    Ok(facts.began_empty()? && !facts.released(key)?)
}

/// Returns the reason why an intent without possible proof is not given up: it was written before a
/// restore, and its result since the backup is not known.
pub(super) fn older(facts: &Facts, intent: &Intent) -> Result<Option<String>, FactError> {
    let older = |epoch: &Epoch| epoch.holds && epoch.is_older(intent.id);
    let epoch = facts.epoch()?.filter(|epoch| older(epoch));
    Ok(epoch.map(|epoch| epoch.reason(&intent.key)))
}

/// Returns the reason why an action of a hook waits for a person: a lost state may have done it,
/// and no lookup can prove that.
pub(super) fn unsure_action(facts: &Facts, pending: &Pending) -> Result<Option<String>, FactError> {
    let Some(epoch) = facts.epoch()?.filter(|epoch| epoch.holds && pending.unsure) else {
        return Ok(None);
    };
    // An invalid name is reported where the action is requested.
    let Ok(action) = pending.action() else { return Ok(None) };
    Ok(if facts.released(&action)? { None } else { Some(epoch.reason_of_action(&action)) })
}

/// Writes an intent and, instead of sending it, looks its effect up. If the effect is confirmed
/// absent, the next try is sent.
pub(super) async fn look_first(
    shared: &Shared,
    row: &EffectRow,
    (intent, wallet): (&Intent, &Wallet),
    (blobs, spent): (Vec<Sealed>, Option<Record>),
    reason: String,
) -> Result<Finished, EngineError> {
    let promise = Record::Intent(Box::new(intent.clone()));
    shared.write(blobs, spent.into_iter().chain([promise]).collect()).await?;
    let reason = with_its_end(reason, settle::deadline(shared, intent)?, shared.now());
    write(shared, intent, Progress::Doubt { reason, unsent: false }).await?;
    settle::settle(shared, row, intent, wallet, 1).await
}

/// Adds to the reason of a lookup the moment at which it can end, if that is in the future.
fn with_its_end(reason: String, deadline: DateTime<Utc>, now: DateTime<Utc>) -> String {
    if deadline <= now {
        return reason;
    }
    let until = timestamp(&deadline);
    format!(
        "{reason}; until {until} (call timeout and doubt.grace after this state began) it may still take effect, and then \
         it is sent if nothing shows it"
    )
}

impl Engine {
    /// Records, in a task of its own, what was sent for these resources since the backup, or that
    /// nothing was.
    pub(super) fn release(
        &mut self,
        said: Releasing,
        actor: String,
        reply: oneshot::Sender<Reply>,
    ) {
        let (shared, approves) = (self.shared.clone(), self.all_wait(&said));
        self.tasks.spawn(async move {
            match released(&shared, (said, approves), actor).await {
                Ok(done) => {
                    let answer = Reply::State(StateReply::Released(done));
                    Finished::Released.answering(answer, reply)
                }
                Err(error) => Finished::Broken(error),
            }
        });
    }

    /// Does the same in a process without tasks: for a command that holds the state itself.
    pub async fn release_alone(
        &mut self,
        said: Releasing,
        actor: String,
    ) -> Result<Reply, EngineError> {
        let approves = self.all_wait(&said);
        let done = released(&self.shared, (said, approves), actor).await?;
        Ok(Reply::State(StateReply::Released(done)))
    }

    /// Returns true if a release names only applications that wait for it.
    fn all_wait(&self, said: &Releasing) -> bool {
        let step = |key: &Key| self.planner.step(key);
        let waits = |key: &Key| step(key).is_some_and(|step| step.reason.is_maybe_submitted());
        !said.done && !said.keys.is_empty() && said.keys.iter().all(waits)
    }

    /// Plans everything again: resources on hold may be ready now.
    pub(super) fn look_at_all(&mut self) -> Result<(), EngineError> {
        let known = self.world.known();
        for key in &known {
            self.world.refresh(&self.shared.facts, key)?;
        }
        let made = self.planner.all(&self.world);
        self.enqueue(made);
        self.grant_all()
    }
}

/// Writes a release, if there is an epoch that it can apply to, or applications wait for it.
async fn released(
    shared: &Shared,
    (said, approves): (Releasing, bool),
    actor: String,
) -> Result<bool, EngineError> {
    if !approves && shared.facts.epoch()?.is_none() {
        return Ok(false);
    }
    let Releasing { keys, done } = said;
    let release = Release { keys, done, at: shared.now(), actor };
    shared.write(Vec::new(), vec![Record::Released(Box::new(release))]).await?;
    Ok(true)
}
