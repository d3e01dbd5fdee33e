//! Runs hooks and performs their action requests.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::oneshot;

use crate::base::id::Key;
use crate::engine::alerts::watch::Alerts;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::tasks::TaskClass;
use crate::engine::handles::shared::EngineResult;
use crate::engine::hooks::actions::{
    ActionEnd, await_action, settle_request, suspend_message, suspend_request,
};
use crate::engine::hooks::notify::{self, NotificationSender};
use crate::engine::hooks::roster::ScriptChange;
use crate::engine::hooks::scripts::DueAction;
use crate::engine::protocol::actions::ActionCommand;
use crate::engine::protocol::input::ScriptSet;
use crate::engine::protocol::query::Reply;
use crate::engine::protocol::unknown_names::UnknownName;
use crate::engine::scheduler::schedule::RequestedAction;
use crate::model::effect::Action;
use crate::model::events::hook::{NOTIFY, RECONCILE, RESUME, SUSPEND};
use crate::model::events::hook_run::{ActionOutcome, ActionRequestId, PendingAction, Scheduled};
use crate::model::operator::SuspensionResult;
use crate::plan::blocks;

impl Engine {
    /// Accepts a set of scripts; hooks run from the first good set on.
    pub fn use_scripts(&mut self, found: ScriptSet) -> EngineResult<()> {
        self.scripts.accept(found);
        self.change_scripts()
    }

    pub fn set_notifier(&mut self, notifier: Arc<dyn NotificationSender>) {
        self.alerts = Alerts::new(notifier.alert_targets());
        self.scripts.notifier = Some(notifier);
        self.scripts.agenda.reload();
    }

    /// Changes to the waiting set of scripts, once no run of the previous set is left.
    fn change_scripts(&mut self) -> EngineResult<()> {
        match self.scripts.begin_change(&self.shared)? {
            ScriptChange::None => Ok(()),
            ScriptChange::Recorded => self.scripts_recorded(),
            ScriptChange::Record(task) => {
                self.tasks.spawn(TaskClass::Upkeep, task);
                Ok(())
            }
        }
    }

    /// Puts the recorded set into use; continues with a newer waiting one, if any.
    pub(crate) fn scripts_recorded(&mut self) -> EngineResult<()> {
        self.scripts.finish_change();
        self.change_scripts()?;
        self.hooks_due()
    }

    pub(crate) fn run_hooks(&mut self) -> EngineResult<()> {
        if self.stopping {
            return Ok(());
        }
        let slots = self.tasks.slots_left(TaskClass::Hooks).unwrap_or(usize::MAX);
        for worker in self.scripts.due_workers(&self.shared, slots)? {
            self.tasks.spawn(TaskClass::Hooks, worker);
        }
        Ok(())
    }

    pub(crate) fn hooks_due(&mut self) -> EngineResult<()> {
        self.run_hooks()?;
        self.dispatch_actions()
    }

    /// Handles the durable result of a script: its actions do not wait for other scripts.
    pub(crate) fn actions_requested(&mut self, asked: Vec<Scheduled>) -> EngineResult<()> {
        self.scripts.agenda.add(asked, self.shared.now());
        if self.scripts.signal_retries(&self.shared)? {
            return self.hooks_due();
        }
        self.dispatch_actions()
    }

    pub(crate) fn hooks_ran(&mut self, merchant: &Key) -> EngineResult<()> {
        self.scripts.running.remove(merchant);
        self.change_scripts()?;
        self.hooks_due()
    }

    /// Performs the hooks' actions that are due and have a slot.
    pub(crate) fn dispatch_actions(&mut self) -> EngineResult<()> {
        self.scripts.next_action = None;
        if self.stopping {
            return Ok(());
        }
        let now = self.shared.now();
        self.scripts.agenda.wake(&self.shared.facts, now)?;
        while let Some(due) = self.scripts.next_due_action(&self.shared, now)? {
            match due {
                DueAction::Perform(pending) => self.perform_action(*pending)?,
                DueAction::Invalid(id, why) => self.end_action(id, ActionOutcome::Invalid, why),
            }
        }
        self.scripts.next_action = self.scripts.agenda.next_due(now);
        Ok(())
    }

    fn perform_action(&mut self, pending: PendingAction) -> EngineResult<()> {
        match pending.request.verb.as_str() {
            SUSPEND | RESUME => self.suspend_for(pending),
            RECONCILE => self.reconcile_for(pending),
            NOTIFY => return self.notify_for(&pending),
            _ => self.run_action_for(pending),
        }
        Ok(())
    }

