//! Decides if an object may be imported for a document, before the service is asked. Decides only.

use std::sync::Arc;

use crate::base::id::{Key, RemoteId};
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::EngineShared;
use crate::engine::protocol::unknown_names::nearest_key;
use crate::engine::view::EngineView;
use crate::kinds::planning::step::merchant_of;
use crate::kinds::remote::import_check::ImportCheck;
use crate::model::state::drift::{AdoptRequest, AdoptionReport, AdoptionStatus};
use crate::plan::planner::AdoptionTarget;
use crate::plan::state_view::StateView;

/// An object that may be imported, as far as this state knows.
pub(crate) struct ReadyImport {
    pub(crate) shared: Arc<EngineShared>,
    pub(crate) asked: AdoptRequest,
    pub(crate) actor: String,
    pub(crate) wanted: AdoptionTarget,
    pub(crate) expects: Vec<ImportCheck>,
    pub(crate) wallet: CredentialSource,
    /// The commit of the read of the document; `None` if the document had uncommitted changes then.
    pub(crate) commit: Option<String>,
}

impl ReadyImport {
    pub(crate) fn report(&self, stands: AdoptionStatus, message: String) -> AdoptionReport {
        import_report(&self.asked, stands, message)
    }
}

fn import_report(asked: &AdoptRequest, status: AdoptionStatus, message: String) -> AdoptionReport {
    AdoptionReport {
        key: asked.key.clone(),
        remote_id: asked.id.clone(),
        status,
        message,
        changes: Vec::new(),
        unverified_fields: Vec::new(),
    }
}

impl EngineView<'_> {
    pub(crate) fn ready_to_adopt(
        &self,
        asked: AdoptRequest,
        actor: String,
    ) -> Result<ReadyImport, Box<AdoptionReport>> {
        let refuse =
            |(stands, why): (AdoptionStatus, String)| Box::new(import_report(&asked, stands, why));
        let wanted = self.wanted_document(&asked.key).map_err(refuse)?;
        let refused = |why: String| refuse((AdoptionStatus::Refused, why));
        let expects = wanted.expects.clone().map_err(|why| refused(why.to_owned()))?;
        let adopts = wanted.manifest.annotations.adopts.clone();
        if let Some(other) = adopts.filter(|adopts| *adopts != asked.id) {
            let why = format!("its document adopts another object: {other} (reckon.dev/adopts)");
            return Err(refused(why));
        }
        let merchant = merchant_of(&wanted.manifest).unwrap_or_else(|| asked.key.clone());
        self.check_not_busy(&asked.key, &merchant).map_err(refuse)?;
        self.check_not_linked(&asked.key, &asked.id).map_err(refuse)?;
        let other = self.resource_of(&asked.id, Some(&asked.key));
        if let Some(other) = other.map_err(|error| refused(error.to_string()))? {
            let (id, other) = (&asked.id, other.short());
            return Err(refused(format!(
                "{id} is already {other}: forget that resource first (`reckon forget {other}`), or rename its \
                 document with reckon.dev/moved-from"
            )));
        }
        let wallet = self.known_state.credential_source(&merchant);
        let read = self.known_state.files.provenance(&wanted.manifest.place.file);
        let commit = read.commit.filter(|_| !read.uncommitted);
        let shared = self.shared.clone();
        Ok(ReadyImport { shared, asked, actor, wanted, expects, wallet, commit })
    }

    fn wanted_document(&self, key: &Key) -> Result<AdoptionTarget, (AdoptionStatus, String)> {
        if let Some(wanted) = self.planner.adoption_target(self.known_state, key) {
            return Ok(wanted);
        }
        let name = key.short();
        if self.known_state.desired().broken.contains(key) {
            let why = format!("the document of {name} is invalid; run `reckon validate`");
            return Err((AdoptionStatus::Refused, why));
        }
        let meant = nearest_key(key, self.known_state.desired().manifests.keys());
        let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
        let why =
            format!("there is no document {name}: write one that matches the object first{meant}");
        Err((AdoptionStatus::Unknown, why))
    }

    /// Checks that nothing is under way for the resource and its merchant.
    fn check_not_busy(&self, key: &Key, merchant: &Key) -> Result<(), (AdoptionStatus, String)> {
        if let Some(open) = self.known_state.open_intent(key) {
            let id = open.intent.id;
            let why = format!(
                "an effect of it is not settled (intent {id}); if it created this object, run \
                `reckon intents resolve {id} --as done:ID`"
            );
            return Err((AdoptionStatus::Refused, why));
        }
        let busy = [key, merchant].into_iter().find(|key| self.scheduler.busy.contains(key));
        if let Some(busy) = busy {
            let why = format!("an effect of {} is in flight; try again in a moment", busy.short());
            return Err((AdoptionStatus::Busy, why));
        }
        if self.known_state.observed(merchant).is_some_and(|owner| owner.exists) {
            return Ok(());
        }
        let merchant = merchant.short();
        let why = format!(
            "{merchant} is not connected yet, so its objects cannot be read; run `reckon apply \
            --target {merchant}` first"
        );
        Err((AdoptionStatus::Refused, why))
    }

    /// Checks that the document is linked to no other object.
    fn check_not_linked(&self, key: &Key, id: &RemoteId) -> Result<(), (AdoptionStatus, String)> {
        let known = self.known_state.observed(key);
        let other = known.filter(|known| known.exists && known.remote_id.as_ref() != Some(id));
        let Some(known) = other else { return Ok(()) };
        let name = key.short();
        let old = known.remote_id.as_ref().map_or("an object with an unknown id", RemoteId::as_str);
        let why = format!(
            "{name} already manages {old}; to release that object, remove the document, run \
            `reckon forget {name}`, and restore the document"
        );
        Err((AdoptionStatus::Refused, why))
    }
}

#[cfg(test)]
mod tests;
