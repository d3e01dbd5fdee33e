//! External names that scripts use.

use std::collections::{BTreeMap, BTreeSet};

use super::Known;
use super::template::Template;
use crate::policy::Rights;

/// Names that scripts may use.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Targets of the configuration's `notify`.
    pub(super) targets: BTreeSet<String>,
    /// Mail targets, each set if it takes any address.
    pub(super) mail: BTreeMap<String, bool>,
    /// Rights that the configuration grants.
    pub(super) rights: Rights,
    /// Kinds of documents.
    pub(super) kinds: BTreeSet<String>,
    /// Templates of the scripts folder.
    pub(super) templates: BTreeMap<String, Template>,
}

impl Names {
    pub(super) fn new(known: &Known, templates: BTreeMap<String, Template>) -> Self {
        let Known { targets, mail, rights, kinds } = known.clone();
        Self { targets, mail, rights, kinds, templates }
    }
}
