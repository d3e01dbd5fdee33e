//! Immutable context of one batch of hook runs; `Send`.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;

use crate::base::id::Key;
use crate::base::secret::mask_digits;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::hooks::event::event_for_run;
use crate::engine::hooks::retry;
use crate::model::effect::is_action;
use crate::model::events::event::{EventStatus, VerifiedEvent};
use crate::model::events::hook::HookRun;
use crate::model::events::hook_run::{
    DEPTH_MAX, FailedHook, HookFailure, HookRunRecord, ScriptIdentity,
};
use crate::model::events::scripts::sum;
use crate::model::record::Record;
use crate::scripting::engine::RunFailure;
use crate::scripting::hooks::{EventHandler, Hooks};
use crate::scripting::host::script_event::ScriptEvent;

pub(crate) struct BatchContext {
    pub(crate) shared: Arc<EngineShared>,
    pub(crate) hooks: Hooks,
    pub(crate) merchant: Key,
    pub(crate) script: String,
    /// The script's lane in the set; `None` if the script is gone.
    pub(crate) lane: Option<ScriptIdentity>,
    pub(crate) mode: Value,
    /// Values that its runs keep, until they are written.
    pub(crate) unwritten: Unwritten,
}

/// Lines of a failed run that its record keeps, and characters of each.
const LINES_KEPT: usize = 20;
const CHARACTERS_KEPT: usize = 200;

/// The cause of a failed run, and the first lines that its script logged, with card numbers masked.
pub(crate) struct FailedRun {
    pub(crate) message: String,
    pub(crate) log: Vec<String>,
}

impl FailedRun {
    /// Returns a failure before the script logged anything.
    pub(crate) fn of(message: &str) -> Self {
        Self { message: message.to_owned(), log: Vec::new() }
    }
}

impl From<&RunFailure> for FailedRun {
    fn from(failure: &RunFailure) -> Self {
        let line = |line: &String| mask_digits(line).chars().take(CHARACTERS_KEPT).collect();
        let log = failure.log.iter().take(LINES_KEPT).map(line).collect();
        Self { message: failure.to_string(), log }
    }
}

pub(crate) enum WorkItem {
    /// The event of this number, and its id.
    Event(u64, Option<String>),
    Retry(Box<FailedHook>),
}

/// A started run: everything that it needs but answers.
pub(crate) struct StartedRun {
    pub(crate) verified: Box<VerifiedEvent>,
    /// The event as the script gets it; `None` once a try took it, or if it was erased.
    pub(crate) event: Option<ScriptEvent>,
    pub(crate) handler: EventHandler,
    tries: u32,
    /// Number of hooks before it in its chain of causes.
    depth: u32,
    /// The event's number; `None` for a repeated run.
    number: Option<u64>,
    /// The script's name when the hook failed, if it differs.
    formerly: Option<String>,
}

impl StartedRun {
    /// Returns true if the chain of causes is too long: then nothing is run.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.depth >= DEPTH_MAX
    }
}

impl BatchContext {
    /// Gathers the inputs of a run; `None`: no such event, or the script does not handle it.
    pub(crate) fn begin(&self, todo: &WorkItem) -> EngineResult<Option<StartedRun>> {
        match todo {
            WorkItem::Event(number, id) => self.begin_event(*number, id.as_deref()),
            WorkItem::Retry(failed) => self.begin_retry(failed),
        }
    }

    fn begin_event(&self, number: u64, id: Option<&str>) -> EngineResult<Option<StartedRun>> {
        let Some(id) = id else { return Ok(None) };
        let verified = self.verified_event(id)?.filter(|verified| !verified.quiet);
        let Some(verified) = verified else { return Ok(None) };
        let handler = self.hooks.handler(&self.script, &verified.kind);
        let Some(handler) = handler else { return Ok(None) };
        // Data that was erased with its merchant is not shown to scripts.
        let Some(event) = self.event_for_run(&verified)? else { return Ok(None) };
        let (event, depth, number) = (Some(event), self.depth(&verified)?, Some(number));
        Ok(Some(StartedRun { verified, event, handler, tries: 1, depth, number, formerly: None }))
    }

    fn begin_retry(&self, failed: &FailedHook) -> EngineResult<Option<StartedRun>> {
        let Some(verified) = self.verified_event(&failed.event)? else { return Ok(None) };
        let HookFailure { script: known, function, tries, .. } = &failed.failed;
        let handler = EventHandler { script: self.script.clone(), function: function.clone() };
        let (event, depth) = (self.event_for_run(&verified)?, self.depth(&verified)?);
        let formerly = (*known != self.script).then(|| known.clone());
        let tries = tries.saturating_add(1);
        Ok(Some(StartedRun { verified, event, handler, tries, depth, number: None, formerly }))
    }

    /// Returns the event as the script gets it; `None` if it was erased with its merchant.
    pub(crate) fn event_for_run(&self, told: &VerifiedEvent) -> EngineResult<Option<ScriptEvent>> {
        event_for_run(&self.shared, told, self.mode.clone())
    }

