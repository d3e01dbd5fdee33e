//! Notifications of hooks: each is sent once, and never again if its arrival is not known.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use chrono::{Days, TimeDelta, Utc};
use serde_json::Value;

use crate::base::fault_injection;
use crate::base::id::Key;
use crate::engine::commands::intake::IntakeLink;
use crate::engine::core::coordinator::Engine;
use crate::engine::core::handles::{EngineError, EngineShared};
use crate::engine::core::task_result::TaskResult;
use crate::kinds::planning::step::MERCHANT;
use crate::kinds::schema::reference;
use crate::model::events::hook_run::{
    ActionOutcome, ActionRequestId, ActionResult, Channel, NotificationAttempt, PendingAction,
    Scheduled,
};
use crate::model::record::Record;
use crate::notify::message::{DeliveryResult, OutgoingNotification};
use crate::plan::state_view::StateView;
use crate::scripting::language::template::escape_html;

/// Placeholder of a payer's link in a text.
const LINK: (&str, &str) = ("{{intake:", "}}");
/// Days for which such a link is valid.
const LINK_DAYS: Days = Days::new(7);
/// Largest number of links in one notification.
const LINKS_MAX: usize = 16;

/// Time in which a notification is repeated, if its target drops repeats.
const REPEATED_FOR: TimeDelta = TimeDelta::days(1);

/// A delivery attempt under way.
pub type DeliveryAttempt<'a> = Pin<Box<dyn Future<Output = DeliveryResult> + Send + 'a>>;

/// Delivers notifications out of the process.
pub trait NotificationSender: Send + Sync {
    /// Makes one attempt.
    fn deliver<'a>(&'a self, message: &'a OutgoingNotification) -> DeliveryAttempt<'a>;
    /// Returns true if a target may receive a notification more than once, and drops repeats by
    /// their key.
    fn drops_repeats(&self, _target: &str) -> bool {
        false
    }
    /// Returns the address of a payer's page: a secret.
    fn intake_address(&self, link: &IntakeLink) -> String;
    /// Returns true if scripts may name any address to this target; otherwise only contacts of the
    /// event's merchant.
    fn allows_any_address(&self, target: &str) -> bool;
}

impl Engine {
    /// Sets the courier for hooks' notifications.
    pub fn set_notifier(&mut self, courier: Arc<dyn NotificationSender>) {
        self.scripts.notifier = Some(courier);
        self.scripts.agenda.reload();
    }

    /// Sends a notification, or settles it.
    pub(crate) fn notify_for(&mut self, pending: &PendingAction) {
        let id = pending.id.clone();
        let Some(courier) = self.scripts.notifier.clone() else {
            return self.scripts.agenda.end(&id);
        };
        let repeats = self.may_repeat(pending, &*courier);
        match self.shared.facts.is_sending(&id) {
            Ok(false) => {}
            Ok(true) if repeats => {}
            Ok(true) => {
                let why = "the daemon ended while it was told: whether it arrived is not known";
                return self.settle_action_request(
                    id,
                    ActionOutcome::Unknown,
                    why.to_owned(),
                    None,
                );
            }
            Err(error) => {
                self.tasks.spawn(async move { TaskResult::Broken(error.into()) });
                return;
            }
        }
        match self.message(pending, &*courier) {
            Ok(message) => {
                let shared = self.shared.clone();
                let sending = NotificationSend { shared, id, message, notifier: courier, repeats };
                self.tasks.spawn(sending.run());
            }
            Err(why) => self.settle_action_request(id, ActionOutcome::Invalid, why, None),
        }
    }

    /// Returns true if a notification whose answer was lost is repeated: its target drops repeats,
    /// and it is younger than a day.
    fn may_repeat(&self, pending: &PendingAction, courier: &dyn NotificationSender) -> bool {
        let Channel::Target(target) = Channel::of(&pending.request) else { return false };
        let age = self.shared.now().signed_duration_since(Scheduled::of(pending).at);
        age < REPEATED_FOR && courier.drops_repeats(&target)
    }

