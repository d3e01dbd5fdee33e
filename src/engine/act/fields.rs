//! What an action was given, completed by what the state knows: the id of a saved method, the key of a merchant.
//! Decides only.

use serde_json::{Value, json};

use super::Engine;
use super::view::{Acted, Stands, told};
use crate::api::Endpoint;
use crate::api::deauthorise::Deauthorise;
use crate::base::id::{Key, Kind};
use crate::effects::{DEAUTHORISE, DELETE, PURGE, put};
use crate::model::action::Action;
use crate::plan::World;

/// Ids of the service have 22 characters or more (service-facts, 18).
const ID_LENGTH_MIN: usize = 20;
/// The kind of the methods that an action may name.
const METHOD: &str = "SavedMethod";

impl Engine {
    /// The fields as the effect takes them. Errors: why it is not sent.
    pub(super) fn completed(&self, action: &Action) -> Result<Value, Box<Acted>> {
        let refuse =
            |(stands, why): (Stands, String)| Box::new(told(None, &action.verb, stands, why));
        let invalid = |why: String| refuse((Stands::Invalid, why));
        let blocked = |why: String| refuse((Stands::Blocked, why));
        match action.verb.as_str() {
            DEAUTHORISE => {
                self.may_deauthorise(&action.merchant).map_err(blocked)?;
                self.with_public_key(action).map_err(invalid)
            }
            PURGE => {
                self.may_purge(&action.merchant).map_err(blocked)?;
                Ok(action.fields.clone())
            }
            DELETE => {
                self.may_delete(action).map_err(refuse)?;
                Ok(action.fields.clone())
            }
            _ => self.with_method(action).map_err(invalid),
        }
    }

    /// What is not settled could never be settled without the credentials. Errors: what stands in the way.
    fn may_deauthorise(&self, merchant: &Key) -> Result<(), String> {
        let mut open = self.world.open_intents().map(|open| &open.intent);
        let unsettled =
            open.find(|one| one.merchant == *merchant && one.effect != Deauthorise::NAME);
        if let Some(one) = unsettled {
            let key = one.key.short();
            return Err(format!("{key} is not settled, and never could be after this (intents)"));
        }
        let known = self.world.observed(merchant);
        match known.as_ref().and_then(|known| known.rival.as_deref()) {
            Some(rival) => {
                Err(format!("{} has the same authorization: it would lose it too", rival.short()))
            }
            None => Ok(()),
        }
    }

    /// The key by which an authorization is given back. Errors: there is none.
    fn with_public_key(&self, action: &Action) -> Result<Value, String> {
        let known = self.world.observed(&action.merchant);
        let known = known.filter(|known| !known.fact("token").is_null());
        let public_key = known.as_ref().and_then(|known| known.text("public_key"));
        let public_key = public_key.ok_or_else(|| {
            let name = action.merchant.short();
            format!("{name} gave no authorization: its document brings keys of its own")
        })?;
        let mut fields = action.fields.clone();
        put(&mut fields, "public_key", json!(public_key));
        Ok(fields)
    }

    /// The fields, with the name of a saved method replaced by its id. Errors: it has none yet.
    fn with_method(&self, action: &Action) -> Result<Value, String> {
        let mut fields = action.fields.clone();
        let Some(word) = fields.get("method").and_then(Value::as_str) else { return Ok(fields) };
        let Some(key) = method_key(&action.merchant, word) else { return Ok(fields) };
        let known = self.world.observed(&key).filter(|known| known.merchant == action.merchant);
        let id =
            known.as_ref().filter(|known| known.exists).and_then(|known| known.remote_id.clone());
        match id {
            Some(id) => put(&mut fields, "method", json!(id)),
            None if self.world.desired().manifests.contains_key(&key) => {
                return Err(format!("{} is not saved yet", key.short()));
            }
            None if word.len() < ID_LENGTH_MIN => {
                return Err(format!(
                    "there is no {}, and no id of the service is so short: write the name of a saved method's \
                     document, its id, or a one-time token",
                    key.short()
                ));
            }
            // No such document: then it is an id of the service.
            None => {}
        }
        Ok(fields)
    }
}

/// The saved method that a word may name, in the merchant's namespace unless it names one.
fn method_key(merchant: &Key, word: &str) -> Option<Key> {
    let (namespace, name) = match word.split_once('/') {
        Some((namespace, name)) => (namespace.parse().ok()?, name),
        None => (merchant.namespace.clone(), word),
    };
    Some(Key::new(Kind::new(METHOD), &namespace, &name.parse().ok()?))
}
