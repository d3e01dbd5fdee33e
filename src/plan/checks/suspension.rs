//! A person's suspensions of a resource, by its own name or by its merchant's.

use std::sync::Arc;

use crate::base::id::Key;
use crate::kinds::planning::step::merchant_of;
use crate::model::operator::suspension::Suspension;
use crate::model::spec::manifest::Manifest;
use crate::model::state::observed::Observed;
use crate::plan::core::planner::StateView;

/// Returns the suspension that holds now, if any.
pub(crate) fn active_suspension(
    world: &dyn StateView,
    key: &Key,
    manifest: Option<&Manifest>,
    observed: Option<&Observed>,
) -> Option<Arc<Suspension>> {
    let said = manifest.and_then(merchant_of);
    let merchant = said.or_else(|| observed.map(|observed| observed.merchant.clone()));
    let names = [Some(key.clone()), merchant].into_iter().flatten();
    let mut told = names.filter_map(|name| world.suspension(&name));
    told.find(|suspension| suspension.is_in_force(world.now()))
}
