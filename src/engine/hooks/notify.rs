//! What hooks tell people: each notification once, and never again where nobody knows whether it arrived.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use chrono::{Days, Utc};
use serde_json::Value;

use crate::base::id::Key;
use crate::base::planted;
use crate::engine::shared::{EngineError, Shared};
use crate::engine::tasks::Finished;
use crate::engine::{Engine, IntakeLink};
use crate::hooks::escaped;
use crate::model::ran::{Fate, Granted, Pending, Telling, WishId};
use crate::model::record::Record;
use crate::outbox::{Message, Sent};
use crate::plan::World;

/// What stands in a text in the place of a payer's link.
const LINK: (&str, &str) = ("{{intake:", "}}");
/// How long such a link is good for.
const LINK_DAYS: Days = Days::new(7);
/// Links in one notification.
const LINKS_MAX: usize = 16;

/// An attempt on its way.
pub type Carried<'a> = Pin<Box<dyn Future<Output = Sent> + Send + 'a>>;

/// Carries notifications out of the process.
pub trait Courier: Send + Sync {
    /// Makes one attempt.
    fn carry<'a>(&'a self, message: &'a Message) -> Carried<'a>;
    /// The address of a payer's page: a secret.
    fn intake(&self, link: &IntakeLink) -> String;
}

impl Engine {
    /// Tells hooks' notifications through this courier from now on.
    pub fn tell_through(&mut self, courier: Arc<dyn Courier>) {
        self.scripts.courier = Some(courier);
    }

    /// Tells somebody something.
    pub(super) fn notify_for(&mut self, pending: &Pending) {
        let id = pending.id.clone();
        let Some(courier) = self.scripts.courier.clone() else {
            self.scripts.granting.remove(&id);
            return;
        };
        match self.shared.facts.is_telling(&id) {
            Ok(false) => {}
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
                self.tasks.spawn(async move { told(&shared, id, &message, &*courier).await });
            }
            Err(why) => self.settle_wish(id, Fate::Invalid, why, None),
        }
    }

    /// What is to be told. Errors: it cannot be.
    fn message(&self, pending: &Pending, courier: &dyn Courier) -> Result<Message, String> {
        let fields = &pending.wish.fields;
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let key = pending.id.action_name().map_err(|error| error.to_string())?;
        let body = fields.get("body").cloned().unwrap_or_default();
        Ok(Message {
            key: key.to_string(),
            target: text("target").ok_or("it names no target")?,
            body: if let Value::String(body) = body {
                Value::String(self.with_links(body, courier, str::to_owned)?)
            } else {
                body
            },
            html: text("html").map(|html| self.with_links(html, courier, escaped)).transpose()?,
            subject: text("subject"),
            to: text("to").map(|to| self.addresses(&to)).transpose()?,
        })
    }

    /// The addresses of a contact, or the one that was written. Errors: the contact has none.
    fn addresses(&self, to: &str) -> Result<Vec<String>, String> {
        if to.contains('@') {
            return Ok(vec![to.to_owned()]);
        }
        let key: Key = to.parse().map_err(|_| format!("{to} is no address and no contact"))?;
        let manifest = self.world.desired().manifest(&key);
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

    /// A text with the payers' links that it asks for, written so. Errors: one cannot be made now.
    fn with_links(
        &self,
        mut text: String,
        courier: &dyn Courier,
        written: fn(&str) -> String,
    ) -> Result<String, String> {
        let (open, close) = LINK;
        for _ in 0..LINKS_MAX {
            let Some((before, rest)) = text.split_once(open) else { return Ok(text) };
            let Some((key, after)) = rest.split_once(close) else { return Ok(text) };
            let key: Key = key.parse().map_err(|error| format!("{key}: {error}"))?;
            let terms = self.intake_link(&key)?;
            let until = self.shared.now().checked_add_days(LINK_DAYS);
            let until = until.unwrap_or(chrono::DateTime::<Utc>::MAX_UTC);
            let link = courier.intake(&IntakeLink { key, terms, until });
            text = [before, written(&link).as_str(), after].concat();
        }
        Err(format!("it asks for more than {LINKS_MAX} links"))
    }
}

/// Writes down that it is told, tells it, and writes down what became of that.
async fn told(shared: &Shared, id: WishId, message: &Message, courier: &dyn Courier) -> Finished {
    match tell(shared, &id, message, courier).await {
        Ok(settled) => Finished::Granted(id, settled, None),
        Err(error) => Finished::Broken(error),
    }
}

async fn tell(
    shared: &Shared,
    id: &WishId,
    message: &Message,
    courier: &dyn Courier,
) -> Result<bool, EngineError> {
    let telling = |under_way| {
        let at = shared.now();
        vec![Record::Telling(Box::new(Telling { id: id.clone(), under_way, at }))]
    };
    if !planted::is("told-without-a-note") {
        shared.write(Vec::new(), telling(true)).await?;
    }
    let (fate, why) = match courier.carry(message).await {
        Sent::Done => (Fate::Done, "told".to_owned()),
        Sent::Refused(why) => (Fate::Refused, why),
        Sent::InDoubt(why) => (Fate::Unknown, why),
        Sent::NotSent(why) => {
            tracing::warn!(event = id.event, action = %id.name, reason = why, "not told yet");
            shared.write(Vec::new(), telling(false)).await?;
            return Ok(false);
        }
    };
    if fate != Fate::Done {
        tracing::warn!(event = id.event, action = %id.name, reason = why, "not told");
    }
    let granted = Granted { id: id.clone(), fate, message: why, at: shared.now() };
    shared.write(Vec::new(), vec![Record::Granted(Box::new(granted))]).await?;
    Ok(true)
}
