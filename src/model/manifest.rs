//! One YAML document (spec, annotations, references, place), the revision at which it was read, and
//! the desired state: all valid documents, and whether pruning is allowed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::bulk::packed::Packed;
use crate::base::bulk::recent::Recent;
use crate::base::hash::Digest;
use crate::base::id::{Key, RemoteId};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DocumentPlace {
    /// The file, relative to the directory of `reckon.yaml`.
    pub file: Arc<str>,
    /// From 1.
    pub line: usize,
    pub offset: usize,
    pub length: usize,
}

/// Treatment of the remote object when its document is removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deletion {
    /// The object stays unchanged and is no longer managed.
    #[default]
    Orphan,
    /// The object is deleted, neutralised or deauthorised with its document, by its kind.
    Delete,
}

/// Treatment of a creation that cannot be proved (contacts alone).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnDoubt {
    /// Create it again; the possible orphan is reported.
    #[default]
    Recreate,
    Hold,
}

/// The annotations under `reckon.dev/` (design.md part 4).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotations {
    /// `reckon.dev/suspend: "true"`: no effect is done for this resource.
    pub suspend: bool,
    pub deletion: Deletion,
    /// `reckon.dev/generation`: raising it permits a replacement.
    pub generation: u32,
    /// `reckon.dev/depends-on`: more resources that must be ready first.
    pub depends_on: Vec<Key>,
    /// `reckon.dev/ignore-drift`: fields that others may change, `*` for all.
    pub ignore_drift: Box<[String]>,
    pub on_doubt: Option<OnDoubt>,
    /// `reckon.dev/moved-from`: the resource's former name, of the same kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<Key>,
    /// `reckon.dev/adopts`: the id of the existing object, which is never created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopts: Option<RemoteId>,
}

/// One valid document. `Debug` shows its name and place only: the spec may hold personal values.
#[derive(Clone, PartialEq, derive_more::Debug)]
#[debug("Manifest({key} at {}:{})", place.file, place.line)]
pub struct Manifest<S = Value> {
    pub key: Key,
    pub labels: BTreeMap<String, String>,
    pub annotations: Annotations,
    /// The spec in its kind's canonical form, defaults filled in.
    pub spec: S,
    pub references: Vec<Reference>,
    /// The files that the spec names, in their state at the time of the reading.
    pub files: Vec<AttachedFile>,
    /// SHA-256 over canonical spec, annotations and files: equal for the same desired state.
    pub digest: Digest,
    pub place: DocumentPlace,
}

/// A document in its stored form: with its spec packed.
pub type PackedManifest = Manifest<Packed<Value>>;

impl Manifest {
    pub fn pack(self) -> PackedManifest {
        let spec = Packed::from(&self.spec);
        self.with(spec)
    }
}

impl PackedManifest {
    /// Converts to the readable form. Every JSON value parses back from its own text; a spec that
    /// did not would be null, without any effect.
    pub fn unpack(&self) -> Manifest {
        let spec = self.spec.unpack().unwrap_or_default();
        self.clone().with(spec)
    }
}

impl<S> Manifest<S> {
    fn with<T>(self, spec: T) -> Manifest<T> {
        let Self { key, labels, annotations, spec: _, references, files, digest, place } = self;
        Manifest { key, labels, annotations, spec, references, files, digest, place }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedFile {
    pub path: String,
    /// The last part of the path: the file's name for payers.
    pub name: String,
    pub size: u64,
    pub sha256: Digest,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    pub path: String,
    pub key: Key,
}

/// The revision of a spec file at the time of the reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The commit that was checked out; `None` without a repository.
    pub commit: Option<String>,
    /// The file differs from its content in that commit.
    pub uncommitted: bool,
}

/// State of the tree: whether a resource without a manifest may be removed (law 2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

#[derive(Debug, Clone, Default)]
pub struct Desired {
    /// Every valid manifest; one that refers to a broken or missing one is in `broken`.
    pub manifests: BTreeMap<Key, Arc<PackedManifest>>,
    /// Documents that have a name and cannot be used.
    pub broken: BTreeSet<Key>,
    pub tree_state: TreeState,
    /// Shared with every clone.
    pub recent: RecentManifests,
}

impl Desired {
    /// Returns a valid manifest in its readable form.
    pub fn manifest(&self, key: &Key) -> Option<Arc<Manifest>> {
        self.manifests.get(key).map(|packed| self.recent.unpack(packed))
    }