    fn verified_event(&self, id: &str) -> EngineResult<Option<Box<VerifiedEvent>>> {
        let entry = self.shared.facts.event(&self.merchant, id)?;
        Ok(entry.and_then(|entry| match entry.status {
            EventStatus::Verified(told) => Some(told),
            EventStatus::Waiting | EventStatus::OtherMode | EventStatus::Forged => None,
        }))
    }

    /// Returns the number of hooks before an event in its chain of causes.
    fn depth(&self, told: &VerifiedEvent) -> EngineResult<u32> {
        let mut depth = 0;
        for key in told.resources.iter().filter(|key| is_action(key)) {
            depth = depth.max(self.shared.facts.hook_depth(key)?);
        }
        Ok(depth)
    }

    /// Builds the record of a finished run; from now on the next run sees its kept values.
    pub(crate) fn run_record(
        &self,
        begun: StartedRun,
        ended: Result<HookRun, FailedRun>,
        at: DateTime<Utc>,
    ) -> Record {
        let (runs, failures) = match ended {
            Ok(run) => {
                let stored = |key: &str| self.shared.facts.stored_value(&run.script, key);
                self.unwritten.keep(&run, |key| stored(key).unwrap_or_default());
                (vec![run], Vec::new())
            }
            Err(failed) => (Vec::new(), vec![self.failure(&begun, failed, at)]),
        };
        let StartedRun { verified: told, depth, number, formerly, .. } = begun;
        Record::HooksRun(Box::new(HookRunRecord {
            merchant: self.merchant.clone(),
            event: told.event,
            number: number.unwrap_or(0),
            is_retry: number.is_none(),
            script_identity: self.lane.clone().filter(|_| number.is_some()),
            former_script: formerly,
            runs,
            failures,
            depth,
            at,
        }))
    }

    fn failure(&self, begun: &StartedRun, failed: FailedRun, at: DateTime<Utc>) -> HookFailure {
        let FailedRun { message, log } = failed;
        let tries = begun.tries;
        let again = retry::next_retry(tries, at).filter(|_| !begun.is_too_deep());
        let EventHandler { script, function } = begun.handler.clone();
        let text = self.lane.as_ref().map(|lane| lane.text);
        HookFailure { script, function, message, tries, retry_at: again, text, log }
    }
}

/// Values that runs of one script keep and that are not written yet.
#[derive(Default)]
pub(crate) struct Unwritten(Mutex<BTreeMap<String, Value>>);

impl Unwritten {
    pub(crate) fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Value>> {
        self.0.lock()
    }

    /// Adds the values that a successful run keeps and adds to; `stored` reads a written value.
    pub(crate) fn keep(&self, run: &HookRun, stored: impl Fn(&str) -> Value) {
        let mut kept = self.lock();
        kept.extend(run.kept.iter().cloned());
        for (key, added) in &run.added {
            let before = kept.get(key).cloned().unwrap_or_else(|| stored(key));
            kept.extend(sum(&before, added).map(|sum| (key.clone(), sum)));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::tests::records::hook_run;

    fn run(kept: &[(&str, Value)], added: &[(&str, Value)]) -> HookRun {
        let own = |all: &[(&str, Value)]| {
            all.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
        };
        let mut run = hook_run(1, "a", Vec::new()).runs.remove(0);
        (run.kept, run.added) = (own(kept), own(added));
        run
    }

    #[test]
    fn values_of_earlier_runs_are_seen_before_they_are_written() {
        let unwritten = Unwritten::default();
        unwritten.keep(&run(&[("a", json!(1))], &[]), |_| Value::Null);
        unwritten.keep(&run(&[("a", json!(2)), ("b", json!("x"))], &[]), |_| Value::Null);
        assert_eq!(unwritten.lock().get("a"), Some(&json!(2)), "the last run counts");
        assert_eq!(unwritten.lock().get("b"), Some(&json!("x")));
    }

    #[test]
    fn additions_build_on_what_is_unwritten_or_else_on_what_is_written() {
        let unwritten = Unwritten::default();
        let stored = |key: &str| if key == "written" { json!(10) } else { Value::Null };
        unwritten.keep(&run(&[], &[("written", json!(5)), ("new", json!(1))]), stored);
        unwritten.keep(&run(&[], &[("written", json!(5)), ("new", json!(1))]), stored);
        assert_eq!(unwritten.lock().get("written"), Some(&json!(20)));
        assert_eq!(unwritten.lock().get("new"), Some(&json!(2)));
    }

    #[test]
    fn an_addition_that_has_no_sum_changes_nothing() {
        let unwritten = Unwritten::default();
        let full = |_: &str| json!(i64::MAX);
        unwritten.keep(&run(&[], &[("count", json!(1))]), full);
        unwritten.keep(&run(&[], &[("text", json!("x"))]), |_| json!(1));
        assert!(unwritten.lock().is_empty());
    }
}
