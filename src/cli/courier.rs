//! Delivery of the notifications of hooks to the targets of the configuration, which are read when
//! the first one is needed.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::sandbox::Addresses;
use super::setup::Setup;
use super::targets;
use crate::base::clock::SystemClock;
use crate::config::{NotifyTarget, ProcessEnv};
use crate::engine::{Carried, Courier, IntakeLink};
use crate::outbox::{Message, Options, Outbox, Sent};

/// The notifier of a daemon.
pub(super) struct Post {
    setup: Arc<Setup>,
    addresses: Addresses,
    /// True in a rehearsal, where no notification is sent.
    rehearses: bool,
    outbox: OnceLock<Result<Outbox, String>>,
}

impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Post(…)")
    }
}

impl Post {
    /// Creates the notifier of this configuration; links begin with the public address where there
    /// is one. In a rehearsal it delivers nothing, since a sandbox made the events up.
    pub(super) fn new(setup: Arc<Setup>, addresses: Addresses, rehearses: bool) -> Self {
        let public = setup.config.public_url.as_ref().and_then(|url| url.get(&ProcessEnv).ok());
        let base = public.map_or_else(|| addresses.base.clone(), |url| url.as_str().to_owned());
        let addresses = Addresses { base, ..addresses };
        Self { setup, addresses, rehearses, outbox: OnceLock::new() }
    }

    fn outbox(&self) -> Result<&Outbox, String> {
        let made = self.outbox.get_or_init(|| {
            let targets = targets::targets(&self.setup.config, &ProcessEnv);
            let targets = targets.map_err(|errors| {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                errors.join("; ")
            })?;
            Ok(Outbox::new(targets, Options::new(Arc::new(SystemClock))))
        });
        made.as_ref().map_err(Clone::clone)
    }
}

impl Courier for Post {
    fn carry<'a>(&'a self, message: &'a Message) -> Carried<'a> {
        Box::pin(async move {
            if self.rehearses {
                // The text may hold a payer's link.
                let (target, key) = (message.target.as_str(), message.key.as_str());
                tracing::info!(target_name = target, key, "a rehearsal: nobody is told");
                return Sent::Done;
            }
            match self.outbox() {
                Ok(outbox) => outbox.send(message).await,
                Err(why) => Sent::NotSent(why),
            }
        })
    }

    fn takes_any(&self, target: &str) -> bool {
        let target = self.setup.config.notify.iter().find(|(name, _)| name.as_str() == target);
        matches!(target, Some((_, NotifyTarget::Mail(mail))) if mail.any)
    }

    fn repeats(&self, target: &str) -> bool {
        let mut targets = self.setup.config.notify.iter();
        let target = targets.find(|(name, _)| name.as_str() == target);
        target.is_some_and(|(_, target)| target.is_at_least_once(&ProcessEnv))
    }

    fn intake(&self, link: &IntakeLink) -> String {
        self.addresses.outside.intake(&self.addresses.base, link)
    }
}
