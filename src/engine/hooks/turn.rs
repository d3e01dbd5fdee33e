//! One turn of a script: some of a merchant's events, or hooks that failed before. Its batches run on
//! threads with enough stack, and between stretches the answers are fetched that a run needs.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::engine::handles::shared::EngineResult;
use crate::engine::hooks::batch::{HookBatch, NeededRead, StretchLimits};
use crate::engine::hooks::context::{BatchContext, Unwritten, WorkItem};
use crate::engine::hooks::event::{merchant_mode, remote_get};
use crate::engine::hooks::worker::{MerchantWorker, ScriptWork, ScriptWorkDone};
use crate::engine::protocol::input::{EngineCommand, EngineInput};
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::model::events::hook_run::{FailedHook, HookRunRecord, ScriptIdentity};
use crate::model::record::Record;
use crate::scripting::hooks::ScriptQueue;
use crate::scripting::language::limits::on_stack;

/// Time after which no further event is begun before the results are written.
const WRITTEN_AFTER: Duration = Duration::from_millis(250);

/// The number of the last event, and the records of all.
type BatchResult = (u64, Vec<Record>);

impl MerchantWorker {
    pub(crate) async fn run_work(&self, work: ScriptWork) -> EngineResult<ScriptWorkDone> {
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
    ) -> EngineResult<Vec<Record>> {
        if failed.is_empty() {
            return Ok(Vec::new());
        }
        let todo = failed.iter().map(|one| WorkItem::Retry(Box::new(one.clone())));
        let course = HookBatch::new(ground.clone(), todo);
        Ok(self.run_batch(&ground.script, course, None).await?.1)
    }

    /// Runs a script for these events, as many at once as it declares, until it is time to write.
    async fn run_events(
        &self,
        ground: &Arc<BatchContext>,
        queue: &ScriptQueue,
        (first, last): (u64, u64),
    ) -> EngineResult<BatchResult> {
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

    pub(crate) fn batch_context(
        &self,
        script: &str,
        lane: Option<&ScriptIdentity>,
    ) -> EngineResult<Arc<BatchContext>> {
        Ok(Arc::new(BatchContext {
            shared: self.shared.clone(),
            hooks: self.hooks.clone(),
            merchant: self.merchant.clone(),
            script: script.to_owned(),
            lane: lane.cloned(),
            mode: merchant_mode(&self.shared, &self.merchant)?,
            unwritten: Unwritten::default(),
        }))
    }

    /// Runs everything of a batch; begins nothing further after `end`.
    pub(crate) async fn run_batch(
        &self,
        script: &str,
        course: HookBatch,
        end: Option<Instant>,
    ) -> EngineResult<(u64, Vec<Record>)> {
        let course = Arc::new(Mutex::new(course));
        loop {
            let pace = self.stretch_limits(end);
            match self.run_stretch(script, &course, pace).await.transpose()? {
                Some(Some(wanted)) => {
                    let answer = self.fetch(&wanted).await;
                    course.lock().add_answer(&wanted, answer);
                }
                Some(None) => break,
                None => course.lock().fail(pace)?,
            }
        }
        let mut course = course.lock();
        let records = std::mem::take(&mut course.records);
        log_runs(&records);
        Ok((course.at, records))
    }

    /// Builds the pace of a stretch. In a simulation no time passes while scripts run, and only
    /// this thread knows the time.
    fn stretch_limits(&self, end: Option<Instant>) -> StretchLimits {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        if self.shared.settings.hook_time.is_some() {
            return StretchLimits { now: None, left };
        }
        StretchLimits { now: Some(self.shared.now()), left: left.filter(Duration::is_zero) }
    }

    async fn run_stretch(
        &self,
        script: &str,
        course: &Arc<Mutex<HookBatch>>,
        pace: StretchLimits,
    ) -> Stretch {
        if self.shared.settings.hook_time.is_none() {
            return on_stack(|| course.lock().run_stretch(pace));
        }
        let course = course.clone();
        self.pool.run(script, move || course.lock().run_stretch(pace)).await
    }

    async fn fetch(&self, wanted: &NeededRead) -> Result<Value, String> {
        let (reply, answer) = oneshot::channel();
        let event = match wanted {
            NeededRead::Resource(key) => {
                EngineInput::Ask(EngineQuery::ScriptResource(key.clone()), reply)
            }
            NeededRead::Find(kind, filter) => {
                EngineInput::Ask(EngineQuery::ScriptFind(kind.clone(), filter.clone()), reply)
            }
            NeededRead::GatewayGet(name, args) => {
                let get = remote_get(&self.merchant, name, args)?;
                EngineInput::Command(EngineCommand::RemoteGet(get), reply)
            }
        };
        self.engine.send(event).map_err(|_| "the daemon ends".to_owned())?;
        match answer.await {
            Ok(Reply::ScriptData(answer) | Reply::RemoteGet(answer)) => answer,
            Ok(_) | Err(_) => Err("the daemon ends".to_owned()),
        }
    }
}

/// The result of one stretch: a needed answer, or the end; `None` if there was no thread for it.
type Stretch = Option<EngineResult<Option<NeededRead>>>;

/// Logs the messages of scripts to the operator, and their failures.
fn log_runs(records: &[Record]) {
    for record in records {
        let Record::HooksRun(ran) = record else { continue };
        let HookRunRecord { event, runs, failures, .. } = &**ran;
        for run in runs {
            for line in &run.log {
                tracing::info!(script = run.script, event, "{line}");
            }
        }
        for failed in failures {
            let (script, reason) = (&failed.script, &failed.message);
            tracing::warn!(script, event, reason, "a hook failed");
        }
    }
}
