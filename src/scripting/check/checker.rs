//! Static checks of a script: names, arities, types of literals, and functions that no event
//! reaches.

use super::unit::{CheckSet, ScriptUnit};
use super::{declarations, walk};
use crate::model::issue::PlacedIssue;

/// Returns every problem in the files of a set.
pub(crate) fn check(set: &CheckSet<'_>) -> Vec<PlacedIssue> {
    let mut problems = Vec::new();
    let mut all = Vec::new();
    for one in set.units.values() {
        let (found, names) = check_unit(set, one);
        problems.extend(found);
        all.push((one, names));
    }
    problems.extend(declarations::shared_names(&all));
    problems
}

/// Returns every problem in one readable file, and the names that it gives to actions.
fn check_unit(
    set: &CheckSet<'_>,
    unit: &ScriptUnit<'_>,
) -> (Vec<PlacedIssue>, Vec<declarations::NamedAction>) {
    let mut walk = walk::FileChecker::new(set, unit);
    for value in unit.constants.values() {
        walk.check_constant(value);
    }
    for function in &unit.functions {
        walk.check_function(function);
    }
    walk.check_counters();
    let walk::FileChecker { mut problems, called, names, .. } = walk;
    declarations::check_reach(unit, &called, &mut problems);
    declarations::check_constants(unit, &mut problems);
    (problems, names)
}
