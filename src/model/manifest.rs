//! One YAML document: what it wants and where it stands.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::hash::Digest;
use crate::base::id::{Key, RemoteId};
use crate::base::packed::Packed;

/// Where a document stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The file, relative to the directory of `reckon.yaml`.
    pub file: Arc<str>,
    /// The line on which the document begins, from 1.
    pub line: usize,
    /// The byte at which the document begins.
    pub offset: usize,
    /// The document's length in bytes.
    pub length: usize,
}

/// What happens to the remote object when its document goes away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deletion {
    /// It is left as it is and no longer managed.
    #[default]
    Orphan,
    /// It goes with its document: it is deleted, neutralised or deauthorised, as its kind has it.
    Delete,
}

/// What to do when nothing can prove whether a creation happened (contacts alone).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnDoubt {
    /// Make it again; the possible orphan is reported.
    #[default]
    Recreate,
    /// Wait for a person.
    Hold,
}

/// The annotations under `reckon.dev/` (design.md part 4).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotations {
    /// `reckon.dev/suspend: "true"`: nothing is done to this resource.
    pub suspend: bool,
    /// `reckon.dev/deletion`.
    pub deletion: Deletion,
    /// `reckon.dev/generation`: raising it permits a replacement.
    pub generation: u32,
    /// `reckon.dev/depends-on`: more resources that must be ready first.
    pub depends_on: Vec<Key>,
    /// `reckon.dev/ignore-drift`: fields that others may change, `*` for all.
    pub ignore_drift: Box<[String]>,
    /// `reckon.dev/on-doubt`.
    pub on_doubt: Option<OnDoubt>,
    /// `reckon.dev/moved-from`: the name that it had, of the same kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<Key>,
    /// `reckon.dev/adopts`: the object that the document stands for is there already, by this id; it is never made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopts: Option<RemoteId>,
}

/// One good document. `Debug` shows its name and place only: the spec may hold personal values.
#[derive(Clone, PartialEq)]
pub struct Manifest<S = Value> {
    /// Kind, namespace and name.
    pub key: Key,
    /// Free labels.
    pub labels: BTreeMap<String, String>,
    /// What `reckon.dev/` annotations say.
    pub annotations: Annotations,
    /// The spec in its kind's canonical form, defaults filled in.
    pub spec: S,
    /// The resources that the spec refers to, with the path of each reference.
    pub references: Vec<Reference>,
    /// The files that the spec names, as they were when it was read.
    pub files: Vec<AttachedFile>,
    /// SHA-256 over the canonical spec, annotations and files: equal digests want the same.
    pub digest: Digest,
    /// Where it stands.
    pub place: Place,
}

/// A document as it is kept: with its spec packed.
pub type Kept = Manifest<Packed<Value>>;

impl<S> fmt::Debug for Manifest<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Manifest({} at {}:{})", self.key, self.place.file, self.place.line)
    }
}

impl Manifest {
    /// The form to keep.
    pub fn pack(self) -> Kept {
        let spec = Packed::from(&self.spec);
        self.with(spec)
    }
}

impl Kept {
    /// The form to look at. Every JSON value reads what it wrote; a spec that did not would be null, and
    /// nothing would be done about it.
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

/// A file that a document names and does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedFile {
    /// Its path, as the document writes it.
    pub path: String,
    /// The last part of the path: its name for payers.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// SHA-256 of its content.
    pub sha256: Digest,
}

/// One reference from a document to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The field that holds it, such as `spec.contact`.
    pub path: String,
    /// What it refers to.
    pub key: Key,
}
