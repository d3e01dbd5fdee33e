//! Suspensions in effect, and the times at which steps depend on the date.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::base::id::Key;
use crate::engine::scheduler::backoff::{instant_of, time_to_next_quarter};
use crate::engine::view::EngineView;
use crate::kinds::planning::step::{MERCHANT, merchant_of};
use crate::model::operator::suspension::Suspension;
use crate::plan::state_view::StateView;

/// Longest wait for the end of a suspension: the clock may have been set.
const LOOK_EVERY: Duration = Duration::from_hours(1);

impl EngineView<'_> {
    /// Returns the suspension of a resource, or of its merchant, that is now in effect.
    pub(crate) fn suspension(&self, key: &Key) -> Option<Arc<Suspension>> {
        self.known_state.suspensions().next()?;
        let said = self.known_state.desired().manifests.get(key).and_then(|one| merchant_of(one));
        let known = || self.known_state.observed(key).map(|known| known.merchant.clone());
        let names = [Some(key.clone()), said.or_else(known)].into_iter().flatten();
        let mut words = names.filter_map(|name| self.known_state.suspension(&name));
        words.find(|word| word.is_in_force(self.shared.now()))
    }

    /// Returns true if a resource is suspended, by a person or by its document.
    pub(crate) fn is_suspended(&self, key: &Key) -> bool {
        let document = self.known_state.desired().manifests.get(key);
        document.is_some_and(|one| one.annotations.suspend) || self.suspension(key).is_some()
    }

    /// Counts the names that are suspended now.
    pub(crate) fn suspended_count(&self) -> usize {
        let now = self.shared.now();
        self.known_state.suspensions().filter(|one| one.is_in_force(now)).count()
    }

    /// Returns the resources that a suspension of this one affects: for a merchant, also those
    /// without a document.
    pub(crate) fn affected_resources(&self, key: &Key) -> BTreeSet<Key> {
        let whole = key.kind.as_str() == MERCHANT;
        let absent = self.planner.steps().filter(|step| whole && step.place.is_none());
        absent.map(|step| step.key.clone()).chain([key.clone()]).collect()
    }

    /// Returns the resources whose suspension ended by itself.
    pub(crate) fn ended_suspensions(&self) -> BTreeSet<Key> {
        let now = self.shared.now();
        let over = self.known_state.suspensions().filter(|one| !one.is_in_force(now));
        over.flat_map(|one| self.affected_resources(&one.key)).collect()
    }

    /// Returns the time at which the next suspension ends by itself.
    pub(crate) fn next_resumption(&self) -> Option<Instant> {
        let now = self.shared.now();
        let ends = self.known_state.suspensions().filter_map(|one| one.until);
        let next = ends.filter(|until| *until > now).min()?;
        let wait = next.signed_duration_since(now).to_std().ok()?;
        Instant::now().checked_add(wait.min(LOOK_EVERY))
    }

    /// Returns the time at which dated steps are planned again, if any step waits for a date.
    pub(crate) fn next_dates(&self) -> Option<Instant> {
        let waits = !self.planner.date_dependent().is_empty();
        let quarter =
            waits.then(|| Instant::now().checked_add(time_to_next_quarter(self.shared.now())));
        let turn = self.planner.next_health_change();
        let turn = turn.and_then(|turn| instant_of(self.shared.now(), turn));
        [quarter.flatten(), self.next_resumption(), turn].into_iter().flatten().min()
    }
}
