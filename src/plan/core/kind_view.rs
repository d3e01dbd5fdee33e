//! View of the plan that a kind gets while its step is computed.

use std::sync::Arc;

use super::planner::{Planner, StateView};
use crate::base::id::Key;
use crate::kinds::planning::step::PlanningView;
use crate::model::spec::manifest::Manifest;
use crate::model::state::observed::Observed;

/// A kind's view while its step is computed.
pub(crate) struct KindView<'a> {
    pub world: &'a dyn StateView,
    pub planner: &'a Planner,
}

impl PlanningView for KindView<'_> {
    fn manifest(&self, key: &Key) -> Option<Arc<Manifest>> {
        self.world.desired().manifest(key).map(Arc::new)
    }

    fn observed_state(&self, key: &Key) -> Option<Arc<Observed>> {
        self.world.observed(key)
    }

    fn is_ready(&self, key: &Key) -> bool {
        self.planner.steps.get(key).is_some_and(|step| step.ready)
    }

    fn users(&self, key: &Key) -> Vec<Key> {
        self.planner.users(key).cloned().collect()
    }

    fn removable_users(&self, key: &Key) -> Vec<Key> {
        self.planner.prune_state.holders(key)
    }

    fn unsettled_keys(&self, key: &Key) -> Vec<Key> {
        self.world.unsettled_keys(key)
    }
}
