//! Performs the actions that hooks requested, through the same register, intents, limits and
//! approvals as a person's command.
//!
//! An action remains stored until it is settled; if it is repeated after a crash, its name shows
//! that it was done.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::words;
use crate::base::id::Key;
use crate::engine::act::Stands;
use crate::engine::question::Reply;
use crate::engine::shared::{EngineError, Shared};
use crate::engine::tasks::Finished;
use crate::engine::{Asked, Engine, epoch, schedule};
use crate::model::action::Action;
use crate::model::hook::{NOTIFY, RECONCILE, RESUME, SUSPEND};
use crate::model::ran::{Fate, Granted, Pending, WishId};
use crate::model::record::Record;
use crate::model::suspension::{Pause, Paused};

/// Longest wait of an action for its next try, unless the action itself asks for a longer one.
const AGAIN_MAX: Duration = Duration::from_mins(5);

impl Engine {
    /// Performs the hooks' actions that are due and have a slot.
    pub(in crate::engine) fn grant(&mut self) -> Result<(), EngineError> {
        self.scripts.next_wish = None;
        if self.stopping {
            return Ok(());
        }
        let now = self.shared.now();
        self.scripts.agenda.wake(&self.shared.facts, now)?;
        while let Some(id) = self.scripts.agenda.start() {
            self.start_wish(&id, now)?;
        }
        self.scripts.next_wish = self.scripts.agenda.next_due(now);
        Ok(())
    }

    /// Starts an action, unless it is settled or waits for a person: then [`Self::grant_all`] finds
    /// it again.
    fn start_wish(&mut self, id: &WishId, now: DateTime<Utc>) -> Result<(), EngineError> {
        let pending = self.shared.facts.pending(id)?;
        let Some(pending) = pending else {
            self.scripts.agenda.end(id);
            return Ok(());
        };
        if epoch::unsure_action(&self.shared.facts, &pending)?.is_some() {
            self.scripts.agenda.end(id);
            return Ok(());
        }
        if let Some(at) = pending.wish.at.filter(|at| *at > now) {
            self.scripts.agenda.put_off(id, schedule::until_time(now, at));
            return Ok(());
        }
        let Some(wish) = words::open(&self.shared.vault, pending.wish.clone())? else {
            let why = format!("its words were erased with {}", id.merchant.short());
            self.settle_wish(id.clone(), Fate::Invalid, why, None);
            return Ok(());
        };
        let pending = Pending { wish, ..pending };
        match pending.wish.verb.as_str() {
            SUSPEND | RESUME => self.pause_for(pending),
            RECONCILE => self.reconcile_for(pending),
            NOTIFY => self.notify_for(&pending),
            _ => self.act_for(pending),
        }
        Ok(())
    }

    /// Checks every action again: one that waited for a person may be permitted now.
    pub(in crate::engine) fn grant_all(&mut self) -> Result<(), EngineError> {
        self.scripts.agenda.reload();
        self.grant()
    }

    /// Performs an action like a person's command.
    fn act_for(&mut self, pending: Pending) {
        let Pending { id, wish, script, .. } = pending;
        let (Some(merchant), Ok(name)) = (wish.merchant, id.action_name()) else {
            return self.settle_wish(id, Fate::Invalid, "no merchant is named".to_owned(), None);
        };
        let action = Action { verb: wish.verb, merchant, name: Some(name), fields: wish.fields };
        let (reply, answer) = oneshot::channel();
        self.act(Asked { action, actor: format!("hook {script}") }, reply);
        let shared = self.shared.clone();
        self.tasks.spawn(async move { acted(&shared, id, answer).await });
    }

    /// Suspends or resumes a resource in the name of the script.
    fn pause_for(&mut self, pending: Pending) {
        let Pending { id, wish, script, .. } = pending;
        let Some(pause) = pause(&wish.verb, &wish.fields) else {
            let message = "it names no resource".to_owned();
            return self.settle_wish(id, Fate::Invalid, message, None);
        };
        let (record, paused) = self.word(&pause, format!("hook {script}"));
        let message = paused_words(&paused);
        let fate =
            if matches!(paused, Paused::Unknown { .. }) { Fate::Invalid } else { Fate::Done };
        self.settle_wish(id, fate, message, record.map(|record| (record, pause.key().clone())));
    }

