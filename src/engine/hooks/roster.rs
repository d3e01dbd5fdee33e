//! The change to another set of scripts: durable before the first of them is run.
//!
//! The set in use stays until all its workers have ended. Then a record lists the scripts, and the
//! new set takes over. A renamed script continues at its place, and one whose file is missing keeps
//! its place.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use tokio::sync::oneshot;

use crate::base::id::Key;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::handles::{EngineError, EngineShared};
use crate::engine::core::task_result::TaskResult;
use crate::engine::queries::protocol::Reply;
use crate::model::events::event::EventStatus;
use crate::model::events::hook_run::ScriptIdentity;
use crate::model::events::scripts::{KnownScript, ScriptForgotten, ScriptStart, ScriptsLoaded};
use crate::model::record::Record;
use crate::scripting::run::hooks::{Hooks, ScriptQueue};

/// Number of events read together to find a script's first event.
const PAGE: u64 = 512;

impl Engine {
    /// Changes to the waiting set of scripts, once no run of the previous set is left.
    pub(crate) fn change_scripts(&mut self) -> Result<(), EngineError> {
        if self.scripts.changing.is_some() || !self.scripts.running.is_empty() {
            return Ok(());
        }
        let Some(next) = self.scripts.next.take() else { return Ok(()) };
        let known = self.shared.facts.roster()?;
        let queues: Vec<ScriptQueue> = next.hooks.iter().flat_map(Hooks::queues).collect();
        self.scripts.changing = Some(next);
        if lists_same_scripts(&known, &queues) {
            return self.scripts_recorded();
        }
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match enrol(&shared, &known, &queues).await {
                Ok(()) => TaskResult::ScriptsRecorded,
                Err(error) => TaskResult::Broken(error),
            }
        });
        Ok(())
    }

    /// Puts the recorded set into use; continues with a newer waiting one, if any.
    pub(crate) fn scripts_recorded(&mut self) -> Result<(), EngineError> {
        if let Some(changed) = self.scripts.changing.take() {
            self.scripts.hooks = changed.hooks;
            self.scripts.files_in_use = Some(changed.files);
        }
        self.change_scripts()?;
        self.hooks_due()
    }

    /// Forgets an absent script at a person's request; the reply follows once that is durable.
    pub(crate) fn forget_script(
        &mut self,
        script: String,
        actor: String,
        reply: oneshot::Sender<Reply>,
    ) {
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match write_forget_script(&shared, script, actor).await {
                Ok(found) => {
                    TaskResult::RecordWritten(None).with_reply(Reply::ScriptForgotten(found), reply)
                }
                Err(error) => TaskResult::Broken(error),
            }
        });
    }
}

/// Returns true if the roster already lists exactly these scripts.
fn lists_same_scripts(known: &BTreeMap<String, KnownScript>, queues: &[ScriptQueue]) -> bool {
    let present = known.iter().filter(|(_, enrolled)| enrolled.absent.is_none());
    let present: BTreeMap<_, _> = present.map(|(name, one)| (name.as_str(), one.text)).collect();
    let lanes = queues.iter().map(|ScriptQueue { lane, .. }| (lane.script.as_str(), lane.text));
    present == lanes.collect()
}

/// Records the list of scripts, and logs the consequence for each new, renamed or missing one.
async fn enrol(
    shared: &EngineShared,
    known: &BTreeMap<String, KnownScript>,
    queues: &[ScriptQueue],
) -> Result<(), EngineError> {
    let mut begins = Vec::new();
    for queue in queues.iter().filter(|queue| is_new(known, queues, &queue.lane)) {
        let script = &queue.lane.script;
        match queue.since {
            None => tracing::info!(script, "a new script begins with the next event"),
            Some(since) => {
                tracing::info!(script, %since, "a new script begins with the events since then");
                begins.extend(beginnings(shared, script, since)?);
            }
        }
    }
    let gone = known.iter().filter(|(name, one)| {
        let lanes = || queues.iter().map(|queue| &queue.lane);
        one.absent.is_none() && lanes().all(|lane| lane.script != **name && lane.text != one.text)
    });
    for (script, _) in gone {
        tracing::warn!(
            script,
            "the script is missing and its events wait (`reckon hooks forget` \
            drops it)"
        );
    }
    let scripts = queues.iter().map(|queue| queue.lane.clone()).collect();
    let record = ScriptsLoaded { scripts, begins, at: shared.now() };
    shared.write(Vec::new(), vec![Record::ScriptsLoaded(Box::new(record))]).await
}

/// Returns true if the state knows neither the script's name nor, under a missing name, its text.
fn is_new(
    known: &BTreeMap<String, KnownScript>,
    queues: &[ScriptQueue],
    lane: &ScriptIdentity,
) -> bool {
    let is_there = |name: &str| queues.iter().any(|queue| queue.lane.script == name);
    let renamed = || known.iter().any(|(name, one)| one.text == lane.text && !is_there(name));
    !known.contains_key(&lane.script) && !renamed()
}

/// Returns a script's first place in each merchant's events: before the first event since that
/// time.
fn beginnings(
    shared: &EngineShared,
    script: &str,
    since: DateTime<Utc>,
) -> Result<Vec<ScriptStart>, EngineError> {
    let mut begins = Vec::new();
    for (merchant, ledger) in shared.facts.ledgers_by_merchant()? {
        let to = last_before(shared, &merchant, ledger.verified, since)?;
        begins.push(ScriptStart { merchant, script: script.to_owned(), to });
    }
    Ok(begins)
}

fn last_before(
    shared: &EngineShared,
    merchant: &Key,
    told: u64,
    since: DateTime<Utc>,
) -> Result<u64, EngineError> {
    let mut first = 1;
    while first <= told {
        let last = told.min(first.saturating_add(PAGE).saturating_sub(1));
        for (number, id) in shared.facts.events_numbered(merchant, (first, last))? {
            let stands = shared.facts.event(merchant, &id)?.map(|entry| entry.status);
            if matches!(stands, Some(EventStatus::Verified(told)) if told.created >= since) {
                return Ok(number.saturating_sub(1));
            }
        }
        first = last.saturating_add(1);
    }
    Ok(told)
}

/// Records that a script is forgotten. `None`: it is not absent.
async fn write_forget_script(
    shared: &EngineShared,
    script: String,
    actor: String,
) -> Result<Option<usize>, EngineError> {
    let known = shared.facts.roster()?;
    if known.get(&script).is_none_or(|one| one.absent.is_none()) {
        return Ok(None);
    }
    let kept = shared.facts.stored_size(&script)?.keys;
    let forgotten = ScriptForgotten { script, actor, at: shared.now() };
    shared.write(Vec::new(), vec![Record::ScriptForgotten(Box::new(forgotten))]).await?;
    Ok(Some(usize::try_from(kept).unwrap_or(usize::MAX)))
}
