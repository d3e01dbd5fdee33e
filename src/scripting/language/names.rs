//! External names that scripts use.

use std::collections::{BTreeMap, BTreeSet};

use super::template::Template;
use crate::policy::Rights;

/// External names that scripts may use.
#[derive(Debug, Clone, Default)]
pub struct ConfiguredNames {
    /// Targets of the configuration's `notify`.
    pub targets: BTreeSet<String>,
    /// Mail targets, each set if it takes any address.
    pub mail: BTreeMap<String, bool>,
    /// Rights that the configuration grants.
    pub rights: Rights,
    /// Kinds of documents.
    pub kinds: BTreeSet<String>,
}

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

/// Returns the message and the fix for a former name that still works.
pub(crate) fn former_name_words(former: &str, name: &str) -> (String, String) {
    let message = format!("`{former}` is the former name of `{name}`");
    (message, format!("write `{name}`: `{former}` works in this version, and not in the next one"))
}

impl ScriptNames {
    pub(crate) fn new(known: &ConfiguredNames, templates: BTreeMap<String, Template>) -> Self {
        let ConfiguredNames { targets, mail, rights, kinds } = known.clone();
        Self { targets, mail, rights, kinds, templates }
    }
}
