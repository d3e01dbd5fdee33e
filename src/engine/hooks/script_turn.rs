//! One turn of a script: some of a merchant's events, or hooks that failed before.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream;
use tokio::time::Instant;

use crate::engine::handles::shared::EngineError;
use crate::engine::hooks::batch::HookBatch;
use crate::engine::hooks::context::{BatchContext, Unwritten, WorkItem};
use crate::engine::hooks::event::mode;
use crate::engine::hooks::worker::{MerchantWorker, ScriptWork, ScriptWorkDone};
use crate::model::events::hook_run::{FailedHook, ScriptIdentity};
use crate::model::record::Record;
use crate::scripting::run::hooks::ScriptQueue;

/// Time after which no further event is begun before the results are written.
const WRITTEN_AFTER: Duration = Duration::from_millis(250);

/// The number of the last event, and the records of all.
type BatchResult = (u64, Vec<Record>);

impl MerchantWorker {
    /// Performs the work of a script.
    pub(crate) async fn run_work(&self, work: ScriptWork) -> Result<ScriptWorkDone, EngineError> {
        let ScriptWork { queue, failed, events } = work;
        let script = queue.lane.script.clone();
        let ground = self.batch_context(&script, Some(&queue.lane))?;
        let turn =
            if queue.concurrency == 1 { Some(self.pool.lock_script(&script).await) } else { None };
        let mut records = self.rerun_failed(&ground, &failed).await?;
        // Without any work this future would never yield to others.
        tokio::task::yield_now().await;
        let (at, more) = self.run_events(&ground, &queue, events).await?;
        records.extend(more);
        Ok(ScriptWorkDone { script, failed, at, records, turn })
    }

    /// Runs failed hooks again, under the present name of their script.
    pub(crate) async fn rerun_failed(
        &self,
        ground: &Arc<BatchContext>,
        failed: &[FailedHook],
    ) -> Result<Vec<Record>, EngineError> {
        if failed.is_empty() {
            return Ok(Vec::new());
        }
        let todo = failed.iter().map(|one| WorkItem::Retry(Box::new(one.clone())));
        let course = HookBatch::new(ground.clone(), todo);
        Ok(self.run_batch(&ground.script, course, None).await?.1)
    }

    /// Runs a script for the events of these numbers, as many at once as it declares, until it is
    /// time to write.
    async fn run_events(
        &self,
        ground: &Arc<BatchContext>,
        queue: &ScriptQueue,
        (first, last): (u64, u64),
    ) -> Result<BatchResult, EngineError> {
        let mut passed = (first.saturating_sub(1), Vec::new());
        if first > last {
            return Ok(passed);
        }
        let end = Instant::now().checked_add(WRITTEN_AFTER);
        let mut ids = self.shared.facts.events_numbered(&self.merchant, (first, last))?;
        let todo = (first..=last).map(|number| WorkItem::Event(number, ids.remove(&number)));
        if queue.concurrency == 1 {
            let course = HookBatch::new(ground.clone(), todo);
            return self.run_batch(&ground.script, course, end).await;
        }
        let in_time = || end.is_none_or(|end| Instant::now() < end);
        let todo = todo.enumerate().take_while(|(index, _)| *index == 0 || in_time());
        let one = |todo| HookBatch::new(ground.clone(), [todo]);
        let turns = todo.map(|(_, todo)| self.run_batch(&ground.script, one(todo), None));
        let mut turns = stream::iter(turns).buffered(queue.concurrency);
        while let Some(turn) = turns.next().await {
            let (at, records) = turn?;
            passed.0 = at;
            passed.1.extend(records);
        }
        Ok(passed)
    }

    /// Builds the context of all runs of a turn.
    pub(crate) fn batch_context(
        &self,
        script: &str,
        lane: Option<&ScriptIdentity>,
    ) -> Result<Arc<BatchContext>, EngineError> {
        Ok(Arc::new(BatchContext {
            shared: self.shared.clone(),
            hooks: self.hooks.clone(),
            merchant: self.merchant.clone(),
            script: script.to_owned(),
            lane: lane.cloned(),
            mode: mode(&self.shared, &self.merchant)?,
            unwritten: Unwritten::default(),
        }))
    }
}
