//! Notifications of hooks: each is sent once, and never again if its arrival is not known.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use chrono::TimeDelta;

use crate::base::fault_injection;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::hooks::actions::{ActionEnd, settle_request};
use crate::engine::protocol::payers::IntakeLink;
use crate::model::events::hook_run::{
    ActionOutcome, ActionRequestId, Channel, NotificationAttempt, PendingAction, Scheduled,
};
use crate::model::record::Record;
use crate::notify::alert::AlertTarget;
use crate::notify::message::{DeliveryResult, OutgoingNotification};

/// Time in which a notification is repeated, if its target drops repeats.
const REPEATED_FOR: TimeDelta = TimeDelta::days(1);

/// A delivery attempt under way.
pub type DeliveryAttempt<'a> = Pin<Box<dyn Future<Output = DeliveryResult> + Send + 'a>>;

/// Delivers notifications out of the process.
pub trait NotificationSender: Send + Sync {
    fn deliver<'a>(&'a self, message: &'a OutgoingNotification) -> DeliveryAttempt<'a>;
    /// Returns true if a target may receive a notification twice, and drops repeats by their key.
    fn drops_repeats(&self, _target: &str) -> bool {
        false
    }
    /// Returns the targets of alerts.
    fn alert_targets(&self) -> Vec<AlertTarget> {
        Vec::new()
    }
    /// Returns the address of a payer's page: a secret.
    fn intake_address(&self, link: &IntakeLink) -> String;
    /// Returns true if scripts may name any address to this target, not only a contact's.
    fn allows_any_address(&self, target: &str) -> bool;
}

/// Returns true if a lost notification is repeated: its target drops repeats, and it is recent.
fn may_repeat(
    shared: &EngineShared,
    pending: &PendingAction,
    notifier: &dyn NotificationSender,
) -> bool {
    let Channel::Target(target) = Channel::of(&pending.request) else { return false };
    let age = shared.now().signed_duration_since(Scheduled::of(pending).at);
    age < REPEATED_FOR && notifier.drops_repeats(&target)
}

/// Returns the attempt at a notification. An inner error settles it without one: how, and why.
pub(crate) fn attempt(
    shared: &Arc<EngineShared>,
    pending: &PendingAction,
    notifier: Arc<dyn NotificationSender>,
    message: impl FnOnce() -> Result<OutgoingNotification, String>,
) -> EngineResult<Result<NotificationSend, (ActionOutcome, String)>> {
    let id = pending.id.clone();
    let repeats = may_repeat(shared, pending, &*notifier);
    if shared.facts.is_sending(&id)? && !repeats {
        let why = "the daemon ended during the delivery: whether the message arrived is not known";
        return Ok(Err((ActionOutcome::Unknown, why.to_owned())));
    }
    let shared = shared.clone();
    Ok(message()
        .map(|message| NotificationSend { shared, id, message, notifier, repeats })
        .map_err(|why| (ActionOutcome::Invalid, why)))
}

pub(crate) struct NotificationSend {
    shared: Arc<EngineShared>,
    id: ActionRequestId,
    message: OutgoingNotification,
    notifier: Arc<dyn NotificationSender>,
    /// True if a lost answer does not settle it.
    repeats: bool,
}

impl NotificationSend {
    /// Records the attempt, makes it, and records the result.
    pub(crate) async fn run(self) -> EngineResult<TaskResult> {
        if !fault_injection::is_active("told-without-a-note") {
            self.write_attempt(true).await?;
        }
        let warn = |why: &str, what: &str| {
            tracing::warn!(event = self.id.event, action = %self.id.name, reason = why, "{what}");
        };
        let (outcome, message) = match self.notifier.deliver(&self.message).await {
            DeliveryResult::Done => (ActionOutcome::Done, "told".to_owned()),
            DeliveryResult::Refused(why) => (ActionOutcome::Refused, why),
            DeliveryResult::InDoubt(why) if self.repeats => {
                warn(&why, "notification sent again: its answer was lost");
                return Ok(TaskResult::ActionTried(self.id, false, None));
            }
            DeliveryResult::InDoubt(why) => (ActionOutcome::Unknown, why),
            DeliveryResult::NotSent(why) => {
                warn(&why, "notification not sent yet");
                self.write_attempt(false).await?;
                return Ok(TaskResult::ActionTried(self.id, false, None));
            }
        };
        if outcome != ActionOutcome::Done {
            warn(&message, "notification not sent");
        }
        settle_request(self.shared, ActionEnd { id: self.id, outcome, message, with: None }).await
    }

    async fn write_attempt(&self, in_progress: bool) -> EngineResult<()> {
        let (id, at) = (self.id.clone(), self.shared.now());
        let attempt = NotificationAttempt { id, in_progress, at };
        let record = Record::NotificationAttempt(Box::new(attempt));
        self.shared.write(Vec::new(), vec![record]).await
    }
}

#[cfg(test)]
mod tests;
