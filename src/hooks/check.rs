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

use super::load::Unit;
use super::names::Names;
use crate::model::issue::Problem;

pub(super) use constants::{concurrency, since};

/// Context against which all files of a set are checked.
pub(super) struct Set<'a> {
    pub(super) units: &'a BTreeMap<&'a str, Unit<'a>>,
    pub(super) known: &'a Names,
    /// The language's own functions, with the argument counts of each.
    builtin: BTreeMap<&'a str, BTreeSet<usize>>,
}

impl<'a> Set<'a> {
    pub(super) fn new(
        units: &'a BTreeMap<&'a str, Unit<'a>>,
        known: &'a Names,
        functions: &'a [(String, usize)],
    ) -> Self {
        let mut builtin: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (name, count) in functions.iter().filter(|(name, _)| is_word(name)) {
            builtin.entry(name).or_default().insert(*count);
        }
        Self { units, known, builtin }
    }

    /// Returns the file that another file imports under an alias.
    pub(super) fn module(&self, unit: &Unit<'_>, alias: &str) -> Option<&'a Unit<'a>> {
        let import = unit.imports.iter().find(|import| import.alias == alias)?;
        self.units.get(import.path.as_deref()?)
    }
}

/// Returns true if a script can write this name; the language's own names include operators and
/// accessors.
fn is_word(name: &str) -> bool {
    name.chars().all(|found| found.is_alphanumeric() || found == '_')
}

/// Returns every problem in the files of a set.
pub(super) fn check(set: &Set<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut all = Vec::new();
    for one in set.units.values() {
        let (found, names) = unit(set, one);
        problems.extend(found);
        all.push((one, names));
    }
    problems.extend(names::shared(&all));
    problems
}

/// Returns every problem in one readable file, and the names that it gives to actions.
fn unit(set: &Set<'_>, unit: &Unit<'_>) -> (Vec<Problem>, Vec<names::Named>) {
    let mut walk = walk::Walk::new(set, unit);
    for value in unit.constants.values() {
        walk.constant(value);
    }
    for function in &unit.functions {
        walk.function(function);
    }
    walk.counters();
    let walk::Walk { mut problems, called, names, .. } = walk;
    reach::check(unit, &called, &mut problems);
    constants::check(unit, &mut problems);
    (problems, names)
}
