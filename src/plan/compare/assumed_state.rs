//! A world without a service: every object is exactly as in the documents of one tree, and the
//! documents of another tree are desired.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::assumed_limits::LimitedPlan;
use crate::base::hash::Digest;
use crate::base::id::{Key, Mode};
use crate::kinds::planning::step::{PlanningView, StepCx};
use crate::kinds::schema::register;
use crate::model::intents::intent::OpenIntent;
use crate::model::plans::exposure::SpendRequest;
use crate::model::plans::limit::LimitExceeded;
use crate::model::spec::desired::Desired;
use crate::model::spec::manifest::Manifest;
use crate::model::state::observed::Observed;
use crate::plan::core::planner::{PlannerSettings, StateView};
use crate::plan::core::step;
use crate::policy::limit_check::LimitSubject;

/// A [`StateView`] of two trees, without a service.
#[derive(Debug)]
pub struct AssumedState {
    desired: Desired,
    observed: BTreeMap<Key, Arc<Observed>>,
    now: DateTime<Utc>,
    limits: Option<LimitedPlan>,
}

impl AssumedState {
    /// Returns the same world under limits.
    pub(crate) fn with_limits(self, limits: LimitedPlan) -> Self {
        Self { limits: Some(limits), ..self }
    }

    /// Returns the same world, with the limits that its plan as a whole exceeds.
    pub(crate) fn with_exceeded(
        self,
        whole: Vec<(Mode, Option<Key>, LimitSubject, LimitExceeded)>,
    ) -> Self {
        Self { limits: self.limits.map(|limits| limits.with_exceeded(whole)), ..self }
    }

    pub(crate) fn limits(&self) -> Option<&LimitedPlan> {
        self.limits.as_ref()
    }

    /// Returns the world in which every document of `before` was applied and `after` is desired.
    pub fn new(
        settings: &PlannerSettings,
        before: &Desired,
        after: Desired,
        now: DateTime<Utc>,
    ) -> Self {
        let tree = AppliedTree::of(before, &after);
        let cx = StepCx {
            partner: &settings.partner,
            digest_key: &settings.digest_key,
            view: &tree,
            on_doubt: settings.on_doubt,
            live_refused: None,
            now,
        };
        let said = before.manifests.iter().filter_map(|(key, manifest)| {
            let row = register::find(key.kind.as_str())?;
            Some((key.clone(), Arc::new((row.assume_applied)(&cx, &manifest.unpack()))))
        });
        Self { observed: said.collect(), desired: after, now, limits: None }
    }
}

impl StateView for AssumedState {
    fn desired(&self) -> &Desired {
        &self.desired
    }

    fn observed(&self, key: &Key) -> Option<Arc<Observed>> {
        self.observed.get(key).cloned()
    }

    fn open_intent(&self, _: &Key) -> Option<Arc<OpenIntent>> {
        None
    }

    fn now(&self) -> DateTime<Utc> {
        self.now
    }

    fn known_keys(&self) -> Vec<Key> {
        self.observed.keys().cloned().collect()
    }

    fn exceeded_limit(&self, wish: &SpendRequest, _: &dyn Fn() -> Digest) -> Option<LimitExceeded> {
        self.limits.as_ref()?.exceeded_limit(wish)
    }
}

/// An applied tree with everything in it ready, and the names that only another tree has: their
/// accounts are assumed to exist, too.
struct AppliedTree<'a> {
    before: &'a Desired,
    after: &'a Desired,
    users: BTreeMap<Key, BTreeSet<Key>>,
}

impl<'a> AppliedTree<'a> {
    fn of(before: &'a Desired, after: &'a Desired) -> Self {
        let mut users: BTreeMap<Key, BTreeSet<Key>> = BTreeMap::new();
        for (key, manifest) in before.manifests.iter().chain(&after.manifests) {
            for needed in step::needs(manifest) {
                users.entry(needed).or_default().insert(key.clone());
            }
        }
        Self { before, after, users }
    }
}

impl PlanningView for AppliedTree<'_> {
    fn manifest(&self, key: &Key) -> Option<Arc<Manifest>> {
        self.before.manifest(key).or_else(|| self.after.manifest(key)).map(Arc::new)
    }

    fn observed_state(&self, _: &Key) -> Option<Arc<Observed>> {
        None
    }

    fn is_ready(&self, key: &Key) -> bool {
        self.before.manifests.contains_key(key)
    }

    fn users(&self, key: &Key) -> Vec<Key> {
        self.users.get(key).into_iter().flatten().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::testing::manifest;

    fn tree(documents: &[&Arc<Manifest>]) -> Desired {
        let pack = |one: &&Arc<Manifest>| (one.key.clone(), Arc::new(Manifest::clone(one).pack()));
        Desired { manifests: documents.iter().map(pack).collect(), ..Desired::default() }
    }

    fn card(name: &str, text: &str) -> Arc<Manifest> {
        let source = "source: {card: {number: {env: C}, exp_month: 1, exp_year: 31}}";
        let spec = format!("merchant: acme\ntype: card\ndescription: {text}\n{source}");
        manifest("SavedMethod", name, &spec)
    }

    #[test]
    fn what_was_applied_is_ready_and_says_what_it_said_then() {
        let (old, same, new) = (card("a", "old"), card("a", "new"), card("b", "b"));
        let (before, after) = (tree(&[&old]), tree(&[&same, &new]));
        let view = AppliedTree::of(&before, &after);
        let text = |key: &Key| view.manifest(key).map(|one| one.spec["description"].clone());
        assert_eq!(text(&old.key), Some("old".into()));
        assert_eq!(text(&new.key), Some("b".into()));
        assert_eq!(text(&"SavedMethod/c".parse().unwrap()), None);
        assert_eq!((view.is_ready(&old.key), view.is_ready(&new.key)), (true, false));
        assert!(
            view.observed_state(&old.key).is_none() && view.removable_users(&old.key).is_empty()
        );
        let merchant: Key = "Merchant/acme".parse().unwrap();
        assert_eq!(view.users(&merchant), [old.key.clone(), new.key.clone()]);
        assert_eq!(view.users(&old.key), []);
    }
}
