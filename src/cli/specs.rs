//! Which resources paths and targets choose.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::base::id::Key;
use crate::model::desired::Desired;

/// The resources that these paths and targets choose; `None` if nothing was chosen.
pub(super) fn chosen(
    desired: &Desired,
    root: &Path,
    paths: &[PathBuf],
    targets: &[Key],
) -> Option<BTreeSet<Key>> {
    if paths.is_empty() && targets.is_empty() {
        return None;
    }
    let places: Vec<PathBuf> = paths.iter().map(|path| below(root, path)).collect();
    let within = |file: &str| places.iter().any(|place| Path::new(file).starts_with(place));
    let named = desired.manifests.iter().filter(|(_, manifest)| within(&manifest.place.file));
    Some(named.map(|(key, _)| key.clone()).chain(targets.iter().cloned()).collect())
}

/// A path argument as manifests name their files: relative to the folder of the configuration.
pub(super) fn below(root: &Path, path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let plain: PathBuf = absolute.components().collect();
    plain.strip_prefix(&root).map_or(plain.clone(), Path::to_owned)
}
