//! Sends the alerts that are due.

use crate::engine::alerts::content::AlertSource;
use crate::engine::alerts::send::{
    AlertAttempt, new_message_name, notification, sending_steps, settle, write_steps,
};
use crate::engine::alerts::target::{OpenMessage, TargetWork};
use crate::engine::core::coordinator::{Engine, snapshot};
use crate::engine::core::tasks::TaskClass;
use crate::engine::handles::shared::EngineResult;
use crate::engine::handles::task_result::TaskResult;
use crate::model::alerts::{AlertChange, AlertOutcome, AlertStep};
use crate::notify::alert::AlertTarget;

/// The state from which verdicts and messages are made, while another part of the engine changes.
macro_rules! source {
    ($engine:expr) => {
        AlertSource { snapshot: snapshot!($engine), failures: &$engine.scheduler.failures }
    };
}

impl Engine {
    /// Looks at the resources that changed, and sends the messages that are due.
    pub(crate) fn alerts_due(&mut self) -> EngineResult<()> {
        let failed = self.scheduler.failures.take_changed();
        if self.stopping || self.scripts.notifier.is_none() {
            return Ok(());
        }
        self.alerts.touch(&failed);
        if self.alerts.is_to_load {
            self.load_alerts()?;
        }
        let now = self.shared.now();
        for key in self.alerts.take_touched() {
            let verdict = source!(self).verdict(&key);
            self.alerts.note(key, verdict, now);
        }
        if self.alerts.next_due().is_some_and(|due| due <= now) {
            self.alerts.hand_over(now);
            self.start_alerts();
        }
        Ok(())
    }

    /// Takes over what the targets know, and looks once at every resource that is not ready.
    fn load_alerts(&mut self) -> EngineResult<()> {
        let facts = &self.shared.facts;
        let forgotten = self.alerts.load(facts.reported_alerts()?, facts.alerts_being_sent()?);
        self.alerts.touch(self.planner.standings.not_ready());
        for target in forgotten {
            self.write_alert_steps(target, vec![AlertStep::Forgotten]);
        }
        Ok(())
    }

    fn write_alert_steps(&mut self, target: String, steps: Vec<AlertStep>) {
        let shared = self.shared.clone();
        self.tasks.spawn(TaskClass::Upkeep, async move {
            write_steps(&shared, &target, steps).await?;
            Ok(TaskResult::RecordWritten(None))
        });
    }

    fn start_alerts(&mut self) {
        let now = self.shared.now();
        let work = self.alerts.targets.iter_mut();
        let work = work.map(|(name, target)| (name.clone(), target.take_work(now)));
        let work: Vec<(String, Vec<TargetWork>)> = work.collect();
        for (name, work) in work {
            for part in work {
                match part {
                    TargetWork::Drop(keys) => {
                        self.write_alert_steps(name.clone(), vec![AlertStep::Dropped { keys }]);
                    }
                    TargetWork::Send(changes) => self.begin_alert(&name, changes),
                    TargetWork::Repeat => self.repeat_alert(&name),
                }
            }
        }
    }

    /// Begins a new message with these changes.
    fn begin_alert(&mut self, name: &str, changes: Vec<AlertChange>) {
        let message = new_message_name(&self.shared);
        let steps = sending_steps(&message, &changes);
        let began = self.shared.now();
        let Some(target) = self.alerts.targets.get_mut(name) else { return };
        let to = target.target.clone();
        let open = OpenMessage { message, began, changes, is_under_way: true };
        target.open = Some(open.clone());
        self.attempt_alert(&to, &open, steps);
    }

    /// Sends the open message again, or settles it: its target does not drop repeats.
    fn repeat_alert(&mut self, name: &str) {
        let Some(target) = self.alerts.targets.get(name) else { return };
        let Some(open) = target.open.clone() else { return };
        let to = target.target.clone();
        if self.repeats_alerts(name) && !open.is_expired(self.shared.now()) {
            return self.attempt_alert(&to, &open, Vec::new());
        }
        let why = "the daemon ended while an alert was sent, or its answers were lost: it counts as delivered";
        tracing::warn!(target: "reckon::alerts", to = name, message = open.message, "{why}");
        let (shared, ids) = (self.shared.clone(), (to.name, open.message));
        self.tasks.spawn(TaskClass::Upkeep, async move {
            settle(&shared, ids, (Some(AlertOutcome::InDoubt), why.to_owned())).await
        });
    }

    fn repeats_alerts(&self, name: &str) -> bool {
        self.scripts.notifier.as_ref().is_some_and(|notifier| notifier.drops_repeats(name))
    }

    fn attempt_alert(&mut self, to: &AlertTarget, open: &OpenMessage, steps: Vec<AlertStep>) {
        let Some(notifier) = self.scripts.notifier.clone() else { return };
        let content = source!(self).content(&open.changes);
        let attempt = AlertAttempt {
            shared: self.shared.clone(),
            notification: notification(to, &open.message, &content),
            repeats: notifier.drops_repeats(&to.name),
            notifier,
            steps,
        };
        self.tasks.spawn(TaskClass::Upkeep, attempt.run());
    }

    /// Handles the end of an attempt.
    pub(crate) fn alert_tried(
        &mut self,
        target: &str,
        outcome: Option<AlertOutcome>,
        reason: String,
    ) {
        self.alerts.end(target, (outcome, reason), self.shared.now());
    }
}