    /// Builds the message.
    ///
    /// # Errors
    /// It cannot be built.
    fn message(
        &self,
        pending: &PendingAction,
        courier: &dyn NotificationSender,
    ) -> Result<OutgoingNotification, String> {
        let fields = &pending.request.fields;
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let key = pending.id.action_name().map_err(|error| error.to_string())?;
        let body = fields.get("body").cloned().unwrap_or_default();
        let target = text("target").ok_or("it names no target")?;
        let whose = (!courier.allows_any_address(&target)).then_some(&pending.id.merchant);
        let links = PayerLinks { engine: self, notifier: courier, merchant: &pending.id.merchant };
        Ok(OutgoingNotification {
            key: key.to_string(),
            target,
            body: if let Value::String(body) = body {
                Value::String(links.fill(body, str::to_owned)?)
            } else {
                body
            },
            html: text("html").map(|html| links.fill(html, escape_html)).transpose()?,
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
        let manifest = self.known_state.desired().manifest(&key);
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
struct PayerLinks<'a> {
    engine: &'a Engine,
    notifier: &'a dyn NotificationSender,
    /// The event's merchant: links are made for its methods alone.
    merchant: &'a Key,
}

impl PayerLinks<'_> {
    /// Returns a text with its placeholders replaced by payers' links, each passed through
    /// `written`.
    ///
    /// # Errors
    /// A link cannot be made now.
    fn fill(&self, mut text: String, written: fn(&str) -> String) -> Result<String, String> {
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
        let manifest = self.engine.known_state.desired().manifest(&key);
        let of = manifest.and_then(|one| merchant_of(&key, &one.spec));
        if of.as_ref() != Some(self.merchant) {
            return Err(format!(
                "{} is no method of the event's merchant: no link is made",
                key.short()
            ));
        }
        let until = self.engine.shared.now().checked_add_days(LINK_DAYS);
        let until = until.unwrap_or(chrono::DateTime::<Utc>::MAX_UTC);
        Ok(self.notifier.intake_address(&IntakeLink { key, terms, until }))
    }
}

/// One attempt at a notification.
struct NotificationSend {
    shared: Arc<EngineShared>,
    id: ActionRequestId,
    message: OutgoingNotification,
    notifier: Arc<dyn NotificationSender>,
    /// True if a lost answer does not settle it.
    repeats: bool,
}

impl NotificationSend {
    async fn run(self) -> TaskResult {
        match self.send().await {
            Ok(settled) => TaskResult::ActionTried(self.id, settled, None),
            Err(error) => TaskResult::Broken(error),
        }
    }

    /// Records the attempt, makes it, and records the result. Returns true if the notification is
    /// settled.
    async fn send(&self) -> Result<bool, EngineError> {
        if !fault_injection::is_active("told-without-a-note") {
            self.write_attempt(true).await?;
        }
        let (fate, why) = match self.notifier.deliver(&self.message).await {
            DeliveryResult::Done => (ActionOutcome::Done, "told".to_owned()),
            DeliveryResult::Refused(why) => (ActionOutcome::Refused, why),
            DeliveryResult::InDoubt(why) if self.repeats => {
                self.warn(&why, "notification sent again: its answer was lost");
                return Ok(false);
            }
            DeliveryResult::InDoubt(why) => (ActionOutcome::Unknown, why),
            DeliveryResult::NotSent(why) => {
                self.warn(&why, "notification not sent yet");
                self.write_attempt(false).await?;
                return Ok(false);
            }
        };
        if fate != ActionOutcome::Done {
            self.warn(&why, "notification not sent");
        }
        let granted = ActionResult {
            id: self.id.clone(),
            outcome: fate,
            message: why,
            at: self.shared.now(),
        };
        self.shared.write(Vec::new(), vec![Record::ActionSettled(Box::new(granted))]).await?;
        Ok(true)
    }

    async fn write_attempt(&self, under_way: bool) -> Result<(), EngineError> {
        let (id, at) = (self.id.clone(), self.shared.now());
        let record = Record::NotificationAttempt(Box::new(NotificationAttempt {
            id,
            in_progress: under_way,
            at,
        }));
        self.shared.write(Vec::new(), vec![record]).await
    }

    fn warn(&self, why: &str, what: &str) {
        tracing::warn!(event = self.id.event, action = %self.id.name, reason = why, "{what}");
    }
}
