//! Starts the tasks of queued resources: effects with their causes, readings and records.

use std::sync::Arc;

use crate::base::fault_injection;
use crate::base::hash::SourceId;
use crate::base::id::{IntentId, Key};
use crate::engine::core::coordinator::Engine;
use crate::engine::core::tasks::TaskClass;
use crate::engine::executor::{perform, settle};
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::{EngineError, EngineResult};
use crate::engine::handles::task_result::{EffectJob, TaskResult};
use crate::engine::readers::read::{self, RecordWhen};
use crate::engine::view::EngineView;
use crate::model::effect::{Effect, RemoteReading, StepWork};
use crate::model::intent::{Cause, IntentState, OpenIntent};
use crate::model::plan::Step;
use crate::model::record::Record;
use crate::model::state::observed::{AppliedSpec, FactSource, Observation};
use crate::plan::state_view::StateView;

/// Tasks for each permitted call: those that send, and those whose intents or answers are written.
const TASKS_PER_CALL: usize = 4;

impl Engine {
    /// Continues with every intent that an earlier process left open. The result of calls that were
    /// under way when it ended is not known, so they are in doubt.
    pub(crate) fn recover(&mut self) {
        let open: Vec<Arc<OpenIntent>> = self.known_state.open_intents().cloned().collect();
        for open in open {
            if !matches!(open.state, IntentState::OnHold { .. }) {
                self.settle_open(open);
            }
        }
    }

    /// Starts the settlement of an open intent; its resource starts no other task meanwhile.
    pub(crate) fn settle_open(&mut self, open: Arc<OpenIntent>) {
        let wallet = self.known_state.credential_source(&open.intent.merchant);
        let wallet = wallet.with_account(open.intent.request.account.clone());
        let shared = self.shared.clone();
        self.scheduler.lock([open.intent.key.clone()]);
        self.scheduler.occupy_lane(&open.intent);
        self.tasks.spawn(TaskClass::Work, async move {
            settle::settle_recovered(&shared, &open, &wallet).await
        });
    }

    pub(crate) fn start_tasks(&mut self) -> EngineResult<()> {
        let room = self.shared.settings.concurrency.saturating_mul(TASKS_PER_CALL).max(1);
        self.scheduler.resume_idle_lanes(&|key| self.planner.has_work(key));
        let waits = self.stopping || self.known_state.files.is_being_read();
        while !waits
            && self.tasks.running(TaskClass::Work) < room.saturating_add(self.shared.resting())
        {
            let Some(key) = self.scheduler.queue.pop_first() else { return Ok(()) };
            let mut step = self.planner.full_step(&self.known_state, &key);
            match step.as_mut().and_then(|step| step.work.take()) {
                Some(work)
                    if let StepWork::Effect(effect) = &*work
                        && let Some(hold) = self.known_state.holds.of(Some(&effect.merchant)) =>
                {
                    self.scheduler.held.insert(key, hold.rule().map(Arc::from));
                }
                Some(work) => self.start(&key, Arc::unwrap_or_clone(work), step.as_ref())?,
                // The work was possible when its step was planned; a date has passed since.
                None => {
                    let made = self.planner.recompute(&self.known_state, [key]);
                    self.note_steps(&made);
                }
            }
        }
        Ok(())
    }

    fn start(&mut self, key: &Key, work: StepWork, step: Option<&Step>) -> EngineResult<()> {
        if !self.scheduler.admit(key, &work) {
            return Ok(());
        }
        if !self.scheduler.busy.insert(key.clone())
            && !fault_injection::is_active("two-open-effects")
        {
            return Err(EngineError::Bug(format!("{key} has two tasks")));
        }
        self.scheduler.backoff.stop(key);
        match work {
            StepWork::Effect(effect) if !self.enter_lane(key, &effect) => self.release_slot(key),
            StepWork::Effect(effect) => {
                self.count(key, &effect)?;
                let job = EffectJob { is_timed: true, ..self.job(key, effect, step) };
                let shared = self.shared.clone();
                let task = async move { perform::perform(&shared, job).await };
                self.tasks.spawn(TaskClass::Work, task);
            }
            StepWork::Read(reading) => self.start_reading(reading),
            StepWork::Record(applied) => self.start_note(key, applied),
        }
        Ok(())
    }

