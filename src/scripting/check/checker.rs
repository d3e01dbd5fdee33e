//! Static checks of a script: names, arities, types of literals, and functions that no event
//! reaches.

mod calls;
mod constants;
mod counters;
mod filters;
mod names;
mod reach;
mod rights;
mod templates;
mod types;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use super::known_names::ScriptNames;
use crate::model::spec::issue::PlacedIssue;
use crate::scripting::load::scripts::ScriptUnit;

pub(crate) use constants::{concurrency, since};

/// Context against which all files of a set are checked.
pub(crate) struct CheckSet<'a> {
    pub(crate) units: &'a BTreeMap<&'a str, ScriptUnit<'a>>,
    pub(crate) known: &'a ScriptNames,
    /// The language's own functions, with the argument counts of each.
    builtin: BTreeMap<&'a str, BTreeSet<usize>>,
}

impl<'a> CheckSet<'a> {
    pub(crate) fn new(
        units: &'a BTreeMap<&'a str, ScriptUnit<'a>>,
        known: &'a ScriptNames,
        functions: &'a [(String, usize)],
    ) -> Self {
        let mut builtin: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (name, count) in functions.iter().filter(|(name, _)| is_identifier(name)) {
            builtin.entry(name).or_default().insert(*count);
        }
        Self { units, known, builtin }
    }

    /// Returns the file that another file imports under an alias.
    pub(crate) fn module(&self, unit: &ScriptUnit<'_>, alias: &str) -> Option<&'a ScriptUnit<'a>> {
        let import = unit.imports.iter().find(|import| import.alias == alias)?;
        self.units.get(import.path.as_deref()?)
    }
}

/// Returns true if a script can write this name; the language's own names include operators and
/// accessors.
fn is_identifier(name: &str) -> bool {
    name.chars().all(|found| found.is_alphanumeric() || found == '_')
}

/// Returns every problem in the files of a set.
pub(crate) fn check(set: &CheckSet<'_>) -> Vec<PlacedIssue> {
    let mut problems = Vec::new();
    let mut all = Vec::new();
    for one in set.units.values() {
        let (found, names) = check_unit(set, one);
        problems.extend(found);
        all.push((one, names));
    }
    problems.extend(names::shared_names(&all));
    problems
}

/// Returns every problem in one readable file, and the names that it gives to actions.
fn check_unit(
    set: &CheckSet<'_>,
    unit: &ScriptUnit<'_>,
) -> (Vec<PlacedIssue>, Vec<names::NamedAction>) {
    let mut walk = walk::FileChecker::new(set, unit);
    for value in unit.constants.values() {
        walk.check_constant(value);
    }
    for function in &unit.functions {
        walk.check_function(function);
    }
    walk.check_counters();
    let walk::FileChecker { mut problems, called, names, .. } = walk;
    reach::check(unit, &called, &mut problems);
    constants::check(unit, &mut problems);
    (problems, names)
}
