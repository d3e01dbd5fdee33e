//! Immutable context of one batch of hook runs; `Send`.

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

/// The context of one batch.
pub(super) struct Ground {
    pub(super) shared: Arc<Shared>,
    pub(super) hooks: Hooks,
    /// The merchant of the events.
    pub(super) merchant: Key,
    /// The script's present name.
    pub(super) script: String,
    /// The script's lane in the set; `None` if the script is gone.
    pub(super) lane: Option<Lane>,
    /// The merchant's mode.
    pub(super) mode: Value,
    /// Values that its runs keep, until they are written.
    pub(super) unwritten: Unwritten,
}

/// A unit of work.
pub(super) enum Todo {
    /// The event of this number, and its id.
    Event(u64, Option<String>),
    /// A hook that failed before.
    Again(Box<FailedHook>),
}

/// A started run: everything that it needs but answers.
pub(super) struct Begun {
    pub(super) told: Box<Told>,
    /// The event as the script gets it; `None` once a try took it, or if it was erased.
    pub(super) event: Option<Given>,
    pub(super) handler: Handler,
    tries: u32,
    /// Number of hooks before it in its chain of causes.
    depth: u32,
    /// The event's number; `None` for a repeated run.
    number: Option<u64>,
    /// The script's name when the hook failed, if it differs.
    formerly: Option<String>,
}

impl Begun {
    /// Returns true if the chain of causes is too long: then nothing is run.
    pub(super) fn is_too_deep(&self) -> bool {
        self.depth >= DEPTH_MAX
    }
}

impl Ground {
    /// Gathers the inputs of a run. `None`: the script does not handle such events, or there is no
    /// such event.
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
        // Data that was erased with its merchant is not shown to scripts.
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

    /// Returns the event as the script gets it; `None` if it was erased with its merchant.
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

    /// Returns the number of hooks before an event in its chain of causes.
    fn depth(&self, told: &Told) -> Result<u32, EngineError> {
        let mut depth = 0;
        for key in told.about.iter().filter(|key| is_action(key)) {
            depth = depth.max(self.shared.facts.hook_depth(key)?);
        }
        Ok(depth)
    }

    /// Builds the record of a finished run. Its kept values are visible to the next run from now
    /// on.
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