    /// Plans the steps again that wait for another day.
    pub(crate) fn replan_dated(&mut self) {
        let ended = self.known_state.drop_ended_suspensions(self.shared.now());
        let mut keys = self.planner.date_dependent.clone();
        keys.extend(ended.iter().flat_map(|key| self.view().affected_resources(key)));
        keys.extend(self.planner.health_changes.due_by(self.shared.now()).cloned());
        self.recompute(keys);
        self.check_whole_plan();
    }

    /// Builds the job of an effect, for which the resource has this step now. The engine, as the single
    /// owner, assigns the intent's number.
    pub(crate) fn job(&mut self, key: &Key, effect: Effect, step: Option<&Step>) -> EffectJob {
        self.shared.superseded.remove(key);
        self.known_state.task_started(key, &effect.merchant);
        let id = self.next_intent;
        self.next_intent = id.next();
        let cause = self.view().cause(step);
        let wallet = self.known_state.credential_source(&effect.merchant);
        let wallet = wallet.with_account(effect.request.account.clone());
        let effect = if fault_injection::is_active("attempt-in-the-name") {
            with_attempt_in_name(effect, &self.shared.settings.planning.partner, id)
        } else {
            effect
        };
        let is_limited = self.shared.guard.is_limited();
        let rest = is_limited.then(|| self.view().digest_without_amounts(key));
        let again = self.scheduler.backoff.has_failed(key);
        EffectJob { id, effect, wallet, cause, rest, again, is_timed: false }
    }

    fn start_reading(&mut self, reading: RemoteReading) {
        self.readers.accounts.note_read(&reading.key);
        let is_read = reading.key == reading.merchant;
        let account =
            reading.subject.get("account").and_then(|one| one.as_str()).map(str::to_owned);
        self.known_state.task_started(&reading.key, &reading.merchant);
        let source = self.known_state.credential_source(&reading.merchant);
        let wallet = CredentialSource { is_read, account, ..source };
        let shared = self.shared.clone();
        self.tasks.spawn(TaskClass::Work, async move {
            read::read(&shared, reading, &wallet, RecordWhen::Always).await
        });
    }

    /// Records a resource for which nothing has to be sent.
    fn start_note(&mut self, key: &Key, applied: AppliedSpec) {
        let known = self.known_state.observed(key);
        let merchant = known.as_ref().map_or(key, |known| &known.merchant);
        let nothing = serde_json::Value::Null;
        let note = self.shared.observation((key, merchant), FactSource::Operator, nothing);
        let note = Observation { applied: Some(applied), ..note };
        let (shared, key) = (self.shared.clone(), key.clone());
        self.tasks.spawn(TaskClass::Work, async move {
            shared.write(Vec::new(), vec![Record::Observation(Box::new(note))]).await?;
            Ok(TaskResult::Changed(key))
        });
    }
}

/// An injected fault: the effect's own name at the service contains the number of the attempt.
fn with_attempt_in_name(mut effect: Effect, partner: &str, id: IntentId) -> Effect {
    let number = u32::try_from(id.get()).unwrap_or(u32::MAX).saturating_add(1000);
    let name = SourceId::new(partner, &effect.key, number);
    let old = std::mem::replace(&mut effect.source_id, name.clone());
    let rename = |value: &serde_json::Value| {
        let text = value.to_string().replace(old.as_str(), name.as_str());
        let text = text.replace(old.mark().as_str(), name.mark().as_str());
        serde_json::from_str(&text).unwrap_or_default()
    };
    effect.request.body = rename(&effect.request.body);
    effect.expect.values_mut().for_each(|value| *value = rename(value));
    effect
}

impl EngineView<'_> {
    /// Returns the cause of the effect that a complete step asks for.
    pub(crate) fn cause(&self, step: Option<&Step>) -> Cause {
        let place = step.and_then(|step| step.place.clone());
        let (Some(step), Some((file, line))) = (step, place) else {
            return Cause { commit: self.known_state.files.commit(), ..Cause::default() };
        };
        let read = self.known_state.files.provenance(&file);
        Cause {
            changed: self.changed_lines(step),
            file: Some(file),
            line: Some(line),
            commit: read.commit,
            uncommitted: read.uncommitted,
            actor: None,
        }
    }

    /// Returns the lines of the fields that a step changes; empty for a step that creates.
    fn changed_lines(&self, step: &Step) -> Vec<(usize, usize)> {
        if step.changes.iter().all(|change| change.before.is_null()) {
            return Vec::new();
        }
        let fields: Vec<&str> = step.changes.iter().map(|change| change.path.as_str()).collect();
        let mut lines = self.known_state.files.lines(&step.key, &fields);
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}
