//! The desired state: all valid manifests, and whether pruning is allowed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::manifest::{Manifest, PackedManifest};
use crate::base::id::Key;

/// State of the tree: whether a resource without a manifest may be removed (law 2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TreeState {
    /// Every document of the tree was read and is valid: pruning is allowed.
    #[serde(rename = "whole")]
    Complete,
    /// Some document was unreadable or invalid: a missing document proves no removal.
    #[default]
    #[serde(rename = "partial")]
    Incomplete,
}

/// The desired state of the files.
#[derive(Debug, Clone)]
pub struct Desired {
    /// Every valid manifest. A document that is valid itself but refers to a broken or missing one
    /// is in `broken` instead.
    pub manifests: BTreeMap<Key, Arc<PackedManifest>>,
    /// Documents that have a name and cannot be used.
    pub broken: BTreeSet<Key>,
    /// State of the tree; decides whether pruning is allowed.
    pub tree_state: TreeState,
}

impl Default for Desired {
    fn default() -> Self {
        Self {
            manifests: BTreeMap::new(),
            broken: BTreeSet::new(),
            tree_state: TreeState::Incomplete,
        }
    }
}

impl Desired {
    /// Returns a valid manifest, unpacked.
    pub fn manifest(&self, key: &Key) -> Option<Manifest> {
        self.manifests.get(key).map(|kept| kept.unpack())
    }
}
