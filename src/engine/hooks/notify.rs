//! Notifications of hooks: each is sent once, and never again if its arrival is not known.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use chrono::{Days, TimeDelta, Utc};
use serde_json::Value;

use crate::base::id::Key;
use crate::base::planted;
use crate::engine::shared::{EngineError, Shared};
use crate::engine::tasks::Finished;
use crate::engine::{Engine, IntakeLink};
use crate::hooks::escaped;
use crate::kinds::reference;
use crate::kinds::step::MERCHANT;
use crate::model::ran::{Channel, Fate, Granted, Pending, Scheduled, Telling, WishId};
use crate::model::record::Record;
use crate::outbox::{Message, Sent};
use crate::plan::World;

/// Placeholder of a payer's link in a text.
const LINK: (&str, &str) = ("{{intake:", "}}");
/// Days for which such a link is valid.
const LINK_DAYS: Days = Days::new(7);
/// Largest number of links in one notification.
const LINKS_MAX: usize = 16;

/// Time in which a notification is repeated, if its target drops repeats.
const REPEATED_FOR: TimeDelta = TimeDelta::days(1);

/// A delivery attempt under way.
pub type Carried<'a> = Pin<Box<dyn Future<Output = Sent> + Send + 'a>>;

/// Delivers notifications out of the process.
pub trait Courier: Send + Sync {
    /// Makes one attempt.
    fn carry<'a>(&'a self, message: &'a Message) -> Carried<'a>;
    /// Returns true if a target may receive a notification more than once, and drops repeats by
    /// their key.
    fn repeats(&self, _target: &str) -> bool {
        false
    }
    /// Returns the address of a payer's page: a secret.
    fn intake(&self, link: &IntakeLink) -> String;
    /// Returns true if scripts may name any address to this target; otherwise only contacts of the
    /// event's merchant.
    fn takes_any(&self, target: &str) -> bool;
}

impl Engine {
    /// Sets the courier for hooks' notifications.
    pub fn tell_through(&mut self, courier: Arc<dyn Courier>) {
        self.scripts.courier = Some(courier);
        self.scripts.agenda.reload();
    }

    /// Sends a notification, or settles it.
    pub(super) fn notify_for(&mut self, pending: &Pending) {
        let id = pending.id.clone();
        let Some(courier) = self.scripts.courier.clone() else {
            return self.scripts.agenda.end(&id);
        };
        let repeats = self.repeats(pending, &*courier);
        match self.shared.facts.is_telling(&id) {
            Ok(false) => {}
            Ok(true) if repeats => {}
            Ok(true) => {
                let why = "the daemon ended while it was told: whether it arrived is not known";
                return self.settle_wish(id, Fate::Unknown, why.to_owned(), None);
            }
            Err(error) => {
                self.tasks.spawn(async move { Finished::Broken(error.into()) });
                return;
            }
        }
        match self.message(pending, &*courier) {
            Ok(message) => {
                let shared = self.shared.clone();
                let sending = Sending { shared, id, message, courier, repeats };
                self.tasks.spawn(sending.run());
            }
            Err(why) => self.settle_wish(id, Fate::Invalid, why, None),
        }
    }

    /// Returns true if a notification whose answer was lost is repeated: its target drops repeats,
    /// and it is younger than a day.
    fn repeats(&self, pending: &Pending, courier: &dyn Courier) -> bool {
        let Channel::Target(target) = Channel::of(&pending.wish) else { return false };
        let age = self.shared.now().signed_duration_since(Scheduled::of(pending).at);
        age < REPEATED_FOR && courier.repeats(&target)
    }

    /// Builds the message.
    ///
    /// # Errors
    /// It cannot be built.
    fn message(&self, pending: &Pending, courier: &dyn Courier) -> Result<Message, String> {
        let fields = &pending.wish.fields;
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let key = pending.id.action_name().map_err(|error| error.to_string())?;
        let body = fields.get("body").cloned().unwrap_or_default();
        let target = text("target").ok_or("it names no target")?;
        let whose = (!courier.takes_any(&target)).then_some(&pending.id.merchant);
        let links = Links { engine: self, courier, merchant: &pending.id.merchant };
        Ok(Message {
            key: key.to_string(),
            target,
            body: if let Value::String(body) = body {
                Value::String(links.filled(body, str::to_owned)?)
            } else {
                body
            },
            html: text("html").map(|html| links.filled(html, escaped)).transpose()?,
            subject: text("subject"),
            to: text("to").map(|to| self.addresses(&to, whose)).transpose()?,
        })
    }

