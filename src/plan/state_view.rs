//! The planner's inputs: its settings, and its view of the desired and the observed state.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::model::change::LimitExceeded;
use crate::model::effect::SpendRequest;
use crate::model::intent::OpenIntent;
use crate::model::manifest::{Desired, Manifest, OnDoubt, TreeState};
use crate::model::operator::Suspension;
use crate::model::state::observed::Observed;
use crate::policy::prune::PruneGuards;

#[derive(Clone, derive_more::Debug)]
#[debug("Settings({partner})")]
pub struct PlannerSettings {
    /// `partner.name`.
    pub partner: String,
    /// The key of the digests that replace private values.
    pub digest_key: [u8; 32],
    /// `doubt.contact`.
    pub on_doubt: OnDoubt,
    /// The reason why live merchants are refused, if they are.
    pub live_refused: Option<String>,
    /// `policy.prune`.
    pub prune: PruneGuards,
}

pub trait StateView: Sync {
    fn desired(&self) -> &Desired;
    fn observed(&self, key: &Key) -> Option<Arc<Observed>>;
    fn open_intent(&self, key: &Key) -> Option<Arc<OpenIntent>>;

    /// Returns the other resources of a merchant that have an intent which is not closed.
    fn unsettled_keys(&self, _merchant: &Key) -> Vec<Key> {
        Vec::new()
    }

    /// Returns false only if [`Self::suspension`] gives none for any name.
    fn has_suspensions(&self) -> bool {
        true
    }

    /// Returns a person's last suspension of this very resource, ended or not.
    fn suspension(&self, _key: &Key) -> Option<Arc<Suspension>> {
        None
    }

    /// Returns the reason why a resource may have been created between a restored backup and the
    /// restore, unless this is excused.
    fn possibly_created(&self, _key: &Key) -> Option<String> {
        None
    }

    /// Returns whether a lost state may have created a resource, and no person denied that.
    fn maybe_created_by_lost_state(&self, _key: &Key) -> bool {
        false
    }

    /// Returns whether an effect that was refused in this intent is tried again.
    fn is_retry_granted(&self, _key: &Key, _refused: IntentId) -> bool {
        false
    }
    fn now(&self) -> DateTime<Utc>;
    fn known_keys(&self) -> Vec<Key>;
    /// Returns the limit that a spend request exceeds, if there is one; the function computes the
    /// digest of its document without the amounts.
    fn exceeded_limit(&self, _: &SpendRequest, _: &dyn Fn() -> Digest) -> Option<LimitExceeded> {
        None
    }
}

/// Returns all needs of a manifest: its references and `reckon.dev/depends-on`.
pub(crate) fn needs<S>(manifest: &Manifest<S>) -> Box<[Key]> {
    let references = manifest.references.iter().map(|reference| reference.key.clone());
    references.chain(manifest.annotations.depends_on.iter().cloned()).collect()
}

/// Returns whether absences may be recorded: the tree is complete.
pub(crate) fn is_tree_complete(world: &dyn StateView) -> bool {
    world.desired().tree_state == TreeState::Complete
}
