//! Whether a command may remove something: what is managed goes with its document, and what would tell how something
//! ended stays until it is settled. Decides only.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Engine;
use super::view::Stands;
use crate::api::Endpoint;
use crate::api::merchant::PurgeTestData;
use crate::base::id::{Key, RemoteId};
use crate::effects::purged;
use crate::model::action::{Action, is_action};
use crate::model::effect::Effect;
use crate::model::intent::Intent;
use crate::model::manifest::Deletion;
use crate::plan::World;
use crate::store::facts::FactError;

/// The kind of what pays, and of what collects.
const METHOD: &str = "SavedMethod";
const RECURRING: &str = "RecurringCharge";

/// Whether an effect makes something of this kind, also where a command asked for it.
fn saves(kind: &str, effect: &str) -> bool {
    kind == METHOD && matches!(effect, "card.save" | "bank.save")
}

impl Engine {
    /// What is cleared tells how things ended. Errors: what is not settled yet.
    pub(super) fn may_purge(&self, merchant: &Key) -> Result<(), String> {
        let other = |one: &Intent| one.merchant == *merchant && one.effect != PurgeTestData::NAME;
        match self.unsettled_intent(other).map_err(|error| error.to_string())? {
            Some(key) => {
                let key = key.short();
                Err(format!("{key} is not settled, and what tells of it would go (intents)"))
            }
            None => Ok(()),
        }
    }

    /// Nothing that is managed is deleted by its id. Errors: how the command stands, and why.
    pub(super) fn may_delete(&self, action: &Action) -> Result<(), (Stands, String)> {
        let text = |name: &str| action.fields.get(name).and_then(Value::as_str);
        // What is no id at all is told once the fields are read.
        let id = text("id").and_then(|id| RemoteId::new(id).ok());
        let (Some(id), Some(kind)) = (id, text("type")) else { return Ok(()) };
        let unread = |error: FactError| (Stands::Blocked, error.to_string());
        if let Some(key) = self.managed(&id).map_err(unread)? {
            return Err((Stands::Invalid, self.way_out(&id, &key)));
        }
        let kind = if kind == "recurring" { RECURRING } else { METHOD };
        let made = |one: &Intent| {
            let by_command = is_action(&one.key) && saves(kind, &one.effect);
            let made = one.key.kind.as_str() == kind || by_command;
            one.merchant == action.merchant && one.target.is_none() && made
        };
        match self.unsettled_intent(made).map_err(unread)? {
            Some(key) => {
                let key = key.short();
                let why = format!("{key} is not settled, and this may be what it made (intents)");
                Err((Stands::Blocked, why))
            }
            None => Ok(()),
        }
    }

    /// The resource of an intent like this that is not settled, also of one that is on its way just now.
    fn unsettled_intent(&self, like: impl Fn(&Intent) -> bool) -> Result<Option<Key>, FactError> {
        let open = self.shared.facts.open_intents()?.into_iter().map(|open| open.intent);
        Ok(open.filter(like).map(|one| one.key).next())
    }

    /// The resource that this object is, or that a document says it is.
    fn managed(&self, id: &RemoteId) -> Result<Option<Key>, FactError> {
        let mut documents = self.world.desired().manifests.values();
        if let Some(one) = documents.find(|one| one.annotations.adopts.as_ref() == Some(id)) {
            return Ok(Some(one.key.clone()));
        }
        for (key, _) in self.shared.facts.remote(id.as_str())? {
            let known = self.world.observed(&key);
            let same =
                known.is_some_and(|known| known.exists && known.remote_id.as_ref() == Some(id));
            if same && !is_action(&key) {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    /// Why an object that is managed is not deleted, and how it goes.
    fn way_out(&self, id: &RemoteId, key: &Key) -> String {
        let name = key.short();
        if let Some(document) = self.world.desired().manifest(key) {
            let (file, line) = (&document.place.file, document.place.line);
            return format!(
                "{id} is {name}, and its document stands at {file}:{line}: say `reckon.dev/deletion: delete` in it and \
                 apply, take it out, and apply once more; past a guard with `--allow-prune {name}`"
            );
        }
        let known = self.world.observed(key);
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

    /// How many objects that are known go with an effect that clears test data.
    pub(super) fn purged_with(&self, effect: &Effect) -> u32 {
        let Some(what) = purged(effect) else { return 0 };
        let goes = |key: &Key| match key.kind.as_str() {
            METHOD => what.delete_payment_methods == Some(true),
            RECURRING => what.delete_transactions == Some(true),
            _ => false,
        };
        let all: BTreeSet<Key> = self.world.known().into_iter().filter(goes).collect();
        let there = |key: &&Key| {
            let known = self.world.observed(key);
            known.is_some_and(|known| known.exists && known.merchant == effect.merchant)
        };
        u32::try_from(all.iter().filter(there).count()).unwrap_or(u32::MAX)
    }
}
