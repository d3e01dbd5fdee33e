//! Runs a batch: on threads with enough stack, and between stretches it fetches the answers that a
//! run needs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::batch::{HookBatch, StretchLimits};
use super::event::remote_get;
use super::reads::NeededRead;
use super::worker::MerchantWorker;
use crate::engine::handles::shared::EngineError;
use crate::engine::protocol::commands::command::EngineCommand;
use crate::engine::protocol::input::EngineInput;
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::model::events::hook_run::HookRunRecord;
use crate::model::record::Record;
use crate::scripting::language::limits::on_stack;

/// The result of one stretch: a needed answer, or the end; `None` if there was no thread for it.
type Stretch = Option<Result<Option<NeededRead>, EngineError>>;

fn lock_batch(course: &Mutex<HookBatch>) -> MutexGuard<'_, HookBatch> {
    course.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MerchantWorker {
    /// Runs everything of a batch; begins nothing further after `end`.
    pub(crate) async fn run_batch(
        &self,
        script: &str,
        course: HookBatch,
        end: Option<Instant>,
    ) -> Result<(u64, Vec<Record>), EngineError> {
        let course = Arc::new(Mutex::new(course));
        loop {
            let pace = self.stretch_limits(end);
            match self.run_stretch(script, &course, pace).await.transpose()? {
                Some(Some(wanted)) => {
                    let answer = self.fetch(&wanted).await;
                    lock_batch(&course).add_answer(&wanted, answer);
                }
                Some(None) => break,
                None => lock_batch(&course).fail(pace)?,
            }
        }
        let mut course = lock_batch(&course);
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
            return on_stack(|| lock_batch(course).run_stretch(pace));
        }
        let course = course.clone();
        self.pool.run(script, move || lock_batch(&course).run_stretch(pace)).await
    }

    /// Performs a read for a script.
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
