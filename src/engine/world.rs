//! What the engine knows: the files' wishes and the fold's facts, side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::base::clock::SharedClock;
use crate::base::id::Key;
use crate::model::desired::Desired;
use crate::model::intent::OpenIntent;
use crate::model::issue::Problem;
use crate::model::observed::Observed;
use crate::plan::World;
use crate::spec::loader::Loader;
use crate::store::facts::{FactError, Facts};

/// Where wishes come from.
pub trait Specs: Send {
    /// What the files want now.
    fn desired(&self) -> &Desired;
    /// Looks at these files again, at all of them if there are none; answers the resources whose
    /// wish may have changed.
    fn reload(&mut self, paths: &[PathBuf]) -> BTreeSet<Key>;
    /// What is wrong with the files.
    fn problems(&self) -> Vec<Problem>;
}

impl Specs for Loader {
    fn desired(&self) -> &Desired {
        Self::desired(self)
    }

    fn reload(&mut self, paths: &[PathBuf]) -> BTreeSet<Key> {
        if paths.is_empty() { self.load_all().touched } else { Self::reload(self, paths).touched }
    }

    fn problems(&self) -> Vec<Problem> {
        Self::problems(self)
    }
}

/// Wishes and facts. Every fact is read from the fold; a failed read stops the engine, since
/// taking an unknown for an absent would make things twice.
pub struct Standing {
    specs: Box<dyn Specs>,
    clock: SharedClock,
    observed: BTreeMap<Key, Arc<Observed>>,
    open: BTreeMap<Key, Arc<OpenIntent>>,
}

impl std::fmt::Debug for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Standing({} known, {} open)", self.observed.len(), self.open.len())
    }
}

impl Standing {
    /// Everything that the fold knows.
    pub fn load(
        facts: &Facts,
        specs: Box<dyn Specs>,
        clock: SharedClock,
    ) -> Result<Self, FactError> {
        let observed = facts.all_observed()?.into_iter();
        let observed = observed.map(|(key, known)| (key, Arc::new(known))).collect();
        let open = facts.open_intents()?.into_iter();
        let open = open.map(|open| (open.intent.key.clone(), Arc::new(open))).collect();
        Ok(Self { specs, clock, observed, open })
    }

    /// Reads one resource again, after something was written about it.
    pub(super) fn refresh(&mut self, facts: &Facts, key: &Key) -> Result<(), FactError> {
        match facts.observed(key)? {
            Some(known) => self.observed.insert(key.clone(), Arc::new(known)),
            None => self.observed.remove(key),
        };
        match facts.open(key)? {
            Some(open) => self.open.insert(key.clone(), Arc::new(open)),
            None => self.open.remove(key),
        };
        Ok(())
    }

    /// Looks at files again.
    pub(super) fn reload(&mut self, paths: &[PathBuf]) -> BTreeSet<Key> {
        self.specs.reload(paths)
    }

    /// What is wrong with the files.
    pub fn problems(&self) -> Vec<Problem> {
        self.specs.problems()
    }

    /// Every intent that is not closed, by resource.
    pub fn open_intents(&self) -> impl ExactSizeIterator<Item = &Arc<OpenIntent>> {
        self.open.values()
    }
}

impl World for Standing {
    fn desired(&self) -> &Desired {
        self.specs.desired()
    }

    fn observed(&self, key: &Key) -> Option<Arc<Observed>> {
        self.observed.get(key).cloned()
    }

    fn open(&self, key: &Key) -> Option<Arc<OpenIntent>> {
        self.open.get(key).cloned()
    }

    fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    fn known(&self) -> Vec<Key> {
        self.observed.keys().chain(self.open.keys()).cloned().collect()
    }
}
