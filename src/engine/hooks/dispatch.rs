//! Operators' hooks in the daemon: the loaded scripts, their runs, and the consequences.
//!
//! Scripts receive events in the order in which these became known; merchants run beside each
//! other, and so do scripts. The requests of a run are written in one record with the fact that it
//! ran; only then is any of them performed. A set of scripts with problems is not used: the last
//! good set stays in use, and without one events wait.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::notify::NotificationSender;
use super::pool::ScriptPool;
use super::queue::ActionQueue;
use super::retry::latest_retry;
use super::signal::WorkerSignal;
use super::worker::MerchantWorker;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::handles::{EngineError, EngineShared};
use crate::engine::core::input::EngineInput;
use crate::engine::core::task_result::TaskResult;
use crate::engine::queries::hooks::HooksView;
use crate::engine::queries::protocol::Reply;
use crate::engine::scheduler::backoff::instant_of;
use crate::model::events::hook_run::{FailedHook, HooksReplayed, Scheduled};
use crate::model::record::Record;
use crate::scripting::run::hooks::Hooks;

/// Largest number of failed hooks given to workers at once: each check decodes them until their
/// runs are written.
const RETRIES_MAX: usize = 256;

/// A set of scripts as found in the folder.
#[derive(Debug, Clone)]
pub struct ScriptSet {
    /// The set, if it has no problems.
    pub hooks: Option<Hooks>,
    /// SHA-256 over the files as they are.
    pub files: Digest,
    /// Number of problems.
    pub problems: usize,
}

/// The scripts of a daemon, and their activity.
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
    /// Merchants whose hooks are being run.
    pub(crate) running: BTreeMap<Key, Arc<WorkerSignal>>,
    pool: Arc<ScriptPool>,
    /// The order of actions.
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

impl Engine {
    /// Accepts a set of scripts; hooks run from the first good set on.
    pub fn use_scripts(&mut self, found: ScriptSet) -> Result<(), EngineError> {
        if found.hooks.is_some() {
            self.scripts.next = Some(found.clone());
            self.scripts.running.values().for_each(|bell| bell.end());
        } else {
            let problems = found.problems;
            tracing::error!(
                problems,
                "the scripts have errors (`reckon hooks check`); the last valid ones stay in use"
            );
        }
        self.scripts.found = Some(found);
        self.change_scripts()
    }

    /// Returns true if hooks can run: a good set is loaded, possibly an empty one.
    fn has_scripts(&self) -> bool {
        self.scripts.hooks.is_some() && !self.stopping
    }

    /// Runs the hooks of every waiting event.
    pub(crate) fn run_hooks(&mut self) -> Result<(), EngineError> {
        let stays = self.scripts.next.is_none() && self.scripts.changing.is_none();
        let hooks = self.scripts.hooks.clone().filter(|_| stays && self.has_scripts());
        let Some(hooks) = hooks else {
            return Ok(());
        };
        let mut due = self.failed_due()?;
        let streams: BTreeSet<Key> = self.shared.facts.hooks_to_run()?.into_iter().collect();
        let failed: BTreeSet<Key> = due.keys().cloned().collect();
        for merchant in streams.union(&failed) {
            let failed = due.remove(merchant).unwrap_or_default();
            if let Some(bell) = self.scripts.running.get(merchant) {
                bell.signal(failed);
                continue;
            }
            let bell = Arc::new(WorkerSignal::default());
            bell.signal(failed);
            self.scripts.running.insert(merchant.clone(), bell.clone());
            let round = MerchantWorker {
                shared: self.shared.clone(),
                hooks: hooks.clone(),
                merchant: merchant.clone(),
                engine: self.scripts.sender.clone(),
                bell,
                pool: self.scripts.pool.clone(),
            };
            self.tasks.spawn(round.run());
        }
        Ok(())
    }

