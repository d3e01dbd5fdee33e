//! The tasks under way, by class, and the reads of the files with the questions that wait for them.
//!
//! A daemon reads files on a thread of its own, so that a tree of any size delays neither events nor
//! status. Guarantees: one read runs at a time. A question about the files is answered after a read that
//! began later. Effects of documents start between two reads.

use std::collections::BTreeMap;

use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle, JoinSet};

use crate::engine::handles::shared::EngineResult;
use crate::engine::handles::task_result::TaskResult;
use crate::engine::known::files::{ReadScope, TreeRead};
use crate::engine::protocol::query::{EngineQuery, Reply};

/// Largest number of tasks that read lists, events and accounts.
const POLLS_MAX: usize = 64;
/// Largest number of merchants whose hooks run at once.
const HOOKS_MAX: usize = 1_024;

/// The class of a task. Each class has slots of its own, so that none keeps another from starting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TaskClass {
    /// Effects, readings and records of the plan, and settlements.
    Work,
    /// Commands of people, programs and hooks.
    Command,
    /// Reads of lists, events and accounts.
    Poll,
    /// Hook runs of a merchant.
    Hooks,
    /// Actions and notifications of hooks.
    HookAction,
    /// Records and searches of the engine itself.
    Upkeep,
}

#[derive(Debug, Default)]
pub(crate) struct Tasks {
    set: JoinSet<(TaskClass, EngineResult<TaskResult>)>,
    running: BTreeMap<TaskClass, usize>,
}

impl Tasks {
    pub(crate) fn spawn(
        &mut self,
        class: TaskClass,
        task: impl Future<Output = EngineResult<TaskResult>> + Send + 'static,
    ) {
        let running = self.running.entry(class).or_default();
        *running = running.saturating_add(1);
        self.set.spawn(async move { (class, task.await) });
    }

    /// Waits for the end of a task; `None` if there is none.
    pub(crate) async fn join_next(&mut self) -> Option<EngineResult<TaskResult>> {
        let (class, result) = match self.set.join_next().await? {
            Ok(ended) => ended,
            Err(error) => return Some(Err(error.into())),
        };
        if let Some(running) = self.running.get_mut(&class) {
            *running = running.saturating_sub(1);
        }
        Some(result)
    }

    /// Returns the number of free slots of a class; `None` for a class without a limit of its own.
    pub(crate) fn slots_left(&self, class: TaskClass) -> Option<usize> {
        let slots = match class {
            TaskClass::Poll => POLLS_MAX,
            TaskClass::Hooks => HOOKS_MAX,
            TaskClass::Work | TaskClass::Command | TaskClass::HookAction | TaskClass::Upkeep => {
                return None;
            }
        };
        Some(slots.saturating_sub(self.running(class)))
    }

    pub(crate) fn running(&self, class: TaskClass) -> usize {
        self.running.get(&class).copied().unwrap_or_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }
}

/// Questions that are answered after a read.
pub(crate) type WaitingQueries = Vec<(EngineQuery, oneshot::Sender<Reply>)>;

#[derive(Debug, Default)]
pub(crate) struct TreeReadRequest {
    pub(crate) scope: ReadScope,
    pub(crate) questions: WaitingQueries,
}

impl TreeReadRequest {
    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.questions.extend(other.questions);
        Self { scope: self.scope.merge(other.scope), questions: self.questions }
    }
}

#[derive(Default)]
pub(crate) struct TreeReader {
    /// True if reads have a thread of their own.
    pub(crate) aside: bool,
    pub(crate) under_way: Option<JoinHandle<TreeRead>>,
    /// Questions that wait for the read under way.
    pub(crate) questions: WaitingQueries,
    /// True if the read under way reads every file, regardless of size and time.
    pub(crate) verifies: bool,
    pub(crate) next: Option<TreeReadRequest>,
}

impl TreeReader {
    /// Returns true if a read is under way or requested.
    pub(crate) fn is_busy(&self) -> bool {
        self.under_way.is_some() || self.next.is_some()
    }

    /// Waits for the end of the read under way; waits for ever without one.
    pub(crate) async fn wait(&mut self) -> Result<TreeRead, JoinError> {
        let Some(under_way) = &mut self.under_way else { return std::future::pending().await };
        let looked = under_way.await;
        self.under_way = None;
        looked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::handles::task_result::Task;

    fn never() -> Task {
        Box::pin(std::future::pending())
    }

    #[tokio::test]
    async fn reads_and_hook_runs_take_no_slot_of_the_plan() {
        let mut tasks = Tasks::default();
        for _ in 0..POLLS_MAX {
            assert!(tasks.slots_left(TaskClass::Poll) > Some(0));
            tasks.spawn(TaskClass::Poll, never());
        }
        tasks.spawn(TaskClass::Hooks, never());
        assert_eq!(tasks.slots_left(TaskClass::Poll), Some(0));
        assert_eq!(tasks.slots_left(TaskClass::Hooks), Some(HOOKS_MAX - 1));
        assert_eq!((tasks.running(TaskClass::Work), tasks.slots_left(TaskClass::Work)), (0, None));
    }

    #[tokio::test]
    async fn the_end_of_a_task_frees_its_slot() {
        let mut tasks = Tasks::default();
        tasks.spawn(TaskClass::Poll, async { Ok(TaskResult::Approved) });
        let ended = tasks.join_next().await.unwrap().unwrap();
        assert!(matches!(ended, TaskResult::Approved));
        assert_eq!(tasks.slots_left(TaskClass::Poll), Some(POLLS_MAX));
        assert!(tasks.is_empty() && tasks.join_next().await.is_none());
    }
}
