//! What every run of one turn of a script stands on: it may go to another thread.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::again;
use super::event::given;
use super::reads::Unwritten;
use crate::base::id::Key;
use crate::engine::shared::{EngineError, Shared};
use crate::hooks::{Given, Handler, Hooks};
use crate::model::action::is_action;
use crate::model::event::{EventStands, Told};
use crate::model::hook::Run;
use crate::model::ran::{DEPTH_MAX, Failed, FailedHook, Lane, Ran};
use crate::model::record::Record;

/// The ground of one turn.
pub(super) struct Ground {
    pub(super) shared: Arc<Shared>,
    pub(super) hooks: Hooks,
    /// Whose events.
    pub(super) merchant: Key,
    /// The script's name now.
    pub(super) script: String,
    /// Its place in the set; none where it is gone.
    pub(super) lane: Option<Lane>,
    /// The mode that the merchant is in.
    pub(super) mode: Value,
    /// What its runs keep until that is written down.
    pub(super) unwritten: Unwritten,
}

/// What is to be run.
pub(super) enum Todo {
    /// The event of this number, and its id.
    Event(u64, Option<String>),
    /// A hook that failed before.
    Again(Box<FailedHook>),
}

/// A run that was begun: everything that it needs but answers.
pub(super) struct Begun {
    pub(super) told: Box<Told>,
    /// The event as the script gets it; none once a try had it, or where it was erased.
    pub(super) event: Option<Given>,
    pub(super) handler: Handler,
    tries: u32,
    /// How many hooks stand before it in its chain of causes.
    depth: u32,
    /// The event's number; none of one that is run again.
    number: Option<u64>,
    /// What the script was called when it failed, where that was something else.
    formerly: Option<String>,
}

impl Begun {
    /// Whether the chain of causes is too long: then nothing is run.
    pub(super) fn is_too_deep(&self) -> bool {
        self.depth >= DEPTH_MAX
    }
}

impl Ground {
    /// Gathers what a run needs. `None`: the script is not for such events, or there is no such event.
    pub(super) fn begin(&self, todo: &Todo) -> Result<Option<Begun>, EngineError> {
        match todo {
            Todo::Event(number, id) => self.event(*number, id.as_deref()),
            Todo::Again(failed) => self.again(failed),
        }
    }

    fn event(&self, number: u64, id: Option<&str>) -> Result<Option<Begun>, EngineError> {
        let Some(id) = id else { return Ok(None) };
        let Some(told) = self.told(id)?.filter(|told| !told.quiet) else { return Ok(None) };
        let Some(handler) = self.hooks.handler(&self.script, &told.kind) else { return Ok(None) };
        // What was erased with its merchant is nobody's any more.
        let Some(event) = self.given(&told)? else { return Ok(None) };
        let (event, depth, number) = (Some(event), self.depth(&told)?, Some(number));
        Ok(Some(Begun { told, event, handler, tries: 1, depth, number, formerly: None }))
    }

    fn again(&self, failed: &FailedHook) -> Result<Option<Begun>, EngineError> {
        let Some(told) = self.told(&failed.event)? else { return Ok(None) };
        let Failed { script: known, function, tries, .. } = &failed.failed;
        let handler = Handler { script: self.script.clone(), function: function.clone() };
        let (event, depth) = (self.given(&told)?, self.depth(&told)?);
        let formerly = (*known != self.script).then(|| known.clone());
        let tries = tries.saturating_add(1);
        Ok(Some(Begun { told, event, handler, tries, depth, number: None, formerly }))
    }

    /// The event as the script gets it; none where it was erased with its merchant.
    pub(super) fn given(&self, told: &Told) -> Result<Option<Given>, EngineError> {
        given(&self.shared, told, self.mode.clone())
    }

    fn told(&self, id: &str) -> Result<Option<Box<Told>>, EngineError> {
        let entry = self.shared.facts.event(&self.merchant, id)?;
        Ok(entry.and_then(|entry| match entry.stands {
            EventStands::Told(told) => Some(told),
            EventStands::Waiting | EventStands::OtherMode | EventStands::Forged => None,
        }))
    }

    /// How many hooks stand before an event in its chain of causes.
    fn depth(&self, told: &Told) -> Result<u32, EngineError> {
        let mut depth = 0;
        for key in told.about.iter().filter(|key| is_action(key)) {
            depth = depth.max(self.shared.facts.hook_depth(key)?);
        }
        Ok(depth)
    }

    /// What a run came to at this moment, to be written down. What it keeps is there for the next one from now on.
    pub(super) fn ended(
        &self,
        begun: Begun,
        ended: Result<Run, String>,
        at: DateTime<Utc>,
    ) -> Record {
        let (runs, failures) = match ended {
            Ok(run) => {
                let stored = |key: &str| self.shared.facts.kept(&run.script, key);
                self.unwritten.keep(&run, |key| stored(key).unwrap_or_default());
                (vec![run], Vec::new())
            }
            Err(message) => (Vec::new(), vec![self.failed(&begun, message, at)]),
        };
        let Begun { told, depth, number, formerly, .. } = begun;
        Record::Ran(Box::new(Ran {
            merchant: self.merchant.clone(),
            event: told.event,
            number: number.unwrap_or(0),
            again: number.is_none(),
            lane: self.lane.clone().filter(|_| number.is_some()),
            formerly,
            runs,
            failures,
            depth,
            at,
        }))
    }

    fn failed(&self, begun: &Begun, message: String, at: DateTime<Utc>) -> Failed {
        let tries = begun.tries;
        let again = again::next(tries, at).filter(|_| !begun.is_too_deep());
        let Handler { script, function } = begun.handler.clone();
        let text = self.lane.as_ref().map(|lane| lane.text);
        Failed { script, function, message, tries, again, text }
    }
}
