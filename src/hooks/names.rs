//! External names that scripts use.

use std::collections::{BTreeMap, BTreeSet};

use super::ConfiguredNames;
use super::template::Template;
use crate::policy::Rights;

/// Names that scripts may use.
#[derive(Debug, Default)]
pub(super) struct ScriptNames {
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

impl ScriptNames {
    pub(super) fn new(known: &ConfiguredNames, templates: BTreeMap<String, Template>) -> Self {
        let ConfiguredNames { targets, mail, rights, kinds } = known.clone();
        Self { targets, mail, rights, kinds, templates }
    }
}
