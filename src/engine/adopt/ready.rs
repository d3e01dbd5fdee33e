//! Decides if an object may be imported for a document, before the service is asked. Decides only.

use crate::base::id::{Key, RemoteId};
use crate::base::nearest::nearest;
use crate::engine::access::Wallet;
use crate::engine::{Engine, EngineError};
use crate::kinds::adopting::Expect;
use crate::kinds::step::merchant_of;
use crate::model::action::is_action;
use crate::model::adoption::{Adopted, Adopting, Taken};
use crate::plan::{Wanted, World};

/// An object that may be imported, as far as this state knows.
pub(super) struct Ready {
    pub(super) asked: Adopting,
    pub(super) actor: String,
    pub(super) wanted: Wanted,
    pub(super) expects: Vec<Expect>,
    pub(super) wallet: Wallet,
    /// The commit of the read of the document; `None` if the document had uncommitted changes as it
    /// was read.
    pub(super) commit: Option<String>,
}

impl Ready {
    pub(super) fn told(&self, stands: Taken, message: String) -> Adopted {
        told(&self.asked, stands, message)
    }
}

fn told(asked: &Adopting, stands: Taken, message: String) -> Adopted {
    let (key, remote_id) = (asked.key.clone(), asked.id.clone());
    Adopted { key, remote_id, stands, message, changes: Vec::new(), believed: Vec::new() }
}

impl Engine {
    /// Checks if this object may be imported.
    ///
    /// # Errors
    /// The reason against it, for people.
    pub(super) fn ready_to_adopt(
        &self,
        asked: Adopting,
        actor: String,
    ) -> Result<Ready, Box<Adopted>> {
        let refuse = |(stands, why): (Taken, String)| Box::new(told(&asked, stands, why));
        let wanted = self.wanted(&asked.key).map_err(refuse)?;
        let why_not = |why: &'static str| refuse((Taken::Refused, why.to_owned()));
        let expects = wanted.expects.clone().map_err(why_not)?;
        let adopts = wanted.manifest.annotations.adopts.clone();
        if let Some(other) = adopts.filter(|adopts| *adopts != asked.id) {
            let why = format!("its document stands for {other} (reckon.dev/adopts)");
            return Err(refuse((Taken::Refused, why)));
        }
        let merchant = merchant_of(&wanted.manifest).unwrap_or_else(|| asked.key.clone());
        self.free(&asked.key, &merchant).map_err(refuse)?;
        self.unknown_so_far(&asked.key, &asked.id).map_err(refuse)?;
        let other = self.other(&asked.key, &asked.id);
        if let Some(other) = other.map_err(|error| refuse((Taken::Refused, error.to_string())))? {
            let why = format!(
                "{} is {} already: forget that one first (`reckon forget {}`), or give its document the new name \
                 (reckon.dev/moved-from)",
                asked.id,
                other.short(),
                other.short()
            );
            return Err(refuse((Taken::Refused, why)));
        }
        let wallet = self.wallet(&merchant);
        let read = self.world.files().provenance(&wanted.manifest.place.file);
        let commit = read.commit.filter(|_| !read.uncommitted);
        Ok(Ready { asked, actor, wanted, expects, wallet, commit })
    }

    /// Returns the wanted document.
    ///
    /// # Errors
    /// There is none, or it has problems.
    fn wanted(&self, key: &Key) -> Result<Wanted, (Taken, String)> {
        if let Some(wanted) = self.planner.wanted(&self.world, key) {
            return Ok(wanted);
        }
        let name = key.short();
        if self.world.desired().broken.contains(key) {
            let why = format!("the document of {name} has problems: `reckon validate` tells them");
            return Err((Taken::Refused, why));
        }
        let names: Vec<String> = self.world.desired().manifests.keys().map(Key::short).collect();
        let meant = nearest(&name, names.iter().map(String::as_str));
        let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
        let why = format!("there is no document {name}: write it first, as the object is{meant}");
        Err((Taken::Unknown, why))
    }

    /// Checks that nothing is under way for the resource and its merchant.
    ///
    /// # Errors
    /// The obstacle.
    fn free(&self, key: &Key, merchant: &Key) -> Result<(), (Taken, String)> {
        if let Some(open) = self.world.open(key) {
            let id = open.intent.id;
            let why = format!(
                "an effect of it is not settled (intent {id}): `reckon intents` shows it, and `reckon intents resolve {id} \
                 --as done:ID` says that this object is what it made"
            );
            return Err((Taken::Refused, why));
        }
        let busy = [key, merchant].into_iter().find(|key| self.busy.contains(key));
        if let Some(busy) = busy {
            let why = format!("something is under way for {}: ask again", busy.short());
            return Err((Taken::Busy, why));
        }
        if self.world.observed(merchant).is_some_and(|owner| owner.exists) {
            return Ok(());
        }
        let merchant = merchant.short();
        let why = format!(
            "{merchant} is not connected yet, so nothing of it can be read: `reckon apply --target {merchant}` first"
        );
        Err((Taken::Refused, why))
    }

    /// Checks that the document is linked to no other object.
    ///
    /// # Errors
    /// It is linked to another one.
    fn unknown_so_far(&self, key: &Key, id: &RemoteId) -> Result<(), (Taken, String)> {
        let known = self.world.observed(key).filter(|known| known.exists);
        let Some(known) = known else { return Ok(()) };
        if known.remote_id.as_ref() == Some(id) {
            return Ok(());
        }
        let name = key.short();
        let before =
            known.remote_id.as_ref().map_or("an object whose id is not known", RemoteId::as_str);
        let why = format!(
            "{name} stands for {before} already: to let that one go, take the document out, say `reckon forget {name}`, \
             and put it back"
        );
        Err((Taken::Refused, why))
    }

    /// Returns another resource that this object is.
    fn other(&self, key: &Key, id: &RemoteId) -> Result<Option<Key>, EngineError> {
        for (other, _) in self.shared.facts.remote(id.as_str())? {
            let known = self.world.observed(&other);
            let same =
                known.is_some_and(|known| known.exists && known.remote_id.as_ref() == Some(id));
            if same && other != *key && !is_action(&other) {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }
}