    /// Performs an action like a person's command.
    fn run_action_for(&mut self, pending: PendingAction) {
        let PendingAction { id, request, script, .. } = pending;
        let (Some(merchant), Ok(name)) = (request.merchant, id.action_name()) else {
            return self.end_action(id, ActionOutcome::Invalid, "no merchant is named".to_owned());
        };
        let fields = request.fields;
        let action = Action { verb: request.verb, merchant, name: Some(name), fields };
        let (reply, answer) = oneshot::channel();
        let command = ActionCommand { action, actor: format!("hook {script}") };
        self.act(RequestedAction { command, reply, by_hook: true });
        self.tasks.spawn(TaskClass::HookAction, await_action(self.shared.clone(), id, answer));
    }

    /// Suspends or resumes a resource in the name of the script.
    fn suspend_for(&mut self, pending: PendingAction) {
        let PendingAction { id, request, script, .. } = pending;
        let Some(wanted) = suspend_request(&request.verb, &request.fields) else {
            return self.end_action(id, ActionOutcome::Invalid, "it names no resource".to_owned());
        };
        let (record, result) = self.view().suspend_record(&wanted, format!("hook {script}"));
        let is_unknown = matches!(result, SuspensionResult::Unknown { .. });
        let outcome = if is_unknown { ActionOutcome::Invalid } else { ActionOutcome::Done };
        let with = record.map(|record| (record, wanted.key().clone()));
        self.settle_action(ActionEnd { id, outcome, message: suspend_message(&result), with });
    }

    fn reconcile_for(&mut self, pending: PendingAction) {
        let key = pending.request.fields.get("key").and_then(Value::as_str);
        if let Some(key) = key.and_then(|key| key.parse::<Key>().ok()) {
            self.reconcile_resource(key);
        }
        self.end_action(pending.id, ActionOutcome::Done, "looked at again".to_owned());
    }

    /// Plans a resource again at once, and reads the accounts of its merchant again.
    fn reconcile_resource(&mut self, key: Key) {
        let owner = blocks::owner(&self.known_state, &key);
        self.readers.accounts.allow(owner.iter().chain([&key]));
        self.replan([key].into());
    }

    /// Reconciles a resource at a person's request.
    pub(crate) fn retry(&mut self, key: Key, reply: oneshot::Sender<Reply>) {
        let steps = self.planner.steps().map(|step| &step.key);
        let known = |key: &Key| self.planner.step(key).is_some();
        let unknown = UnknownName::among([&key].into_iter(), known, steps).pop();
        let done = unknown.map_or(Ok(()), Err);
        if done.is_ok() {
            self.reconcile_resource(key);
        }
        // The asker may have gone away; the answer is dropped then.
        drop(reply.send(Reply::Retried(done)));
    }

    /// Sends a notification, or settles it. Without a sender it waits.
    fn notify_for(&mut self, pending: &PendingAction) -> EngineResult<()> {
        let Some(notifier) = self.scripts.notifier.clone() else {
            self.scripts.agenda.end(&pending.id);
            return Ok(());
        };
        let view = self.view();
        let message = || view.notification(pending, &*notifier);
        match notify::attempt(&self.shared, pending, notifier.clone(), message)? {
            Ok(attempt) => self.tasks.spawn(TaskClass::HookAction, attempt.run()),
            Err((outcome, why)) => self.end_action(pending.id.clone(), outcome, why),
        }
        Ok(())
    }

    /// Records the result of an action that no record expresses.
    fn end_action(&mut self, id: ActionRequestId, outcome: ActionOutcome, message: String) {
        self.settle_action(ActionEnd { id, outcome, message, with: None });
    }

    /// Records the result of an action, together with the record that is its effect.
    fn settle_action(&mut self, end: ActionEnd) {
        if end.outcome != ActionOutcome::Done {
            let (id, reason) = (&end.id, end.message.as_str());
            tracing::warn!(event = id.event, action = %id.name, reason, "action not done");
        }
        self.tasks.spawn(TaskClass::HookAction, settle_request(self.shared.clone(), end));
    }

    pub(crate) fn note_try(
        &mut self,
        id: &ActionRequestId,
        settled: bool,
        key: Option<Key>,
    ) -> EngineResult<()> {
        self.scripts.note_try(id, settled, &self.shared);
        self.record_written(key)?;
        self.dispatch_actions()
    }
}
