//! Operators' hooks in the daemon: the loaded scripts, their runs, and the consequences.
//!
//! Scripts receive events in the order in which these became known; merchants run beside each
//! other, and so do scripts. The requests of a run are written in one record with the fact that it
//! ran; only then is any of them performed. A set of scripts with problems is not used: the last
//! good set stays in use, and without one events wait.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::Task;
use crate::engine::hooks::notify::NotificationSender;
use crate::engine::hooks::pool::ScriptPool;
use crate::engine::hooks::queue::ActionQueue;
use crate::engine::hooks::retry::{WorkerSignal, latest_retry};
use crate::engine::hooks::sealed_words;
use crate::engine::hooks::worker::MerchantWorker;
use crate::engine::known::known_state;
use crate::engine::protocol::hooks::HooksView;
use crate::engine::protocol::input::{EngineInput, ScriptSet};
use crate::engine::scheduler::backoff::{self, instant_of};
use crate::model::events::hook_run::{ActionRequestId, FailedHook, PendingAction};
use crate::scripting::hooks::Hooks;

/// Most failed hooks given to workers at once: each check decodes them until they are written.
const RETRIES_MAX: usize = 256;
/// Longest wait of an action for its next try, unless the action itself asks for a longer one.
const AGAIN_MAX: Duration = Duration::from_mins(5);

pub(crate) enum DueAction {
    Perform(Box<PendingAction>),
    /// It cannot be performed, for this reason.
    Invalid(ActionRequestId, String),
}

#[derive(derive_more::Debug)]
#[debug("Scripts({hooks:?})")]
pub(crate) struct Scripts {
    /// Channel from the engine's own tasks to the engine.
    sender: mpsc::UnboundedSender<EngineInput>,
    pub(crate) asked: mpsc::UnboundedReceiver<EngineInput>,
    /// The last good set; `None` before the first one.
    pub(crate) hooks: Option<Hooks>,
    /// SHA-256 over its files.
    pub(crate) files_in_use: Option<Digest>,
    /// The good set that takes over once no run of the current one is left.
    pub(crate) next: Option<ScriptSet>,
    /// The set whose scripts are being recorded.
    pub(crate) changing: Option<ScriptSet>,
    /// The newest set, good or not; `None` before the first read.
    found: Option<ScriptSet>,
    pub(crate) running: BTreeMap<Key, Arc<WorkerSignal>>,
    pool: Arc<ScriptPool>,
    pub(crate) agenda: ActionQueue,
    /// Delivers the notifications of hooks; without one they wait.
    pub(crate) notifier: Option<Arc<dyn NotificationSender>>,
    pub(crate) next_action: Option<Instant>,
    next_failed: Option<Instant>,
}

impl Default for Scripts {
    fn default() -> Self {
        let (sender, asked) = mpsc::unbounded_channel();
        Self {
            sender,
            asked,
            hooks: None,
            files_in_use: None,
            next: None,
            changing: None,
            found: None,
            running: BTreeMap::new(),
            pool: Arc::default(),
            agenda: ActionQueue::default(),
            notifier: None,
            next_action: None,
            next_failed: None,
        }
    }
}

impl Scripts {
    /// Accepts a set of scripts; hooks run from the first good set on.
    pub(crate) fn accept(&mut self, found: ScriptSet) {
        if found.hooks.is_some() {
            self.next = Some(found.clone());
            self.running.values().for_each(|bell| bell.end());
        } else {
            let problems = found.problems;
            tracing::error!(
                problems,
                "the scripts have errors (`reckon hooks check`); the last valid ones stay in use"
            );
        }
        self.found = Some(found);
    }

    /// Returns the set whose hooks run now: a good one, possibly empty, that no other replaces.
    fn hooks_to_run(&self) -> Option<Hooks> {
        let stays = self.next.is_none() && self.changing.is_none();
        self.hooks.clone().filter(|_| stays)
    }

    /// Returns a worker for each merchant with waiting events or due retries: at most `slots`. A
    /// worker under way is signalled.
    pub(crate) fn due_workers(
        &mut self,
        shared: &Arc<EngineShared>,
        slots: usize,
    ) -> EngineResult<Vec<Task>> {
        let Some(hooks) = self.hooks_to_run() else { return Ok(Vec::new()) };
        let mut due = self.retries(shared)?;
        let mut merchants: BTreeSet<Key> = shared.facts.hooks_to_run()?.into_iter().collect();
        merchants.extend(due.keys().cloned());
        let mut workers: Vec<Task> = Vec::new();
        for merchant in merchants {
            let failed = due.remove(&merchant).unwrap_or_default();
            if let Some(bell) = self.running.get(&merchant) {
                bell.signal(failed);
                continue;
            }
            if workers.len() < slots {
                workers.push(self.worker(merchant, failed, hooks.clone(), shared));
            }
        }
        Ok(workers)
    }

