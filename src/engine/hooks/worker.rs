//! The hooks of a merchant's events. Each script goes through the events independently, so that a
//! slow one delays only itself. It handles one event after the other, or as many at once as it
//! declares.
//!
//! Results are written here alone, in the order of each script's events: all requests of a run are
//! in one record with the fact that it ran. The index holds the cursor of a script that is ahead of
//! others. The ledger holds the place that all scripts have passed, and no script returns behind
//! it, whatever its name.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::sync::{OwnedMutexGuard, mpsc};

use crate::base::id::Key;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::hooks::event::seal_answers;
use crate::engine::hooks::pool::ScriptPool;
use crate::engine::hooks::retry::WorkerSignal;
use crate::engine::protocol::input::EngineInput;
use crate::model::events::hook_run::{
    CursorAdvanced, FAILED_MAX, FailedHook, HookFailure, Scheduled, ScriptIdentity,
};
use crate::model::record::Record;
use crate::scripting::hooks::{Hooks, ScriptQueue};

/// Most events of one script written together; scripts that take time meet the time limit first.
const BATCH_MAX: u64 = 512;

/// Most hooks that a script runs again before it handles its next events.
const RETRIES_MAX: usize = 32;

pub(crate) struct MerchantWorker {
    pub(crate) shared: Arc<EngineShared>,
    pub(crate) hooks: Hooks,
    pub(crate) merchant: Key,
    /// Channel to the engine, for reads that it alone can answer.
    pub(crate) engine: mpsc::UnboundedSender<EngineInput>,
    /// Signals of the engine to the running worker.
    pub(crate) bell: Arc<WorkerSignal>,
    pub(crate) pool: Arc<ScriptPool>,
}

/// A script, and the number of the last event that it handled.
struct ScriptCursor {
    queue: ScriptQueue,
    at: u64,
    is_busy: bool,
}

pub(crate) struct ScriptWork {
    pub(crate) queue: ScriptQueue,
    pub(crate) failed: Vec<FailedHook>,
    /// Numbers of the first and the last event; no events if the first is greater.
    pub(crate) events: (u64, u64),
}

pub(crate) struct ScriptWorkDone {
    pub(crate) script: String,
    pub(crate) failed: Vec<FailedHook>,
    pub(crate) at: u64,
    pub(crate) records: Vec<Record>,
    /// Held until the records are written: only then does the script run for another merchant.
    /// `None` if the script permits concurrency.
    pub(crate) turn: Option<OwnedMutexGuard<()>>,
}

/// Returns the event of a run that makes requests.
fn requesting_event(record: &Record) -> Option<String> {
    let Record::HooksRun(ran) = record else { return None };
    ran.runs.iter().any(|run| !run.requests.is_empty()).then(|| ran.event.clone())
}

type ScriptCursors = BTreeMap<String, ScriptCursor>;

impl MerchantWorker {
    /// Runs all hooks of the merchant.
    pub(crate) async fn run(self) -> EngineResult<TaskResult> {
        let mut places = self.load_cursors()?;
        let mut turns = FuturesUnordered::new();
        loop {
            self.fail_missing_scripts().await?;
            for place in places.values_mut() {
                if let Some(work) = self.next_work(place)? {
                    place.is_busy = true;
                    turns.push(self.run_work(work));
                }
            }
            if turns.is_empty() {
                self.write(Vec::new(), &places).await?;
                return Ok(TaskResult::HooksRan(self.merchant.clone()));
            }
            tokio::select! {
                // A fixed order: of a result and a signal at one moment, the result comes first.
                biased;
                done = turns.next() => self.write_done(done.transpose()?, &mut places).await?,
                () = self.bell.wait() => {}
            }
        }
    }

    /// Returns every script and its place. A new script begins where all others have been, unless
    /// it declares otherwise; one that was absent continues at its own place, behind all others.
    fn load_cursors(&self) -> EngineResult<ScriptCursors> {
        let ran_to = self.shared.facts.event_ledger(&self.merchant)?.ran_to;
        let cursors = self.shared.facts.hook_cursors(&self.merchant)?;
        let place = |queue: ScriptQueue| {
            let name = queue.lane.script.clone();
            let cursor = cursors.iter().find(|(script, _)| *script == name);
            let at = cursor.map_or(ran_to, |(_, cursor)| cursor.to);
            (name, ScriptCursor { queue, at, is_busy: false })
        };
        Ok(self.hooks.queues().map(place).collect())
    }

    /// Fails each hook once more whose script is missing, until a person handles it.
    async fn fail_missing_scripts(&self) -> EngineResult<()> {
        for failed in self.bell.waiting() {
            if self.owning_script(&failed).is_none() {
                self.bell.take(&failed);
                let script = failed.failed.script.as_str();
                let failed = [failed.clone()];
                let records =
                    self.rerun_failed(&self.batch_context(script, None)?, &failed).await?;
                self.write(records, &ScriptCursors::new()).await?;
                self.bell.recorded(&failed);
            }
        }
        Ok(())
    }

