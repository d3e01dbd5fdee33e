//! Delivery of the notifications of simulated hooks. Some notifications are lost on the way, or
//! their answer is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::{TELL, Way};
use crate::engine::{Carried, Courier, IntakeLink};
use crate::outbox::{Message, Sent};
use crate::sim::power::{Point, Power, When};

/// One attempt to deliver a notification.
#[derive(Debug, Clone)]
pub(crate) struct Try {
    /// Name of the notification.
    pub(crate) key: String,
    pub(crate) text: String,
    /// Set if the recipient got it.
    pub(crate) arrived: bool,
}

/// The courier; clones share the deliveries. It outlives the machine.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pigeon {
    power: Power,
    log: Arc<Mutex<Log>>,
}

#[derive(Debug, Default)]
struct Log {
    calm: bool,
    ways: Vec<(u32, Way)>,
    count: u32,
    tries: Vec<Try>,
}

impl Pigeon {
    /// Returns a courier with these fates, by the number of the attempt. On a machine without power
    /// a delivery never ends.
    pub(super) fn new(power: Power, ways: &[(u32, Way)]) -> Self {
        let log = Log { ways: ways.to_vec(), ..Log::default() };
        Self { power, log: Arc::new(Mutex::new(log)) }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops all losses.
    pub(super) fn calm(&self) {
        self.log().calm = true;
    }

    /// Returns every attempt.
    pub(crate) fn tries(&self) -> Vec<Try> {
        self.log().tries.clone()
    }

    /// Returns true if the recipient got this notification.
    pub(super) fn arrived(&self, key: &str) -> bool {
        self.log().tries.iter().any(|one| one.arrived && one.key == key)
    }

    fn carried(&self, message: &Message) -> Sent {
        let mut log = self.log();
        log.count = log.count.saturating_add(1);
        let way = log.ways.iter().find(|(nth, _)| *nth == log.count && !log.calm);
        let way = way.map(|(_, way)| *way);
        let arrived = matches!(way, None | Some(Way::AnswerLost));
        let text =
            message.body.as_str().map_or_else(|| Value::to_string(&message.body), str::to_owned);
        log.tries.push(Try { key: message.key.clone(), text, arrived });
        match way {
            None => Sent::Done,
            Some(Way::AnswerLost) => Sent::InDoubt("its answer is lost".to_owned()),
            Some(Way::Lost) => Sent::InDoubt("it is lost".to_owned()),
            Some(Way::Nobody) => Sent::NotSent("nobody is there".to_owned()),
            Some(Way::Refused) => Sent::Refused("it is not wanted".to_owned()),
        }
    }
}

impl Courier for Pigeon {
    fn carry<'a>(&'a self, message: &'a Message) -> Carried<'a> {
        Box::pin(async move {
            let point = |when| Point { when, place: TELL, effect: "" };
            if !self.power.pass(point(When::Before)) {
                return std::future::pending().await;
            }
            let sent = self.carried(message);
            if !self.power.pass(point(When::After)) {
                return std::future::pending().await;
            }
            sent
        })
    }

    fn takes_any(&self, _target: &str) -> bool {
        false
    }

    fn intake(&self, link: &IntakeLink) -> String {
        format!("https://pay.example/{}", link.key.name)
    }
}
