//! Decides if a command may remove an object. A managed object is removed with its document; an
//! object that may prove how an unsettled intent ended stays until that is settled. Decides only.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::api::call::Endpoint;
use crate::api::merchant::PurgeTestData;
use crate::base::id::{Key, RemoteId};
use crate::effects::merchants::purge_of;
use crate::effects::merchants::settings::sets_date_alone;
use crate::effects::register::CHANGE;
use crate::engine::protocol::actions::ActionStatus;
use crate::engine::view::EngineView;
use crate::kinds::recurring_charge::method::is_paid_by_payer;
use crate::model::effect::{Action, Effect, is_action};
use crate::model::intent::Intent;
use crate::model::manifest::Deletion;
use crate::plan::state_view::StateView;
use crate::store::read_model::model::ReadModelError;

/// The kinds that pay and that collect.
const METHOD: &str = "SavedMethod";

const RECURRING: &str = "RecurringCharge";

/// Returns true if an intent creates an object of this kind; also an intent that a command asked
/// for.
fn creates_kind(kind: &str, intent: &Intent) -> bool {
    let (by_document, effect) = (intent.key.kind.as_str() == kind, intent.effect.as_str());
    match kind {
        METHOD => matches!(effect, "card.save" | "bank.save"),
        _ => effect == "charge.schedule" || (by_document && intent.target.is_none()),
    }
}

impl EngineView<'_> {
    /// Checks that every other intent of the merchant is settled: the purge would remove the
    /// evidence.
    pub(crate) fn may_purge(&self, merchant: &Key) -> Result<(), String> {
        let other = |one: &Intent| one.merchant == *merchant && one.effect != PurgeTestData::NAME;
        match self.unsettled_intent(other).map_err(|error| error.to_string())? {
            Some(key) => {
                let key = key.short();
                Err(format!(
                    "{key} is not settled, and its evidence would be removed; see `reckon \
                    intents`"
                ))
            }
            None => Ok(()),
        }
    }

    /// Refuses to delete or change a managed object by its id. A card's date is in no document if
    /// its payer gave the card, and may be changed.
    pub(crate) fn may_alter(&self, action: &Action) -> Result<(), (ActionStatus, String)> {
        let text = |name: &str| action.fields.get(name).and_then(Value::as_str);
        // An invalid id is reported once the fields are read.
        let id = text("id").and_then(|id| RemoteId::new(id).ok());
        let (Some(id), Some(kind)) = (id, text("type")) else { return Ok(()) };
        let unread = |error: ReadModelError| (ActionStatus::Blocked, error.to_string());
        let managed = self.managed_resource(&id).map_err(unread)?;
        if let Some(key) = managed.filter(|key| !self.is_date_of_payer(action, key)) {
            let why = if action.verb == CHANGE {
                self.change_hint(&id, &key)
            } else {
                self.removal_hint(&id, &key)
            };
            return Err((ActionStatus::Invalid, why));
        }
        let kind = if kind == "recurring" { RECURRING } else { METHOD };
        let made = |one: &Intent| one.merchant == action.merchant && creates_kind(kind, one);
        match self.unsettled_intent(made).map_err(unread)? {
            Some(key) => {
                let key = key.short();
                let why = format!(
                    "{key} is not settled, and may have created this object; see \
                    `reckon intents`"
                );
                Err((ActionStatus::Blocked, why))
            }
            None => Ok(()),
        }
    }

    /// Returns true if a command sets only the date of the card that pays a charge, and the payer
    /// gave that card.
    fn is_date_of_payer(&self, action: &Action, key: &Key) -> bool {
        let desired = self.known_state.desired();
        let charge = desired.manifest(key);
        action.verb == CHANGE
            && sets_date_alone(&action.fields)
            && charge.is_some_and(|one| is_paid_by_payer(&one, |method| desired.manifest(method)))
    }

    /// Returns the resource of an unsettled intent that matches; includes one on its way now.
    fn unsettled_intent(
        &self,
        like: impl Fn(&Intent) -> bool,
    ) -> Result<Option<Key>, ReadModelError> {
        let open = self.shared.facts.open_intents()?.into_iter().map(|open| open.intent);
        Ok(open.filter(like).map(|one| one.key).next())
    }

    /// Returns the resource that this object is, or whose document adopts it.
    fn managed_resource(&self, id: &RemoteId) -> Result<Option<Key>, ReadModelError> {
        let mut documents = self.known_state.desired().manifests.values();
        if let Some(one) = documents.find(|one| one.annotations.adopts.as_ref() == Some(id)) {
            return Ok(Some(one.key.clone()));
        }
        self.resource_of(id, None)
    }

    /// Returns the resource that this object is, unless it is `but`.
    pub(crate) fn resource_of(
        &self,
        id: &RemoteId,
        but: Option<&Key>,
    ) -> Result<Option<Key>, ReadModelError> {
        for (key, _) in self.shared.facts.resources_of_id(id.as_str())? {
            let known = self.known_state.observed(&key);
            let same =
                known.is_some_and(|known| known.exists && known.remote_id.as_ref() == Some(id));
            if same && !is_action(&key) && but != Some(&key) {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    /// Message: the reason why a managed object is not changed, and its place.
    fn change_hint(&self, id: &RemoteId, key: &Key) -> String {
        let name = key.short();
        match self.known_state.desired().manifest(key) {
            Some(document) => {
                let (file, line) = (&document.place.file, document.place.line);
                format!("{id} is {name}: change its document at {file}:{line}, and apply")
            }
            None => format!(
                "{id} is {name}, whose document is gone: `reckon forget {name}` lets it go, and then it can be changed \
                 here"
            ),
        }
    }

    /// Message: the reason why a managed object is not deleted, and the way to remove it.
    fn removal_hint(&self, id: &RemoteId, key: &Key) -> String {
        let name = key.short();
        if let Some(document) = self.known_state.desired().manifest(key) {
            let (file, line) = (&document.place.file, document.place.line);
            return format!(
                "{id} is {name}, and its document stands at {file}:{line}: say `reckon.dev/deletion: delete` in it and \
                 apply, take it out, and apply once more; past a guard with `--allow-prune {name}`"
            );
        }
        let known = self.known_state.observed(key);
        let applied = known.as_ref().and_then(|known| known.applied.as_ref());
        if applied.is_some_and(|applied| applied.deletion == Deletion::Delete) {
            return format!(
                "{id} is {name}, whose document is gone and said that it goes with it: `reckon apply` removes it, past a \
                 guard with `--allow-prune {name}`"
            );
        }
        format!(
            "{id} is {name}, which stays although its document is gone: `reckon forget {name}` lets it go, and then it \
             can be deleted here"
        )
    }

    /// Counts the known objects that an effect which clears test data removes.
    pub(crate) fn purged_with(&self, effect: &Effect) -> u32 {
        let Some(what) = purge_of(effect) else { return 0 };
        let goes = |key: &Key| match key.kind.as_str() {
            METHOD => what.delete_payment_methods == Some(true),
            RECURRING => what.delete_transactions == Some(true),
            _ => false,
        };
        let all: BTreeSet<Key> = self.known_state.known_keys().into_iter().filter(goes).collect();
        let there = |key: &&Key| {
            let known = self.known_state.observed(key);
            known.is_some_and(|known| known.exists && known.merchant == effect.merchant)
        };
        u32::try_from(all.iter().filter(there).count()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests;
