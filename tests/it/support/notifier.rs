//! Carries what hooks tell: keeps what it is given, and answers as it was told to.

use std::sync::{Arc, Mutex};

use reckon::engine::{Carried, Courier, IntakeLink};
use reckon::http::Outside;
use reckon::outbox::{Message, Sent};

/// A courier.
pub(crate) struct Pigeon {
    pub(crate) carried: Mutex<Vec<Message>>,
    pub(crate) answers: Mutex<Vec<Sent>>,
    /// A target that never answers.
    pub(crate) hangs: Option<&'static str>,
    /// Whether targets drop repeats.
    pub(crate) repeats: bool,
}

impl Pigeon {
    /// One that answers so, one after the other, and then that all went well.
    pub(crate) fn answering(answers: &[Sent]) -> Arc<Self> {
        Arc::new(Self::telling(answers))
    }

    /// The same, to be changed.
    pub(crate) fn telling(answers: &[Sent]) -> Self {
        let answers = Mutex::new(answers.iter().rev().cloned().collect());
        Self { carried: Mutex::default(), answers, hangs: None, repeats: false }
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
        let hangs = self.hangs == Some(message.target.as_str());
        Box::pin(async move { if hangs { std::future::pending().await } else { answer } })
    }

    fn repeats(&self, _target: &str) -> bool {
        self.repeats
    }

    fn takes_any(&self, _target: &str) -> bool {
        false
    }

    fn intake(&self, link: &IntakeLink) -> String {
        Outside::new(&[3; 32]).intake("https://pay.example", link)
    }
}
