//! Everything outside of them that scripts name.

use std::collections::{BTreeMap, BTreeSet};

use super::Known;
use super::template::Template;
use crate::policy::Rights;

/// What scripts may name.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The targets of the configuration's `notify`.
    pub(super) targets: BTreeSet<String>,
    /// Those of them that are mail, and whether each takes any address.
    pub(super) mail: BTreeMap<String, bool>,
    /// The rights that the configuration gives.
    pub(super) rights: Rights,
    /// The kinds that documents may have.
    pub(super) kinds: BTreeSet<String>,
    /// The templates of the scripts folder.
    pub(super) templates: BTreeMap<String, Template>,
}

impl Names {
    pub(super) fn new(known: &Known, templates: BTreeMap<String, Template>) -> Self {
        let Known { targets, mail, rights, kinds } = known.clone();
        Self { targets, mail, rights, kinds, templates }
    }
}
