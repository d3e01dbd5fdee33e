//! Builds the message of a hook's notification: addresses of contacts, and payers' links.

use chrono::{Days, Utc};
use serde_json::Value;

use crate::base::id::Key;
use crate::engine::hooks::notify::NotificationSender;
use crate::engine::protocol::commands::intake::IntakeLink;
use crate::engine::view::EngineView;
use crate::kinds::planning::step::MERCHANT;
use crate::kinds::schema::reference;
use crate::model::events::hook_run::PendingAction;
use crate::notify::message::OutgoingNotification;
use crate::plan::state_view::StateView;
use crate::scripting::language::template::escape_html;

/// Placeholder of a payer's link in a text.
const LINK: (&str, &str) = ("{{intake:", "}}");
/// Days for which such a link is valid.
const LINK_DAYS: Days = Days::new(7);
/// Largest number of links in one notification.
const LINKS_MAX: usize = 16;

impl EngineView<'_> {
    /// Builds the message of a notification.
    ///
    /// # Errors
    /// It cannot be built.
    pub(crate) fn notification(
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
    engine: &'a EngineView<'a>,
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
