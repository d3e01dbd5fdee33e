//! One turn of a script: some of a merchant's events, or hooks that failed before.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use tokio::time::Instant;

use super::course::Course;
use super::event::mode;
use super::ground::{Ground, Todo};
use super::reads::Unwritten;
use super::round::{Done, Round, Work};
use crate::engine::shared::EngineError;
use crate::hooks::Queue;
use crate::model::ran::{FailedHook, Lane};
use crate::model::record::Record;

/// Time after which no further event is begun before the results are written.
const WRITTEN_AFTER: Duration = Duration::from_millis(250);

/// The number of the last event, and the records of all.
type Passed = (u64, Vec<Record>);

impl Round {
    /// Performs the work of a script.
    pub(super) async fn turns(&self, work: Work) -> Result<Done, EngineError> {
        let Work { queue, failed, events } = work;
        let script = queue.lane.script.clone();
        let ground = self.ground(&script, Some(&queue.lane))?;
        let turn = if queue.concurrency == 1 { Some(self.pool.turn(&script).await) } else { None };
        let mut records = self.failed(&ground, &failed).await?;
        // Without any work this future would never yield to others.
        tokio::task::yield_now().await;
        let (at, more) = self.events(&ground, &queue, events).await?;
        records.extend(more);
        Ok(Done { script, failed, at, records, turn })
    }

    /// Runs failed hooks again, under the present name of their script.
    pub(super) async fn failed(
        &self,
        ground: &Arc<Ground>,
        failed: &[FailedHook],
    ) -> Result<Vec<Record>, EngineError> {
        if failed.is_empty() {
            return Ok(Vec::new());
        }
        let todo = failed.iter().map(|one| Todo::Again(Box::new(one.clone())));
        let course = Course::new(ground.clone(), todo);
        Ok(self.through(&ground.script, course, None).await?.1)
    }

    /// Runs a script for the events of these numbers, as many at once as it declares, until it is
    /// time to write.
    async fn events(
        &self,
        ground: &Arc<Ground>,
        queue: &Queue,
        (first, last): (u64, u64),
    ) -> Result<Passed, EngineError> {
        let mut passed = (first.saturating_sub(1), Vec::new());
        if first > last {
            return Ok(passed);
        }
        let end = Instant::now().checked_add(WRITTEN_AFTER);
        let mut ids = self.shared.facts.events_numbered(&self.merchant, (first, last))?;
        let todo = (first..=last).map(|number| Todo::Event(number, ids.remove(&number)));
        if queue.concurrency == 1 {
            let course = Course::new(ground.clone(), todo);
            return self.through(&ground.script, course, end).await;
        }
        let in_time = || end.is_none_or(|end| Instant::now() < end);
        let todo = todo.enumerate().take_while(|(index, _)| *index == 0 || in_time());
        let one = |todo| Course::new(ground.clone(), [todo]);
        let turns = todo.map(|(_, todo)| self.through(&ground.script, one(todo), None));
        let mut turns = stream::iter(turns).buffered(queue.concurrency);
        while let Some(turn) = turns.next().await {
            let (at, records) = turn?;
            passed.0 = at;
            passed.1.extend(records);
        }
        Ok(passed)
    }

    /// Builds the context of all runs of a turn.
    pub(super) fn ground(
        &self,
        script: &str,
        lane: Option<&Lane>,
    ) -> Result<Arc<Ground>, EngineError> {
        Ok(Arc::new(Ground {
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
