//! The planner by itself: documents and facts in, steps out. One rig, and tables over it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::kinds::testing::manifest;
use crate::model::change::LimitExceeded;
use crate::model::effect::SpendRequest;
use crate::model::intent::{IntentState, OpenIntent};
use crate::model::manifest::{Annotations, Deletion, Desired, Manifest, OnDoubt, TreeState};
use crate::model::operator::Suspension;
use crate::model::outcome::ServiceProblem;
use crate::model::plan::{Reason, Step};
use crate::model::state::observed::{Observed, ServiceRefusal};
use crate::plan::assumed_state::AssumedState;
use crate::plan::planner::{Planner, PlannerSettings, StateView};
use crate::policy::prune::PruneGuards;

mod adopting;
mod against;
mod booking;
mod essence;
mod facts;
mod guards;
mod kept;
mod limits;
mod made;
mod moving;
mod offers;
mod planted;
mod refusals;
mod removal;
mod renames;
mod steps;
mod suspended;
mod totals;

/// The evening of 21 November in Chicago.
const NOW: &str = "2026-11-22T03:00:00Z";

fn key(text: &str) -> Key {
    text.parse().unwrap()
}

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// Documents, and the observed state of resources.
struct Known {
    desired: Desired,
    observed: BTreeMap<Key, Arc<Observed>>,
    open: BTreeMap<Key, Arc<OpenIntent>>,
    unsettled: Vec<Key>,
    suspensions: BTreeMap<Key, Arc<Suspension>>,
    unsure: Option<String>,
    over: Option<LimitExceeded>,
    /// The spend requests that limits received, with the digests of the documents.
    asked: Mutex<Vec<(SpendRequest, Digest)>>,
    now: DateTime<Utc>,
}

impl StateView for Known {
    fn desired(&self) -> &Desired {
        &self.desired
    }

    fn observed(&self, key: &Key) -> Option<Arc<Observed>> {
        self.observed.get(key).cloned()
    }

    fn open_intent(&self, key: &Key) -> Option<Arc<OpenIntent>> {
        self.open.get(key).cloned()
    }

    fn unsettled_keys(&self, _: &Key) -> Vec<Key> {
        self.unsettled.clone()
    }

    fn suspension(&self, key: &Key) -> Option<Arc<Suspension>> {
        self.suspensions.get(key).cloned()
    }

    fn possibly_created(&self, _: &Key) -> Option<String> {
        self.unsure.clone()
    }

    fn now(&self) -> DateTime<Utc> {
        self.now
    }

    fn known_keys(&self) -> Vec<Key> {
        self.observed.keys().cloned().collect()
    }

    fn exceeded_limit(
        &self,
        wish: &SpendRequest,
        rest: &dyn Fn() -> Digest,
    ) -> Option<LimitExceeded> {
        self.asked.lock().push((wish.clone(), rest()));
        self.over.clone()
    }
}

fn settings(prune: PruneGuards) -> PlannerSettings {
    let (partner, digest_key) = ("acme".to_owned(), [7; 32]);
    PlannerSettings { partner, digest_key, on_doubt: OnDoubt::Recreate, live_refused: None, prune }
}

fn tree(documents: Vec<Manifest>) -> Desired {
    let manifests = documents.into_iter().map(|one| (one.key.clone(), Arc::new(one.pack())));
    Desired {
        manifests: manifests.collect(),
        tree_state: TreeState::Complete,
        ..Desired::default()
    }
}

struct Rig {
    known: Known,
    planner: Planner,
}

impl Rig {
    /// Documents that are applied on the service, planned without any guard.
    fn applied(documents: Vec<Manifest>) -> Self {
        Self::with(PruneGuards::without_guards(), documents)
    }

    /// The same with every guard at its default.
    fn watched(documents: Vec<Manifest>) -> Self {
        Self::with(PruneGuards::default(), documents)
    }

    fn with(prune: PruneGuards, documents: Vec<Manifest>) -> Self {
        let (settings, desired) = (settings(prune), tree(documents));
        let said = AssumedState::new(&settings, &desired, Desired::default(), at(NOW));
        let known = |key: Key| {
            let mut known = Arc::unwrap_or_clone(said.observed(&key).unwrap());
            if key.kind.as_str() == "Merchant" {
                known.facts["mode"] = desired.manifest(&key).unwrap().spec["mode"].clone();
            }
            (key, Arc::new(known))
        };
        let known = Known {
            observed: said.known_keys().into_iter().map(known).collect(),
            desired,
            open: BTreeMap::new(),
            unsettled: Vec::new(),
            suspensions: BTreeMap::new(),
            unsure: None,
            over: None,
            asked: Mutex::default(),
            now: at(NOW),
        };
        let mut rig = Self { known, planner: Planner::new(settings) };
        rig.all();
        rig
    }

    /// Recomputes every step; returns their keys.
    fn all(&mut self) -> Vec<String> {
        self.planner.recompute_all(&self.known).iter().map(Key::short).collect()
    }

    /// Recomputes the steps of these; returns the recomputed keys.
    fn touch(&mut self, names: &[&str]) -> Vec<String> {
        let made = self.planner.recompute(&self.known, names.iter().map(|name| key(name)));
        made.iter().map(Key::short).collect()
    }

    /// Adds or changes documents.
    fn write(&mut self, documents: Vec<Manifest>) -> Vec<String> {
        let names: Vec<String> = documents.iter().map(|one| one.key.short()).collect();
        self.known.desired.manifests.extend(tree(documents).manifests);
        self.touch(&names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Removes documents.
    fn remove(&mut self, names: &[&str]) -> Vec<String> {
        for name in names {
            self.known.desired.manifests.remove(&key(name)).unwrap();
        }
        self.touch(names)
    }

    /// Changes the observed state of a resource; creates one where there was none.
    fn know(&mut self, name: &str, change: impl FnOnce(&mut Observed)) -> Vec<String> {
        let unknown = || Arc::new(Observed::unknown(key("Merchant/acme"), at(NOW)));
        let known = self.known.observed.entry(key(name)).or_insert_with(unknown);
        change(Arc::make_mut(known));
        self.touch(&[name])
    }

    /// Resets a resource to its state before its document was applied.
    fn unmade(&mut self, name: &str) {
        self.known.observed.remove(&key(name));
        self.touch(&[name]);
    }

    /// Returns the verdict, the word of the reason, and `ready`; `none` where there is no step.
    fn step(&self, name: &str) -> String {
        self.planner.step(&key(name)).map_or_else(|| "none".to_owned(), |step| line(step))
    }

    fn reason(&self, name: &str) -> Reason {
        self.planner.step(&key(name)).unwrap().reason.clone()
    }

    fn whole(&self, name: &str) -> Step {
        self.planner.full_step(&self.known, &key(name)).unwrap()
    }

    /// Returns every step of the plan, in its order.
    fn plan(&self) -> Vec<String> {
        let steps = self.planner.plan(&self.known).steps;
        steps.iter().map(|step| format!("{}: {}", step.key.short(), line(step))).collect()
    }

    fn guarded(&self) -> Vec<String> {
        let keys: BTreeSet<&Key> = self.planner.prune_state.guarded_keys().collect();
        keys.into_iter().map(Key::short).collect()
    }
}

fn line(step: &Step) -> String {
    let ready = if step.ready { " ready" } else { "" };
    format!("{:?} {}{ready}", step.action, step.reason.word())
}
