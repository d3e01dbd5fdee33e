//! State, plan and busy resources at one moment, for parts that start reads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::known_state::KnownState;
use crate::base::id::Key;
use crate::client::gate::Urgency;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::EngineShared;
use crate::kinds::planning::step::MERCHANT;
use crate::model::plans::change::PlannedAction;
use crate::plan::planner::Planner;
use crate::plan::state_view::StateView;

/// State that a part reads beside its own.
#[derive(Clone, Copy)]
pub(crate) struct Snapshot<'a> {
    pub(crate) shared: &'a Arc<EngineShared>,
    pub(crate) known_state: &'a KnownState,
    pub(crate) planner: &'a Planner,
    /// Resources with a task under way.
    pub(crate) busy: &'a BTreeSet<Key>,
    /// True if no more work is started.
    pub(crate) stopping: bool,
}

impl Snapshot<'_> {
    /// Returns every merchant.
    pub(crate) fn merchants(&self) -> Vec<Key> {
        let merchants = self.planner.steps().filter(|step| step.key.kind.as_str() == MERCHANT);
        merchants.map(|step| step.key.clone()).collect()
    }

    /// Returns true if a merchant without a document is about to revoke its authorization.
    pub(crate) fn is_being_removed(&self, merchant: &Key) -> bool {
        let step = self.planner.step(merchant);
        let is_deleted = step.is_some_and(|step| step.action == PlannedAction::Delete);
        (is_deleted || self.busy.contains(merchant))
            && !self.known_state.desired().manifests.contains_key(merchant)
    }

    /// Returns the sources of a merchant's credentials, for reads that can wait.
    pub(crate) fn poll_credentials(&self, merchant: &Key) -> CredentialSource {
        CredentialSource { urgency: Urgency::Poll, ..self.known_state.credential_source(merchant) }
    }

    /// Returns the documents that ignore drift, with the ignored fields.
    pub(crate) fn ignored_drift(&self) -> BTreeMap<Key, Box<[String]>> {
        let manifests = self.known_state.desired().manifests.values();
        let ignoring = manifests.filter(|one| !one.annotations.ignore_drift.is_empty());
        ignoring.map(|one| (one.key.clone(), one.annotations.ignore_drift.clone())).collect()
    }
}
