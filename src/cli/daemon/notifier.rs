//! Delivery of the notifications of hooks to the targets of the configuration, which are read when
//! the first one is needed.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::targets;
use crate::base::clock::SystemClock;
use crate::cli::commands::sandbox::command::WebhookAddresses;
use crate::cli::context::open::Context;
use crate::config::notify::NotifyTarget;
use crate::config::setting::ProcessEnv;
use crate::engine::commands::intake::IntakeLink;
use crate::engine::hooks::notify::{DeliveryAttempt, NotificationSender};
use crate::notify::deliver::{Notifier, NotifierOptions};
use crate::notify::message::{DeliveryResult, OutgoingNotification};

/// The notifier of a daemon.
pub(crate) struct DaemonNotifier {
    setup: Arc<Context>,
    addresses: WebhookAddresses,
    /// True in a rehearsal, where no notification is sent.
    is_rehearsal: bool,
    outbox: OnceLock<Result<Notifier, String>>,
}

impl fmt::Debug for DaemonNotifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Post(…)")
    }
}

impl DaemonNotifier {
    /// Creates the notifier of this configuration; links begin with the public address where there
    /// is one. In a rehearsal it delivers nothing, since a sandbox made the events up.
    pub(crate) fn new(setup: Arc<Context>, addresses: WebhookAddresses, rehearses: bool) -> Self {
        let public = setup.config.public_url.as_ref().and_then(|url| url.get(&ProcessEnv).ok());
        let base = public.map_or_else(|| addresses.base.clone(), |url| url.as_str().to_owned());
        let addresses = WebhookAddresses { base, ..addresses };
        Self { setup, addresses, is_rehearsal: rehearses, outbox: OnceLock::new() }
    }

    fn outbox(&self) -> Result<&Notifier, String> {
        let made = self.outbox.get_or_init(|| {
            let targets = targets::targets(&self.setup.config, &ProcessEnv);
            let targets = targets.map_err(|errors| {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                errors.join("; ")
            })?;
            Ok(Notifier::new(targets, NotifierOptions::new(Arc::new(SystemClock))))
        });
        made.as_ref().map_err(Clone::clone)
    }
}

impl NotificationSender for DaemonNotifier {
    fn deliver<'a>(&'a self, message: &'a OutgoingNotification) -> DeliveryAttempt<'a> {
        Box::pin(async move {
            if self.is_rehearsal {
                // The text may hold a payer's link.
                let (target, key) = (message.target.as_str(), message.key.as_str());
                tracing::info!(
                    target_name = target,
                    key,
                    "rehearsal: the notification is not sent"
                );
                return DeliveryResult::Done;
            }
            match self.outbox() {
                Ok(outbox) => outbox.send(message).await,
                Err(why) => DeliveryResult::NotSent(why),
            }
        })
    }

    fn allows_any_address(&self, target: &str) -> bool {
        let target = self.setup.config.notify.iter().find(|(name, _)| name.as_str() == target);
        matches!(target, Some((_, NotifyTarget::Mail(mail))) if mail.allows_any_recipient)
    }

    fn drops_repeats(&self, target: &str) -> bool {
        let mut targets = self.setup.config.notify.iter();
        let target = targets.find(|(name, _)| name.as_str() == target);
        target.is_some_and(|(_, target)| target.is_at_least_once(&ProcessEnv))
    }

    fn intake_address(&self, link: &IntakeLink) -> String {
        self.addresses.outside.intake_url(&self.addresses.base, link)
    }
}