    /// Takes the state of the tree from another reading of it, which differs in these documents alone.
    pub fn copy_from(&mut self, other: &Self, keys: &BTreeSet<Key>) {
        for key in keys {
            match other.manifests.get(key) {
                Some(manifest) => self.manifests.insert(key.clone(), manifest.clone()),
                None => self.manifests.remove(key),
            };
            if other.broken.contains(key) {
                self.broken.insert(key.clone());
            } else {
                self.broken.remove(key);
            }
        }
        self.tree_state = other.tree_state;
    }

    /// Returns whether both are the same state of the same tree.
    pub fn is_same(&self, other: &Self) -> bool {
        let Self { manifests, broken, tree_state, recent: _ } = self;
        *manifests == other.manifests && *broken == other.broken && *tree_state == other.tree_state
    }
}

/// Half the number of manifests that stay unpacked.
const RECENT_MAX: usize = 256;

/// The manifests that were read last, unpacked: a merchant is read for each of its resources.
#[derive(Debug, Clone)]
pub struct RecentManifests(Arc<Mutex<Recent<Key, RecentManifest>>>);

impl Default for RecentManifests {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Recent::new(RECENT_MAX))))
    }
}

#[derive(Debug)]
struct RecentManifest {
    /// Held, so that no other manifest gets its address.
    packed: Arc<PackedManifest>,
    unpacked: Arc<Manifest>,
}

impl RecentManifests {
    fn unpack(&self, packed: &Arc<PackedManifest>) -> Arc<Manifest> {
        let is_same = |known: &&RecentManifest| Arc::ptr_eq(&known.packed, packed);
        if let Some(known) = self.0.lock().get(&packed.key).filter(is_same) {
            return known.unpacked.clone();
        }
        let unpacked = Arc::new(packed.unpack());
        let known = RecentManifest { packed: packed.clone(), unpacked: unpacked.clone() };
        self.0.lock().insert(packed.key.clone(), known);
        unpacked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::sha256;

    fn packed(name: &str, text: &str) -> Arc<PackedManifest> {
        let place = DocumentPlace { file: Arc::from("a.yaml"), line: 1, offset: 0, length: 1 };
        let manifest = Manifest {
            key: name.parse().unwrap(),
            labels: BTreeMap::new(),
            annotations: Annotations::default(),
            spec: Value::from(text),
            references: Vec::new(),
            files: Vec::new(),
            digest: sha256(text.as_bytes()),
            place,
        };
        Arc::new(manifest.pack())
    }

    #[test]
    fn a_manifest_is_unpacked_once_until_another_one_replaces_it() {
        let mut desired = Desired::default();
        let key: Key = "Contact/jane".parse().unwrap();
        desired.manifests.insert(key.clone(), packed("Contact/jane", "one"));
        let earlier = desired.clone();
        let one = desired.manifest(&key).unwrap();
        assert!(Arc::ptr_eq(&one, &earlier.manifest(&key).unwrap()));
        desired.manifests.insert(key.clone(), packed("Contact/jane", "two"));
        assert_eq!(desired.manifest(&key).unwrap().spec, Value::from("two"));
        assert_eq!(earlier.manifest(&key).unwrap().spec, Value::from("one"));
    }

    #[test]
    fn only_some_manifests_stay_unpacked() {
        let mut desired = Desired::default();
        for number in 0..RECENT_MAX * 4 {
            let manifest = packed(&format!("Contact/c{number}"), "text");
            desired.manifests.insert(manifest.key.clone(), manifest);
        }
        for key in desired.manifests.keys() {
            assert!(desired.manifest(key).is_some());
        }
        assert!(desired.recent.0.lock().len() <= RECENT_MAX * 2);
    }
}
