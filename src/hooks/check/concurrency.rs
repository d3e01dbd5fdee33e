//! `const CONCURRENCY = 4;`: how many events a script may be run for at once.

use rhai::Expr;

use crate::hooks::failure::place;
use crate::hooks::load::Unit;
use crate::model::issue::Problem;

/// What the constant is called.
const NAME: &str = "CONCURRENCY";
/// More at once help nobody: the service's own bounds are below.
const MAX: usize = 16;

/// What a script says. `None`: nothing, or something else than a number of events.
pub(in crate::hooks) fn concurrency(unit: &Unit<'_>) -> Option<usize> {
    let Expr::IntegerConstant(count, _) = unit.constants.get(NAME)? else { return None };
    usize::try_from(*count).ok().filter(|count| (1..=MAX).contains(count))
}

/// Tells a constant that cannot be meant.
pub(super) fn check(unit: &Unit<'_>, problems: &mut Vec<Problem>) {
    let Some(value) = unit.constants.get(NAME) else { return };
    let at = place(value.start_position()).unwrap_or((1, 1));
    if unit.source.is_module() {
        let message = format!("`{NAME}` is a script's own, and this is a module");
        let help = "move it to the scripts that it is meant for";
        problems.push(unit.source.problem(at, "concurrency", &message, help));
    } else if concurrency(unit).is_none() {
        let message =
            format!("`{NAME}` is how many events the script is run for at once: 1 to {MAX}");
        let help = format!(
            "write `const {NAME} = 4;`, or leave it out: then it is run for one after the other"
        );
        problems.push(unit.source.problem(at, "concurrency", &message, &help));
    }
}
