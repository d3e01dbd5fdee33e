//! Chat and mail: sends one notification to one target of the configuration.
//!
//! Contract: [`Notifier::send`] makes one attempt and returns its result, in the four words of every
//! other call ([`DeliveryResult`]). It stores nothing, waits for no other call and never retries by itself.
//! The caller records before the attempt that it will send, and afterwards the result. A repeat has
//! the same key, so that the receiver can drop it. The targets are the operator's alone. Redirects
//! and proxies are off. Bodies are bounded and card numbers in them are masked. No reason holds an
//! address, a password or a server's text.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use super::message::{DeliveryResult, OutgoingNotification};
use super::target::{BodyFormat, NotificationTarget, SmtpTarget};
use super::{body, mail, mime, sensitive, web};
use crate::base::clock::SharedClock;
use crate::base::wording;

/// Default time limit of one target.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct NotifierOptions {
    /// The time limit of a web address's answer, and a third of the limit of each half of a
    /// conversation with a mail server. Mail servers are slower, and giving up too early leaves
    /// doubt.
    pub timeout: Duration,
    /// The clock of a mail's date.
    pub clock: SharedClock,
}

impl NotifierOptions {
    /// Ten seconds, and this clock.
    pub fn new(clock: SharedClock) -> Self {
        Self { timeout: TIMEOUT, clock }
    }
}

/// The sender of notifications. `Debug` shows no address and no password.
#[derive(Debug)]
pub struct Notifier {
    targets: BTreeMap<String, NotificationTarget>,
    options: NotifierOptions,
    web: web::WebSender,
}

impl Notifier {
    /// Returns an outbox for these targets, by name. It opens no connection before the first
    /// notification.
    pub fn new(targets: BTreeMap<String, NotificationTarget>, options: NotifierOptions) -> Self {
        Self { targets, web: web::WebSender::new(options.timeout), options }
    }

    /// Sends a notification to its target, once. Dropping the future leaves doubt, as a crash does.
    pub async fn send(&self, message: &OutgoingNotification) -> DeliveryResult {
        let target = self.targets.get(&message.target);
        self.attempt(message, target)
            .await
            .without_values(&sensitive::sensitive_values(message, target))
    }

    async fn attempt(
        &self,
        message: &OutgoingNotification,
        target: Option<&NotificationTarget>,
    ) -> DeliveryResult {
        if let Err(reason) = message.check_key() {
            return DeliveryResult::Refused(reason);
        }
        match target {
            Some(NotificationTarget::Web { url, form }) => match web_body(message, *form) {
                Ok(body) => self.web.post(url, &message.key, body).await,
                Err(reason) => DeliveryResult::Refused(reason),
            },
            Some(NotificationTarget::Mail(mail)) => self.deliver_mail(mail, message).await,
            None => DeliveryResult::Refused(self.unknown_target(&message.target)),
        }
    }

    async fn deliver_mail(
        &self,
        mail: &SmtpTarget,
        message: &OutgoingNotification,
    ) -> DeliveryResult {
        match mime::build_mail(mail, message, self.options.clock.now()) {
            Ok(letter) => mail::send(mail, &letter, self.options.timeout).await,
            Err(reason) => DeliveryResult::Refused(reason),
        }
    }

    fn unknown_target(&self, name: &str) -> String {
        let help = wording::suggestion_help(name, self.targets.keys().map(String::as_str));
        format!("the configuration has no target `{name}`: {help}")
    }
}

/// Returns the body to post.
///
/// # Errors
/// The message cannot be sent to a web address.
fn web_body(message: &OutgoingNotification, form: BodyFormat) -> Result<String, String> {
    if message.to.is_some() {
        let target = &message.target;
        return Err(format!("`{target}` is a web address: only mail takes `to`"));
    }
    body::json(&message.body, form)
}
