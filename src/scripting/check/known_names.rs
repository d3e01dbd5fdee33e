//! External names that scripts use.

use std::collections::{BTreeMap, BTreeSet};

use crate::policy::Rights;
use crate::scripting::host::template::Template;
use crate::scripting::interface::ConfiguredNames;

/// Names that scripts may use.
#[derive(Debug, Default)]
pub(crate) struct ScriptNames {
    /// Targets of the configuration's `notify`.
    pub(crate) targets: BTreeSet<String>,
    /// Mail targets, each set if it takes any address.
    pub(crate) mail: BTreeMap<String, bool>,
    /// Rights that the configuration grants.
    pub(crate) rights: Rights,
    /// Kinds of documents.
    pub(crate) kinds: BTreeSet<String>,
    /// Templates of the scripts folder.
    pub(crate) templates: BTreeMap<String, Template>,
}

impl ScriptNames {
    pub(crate) fn new(known: &ConfiguredNames, templates: BTreeMap<String, Template>) -> Self {
        let ConfiguredNames { targets, mail, rights, kinds } = known.clone();
        Self { targets, mail, rights, kinds, templates }
    }
}
