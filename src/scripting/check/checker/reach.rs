//! Checks for functions that events reach, and for those that only look so.

use std::collections::BTreeSet;

use crate::base::suggestion;
use crate::model::spec::issue::{PlacedIssue, Severity};
use crate::scripting::load::events;
use crate::scripting::load::scripts::{Function, ScriptUnit};

/// Prefix of the functions that events call.
const PREFIX: &str = "on_";

/// Reports hooks that are never called, or take another number of arguments. `called` holds the
/// functions that the file calls itself.
pub(super) fn check(
    unit: &ScriptUnit<'_>,
    called: &BTreeSet<String>,
    problems: &mut Vec<PlacedIssue>,
) {
    let functions = unit.functions.iter().filter(|function| !function.is_anonymous());
    let module = unit.source.is_module();
    let mut answers =
        module || unit.unreadable || unit.unparsed.iter().any(|name| events::is_hook(name));
    for function in functions {
        answers = answers || events::is_hook(&function.name);
        let found =
            if module { module_problem(function) } else { script_problem(function, called) };
        if let Some((code, severity, message, help)) = found {
            let problem = unit.source.problem(function.place, code, &message, &help);
            problems.push(PlacedIssue { severity, ..problem });
        }
    }
    let silent = !problems.iter().any(|problem| problem.severity == Severity::Error);
    if !answers && silent {
        let message = "no event reaches this script: it has no function `on_…(event)`";
        let help = "write one, such as `fn on_transaction_failed(event) { … }`; put modules in a \
            folder";
        let problem = unit.source.problem((1, 1), "no_hook", message, help);
        problems.push(PlacedIssue { severity: Severity::Warning, ..problem });
    }
}

type ReachProblem = Option<(&'static str, Severity, String, String)>;

fn module_problem(function: &Function) -> ReachProblem {
    events::is_hook(&function.name).then(|| {
        let message = format!("no event reaches `{}`: it is in a module", function.name);
        let help = "move it into a script of the scripts folder itself".to_owned();
        ("unreachable", Severity::Error, message, help)
    })
}

fn script_problem(function: &Function, called: &BTreeSet<String>) -> ReachProblem {
    let name = function.name.as_str();
    if events::is_hook(name) {
        return arity_problem(function);
    }
    if called.contains(name) {
        return None;
    }
    let hook = name.starts_with(PREFIX);
    let meant = events::nearest_handler(name).filter(|meant| ends_alike(name, meant));
    if let Some(meant) = meant.filter(|_| hook || looks_like_handler(function)) {
        let message = format!("no event calls `{name}`");
        return Some(("event", Severity::Error, message, format!("did you mean `{meant}`?")));
    }
    if hook {
        return Some((
            "event",
            Severity::Error,
            format!("no event calls `{name}`"),
            suggest_events(name),
        ));
    }
    let message = format!("nothing calls `{name}`");
    let help = "remove it, or name it by the event that should call it: `on_…`".to_owned();
    Some(("unused", Severity::Warning, message, help))
}

/// Returns true if the last words may mean the same: `deleted` does not mean `expired`.
fn ends_alike(name: &str, meant: &str) -> bool {
    let last = |name: &str| name.rsplit('_').next().unwrap_or_default().to_lowercase();
    let (one, other) = (last(name), last(meant));
    one.ends_with(&other) || suggestion::nearest(&one, [other.as_str()]).is_some()
}

/// Suggests the events with the same first word, or the documentation if there are none.
fn suggest_events(name: &str) -> String {
    let family = name.split('_').nth(1).unwrap_or_default();
    let all: Vec<String> = events::handler_names().collect();
    let kin = |known: &&String| known.split('_').nth(1).is_some_and(|word| word == family);
    let kin: Vec<&str> = all.iter().filter(kin).map(String::as_str).collect();
    if kin.is_empty() {
        return "list events with `reckon hooks doc`; `on_event(event)` handles those without a \
            function"
            .to_owned();
    }
    suggestion::suggestion_help("", kin.iter().copied())
}

/// Returns true if the function takes a parameter that its author calls an event.
fn looks_like_handler(function: &Function) -> bool {
    let plain = function.name.to_lowercase().replace('_', "");
    let event = function.parameters.iter().any(|name| name.to_lowercase().starts_with("ev"));
    let named = events::handler_names().any(|known| {
        let known = known.replace('_', "");
        plain == known || known.strip_prefix("on") == Some(plain.as_str())
    });
    named || (event && function.name.to_lowercase().starts_with("on"))
}

fn arity_problem(function: &Function) -> ReachProblem {
    let Function { name, parameters, .. } = function;
    let count = parameters.len();
    (count != 1).then(|| {
        let message =
            format!("`{name}` is called with the event alone, but takes {count} parameters");
        ("hook_arity", Severity::Error, message, format!("write `fn {name}(event)`"))
    })
}
