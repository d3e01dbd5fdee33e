//! Everything outside of them that scripts name.

use std::collections::{BTreeMap, BTreeSet};

use super::Known;
use super::template::Template;

/// What scripts may name.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The targets of the configuration's `notify`.
    pub(super) targets: BTreeSet<String>,
    /// The kinds that documents may have.
    pub(super) kinds: BTreeSet<String>,
    /// The templates of the scripts folder.
    pub(super) templates: BTreeMap<String, Template>,
}

impl Names {
    pub(super) fn new(known: &Known, templates: BTreeMap<String, Template>) -> Self {
        Self { targets: known.targets.clone(), kinds: known.kinds.clone(), templates }
    }
}