    /// Returns the addresses of a contact, or the written address. `whose` is the merchant that the
    /// contact must belong to; without one any address is permitted.
    ///
    /// # Errors
    /// The contact has no address, or belongs to another merchant.
    fn addresses(&self, to: &str, whose: Option<&Key>) -> Result<Vec<String>, String> {
        if to.contains('@') {
            let closed =
                || "a mail of a script goes to contacts of the event's merchant alone".to_owned();
            return whose.is_none().then(|| vec![to.to_owned()]).ok_or_else(closed);
        }
        let key: Key =
            to.parse().map_err(|_| "its `to` is neither an address nor a contact".to_owned())?;
        let manifest = self.world.desired().manifest(&key);
        let of = manifest.as_ref().and_then(|one| merchant_of(&key, &one.spec));
        if whose.is_some_and(|whose| of.as_ref() != Some(whose)) {
            let name = key.short();
            return Err(format!(
                "{name} is no contact of the event's merchant: no mail is sent to it"
            ));
        }
        let list = manifest.and_then(|one| one.spec.get("email_addresses").cloned());
        let addresses: Vec<String> = list
            .as_ref()
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|one| one.get("address")?.as_str().map(str::to_owned))
            .collect();
        if addresses.is_empty() {
            return Err(format!("{} has no e-mail address", key.short()));
        }
        Ok(addresses)
    }
}

/// Returns the merchant that a document names.
fn merchant_of(key: &Key, spec: &Value) -> Option<Key> {
    reference::resolve(MERCHANT, spec.get("merchant")?.as_str()?, &key.namespace).ok()
}

/// Builds the payers' links of a notification.
struct Links<'a> {
    engine: &'a Engine,
    courier: &'a dyn Courier,
    /// The event's merchant: links are made for its methods alone.
    merchant: &'a Key,
}

impl Links<'_> {
    /// Returns a text with its placeholders replaced by payers' links, each passed through
    /// `written`.
    ///
    /// # Errors
    /// A link cannot be made now.
    fn filled(&self, mut text: String, written: fn(&str) -> String) -> Result<String, String> {
        let (open, close) = LINK;
        for _ in 0..LINKS_MAX {
            let Some((before, rest)) = text.split_once(open) else { return Ok(text) };
            let Some((key, after)) = rest.split_once(close) else { return Ok(text) };
            let key: Key = key.parse().map_err(|_| "its link names no saved method".to_owned())?;
            text = [before, written(&self.link(key)?).as_str(), after].concat();
        }
        Err(format!("it asks for more than {LINKS_MAX} links"))
    }

    fn link(&self, key: Key) -> Result<String, String> {
        let terms = self.engine.intake_link(&key)?;
        let manifest = self.engine.world.desired().manifest(&key);
        let of = manifest.and_then(|one| merchant_of(&key, &one.spec));
        if of.as_ref() != Some(self.merchant) {
            return Err(format!(
                "{} is no method of the event's merchant: no link is made",
                key.short()
            ));
        }
        let until = self.engine.shared.now().checked_add_days(LINK_DAYS);
        let until = until.unwrap_or(chrono::DateTime::<Utc>::MAX_UTC);
        Ok(self.courier.intake(&IntakeLink { key, terms, until }))
    }
}

/// One attempt at a notification.
struct Sending {
    shared: Arc<Shared>,
    id: WishId,
    message: Message,
    courier: Arc<dyn Courier>,
    /// True if a lost answer does not settle it.
    repeats: bool,
}

impl Sending {
    async fn run(self) -> Finished {
        match self.send().await {
            Ok(settled) => Finished::Granted(self.id, settled, None),
            Err(error) => Finished::Broken(error),
        }
    }

    /// Records the attempt, makes it, and records the result. Returns true if the notification is
    /// settled.
    async fn send(&self) -> Result<bool, EngineError> {
        if !planted::is("told-without-a-note") {
            self.note(true).await?;
        }
        let (fate, why) = match self.courier.carry(&self.message).await {
            Sent::Done => (Fate::Done, "told".to_owned()),
            Sent::Refused(why) => (Fate::Refused, why),
            Sent::InDoubt(why) if self.repeats => {
                self.warn(&why, "sent again: its answer got lost");
                return Ok(false);
            }
            Sent::InDoubt(why) => (Fate::Unknown, why),
            Sent::NotSent(why) => {
                self.warn(&why, "not told yet");
                self.note(false).await?;
                return Ok(false);
            }
        };
        if fate != Fate::Done {
            self.warn(&why, "not told");
        }
        let granted = Granted { id: self.id.clone(), fate, message: why, at: self.shared.now() };
        self.shared.write(Vec::new(), vec![Record::Granted(Box::new(granted))]).await?;
        Ok(true)
    }

    async fn note(&self, under_way: bool) -> Result<(), EngineError> {
        let (id, at) = (self.id.clone(), self.shared.now());
        let record = Record::Telling(Box::new(Telling { id, under_way, at }));
        self.shared.write(Vec::new(), vec![record]).await
    }

    fn warn(&self, why: &str, what: &str) {
        tracing::warn!(event = self.id.event, action = %self.id.name, reason = why, "{what}");
    }
}
