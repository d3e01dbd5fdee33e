//! Chat and mail: carries one notification to one target of the configuration.
//!
//! Contract: [`Outbox::send`] makes one attempt and says what is known of it, in the four words of every other call
//! ([`Sent`]). It keeps nothing, waits for nobody and never tries again by itself: whoever calls it writes down before
//! that it will be sent, and after what became of it. A repeat bears the same key, so that the receiver can drop it.
//! Targets are the operator's alone. Redirects and proxies are off. Bodies are bounded, card numbers that slipped into
//! them are masked, and no reason holds an address, a password or what a server wrote.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::base::clock::SharedClock;
use crate::base::nearest;

mod body;
mod known;
mod letter;
mod mail;
mod message;
mod target;
mod web;

pub use message::{Message, Sent};
pub use target::{Encryption, Form, Login, Mail, Target};

/// How long one target may take where nobody says otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How the outbox works.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long a web address may take to answer, and a third of what each half of a conversation with a mail server
    /// may take: mail servers are slower, and to give up too early leaves doubt.
    pub timeout: Duration,
    /// The time that a mail bears.
    pub clock: SharedClock,
}

impl Options {
    /// Ten seconds, and this clock.
    pub fn new(clock: SharedClock) -> Self {
        Self { timeout: TIMEOUT, clock }
    }
}

/// The way out for notifications. `Debug` shows no address and no password.
#[derive(Debug)]
pub struct Outbox {
    targets: BTreeMap<String, Target>,
    options: Options,
    web: web::Web,
}

impl Outbox {
    /// An outbox for these targets, by their names. Nothing is opened before the first notification.
    pub fn new(targets: BTreeMap<String, Target>, options: Options) -> Self {
        Self { targets, web: web::Web::new(options.timeout), options }
    }

    /// Sends a notification to its target, once. Dropping the future leaves doubt, as a crash does.
    pub async fn send(&self, message: &Message) -> Sent {
        let target = self.targets.get(&message.target);
        self.attempt(message, target).await.cleaned(&known::known(message, target))
    }

    async fn attempt(&self, message: &Message, target: Option<&Target>) -> Sent {
        if let Err(reason) = message.check() {
            return Sent::Refused(reason);
        }
        match target {
            Some(Target::Web { url, form }) => match web_body(message, *form) {
                Ok(body) => self.web.post(url, &message.key, body).await,
                Err(reason) => Sent::Refused(reason),
            },
            Some(Target::Mail(mail)) => self.mail(mail, message).await,
            None => Sent::Refused(self.unknown(&message.target)),
        }
    }

    async fn mail(&self, mail: &Mail, message: &Message) -> Sent {
        match letter::letter(mail, message, self.options.clock.now()) {
            Ok(letter) => mail::send(mail, &letter, self.options.timeout).await,
            Err(reason) => Sent::Refused(reason),
        }
    }

    fn unknown(&self, name: &str) -> String {
        let help = nearest::help(name, self.targets.keys().map(String::as_str));
        format!("the configuration has no target `{name}`: {help}")
    }
}

/// What is posted. Errors: it cannot be said to a web address.
fn web_body(message: &Message, form: Form) -> Result<String, String> {
    if message.to.is_some() {
        let target = &message.target;
        return Err(format!("`{target}` is a web address: only mail takes `to`"));
    }
    body::json(&message.body, form)
}

#[cfg(test)]
mod tests;
