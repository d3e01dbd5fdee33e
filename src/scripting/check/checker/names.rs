//! Checks for action names that two scripts share: one name of one event is one action, whichever
//! script requests it.

use crate::model::spec::issue::{PlacedIssue, RelatedPlace, Severity};
use crate::scripting::load::events::{ANY, is_hook};
use crate::scripting::load::scripts::ScriptUnit;

/// A name that a script gives to an action, and its line and column.
pub(super) type NamedAction = (String, (usize, usize));

/// Reports names that two scripts with a common event share.
pub(super) fn shared_names(all: &[(&ScriptUnit<'_>, Vec<NamedAction>)]) -> Vec<PlacedIssue> {
    let mut problems = Vec::new();
    for (index, (unit, names)) in all.iter().enumerate() {
        for (earlier, taken) in all.iter().take(index) {
            let Some(event) = common_event(earlier, unit) else { continue };
            for (name, place) in names {
                let first = taken.iter().find(|(known, _)| known == name);
                problems.extend(first.map(|(_, first)| {
                    shared_name_problem(unit, name, *place, (earlier, *first), event)
                }));
            }
        }
    }
    problems
}

/// Returns an event function that both scripts have, or that one has while the other handles all
/// events.
fn common_event<'u>(one: &'u ScriptUnit<'_>, other: &'u ScriptUnit<'_>) -> Option<&'u str> {
    let hooks = |unit: &'u ScriptUnit<'_>| -> Vec<&'u str> {
        let names = unit.functions.iter().map(|function| function.name.as_str());
        names.filter(|name| is_hook(name) && !unit.source.is_module()).collect()
    };
    let (one, other) = (hooks(one), hooks(other));
    let meets = |name: &str, others: &[&str]| others.contains(&name) || others.contains(&ANY);
    let found = one.iter().find(|name| meets(name, &other));
    found.or_else(|| other.iter().find(|name| meets(name, &one))).copied()
}

fn shared_name_problem(
    unit: &ScriptUnit<'_>,
    name: &str,
    place: (usize, usize),
    (earlier, first): (&ScriptUnit<'_>, (usize, usize)),
    event: &str,
) -> PlacedIssue {
    let other = earlier.source.name();
    let message = format!("`{other}` also names an action `{name}`, and both handle `{event}`");
    let help = format!(
        "write `{}-{name}`: within one event, one name is one action",
        unit.source.name().replace('_', "-")
    );
    let problem = unit.source.problem(place, "shared_name", &message, &help);
    let related = RelatedPlace {
        file: earlier.source.display_path.clone(),
        line: first.0,
        column: first.1,
        message: "the other one".to_owned(),
    };
    PlacedIssue { severity: Severity::Warning, related: vec![related], ..problem }
}
