//! `const SINCE = "2026-11-01";`: the moment from which a new script is run for events that are known already.

use chrono::{DateTime, Utc};
use rhai::Expr;

use crate::hooks::failure::place;
use crate::hooks::load::Unit;
use crate::hooks::values::Moment;
use crate::model::issue::Problem;

/// The constant's name.
const NAME: &str = "SINCE";

/// The moment that a script says. `None`: it says nothing, or something else than a date or time.
pub(in crate::hooks) fn since(unit: &Unit<'_>) -> Option<DateTime<Utc>> {
    let Expr::StringConstant(text, _) = unit.constants.get(NAME)? else { return None };
    Moment::read(text).ok().map(|Moment(at)| at)
}

/// Tells a constant that cannot be meant.
pub(super) fn check(unit: &Unit<'_>, problems: &mut Vec<Problem>) {
    let Some(value) = unit.constants.get(NAME) else { return };
    let at = place(value.start_position()).unwrap_or((1, 1));
    if unit.source.is_module() {
        let message = format!("`{NAME}` is a script's own, and this is a module");
        let help = "move it to the scripts that it is meant for";
        problems.push(unit.source.problem(at, "since", &message, help));
    } else if since(unit).is_none() {
        let message = format!("`{NAME}` is the date or time from which a new script is run");
        let help = format!(
            "write `const {NAME} = \"2026-11-01\";`, or leave it out: then it begins with the next event"
        );
        problems.push(unit.source.problem(at, "since", &message, &help));
    }
}
