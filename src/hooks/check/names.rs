//! Names of actions that two scripts share: beneath one event a name is one action, whichever script says it.

use crate::hooks::events::{ANY, is_hook};
use crate::hooks::load::Unit;
use crate::model::issue::{Problem, RelatedPlace, Severity};

/// A name that a script gives to an action, and where, by line and column.
pub(super) type Named = (String, (usize, usize));

/// Tells names that two scripts give which answer the same event.
pub(super) fn shared(all: &[(&Unit<'_>, Vec<Named>)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, (unit, names)) in all.iter().enumerate() {
        for (earlier, taken) in all.iter().take(index) {
            let Some(event) = common(earlier, unit) else { continue };
            for (name, place) in names {
                let first = taken.iter().find(|(known, _)| known == name);
                problems.extend(
                    first.map(|(_, first)| told(unit, name, *place, (earlier, *first), event)),
                );
            }
        }
    }
    problems
}

/// A function of events that both have, or that one has where the other takes all.
fn common<'u>(one: &'u Unit<'_>, other: &'u Unit<'_>) -> Option<&'u str> {
    let hooks = |unit: &'u Unit<'_>| -> Vec<&'u str> {
        let names = unit.functions.iter().map(|function| function.name.as_str());
        names.filter(|name| is_hook(name) && !unit.source.is_module()).collect()
    };
    let (one, other) = (hooks(one), hooks(other));
    let meets = |name: &str, others: &[&str]| others.contains(&name) || others.contains(&ANY);
    let found = one.iter().find(|name| meets(name, &other));
    found.or_else(|| other.iter().find(|name| meets(name, &one))).copied()
}

fn told(
    unit: &Unit<'_>,
    name: &str,
    place: (usize, usize),
    (earlier, first): (&Unit<'_>, (usize, usize)),
    event: &str,
) -> Problem {
    let other = earlier.source.name();
    let message = format!("`{name}` names an action of `{other}`, too, and both answer `{event}`");
    let help = format!(
        "names of one event are one action: write `{}-{name}`",
        unit.source.name().replace('_', "-")
    );
    let problem = unit.source.problem(place, "shared_name", &message, &help);
    let related = RelatedPlace {
        file: earlier.source.shown.clone(),
        line: first.0,
        column: first.1,
        message: "the other one".to_owned(),
    };
    Problem { severity: Severity::Warning, related: vec![related], ..problem }
}
