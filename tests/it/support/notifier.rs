//! A courier for tests. It records notifications, and returns prepared results.

use std::sync::{Arc, Mutex};

use reckon::engine::hooks::notify::{DeliveryAttempt, NotificationSender};
use reckon::engine::protocol::payers::IntakeLink;
use reckon::http::public::public_routes::PublicRoutes;
use reckon::notify::alert::AlertTarget;
use reckon::notify::message::{DeliveryResult, OutgoingNotification};

pub(crate) struct Pigeon {
    pub(crate) carried: Mutex<Vec<OutgoingNotification>>,
    pub(crate) answers: Mutex<Vec<DeliveryResult>>,
    /// Target that never answers.
    pub(crate) hangs: Option<&'static str>,
    /// True if targets drop repeats.
    pub(crate) repeats: bool,
    /// Targets of alerts.
    pub(crate) alerts: Vec<AlertTarget>,
}

impl Pigeon {
    /// Makes a courier that returns these results in order, and then success.
    pub(crate) fn answering(answers: &[DeliveryResult]) -> Arc<Self> {
        Arc::new(Self::telling(answers))
    }

    /// Does the same; the value can still be changed.
    pub(crate) fn telling(answers: &[DeliveryResult]) -> Self {
        let answers = Mutex::new(answers.iter().rev().cloned().collect());
        Self { carried: Mutex::default(), answers, hangs: None, repeats: false, alerts: Vec::new() }
    }

    /// Returns every notification that it received.
    pub(crate) fn carried(&self) -> Vec<OutgoingNotification> {
        self.carried.lock().unwrap().clone()
    }
}

impl NotificationSender for Pigeon {
    fn deliver<'a>(&'a self, message: &'a OutgoingNotification) -> DeliveryAttempt<'a> {
        self.carried.lock().unwrap().push(message.clone());
        let answer = self.answers.lock().unwrap().pop().unwrap_or(DeliveryResult::Done);
        let hangs = self.hangs == Some(message.target.as_str());
        Box::pin(async move { if hangs { std::future::pending().await } else { answer } })
    }

    fn drops_repeats(&self, _target: &str) -> bool {
        self.repeats
    }

    fn alert_targets(&self) -> Vec<AlertTarget> {
        self.alerts.clone()
    }

    fn allows_any_address(&self, _target: &str) -> bool {
        false
    }

    fn intake_address(&self, link: &IntakeLink) -> String {
        PublicRoutes::new(&[3; 32]).intake_url("https://pay.example", link)
    }
}