    /// Plans a resource again at once.
    fn reconcile_for(&mut self, pending: Pending) {
        let key = pending.wish.fields.get("key").and_then(Value::as_str);
        if let Some(key) = key.and_then(|key| key.parse::<Key>().ok()) {
            self.again.forget();
            self.look_again([key].into());
        }
        self.settle_wish(pending.id, Fate::Done, "looked at again".to_owned(), None);
    }

    /// Records the result of an action, together with the record of its effect if it is itself a
    /// record.
    pub(super) fn settle_wish(
        &mut self,
        id: WishId,
        fate: Fate,
        message: String,
        with: Option<(Record, Key)>,
    ) {
        if fate != Fate::Done {
            tracing::warn!(event = id.event, action = %id.name, reason = message, "is not done");
        }
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            let (first, key) = with.map_or((None, None), |(record, key)| (Some(record), Some(key)));
            let granted = Granted { id: id.clone(), fate, message, at: shared.now() };
            let records = first.into_iter().chain([Record::Granted(Box::new(granted))]).collect();
            match shared.write(Vec::new(), records).await {
                Ok(()) => Finished::Granted(id, true, key),
                Err(error) => Finished::Broken(error),
            }
        });
    }

    /// Handles the end of a try of an action.
    pub(in crate::engine) fn granted(
        &mut self,
        id: &WishId,
        settled: bool,
        key: Option<Key>,
    ) -> Result<(), EngineError> {
        if settled {
            self.scripts.agenda.end(id);
        } else {
            let tries = self.scripts.agenda.tried(id);
            let shared = self.shared.clone();
            let wait = shared.random(|rng| schedule::delay(tries, rng)).min(AGAIN_MAX);
            self.scripts.agenda.put_off(id, Instant::now().checked_add(wait));
        }
        self.heard(key)?;
        self.grant()
    }
}

/// Waits until an action is settled, and records the result.
async fn acted(shared: &Arc<Shared>, id: WishId, answer: oneshot::Receiver<Reply>) -> Finished {
    let Ok(Reply::Acted(acted)) = answer.await else { return Finished::Granted(id, false, None) };
    let fate = match acted.stands {
        Stands::Done => Fate::Done,
        Stands::Refused => Fate::Refused,
        Stands::Invalid => Fate::Invalid,
        Stands::Held | Stands::InDoubt | Stands::NotSent | Stands::Blocked => {
            tracing::info!(event = id.event, action = %id.name, reason = acted.message, "waits");
            return Finished::Granted(id, false, None);
        }
    };
    let granted = Granted { id: id.clone(), fate, message: acted.message, at: shared.now() };
    match shared.write(Vec::new(), vec![Record::Granted(Box::new(granted))]).await {
        Ok(()) => Finished::Granted(id, true, None),
        Err(error) => Finished::Broken(error),
    }
}

/// Returns a script's request about a resource.
fn pause(verb: &str, fields: &Value) -> Option<Pause> {
    let key: Key = fields.get("key")?.as_str()?.parse().ok()?;
    if verb == RESUME {
        return Some(Pause::Resume { key });
    }
    let reason = fields.get("reason").and_then(Value::as_str).unwrap_or("a hook asked for it");
    let until = fields.get("until").and_then(Value::as_str).and_then(|until| until.parse().ok());
    Some(Pause::Suspend { key, reason: reason.to_owned(), until })
}

fn paused_words(paused: &Paused) -> String {
    match paused {
        Paused::Suspended(_) => "suspended".to_owned(),
        Paused::Resumed { .. } => "resumed".to_owned(),
        Paused::NotSuspended { .. } => "it was not suspended".to_owned(),
        Paused::Unknown { key, .. } => format!("there is no {}", key.short()),
    }
}
