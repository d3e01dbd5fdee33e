//! The spec tree of a run, parsed from YAML text by the kinds' own readers, and the files that its
//! invoices attach. Each attached file holds its own name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;

use crate::base::hash::{Digest, canonical, sha256};
use crate::base::id::{Key, Kind, Name};
use crate::base::money::Currency;
use crate::engine::known::files::SpecSource;
use crate::kinds::register;
use crate::kinds::schema::kind::{AttachmentFiles, CheckCx, FileProblem, Stamp};
use crate::model::issue::{Issue, PlacedIssue, Severity, TreeProblems};
use crate::model::manifest::{
    Annotations, AttachedFile, Desired, DocumentPlace, Manifest, PackedManifest, TreeState,
};
use crate::sim::plan::documents::DocTree;

/// The current files; the run changes them, and the engine reads them.
pub(crate) type SharedTree = Arc<Mutex<DocTree>>;

/// A document with a readable name, and its manifest if it is valid.
type ReadDocument = (Key, Option<Arc<PackedManifest>>);

#[derive(Debug)]
pub(crate) struct SimSpecs {
    tree: SharedTree,
    desired: Arc<Desired>,
    /// Results of earlier reads, by text.
    read_documents: BTreeMap<String, Option<ReadDocument>>,
}

impl SimSpecs {
    pub(crate) fn new(tree: SharedTree) -> Self {
        let mut specs = Self { tree, desired: Arc::default(), read_documents: BTreeMap::new() };
        specs.reload(&[]);
        specs
    }
}

impl SpecSource for SimSpecs {
    fn desired(&self) -> Arc<Desired> {
        self.desired.clone()
    }

    fn reload(&mut self, _: &[PathBuf]) -> BTreeSet<Key> {
        let before = std::mem::take(&mut self.desired);
        let tree = self.tree.lock().clone();
        self.desired = Arc::new(self.read(&tree));
        let both = [&before, &self.desired];
        both.iter().flat_map(|tree| tree.manifests.keys().chain(&tree.broken)).cloned().collect()
    }

    fn verify(&mut self) -> BTreeSet<Key> {
        self.reload(&[])
    }

    fn problems(&self) -> TreeProblems {
        TreeProblems::default()
    }

    fn digest(&self) -> Option<Digest> {
        None
    }

    fn place(&self, _: &Key, _: &Issue) -> Option<PlacedIssue> {
        None
    }
}

#[derive(Deserialize)]
struct DocHeader {
    kind: String,
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: Name,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

impl SimSpecs {
    fn read(&mut self, tree: &DocTree) -> Desired {
        let mut desired = Desired { tree_state: TreeState::Complete, ..Desired::default() };
        for doc in tree.values() {
            let text = doc.yaml();
            let found =
                self.read_documents.entry(text).or_insert_with_key(|text| read_document(text));
            match found.clone() {
                None => desired.tree_state = TreeState::Incomplete,
                Some((key, Some(manifest))) => drop(desired.manifests.insert(key, manifest)),
                Some((key, None)) => drop(desired.broken.insert(key)),
            }
        }
        drop_unresolved(&mut desired);
        if !desired.broken.is_empty() {
            desired.tree_state = TreeState::Incomplete;
        }
        desired
    }
}

/// Reads a document. Returns `None` if not even the name is readable, and no manifest if the
/// document is invalid.
fn read_document(text: &str) -> Option<ReadDocument> {
    let header: DocHeader = serde_yaml::from_str(text).ok()?;
    let namespace = Name::default_namespace();
    let key = Key::new(Kind::new(&header.kind), &namespace, &header.metadata.name);
    let manifest = read_manifest(&key, &header, text).map(|manifest| Arc::new(manifest.pack()));
    Some((key, manifest))
}

fn read_manifest(key: &Key, header: &DocHeader, text: &str) -> Option<Manifest> {
    let cx = CheckCx {
        decimal_amounts_only: false,
        web_urls: Vec::new(),
        currency: Currency::USD,
        plans: BTreeMap::new(),
        programs: None,
        variables: None,
        files: Some(Arc::new(AttachedFiles)),
    };
    let row = register::find(&header.kind)?;
    let read = (row.read)(text, &key.namespace, &cx).ok()?;
    if read.issues.iter().any(|issue| issue.severity == Severity::Error) {
        return None;
    }
    let annotations = annotations(&header.metadata.annotations);
    let file = format!("{}.yaml", key.name).into();
    let both = serde_json::json!({"spec": read.spec, "annotations": annotations});
    Some(Manifest {
        key: key.clone(),
        labels: BTreeMap::new(),
        annotations,
        digest: sha256(&canonical(&both)),
        spec: read.spec,
        references: read.references,
        files: read.files.into_iter().filter_map(|one| one.file).collect(),
        place: DocumentPlace { file, line: 1, offset: 0, length: text.len() },
    })
}

fn annotations(said: &BTreeMap<String, String>) -> Annotations {
    let word = |name: &str| Value::from(said.get(name).map(String::as_str));
    let generation = said.get("reckon.dev/generation").and_then(|number| number.parse().ok());
    Annotations {
        generation: generation.unwrap_or_default(),
        deletion: serde_json::from_value(word("reckon.dev/deletion")).unwrap_or_default(),
        on_doubt: serde_json::from_value(word("reckon.dev/on-doubt")).unwrap_or_default(),
        ..Annotations::default()
    }
}

/// Removes every document that refers to a missing or invalid one.
fn drop_unresolved(desired: &mut Desired) {
    loop {
        let manifests = &desired.manifests;
        let lame = manifests.values().find(|manifest| {
            let linked = register::find(manifest.key.kind.as_str())
                .is_some_and(|row| !(row.check_links)(manifest, desired).is_empty());
            linked || manifest.references.iter().any(|one| !manifests.contains_key(&one.key))
        });
        let Some(key) = lame.map(|manifest| manifest.key.clone()) else { return };
        desired.manifests.remove(&key);
        desired.broken.insert(key);
    }
}

/// Folder that holds every attachment.
#[derive(Debug)]
struct AttachedFiles;

impl AttachmentFiles for AttachedFiles {
    fn inspect(&self, path: &str) -> Result<AttachedFile, FileProblem> {
        let size = u64::try_from(path.len()).unwrap_or(u64::MAX);
        let (path, name, sha256) = (path.to_owned(), path.to_owned(), sha256(path.as_bytes()));
        Ok(AttachedFile { path, name, size, sha256 })
    }

    fn stamp(&self, _: &str) -> Option<Stamp> {
        None
    }
}
