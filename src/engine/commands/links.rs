//! Links for people: a payer's links and the addresses in the message of a notification, and the address
//! of a page that is made for one person.

use std::sync::Arc;

use chrono::{Days, Utc};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::base::id::Key;
use crate::effects::onboarding::PAGE;
use crate::engine::executor::perform;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::{EffectJob, TaskResult};
use crate::engine::hooks::notify::NotificationSender;
use crate::engine::protocol::payers::{IntakeLink, PageLink};
use crate::engine::view::EngineView;
use crate::kinds::planning::step::MERCHANT;
use crate::kinds::schema::text;
use crate::model::effect::Effect;
use crate::model::events::hook_run::PendingAction;
use crate::notify::message::OutgoingNotification;
use crate::plan::state_view::StateView;
use crate::scripting::language::template::escape_html;

/// Placeholder of a payer's link in a text.
const LINK_PLACEHOLDER: (&str, &str) = ("{{intake:", "}}");
const LINK_DAYS: Days = Days::new(7);
const LINKS_MAX: usize = 16;

impl EngineView<'_> {
    pub(crate) fn notification(
        &self,
        pending: &PendingAction,
        courier: &dyn NotificationSender,
    ) -> Result<OutgoingNotification, String> {
        let fields = &pending.request.fields;
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let key = pending.id.action_name().map_err(|error| error.to_string())?;
        let target = text("target").ok_or("it names no target")?;
        let whose = (!courier.allows_any_address(&target)).then_some(&pending.id.merchant);
        let links = PayerLinks { engine: self, notifier: courier, merchant: &pending.id.merchant };
        Ok(OutgoingNotification {
            key: key.to_string(),
            target,
            body: match text("body") {
                Some(body) => Value::String(links.fill(body, str::to_owned)?),
                None => fields.get("body").cloned().unwrap_or_default(),
            },
            html: text("html").map(|html| links.fill(html, escape_html)).transpose()?,
            subject: text("subject"),
            to: text("to").map(|to| self.addresses(&to, whose)).transpose()?,
        })
    }

    /// Returns the addresses of a contact, or the written address. With `whose` only contacts of
    /// that merchant are permitted. Fails for any other contact, and for one without an address.
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
        let all = list.as_ref().and_then(Value::as_array).into_iter().flatten();
        let address = |one: &Value| one.get("address")?.as_str().map(str::to_owned);
        let addresses: Vec<String> = all.filter_map(address).collect();
        if addresses.is_empty() {
            return Err(format!("{} has no e-mail address", key.short()));
        }
        Ok(addresses)
    }

    /// Returns the effect that the resource's step offers to a visitor, unless it is busy.
    pub(crate) fn offered_effect(&self, key: &Key) -> Option<Effect> {
        let is_frozen = self.known_state.holds.freeze().is_some();
        let free = !self.scheduler.busy.contains(key) && !self.stopping && !is_frozen;
        let step = free.then(|| self.planner.full_step(self.known_state, key)).flatten()?;
        let offer = step.on_demand.map(Arc::unwrap_or_clone);
        offer.or_else(|| self.planner.on_demand(self.known_state, key))
    }
}

fn merchant_of(key: &Key, spec: &Value) -> Option<Key> {
    text::resolve_reference(MERCHANT, spec.get("merchant")?.as_str()?, &key.namespace).ok()
}

struct PayerLinks<'a> {
    engine: &'a EngineView<'a>,
    notifier: &'a dyn NotificationSender,
    /// The event's merchant: links are made for its methods alone.
    merchant: &'a Key,
}

impl PayerLinks<'_> {
    /// Returns a text with payers' links in its placeholders, each passed through `written`.
    fn fill(&self, mut text: String, written: fn(&str) -> String) -> Result<String, String> {
        let (open, close) = LINK_PLACEHOLDER;
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
            let name = key.short();
            return Err(format!("{name} is no method of the event's merchant: no link is made"));
        }
        let until = self.engine.shared.now().checked_add_days(LINK_DAYS);
        let until = until.unwrap_or(chrono::DateTime::<Utc>::MAX_UTC);
        Ok(self.notifier.intake_address(&IntakeLink { key, terms, until }))
    }
}

pub(crate) async fn make_page(
    shared: &EngineShared,
    job: EffectJob,
    reply: oneshot::Sender<PageLink>,
) -> EngineResult<TaskResult> {
    let (key, before) = (job.effect.key.clone(), last_page(shared, &job.effect.key));
    let finished = match perform::perform(shared, job).await {
        // The engine does not retry: the visitor opens the link again.
        Ok(TaskResult::RetryLater(..)) => Ok(TaskResult::Changed(key.clone())),
        finished => finished,
    };
    let (before, after) = (before?, last_page(shared, &key)?);
    let made = after.filter(|after| before.as_ref() != Some(after));
    let opened = made.map(|name| shared.open(&name)).transpose()?;
    // A visitor who has gone away opens the link again.
    reply.send(opened).unwrap_or_default();
    finished
}

/// Returns the vault's name of the page made last.
fn last_page(shared: &EngineShared, key: &Key) -> EngineResult<Option<String>> {
    let known = shared.facts.observed_state(key)?;
    Ok(known.and_then(|known| Some(known.fact(PAGE).get("sealed")?.as_str()?.to_owned())))
}

#[cfg(test)]
mod tests;
