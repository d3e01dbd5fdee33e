//! All good manifests together, and how far their absence may be believed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::id::Key;
use crate::model::manifest::{Kept, Manifest};

/// Whether a resource that no manifest names may be taken as removed (law 2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Coverage {
    /// Every document of the tree was read and is good: absence is believed.
    Whole,
    /// Some document was not: absence says nothing.
    #[default]
    Partial,
}

/// What the files want.
#[derive(Debug, Clone)]
pub struct Desired {
    /// Every good manifest. A document that is good itself but refers to a broken or missing one
    /// is in `broken` instead.
    pub manifests: BTreeMap<Key, Arc<Kept>>,
    /// Documents that have a name and cannot be used.
    pub broken: BTreeSet<Key>,
    /// Whether absence may be believed.
    pub coverage: Coverage,
}

impl Default for Desired {
    fn default() -> Self {
        Self { manifests: BTreeMap::new(), broken: BTreeSet::new(), coverage: Coverage::Partial }
    }
}

impl Desired {
    /// A good manifest, to look at.
    pub fn manifest(&self, key: &Key) -> Option<Manifest> {
        self.manifests.get(key).map(|kept| kept.unpack())
    }
}