    fn worker(
        &mut self,
        merchant: Key,
        failed: Vec<FailedHook>,
        hooks: Hooks,
        shared: &Arc<EngineShared>,
    ) -> Task {
        let bell = Arc::new(WorkerSignal::default());
        bell.signal(failed);
        self.running.insert(merchant.clone(), bell.clone());
        let (engine, pool) = (self.sender.clone(), self.pool.clone());
        let shared = shared.clone();
        Box::pin(MerchantWorker { shared, hooks, merchant, engine, bell, pool }.run())
    }

    /// Returns failed hooks due for a retry, by merchant, up to a limit; notes when the next are.
    fn retries(&mut self, shared: &EngineShared) -> EngineResult<BTreeMap<Key, Vec<FailedHook>>> {
        let now = shared.now();
        let (failed, next) = shared.facts.due_retries((now, latest_retry(now)), RETRIES_MAX)?;
        let mut due: BTreeMap<Key, Vec<FailedHook>> = BTreeMap::new();
        for failed in failed {
            due.entry(failed.merchant.clone()).or_default().push(failed);
        }
        self.next_failed = next.and_then(|next| instant_of(now, next));
        Ok(due)
    }

    /// Signals due retries to workers; returns true if a merchant without a worker has one, too.
    pub(crate) fn signal_retries(&mut self, shared: &EngineShared) -> EngineResult<bool> {
        let due = self.retries(shared)?;
        if due.keys().any(|merchant| !self.running.contains_key(merchant)) {
            return Ok(true);
        }
        for (merchant, failed) in due {
            if let Some(bell) = self.running.get(&merchant) {
                bell.signal(failed);
            }
        }
        Ok(false)
    }

    /// Returns the next due action request that has a slot. Requests that are settled, or that wait
    /// for a person or a later time, are passed over.
    pub(crate) fn next_due_action(
        &mut self,
        shared: &EngineShared,
        now: DateTime<Utc>,
    ) -> EngineResult<Option<DueAction>> {
        let is_frozen = shared.limiter.is_frozen();
        while let Some(id) = self.agenda.start(is_frozen) {
            if let Some(due) = self.due_action(&id, shared, now)? {
                return Ok(Some(due));
            }
        }
        Ok(None)
    }

    fn due_action(
        &mut self,
        id: &ActionRequestId,
        shared: &EngineShared,
        now: DateTime<Utc>,
    ) -> EngineResult<Option<DueAction>> {
        let Some(pending) = shared.facts.pending(id)? else {
            self.agenda.end(id);
            return Ok(None);
        };
        if known_state::unprovable_action_reason(&shared.facts, &pending)?.is_some() {
            self.agenda.end(id);
            return Ok(None);
        }
        if let Some(at) = pending.request.at.filter(|at| *at > now) {
            self.agenda.reschedule(id, instant_of(now, at));
            return Ok(None);
        }
        let opened = sealed_words::open(&shared.vault, pending.request.clone())?;
        Ok(Some(if let Some(request) = opened {
            DueAction::Perform(Box::new(PendingAction { request, ..pending }))
        } else {
            let why = format!("its words were erased with {}", id.merchant.short());
            DueAction::Invalid(id.clone(), why)
        }))
    }

    /// Notes the end of a try; an unsettled action is tried again after a growing, random wait.
    pub(crate) fn note_try(&mut self, id: &ActionRequestId, settled: bool, shared: &EngineShared) {
        if settled {
            return self.agenda.end(id);
        }
        let tries = self.agenda.count_try(id);
        let wait = shared.random(|rng| backoff::jittered_delay(tries, rng)).min(AGAIN_MAX);
        self.agenda.reschedule(id, Instant::now().checked_add(wait));
    }

    /// Returns the time at which something of the hooks is due, once a good set is loaded.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let next = [self.next_failed, self.next_action].into_iter().flatten().min();
        next.filter(|_| self.hooks.is_some())
    }

    /// Returns the scripts in use, and those in the folder.
    pub(crate) fn scripts_view(&self) -> HooksView {
        let changing = self.changing.as_ref();
        let hooks = changing.and_then(|changing| changing.hooks.as_ref());
        let hooks = hooks.or(self.hooks.as_ref());
        let found = self.found.as_ref();
        let loaded = changing.map(|changing| changing.files).or(self.files_in_use);
        HooksView {
            scripts: hooks.into_iter().flat_map(Hooks::scripts).map(str::to_owned).collect(),
            loaded: loaded.map(|files| files.to_string()),
            files: found.map(|found| found.files.to_string()),
            problems: found.map_or(0, |found| found.problems),
            ..HooksView::default()
        }
    }
}
