//! A script's turn: some of a merchant's events, or hooks that failed before.

use std::time::Duration;

use futures::{StreamExt, stream};
use tokio::time::Instant;

use super::again;
use super::event::shown;
use super::reads::{Answers, Unwritten};
use super::round::{Done, Round, Work};
use crate::engine::shared::EngineError;
use crate::hooks::Handler;
use crate::model::action::is_action;
use crate::model::event::{EventStands, Told};
use crate::model::hook::Run;
use crate::model::ran::{DEPTH_MAX, Failed, FailedHook, Lane, Ran};
use crate::model::record::Record;

/// After so long no further event is begun before what there is has been written down.
const WRITTEN_AFTER: Duration = Duration::from_millis(250);

impl Round {
    /// Has a script do what it is to do.
    pub(super) async fn turns(&self, work: Work) -> Result<Done, EngineError> {
        let Work { queue, failed, events } = work;
        let (lane, unwritten) = (&queue.lane, Unwritten::default());
        let turn =
            if queue.concurrency == 1 { Some(self.pool.turn(&lane.script).await) } else { None };
        let mut records = Vec::new();
        for one in &failed {
            records.extend(self.again(one, &lane.script, &unwritten).await?);
        }
        // Where nothing is to be run the time of others is not taken.
        tokio::task::yield_now().await;
        let end = Instant::now().checked_add(WRITTEN_AFTER);
        let in_time = |_: &u64| end.is_none_or(|end| Instant::now() < end);
        let (first, last) = events;
        let numbers = (first..=last).enumerate();
        let numbers = numbers.take_while(|(index, number)| *index == 0 || in_time(number));
        let turns = numbers.map(|(_, number)| self.turn(lane, number, &unwritten));
        let mut turns = stream::iter(turns).buffered(queue.concurrency);
        let mut at = first.saturating_sub(1);
        while let Some(turn) = turns.next().await {
            at = at.saturating_add(1);
            records.extend(turn?);
        }
        Ok(Done { script: queue.lane.script.clone(), failed, at, records, turn })
    }

    /// Runs a script for the event of a number. `None`: it is not for such events.
    async fn turn(
        &self,
        lane: &Lane,
        number: u64,
        unwritten: &Unwritten,
    ) -> Result<Option<Record>, EngineError> {
        let Some(id) = self.shared.facts.event_at(&self.merchant, number)? else { return Ok(None) };
        let Some(told) = self.told(&id)?.filter(|told| !told.quiet) else { return Ok(None) };
        let Some(handler) = self.hooks.handler(&lane.script, &told.kind) else { return Ok(None) };
        let end = self.event(&told, &handler, 1, unwritten).await?;
        let ran = self.ran(&told, end)?;
        Ok(Some(Record::Ran(Box::new(Ran { number, lane: Some(lane.clone()), ..ran }))))
    }

    /// Runs a hook once more that failed before, under the name that its script has now.
    pub(super) async fn again(
        &self,
        failed: &FailedHook,
        script: &str,
        unwritten: &Unwritten,
    ) -> Result<Option<Record>, EngineError> {
        let Some(told) = self.told(&failed.event)? else { return Ok(None) };
        let Failed { script: known, function, tries, .. } = &failed.failed;
        let handler = Handler { script: script.to_owned(), function: function.clone() };
        let end = self.event(&told, &handler, tries.saturating_add(1), unwritten).await?;
        let formerly = (known != script).then(|| known.clone());
        let ran = self.ran(&told, end)?;
        Ok(Some(Record::Ran(Box::new(Ran { again: true, formerly, ..ran }))))
    }

    fn told(&self, id: &str) -> Result<Option<Box<Told>>, EngineError> {
        let entry = self.shared.facts.event(&self.merchant, id)?;
        Ok(entry.and_then(|entry| match entry.stands {
            EventStands::Told(told) => Some(told),
            EventStands::Waiting | EventStands::OtherMode | EventStands::Forged => None,
        }))
    }

    fn ran(&self, told: &Told, end: Result<Run, Failed>) -> Result<Ran, EngineError> {
        let (runs, failures) = match end {
            Ok(run) => (vec![run], Vec::new()),
            Err(failed) => (Vec::new(), vec![failed]),
        };
        Ok(Ran {
            merchant: self.merchant.clone(),
            event: told.event.clone(),
            number: 0,
            again: false,
            lane: None,
            formerly: None,
            runs,
            failures,
            depth: self.depth(told)?,
            at: self.shared.now(),
        })
    }

    /// How many hooks stand before an event in its chain of causes.
    fn depth(&self, told: &Told) -> Result<u32, EngineError> {
        let mut depth = 0;
        for key in told.about.iter().filter(|key| is_action(key)) {
            depth = depth.max(self.shared.facts.hook_depth(key)?);
        }
        Ok(depth)
    }

    /// Runs one hook on one event.
    async fn event(
        &self,
        told: &Told,
        handler: &Handler,
        tries: u32,
        unwritten: &Unwritten,
    ) -> Result<Result<Run, Failed>, EngineError> {
        let event = shown(&self.shared, told)?;
        let too_deep = self.depth(told)? >= DEPTH_MAX;
        let ended = if too_deep {
            Err("it would be one more link in a chain of events and hooks".to_owned())
        } else {
            let answers =
                Answers::new(self.shared.clone(), self.merchant.clone(), unwritten.clone());
            self.one(handler, &event, answers).await.map_err(|why| why.to_string())
        };
        Ok(match ended {
            Ok(run) => {
                unwritten.keep(&run.kept);
                tell(&run, told);
                Ok(run)
            }
            Err(message) => {
                let again = again::next(tries, self.shared.now()).filter(|_| !too_deep);
                let Handler { script, function } = handler.clone();
                tracing::warn!(script, event = told.event, reason = message, "a hook failed");
                let queue = self.hooks.queues().find(|queue| queue.lane.script == script);
                let text = queue.map(|queue| queue.lane.text);
                Err(Failed { script, function, message, tries, again, text })
            }
        })
    }
}

/// What a script told the operator.
fn tell(run: &Run, told: &Told) {
    for line in &run.log {
        tracing::info!(script = run.script, event = told.event, "{line}");
    }
}
