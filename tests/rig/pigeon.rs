//! Carries what hooks tell: keeps what it is given, and answers as it was told to.
#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::sync::{Arc, Mutex};

use reckon::engine::{Carried, Courier, IntakeLink};
use reckon::http::Outside;
use reckon::outbox::{Message, Sent};

/// A courier.
pub(crate) struct Pigeon {
    carried: Mutex<Vec<Message>>,
    answers: Mutex<Vec<Sent>>,
}

impl Pigeon {
    /// One that answers so, one after the other, and then that all went well.
    pub(crate) fn answering(answers: &[Sent]) -> Arc<Self> {
        let answers = Mutex::new(answers.iter().rev().cloned().collect());
        Arc::new(Self { carried: Mutex::default(), answers })
    }

    /// Everything that it was given.
    pub(crate) fn carried(&self) -> Vec<Message> {
        self.carried.lock().unwrap().clone()
    }
}

impl Courier for Pigeon {
    fn carry<'a>(&'a self, message: &'a Message) -> Carried<'a> {
        self.carried.lock().unwrap().push(message.clone());
        let answer = self.answers.lock().unwrap().pop().unwrap_or(Sent::Done);
        Box::pin(async move { answer })
    }

    fn intake(&self, link: &IntakeLink) -> String {
        Outside::new(&[3; 32]).intake("https://pay.example", link)
    }
}
