//! Completes the fields of an action from the state: the ids of a saved method and of a contact,
//! the key of a merchant. Decides only.

use serde_json::{Value, json};

use crate::api::call::Endpoint;
use crate::api::merchant::Deauthorise;
use crate::base::id::{Key, Kind, RemoteId};
use crate::base::secret::{is_number, mask_digits};
use crate::effects::core::context::set_field;
use crate::effects::register::{CHANGE, DEAUTHORISE, DELETE, PURGE};
use crate::engine::commands::action::report;
use crate::engine::protocol::actions::{ActionReport, ActionStatus};
use crate::engine::view::EngineView;
use crate::model::effect::Action;
use crate::plan::state_view::StateView;

/// Ids of the service have 22 characters or more (service-facts, 18).
const ID_LENGTH_MIN: usize = 20;

/// A field in which an action may name a document.
struct DocumentField {
    field: &'static str,
    kind: &'static str,
    /// The alternatives that the message names.
    write: &'static str,
}

const NAMED: [DocumentField; 2] = [
    DocumentField {
        field: "method",
        kind: "SavedMethod",
        write: "the name of a saved method's document, its id, or a one-time token",
    },
    DocumentField {
        field: "contact",
        kind: "Contact",
        write: "the name of a contact's document, or its id",
    },
];

impl EngineView<'_> {
    /// Returns the fields as the effect needs them.
    pub(crate) fn complete_fields(&self, action: &Action) -> Result<Value, Box<ActionReport>> {
        let refuse = |(stands, why): (ActionStatus, String)| {
            Box::new(report(None, &action.verb, stands, why))
        };
        let invalid = |why: String| refuse((ActionStatus::Invalid, why));
        let blocked = |why: String| refuse((ActionStatus::Blocked, why));
        match action.verb.as_str() {
            DEAUTHORISE => {
                self.may_deauthorise(&action.merchant).map_err(blocked)?;
                self.with_public_key(action).map_err(invalid)
            }
            PURGE => {
                self.may_purge(&action.merchant).map_err(blocked)?;
                Ok(action.fields.clone())
            }
            CHANGE | DELETE => {
                self.may_alter(action).map_err(refuse)?;
                Ok(action.fields.clone())
            }
            _ => self.with_ids(action).map_err(invalid),
        }
    }

    /// Checks that every other intent of the merchant is settled: none could be settled without the
    /// credentials.
    fn may_deauthorise(&self, merchant: &Key) -> Result<(), String> {
        let mut open = self.known_state.open_intents().map(|open| &open.intent);
        let unsettled =
            open.find(|one| one.merchant == *merchant && one.effect != Deauthorise::NAME);
        if let Some(one) = unsettled {
            let key = one.key.short();
            return Err(format!(
                "{key} is not settled, and could not be settled without the \
                authorization; see `reckon intents`"
            ));
        }
        let known = self.known_state.observed(merchant);
        match known.as_ref().and_then(|known| known.rival.as_deref()) {
            Some(rival) => {
                Err(format!("{} uses the same authorization and would lose it, too", rival.short()))
            }
            None => Ok(()),
        }
    }

    /// Adds the public key by which an authorization is revoked.
    fn with_public_key(&self, action: &Action) -> Result<Value, String> {
        let known = self.known_state.observed(&action.merchant);
        let known = known.filter(|known| !known.fact("token").is_null());
        let public_key = known.as_ref().and_then(|known| known.text("public_key"));
        let public_key = public_key.ok_or_else(|| {
            let name = action.merchant.short();
            format!("{name} gave no authorization: its document brings keys of its own")
        })?;
        let mut fields = action.fields.clone();
        set_field(&mut fields, "public_key", json!(public_key));
        Ok(fields)
    }

    /// Replaces names of documents by the ids of their objects.
    fn with_ids(&self, action: &Action) -> Result<Value, String> {
        let mut fields = action.fields.clone();
        for named in &NAMED {
            let Some(word) = fields.get(named.field).and_then(Value::as_str) else { continue };
            if let Some(id) = self.id_of(&action.merchant, named, word)? {
                set_field(&mut fields, named.field, json!(id));
            }
        }
        Ok(fields)
    }

    /// Returns the id of the named document, if the merchant has such a document.
    fn id_of(
        &self,
        merchant: &Key,
        named: &DocumentField,
        word: &str,
    ) -> Result<Option<RemoteId>, String> {
        let Some(key) = key_of(merchant, named.kind, word) else {
            return as_remote_id(named, word);
        };
        let known = self.known_state.observed(&key).filter(|known| known.merchant == *merchant);
        let id =
            known.as_ref().filter(|known| known.exists).and_then(|known| known.remote_id.clone());
        if id.is_some() {
            return Ok(id);
        }
        if self.known_state.desired().manifests.contains_key(&key) {
            return Err(format!("{} is not saved yet", key.short()));
        }
        if word.len() < ID_LENGTH_MIN && !is_number(word) {
            return Err(format!(
                "there is no {}, and no id of the service is so short: write {}",
                mask_digits(&key.short()),
                named.write
            ));
        }
        as_remote_id(named, word)
    }
}

/// Takes a word that names no document as an id of the service. Refuses the number of a card or an
/// account, which is never sent nor repeated.
fn as_remote_id(named: &DocumentField, word: &str) -> Result<Option<RemoteId>, String> {
    if is_number(word) {
        let (field, write) = (named.field, named.write);
        return Err(format!(
            "the {field} is a number, and no document has it for its name: numbers of cards and accounts are never typed \
             here; write {write}"
        ));
    }
    Ok(None)
}

/// Returns the document that a word may name, in the merchant's namespace unless the word names
/// one.
fn key_of(merchant: &Key, kind: &str, word: &str) -> Option<Key> {
    let (namespace, name) = match word.split_once('/') {
        Some((namespace, name)) => (namespace.parse().ok()?, name),
        None => (merchant.namespace.clone(), word),
    };
    Some(Key::new(Kind::new(kind), &namespace, &name.parse().ok()?))
}

#[cfg(test)]
mod tests;