    /// Returns failed hooks whose retry is due, by merchant, up to a limit; notes the time of the
    /// next ones.
    fn failed_due(&mut self) -> Result<BTreeMap<Key, Vec<FailedHook>>, EngineError> {
        let now = self.shared.now();
        let (failed, next) =
            self.shared.facts.due_retries((now, latest_retry(now)), RETRIES_MAX)?;
        let mut due: BTreeMap<Key, Vec<FailedHook>> = BTreeMap::new();
        for failed in failed {
            due.entry(failed.merchant.clone()).or_default().push(failed);
        }
        self.scripts.next_failed = next.and_then(|next| instant_of(now, next));
        Ok(due)
    }

    /// Returns the time at which something of the hooks is due.
    pub(crate) fn next_hooks(&self) -> Option<Instant> {
        let on = self.has_scripts();
        [self.scripts.next_failed, self.scripts.next_action]
            .into_iter()
            .flatten()
            .min()
            .filter(|_| on)
    }

    /// Runs hooks and actions that are due.
    pub(crate) fn hooks_due(&mut self) -> Result<(), EngineError> {
        self.run_hooks()?;
        self.dispatch_actions()
    }

    /// Handles the durable result of a script: its actions do not wait for other scripts.
    pub(crate) fn actions_requested(&mut self, asked: Vec<Scheduled>) -> Result<(), EngineError> {
        self.scripts.agenda.add(asked, self.shared.now());
        let due = self.failed_due()?;
        if due.keys().any(|merchant| !self.scripts.running.contains_key(merchant)) {
            return self.hooks_due();
        }
        for (merchant, failed) in due {
            if let Some(bell) = self.scripts.running.get(&merchant) {
                bell.signal(failed);
            }
        }
        self.dispatch_actions()
    }

    /// Returns the scripts in use, and those in the folder.
    pub(crate) fn scripts_view(&self) -> HooksView {
        let changing = self.scripts.changing.as_ref();
        let hooks = changing.and_then(|changing| changing.hooks.as_ref());
        let hooks = hooks.or(self.scripts.hooks.as_ref());
        let found = self.scripts.found.as_ref();
        let loaded = changing.map(|changing| changing.files).or(self.scripts.files_in_use);
        HooksView {
            scripts: hooks.into_iter().flat_map(Hooks::scripts).map(str::to_owned).collect(),
            loaded: loaded.map(|files| files.to_string()),
            files: found.map(|found| found.files.to_string()),
            problems: found.map_or(0, |found| found.problems),
            ..HooksView::default()
        }
    }

    /// Runs the hooks of an event again that failed for good, at a person's request.
    pub(crate) fn replay(&mut self, event: String, actor: String, reply: oneshot::Sender<Reply>) {
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            match write_replay(&shared, event, actor).await {
                Ok(found) => TaskResult::Replayed.with_reply(Reply::Replayed(found), reply),
                Err(error) => TaskResult::Broken(error),
            }
        });
    }

    /// Handles the end of a merchant's hook runs.
    pub(crate) fn hooks_ran(&mut self, merchant: &Key) -> Result<(), EngineError> {
        self.scripts.running.remove(merchant);
        self.change_scripts()?;
        self.hooks_due()
    }
}

/// Records that hooks which failed for good are run again; returns their number.
async fn write_replay(
    shared: &EngineShared,
    event: String,
    actor: String,
) -> Result<usize, EngineError> {
    let failed = shared.facts.failed_of(&event)?;
    let dead = failed.iter().filter(|one| one.failed.retry_at.is_none());
    let merchants: BTreeSet<Key> = dead.clone().map(|one| one.merchant.clone()).collect();
    let found = dead.count();
    let at = shared.now();
    let of = |merchant| HooksReplayed { merchant, event: event.clone(), actor: actor.clone(), at };
    let records: Vec<Record> =
        merchants.into_iter().map(|merchant| Record::Replayed(Box::new(of(merchant)))).collect();
    if !records.is_empty() {
        shared.write(Vec::new(), records).await?;
    }
    Ok(found)
}

impl std::fmt::Debug for Scripts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scripts({:?})", self.hooks)
    }
}
