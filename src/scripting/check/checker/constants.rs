//! Constants with a meaning for the host. `const CONCURRENCY = 4;` is the number of events for
//! which the script may run at once. `const SINCE = "2026-11-01";` is the moment from which a new
//! script runs on already known events.

use chrono::{DateTime, Utc};
use rhai::Expr;

use crate::model::spec::issue::PlacedIssue;
use crate::scripting::load::scripts::ScriptUnit;
use crate::scripting::run::failure::place;
use crate::scripting::run::values::ScriptMoment;

const CONCURRENCY: &str = "CONCURRENCY";
const SINCE: &str = "SINCE";
/// Upper limit, since the service's own limits are lower.
const AT_ONCE_MAX: usize = 16;

/// Returns the script's `CONCURRENCY`. Returns `None` if it is missing, or not a number in range.
pub(crate) fn concurrency(unit: &ScriptUnit<'_>) -> Option<usize> {
    let Expr::IntegerConstant(count, _) = unit.constants.get(CONCURRENCY)? else { return None };
    usize::try_from(*count).ok().filter(|count| (1..=AT_ONCE_MAX).contains(count))
}

/// Returns the script's `SINCE`. Returns `None` if it is missing, or not a date or time.
pub(crate) fn since(unit: &ScriptUnit<'_>) -> Option<DateTime<Utc>> {
    let Expr::StringConstant(text, _) = unit.constants.get(SINCE)? else { return None };
    ScriptMoment::parse(text).ok().map(|ScriptMoment(at)| at)
}

/// Reports invalid constants.
pub(super) fn check(unit: &ScriptUnit<'_>, problems: &mut Vec<PlacedIssue>) {
    problems.extend(count_problem(unit));
    problems.extend(moment_problem(unit));
}

fn count_problem(unit: &ScriptUnit<'_>) -> Option<PlacedIssue> {
    let message = format!(
        "`{CONCURRENCY}` is how many events the script is run for at once: 1 to {AT_ONCE_MAX}"
    );
    let help = format!(
        "write `const {CONCURRENCY} = 4;`, or leave it out: then it is run for one after the other"
    );
    let fits = concurrency(unit).is_some();
    let (at, message, help) = constant_problem(unit, CONCURRENCY, fits, (message, help))?;
    Some(unit.source.problem(at, "concurrency", &message, &help))
}

fn moment_problem(unit: &ScriptUnit<'_>) -> Option<PlacedIssue> {
    let message = format!("`{SINCE}` is the date or time from which a new script is run");
    let help = format!(
        "write `const {SINCE} = \"2026-11-01\";`, or leave it out: then it begins with the next event"
    );
    let (at, message, help) =
        constant_problem(unit, SINCE, since(unit).is_some(), (message, help))?;
    Some(unit.source.problem(at, "since", &message, &help))
}

/// Returns the place of an invalid constant with its message and fix. A module must not have the
/// constant; `words` describe an unfit value.
fn constant_problem(
    unit: &ScriptUnit<'_>,
    name: &str,
    fits: bool,
    words: (String, String),
) -> Option<((usize, usize), String, String)> {
    let value = unit.constants.get(name)?;
    let at = place(value.start_position()).unwrap_or((1, 1));
    if unit.source.is_module() {
        let message = format!("`{name}` belongs in a script, and this is a module");
        return Some((at, message, "move it to the scripts that it is meant for".to_owned()));
    }
    (!fits).then_some((at, words.0, words.1))
}