    /// Returns the script that a failed hook now belongs to: by its name, or else by its text.
    fn owning_script(&self, failed: &FailedHook) -> Option<String> {
        let HookFailure { script, text, .. } = &failed.failed;
        let own = self.hooks.queues().find(|queue| queue.lane.script == *script);
        let same = || self.hooks.queues().find(|queue| *text == Some(queue.lane.text));
        own.or_else(same).map(|queue| queue.lane.script)
    }

    /// Returns the next work of a script; `None` while it is busy, or if there is none.
    fn next_work(&self, place: &ScriptCursor) -> EngineResult<Option<ScriptWork>> {
        if place.is_busy || self.bell.is_ending() || self.shared.is_stopping() {
            return Ok(None);
        }
        let lane = &place.queue.lane;
        let mut failed = self.bell.waiting();
        failed.retain(|one| self.owning_script(one).as_ref() == Some(&lane.script));
        failed.sort_by_key(|one| one.failed.retry_at);
        failed.truncate(RETRIES_MAX);
        let told = self.shared.facts.event_ledger(&self.merchant)?.verified;
        let is_stopped = self.shared.facts.is_stopped(&self.merchant, &lane.script)?;
        let most = if is_stopped { 0 } else { BATCH_MAX };
        let events = (place.at.saturating_add(1), told.min(place.at.saturating_add(most)));
        if failed.is_empty() && events.0 > events.1 {
            return Ok(None);
        }
        for one in &failed {
            self.bell.take(one);
        }
        Ok(Some(ScriptWork { queue: place.queue.clone(), failed, events }))
    }

    async fn write_done(
        &self,
        done: Option<ScriptWorkDone>,
        places: &mut ScriptCursors,
    ) -> EngineResult<()> {
        let Some(ScriptWorkDone { script, failed, at, records, turn }) = done else {
            return Ok(());
        };
        if let Some(place) = places.get_mut(&script) {
            place.at = place.at.max(at);
            place.is_busy = false;
        }
        let is_news = !records.is_empty();
        let asking: Vec<String> = records.iter().filter_map(requesting_event).collect();
        let was_stopped = self.shared.facts.is_stopped(&self.merchant, &script)?;
        if is_news {
            self.write(records, places).await?;
        }
        if !was_stopped && self.shared.facts.is_stopped(&self.merchant, &script)? {
            let merchant = self.merchant.short();
            tracing::error!(
                script,
                merchant,
                "{FAILED_MAX} runs of the script failed; its events wait (`reckon events failed`)"
            );
        }
        drop(turn);
        self.bell.recorded(&failed);
        if is_news {
            // An engine that has ended needs no message.
            drop(self.engine.send(EngineInput::ActionsRequested(self.unsettled_actions(&asking)?)));
        }
        Ok(())
    }

    fn unsettled_actions(&self, events: &[String]) -> EngineResult<Vec<Scheduled>> {
        let mut asked = Vec::new();
        for event in events {
            let pending = self.shared.facts.pending_of(&self.merchant, event)?;
            asked.extend(pending.iter().map(Scheduled::of));
        }
        Ok(asked)
    }

    /// Writes these records, and the place that all scripts have passed if it advanced.
    async fn write(&self, mut records: Vec<Record>, places: &ScriptCursors) -> EngineResult<()> {
        let ledger = self.shared.facts.event_ledger(&self.merchant)?;
        let nobody = if self.hooks.queues().next().is_none() { ledger.verified } else { 0 };
        records.extend(self.advances_behind(places, ledger.ran_to)?);
        let held = self.held_lanes(places, ledger.verified)?;
        let free = places.iter().filter(|(name, _)| held.iter().all(|lane| lane.script != **name));
        let all = if held.is_empty() { nobody } else { ledger.verified };
        let to = free.map(|(_, place)| place.at).min().unwrap_or(all);
        if to > ledger.ran_to {
            let merchant = self.merchant.clone();
            let passed = CursorAdvanced { merchant, to, script: None, held_back: held };
            records.push(Record::CursorAdvanced(Box::new(passed)));
        }
        if records.is_empty() {
            return Ok(());
        }
        let blobs = seal_answers(&self.shared, &self.merchant, &mut records)?;
        self.shared.write(blobs, records).await
    }

    /// Returns the scripts that receive no further events, since too many of their runs failed.
    fn held_lanes(&self, places: &ScriptCursors, told: u64) -> EngineResult<Vec<ScriptIdentity>> {
        let stopped = self.shared.facts.stopped_scripts(&self.merchant)?;
        let held = stopped.iter().filter_map(|script| places.get(script));
        let held = held.filter(|place| !place.is_busy && place.at < told);
        Ok(held.map(|place| place.queue.lane.clone()).collect())
    }

    /// Returns the advances of scripts that are behind all others.
    fn advances_behind(&self, places: &ScriptCursors, ran_to: u64) -> EngineResult<Vec<Record>> {
        let cursors = self.shared.facts.hook_cursors(&self.merchant)?;
        let behind = cursors.into_iter().filter_map(|(script, cursor)| {
            let to = places.get(&script)?.at;
            let (merchant, script) = (self.merchant.clone(), Some(script));
            let further = cursor.to < to && cursor.to < ran_to;
            let passed = CursorAdvanced { merchant, to, script, held_back: Vec::new() };
            further.then(|| Record::CursorAdvanced(Box::new(passed)))
        });
        Ok(behind.collect())
    }
}
