//! Runs a batch: on threads with enough stack, and between stretches it fetches the answers that a
//! run needs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::course::{Course, Pace};
use super::event::showing;
use super::reads::Wanted;
use super::round::Round;
use crate::engine::Event;
use crate::engine::question::{Question, Reply};
use crate::engine::shared::EngineError;
use crate::hooks::on_stack;
use crate::model::ran::Ran;
use crate::model::record::Record;

/// The result of one stretch: a needed answer, or the end; `None` if there was no thread for it.
type Stretch = Option<Result<Option<Wanted>, EngineError>>;

fn locked(course: &Mutex<Course>) -> MutexGuard<'_, Course> {
    course.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Round {
    /// Runs everything of a batch; begins nothing further after `end`.
    pub(super) async fn through(
        &self,
        script: &str,
        course: Course,
        end: Option<Instant>,
    ) -> Result<(u64, Vec<Record>), EngineError> {
        let course = Arc::new(Mutex::new(course));
        loop {
            let pace = self.pace(end);
            match self.stretch(script, &course, pace).await.transpose()? {
                Some(Some(wanted)) => {
                    let answer = self.fetch(&wanted).await;
                    locked(&course).learn(&wanted, answer);
                }
                Some(None) => break,
                None => locked(&course).fail(pace)?,
            }
        }
        let mut course = locked(&course);
        let records = std::mem::take(&mut course.records);
        tell(&records);
        Ok((course.at, records))
    }

    /// Builds the pace of a stretch. In a simulation no time passes while scripts run, and only
    /// this thread knows the time.
    fn pace(&self, end: Option<Instant>) -> Pace {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        if self.shared.settings.hook_time.is_some() {
            return Pace { now: None, left };
        }
        Pace { now: Some(self.shared.now()), left: left.filter(Duration::is_zero) }
    }

    async fn stretch(&self, script: &str, course: &Arc<Mutex<Course>>, pace: Pace) -> Stretch {
        if self.shared.settings.hook_time.is_none() {
            return on_stack(|| locked(course).go(pace));
        }
        let course = course.clone();
        self.pool.run(script, move || locked(&course).go(pace)).await
    }

    /// Performs a read for a script.
    async fn fetch(&self, wanted: &Wanted) -> Result<Value, String> {
        let (reply, answer) = oneshot::channel();
        let event = match wanted {
            Wanted::Resource(key) => Event::Ask(Question::Known(key.clone()), reply),
            Wanted::Find(kind, filter) => {
                Event::Ask(Question::Sought(kind.clone(), filter.clone()), reply)
            }
            Wanted::Remote(name, args) => Event::Show(showing(&self.merchant, name, args)?, reply),
        };
        self.engine.send(event).map_err(|_| "the daemon ends".to_owned())?;
        match answer.await {
            Ok(Reply::Known(answer) | Reply::Shown(answer)) => answer,
            Ok(_) | Err(_) => Err("the daemon ends".to_owned()),
        }
    }
}

/// Logs the messages of scripts to the operator, and their failures.
fn tell(records: &[Record]) {
    for record in records {
        let Record::Ran(ran) = record else { continue };
        let Ran { event, runs, failures, .. } = &**ran;
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
