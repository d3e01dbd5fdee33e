//! Sends one message to one target: records that it is about to, makes one attempt, and records the
//! result.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use rand_core::Rng as _;

use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::hooks::notify::NotificationSender;
use crate::model::alerts::{AlertChange, AlertOutcome, AlertRecord, AlertStep};
use crate::model::record::Record;
use crate::notify::alert::{AlertContent, AlertTarget, alert_data, alert_subject, alert_text};
use crate::notify::message::{DeliveryResult, OutgoingNotification};

/// Changes in one record, at most: a record has at most a mebibyte.
const CHANGES_MAX: usize = 1_000;
const KEY_BYTES: usize = 16;

/// Returns a new name for a message, which no other message has.
pub(crate) fn new_message_name(shared: &EngineShared) -> String {
    let mut bytes = [0; KEY_BYTES];
    shared.random(|rng| rng.fill_bytes(&mut bytes));
    format!("alert-{}", HEXLOWER.encode(&bytes))
}

/// Returns the notification of a message.
pub(crate) fn notification(
    target: &AlertTarget,
    message: &str,
    content: &AlertContent,
) -> OutgoingNotification {
    let body = if target.is_program {
        alert_data(content)
    } else {
        serde_json::Value::String(alert_text(content))
    };
    OutgoingNotification {
        key: message.to_owned(),
        target: target.name.clone(),
        body,
        html: None,
        subject: Some(alert_subject(content)),
        to: None,
    }
}

/// Returns the records of a message that is about to be sent.
pub(crate) fn sending_steps(message: &str, changes: &[AlertChange]) -> Vec<AlertStep> {
    let parts = changes.chunks(CHANGES_MAX);
    let step = |part: &[AlertChange]| AlertStep::Sending {
        message: message.to_owned(),
        changes: part.to_vec(),
    };
    parts.map(step).collect()
}

/// Writes steps of the alerts to a target.
pub(crate) async fn write_steps(
    shared: &EngineShared,
    target: &str,
    steps: Vec<AlertStep>,
) -> EngineResult<()> {
    let at = shared.now();
    let record = |step| AlertRecord { target: target.to_owned(), at, step };
    let records = steps.into_iter().map(|step| Record::Alert(Box::new(record(step)))).collect();
    shared.write(Vec::new(), records).await
}

/// An attempt at a message.
pub(crate) struct AlertAttempt {
    pub(crate) shared: Arc<EngineShared>,
    pub(crate) notifier: Arc<dyn NotificationSender>,
    pub(crate) notification: OutgoingNotification,
    /// The records that precede it; none for a repeat.
    pub(crate) steps: Vec<AlertStep>,
    /// True if a lost answer does not settle it.
    pub(crate) repeats: bool,
}

impl AlertAttempt {
    /// Records the attempt, makes it, and records the result.
    pub(crate) async fn run(self) -> EngineResult<TaskResult> {
        let (target, message) = (self.notification.target.clone(), self.notification.key.clone());
        if !self.steps.is_empty() {
            write_steps(&self.shared, &target, self.steps).await?;
        }
        let (outcome, reason) = match self.notifier.deliver(&self.notification).await {
            DeliveryResult::Done => (Some(AlertOutcome::Delivered), String::new()),
            DeliveryResult::NotSent(why) => (Some(AlertOutcome::NotSent), why),
            DeliveryResult::Refused(why) => (Some(AlertOutcome::Refused), why),
            DeliveryResult::InDoubt(why) if self.repeats => (None, why),
            DeliveryResult::InDoubt(why) => (Some(AlertOutcome::InDoubt), why),
        };
        log_result(&self.notification, outcome, &reason);
        settle(&self.shared, (target, message), (outcome, reason)).await
    }
}

/// Records the result of a message; `None` leaves it open.
pub(crate) async fn settle(
    shared: &EngineShared,
    (target, message): (String, String),
    (outcome, reason): (Option<AlertOutcome>, String),
) -> EngineResult<TaskResult> {
    if let Some(outcome) = outcome {
        write_steps(shared, &target, vec![AlertStep::Ended { message, outcome }]).await?;
    }
    Ok(TaskResult::AlertTried(target, outcome, reason))
}

fn log_result(sent: &OutgoingNotification, outcome: Option<AlertOutcome>, reason: &str) {
    let (to, message) = (sent.target.as_str(), sent.key.as_str());
    let what = sent.subject.as_deref().unwrap_or_default();
    match outcome {
        Some(AlertOutcome::Delivered) => {
            tracing::info!(target: "reckon::alerts", to, message, "alert: {what}");
        }
        Some(AlertOutcome::NotSent) => {
            tracing::warn!(target: "reckon::alerts", to, message, reason, "alert not delivered yet");
        }
        Some(AlertOutcome::Refused) => {
            tracing::warn!(target: "reckon::alerts", to, message, reason, "alert refused");
        }
        Some(AlertOutcome::InDoubt) => {
            let what = "the answer to an alert was lost: it counts as delivered";
            tracing::warn!(target: "reckon::alerts", to, message, reason, "{what}");
        }
        None => {
            let what = "the answer to an alert was lost: it is sent again";
            tracing::warn!(target: "reckon::alerts", to, message, reason, "{what}");
        }
    }
}
