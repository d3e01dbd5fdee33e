//! Delivery of the notifications of simulated hooks. Some notifications are lost on the way, or
//! their answer is.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

use crate::engine::hooks::notify::{DeliveryAttempt, NotificationSender};
use crate::engine::protocol::payers::IntakeLink;
use crate::notify::message::{DeliveryResult, OutgoingNotification};
use crate::sim::machine::disk::MachinePower;
use crate::sim::plan::chance::{CrashPoint, CrashSide, NOTIFY_POINT};
use crate::sim::plan::hook_scripts::NotificationFate;

#[derive(Debug, Clone)]
pub(crate) struct SimDelivery {
    pub(crate) key: String,
    pub(crate) text: String,
    pub(crate) arrived: bool,
}

/// The courier; clones share the deliveries. It outlives the machine.
#[derive(Debug, Clone, Default)]
pub(crate) struct SimNotifier {
    power: MachinePower,
    log: Arc<Mutex<NotifierLog>>,
}

#[derive(Debug, Default)]
struct NotifierLog {
    calm: bool,
    fates: Vec<(u32, NotificationFate)>,
    count: u32,
    attempts: Vec<SimDelivery>,
}

impl SimNotifier {
    /// Returns a courier with these fates, by the number of the attempt. On a machine without power
    /// a delivery never ends.
    pub(crate) fn new(power: MachinePower, ways: &[(u32, NotificationFate)]) -> Self {
        let log = NotifierLog { fates: ways.to_vec(), ..NotifierLog::default() };
        Self { power, log: Arc::new(Mutex::new(log)) }
    }

    pub(crate) fn stop_losses(&self) {
        self.log.lock().calm = true;
    }

    pub(crate) fn attempts(&self) -> Vec<SimDelivery> {
        self.log.lock().attempts.clone()
    }

    fn deliver(&self, message: &OutgoingNotification) -> DeliveryResult {
        let mut log = self.log.lock();
        log.count = log.count.saturating_add(1);
        let fate = log.fates.iter().find(|(nth, _)| *nth == log.count && !log.calm);
        let fate = fate.map(|(_, fate)| *fate);
        let arrived = matches!(fate, None | Some(NotificationFate::AnswerLost));
        let text =
            message.body.as_str().map_or_else(|| Value::to_string(&message.body), str::to_owned);
        log.attempts.push(SimDelivery { key: message.key.clone(), text, arrived });
        let Some(fate) = fate else { return DeliveryResult::Done };
        match fate {
            NotificationFate::AnswerLost => {
                DeliveryResult::InDoubt("its answer is lost".to_owned())
            }
            NotificationFate::Lost => DeliveryResult::InDoubt("it is lost".to_owned()),
            NotificationFate::Nobody => DeliveryResult::NotSent("nobody is there".to_owned()),
            NotificationFate::Refused => DeliveryResult::Refused("it is not wanted".to_owned()),
        }
    }
}

impl NotificationSender for SimNotifier {
    fn deliver<'a>(&'a self, message: &'a OutgoingNotification) -> DeliveryAttempt<'a> {
        Box::pin(async move {
            let point = |when| CrashPoint { when, place: NOTIFY_POINT, effect: "" };
            if !self.power.pass(point(CrashSide::Before)) {
                return std::future::pending().await;
            }
            let sent = self.deliver(message);
            if !self.power.pass(point(CrashSide::After)) {
                return std::future::pending().await;
            }
            sent
        })
    }

    fn allows_any_address(&self, _target: &str) -> bool {
        false
    }

    fn intake_address(&self, link: &IntakeLink) -> String {
        format!("https://pay.example/{}", link.key.name)
    }
}
