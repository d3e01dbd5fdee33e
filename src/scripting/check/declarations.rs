//! One file as the checker sees it, and checks of its declarations: functions that events reach and
//! those that only look so, constants with a meaning for the host, and names of actions.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use rhai::{AST, ASTFlags, ASTNode, Engine, Expr, Stmt};

use super::syntax::{Parsed, parse};
use crate::base::wording;
use crate::model::issue::{PlacedIssue, Severity};
use crate::scripting::language::names::{self, ANY_EVENT, ScriptNames, is_hook};
use crate::scripting::language::source::{Issues, Place, ScriptSource, place, place_or_start};
use crate::scripting::language::values::ScriptMoment;

/// Prefix that the language gives to anonymous functions.
const NAMELESS: &str = "anon$";

pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) parameters: Vec<String>,
    pub(crate) place: Place,
    pub(crate) body: Vec<Stmt>,
}

impl Function {
    /// Returns true for `|x| …`.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.name.starts_with(NAMELESS)
    }
}

pub(crate) struct Import {
    /// Imported path; `None` if it is not a plain text.
    pub(crate) path: Option<String>,
    pub(crate) alias: String,
    pub(crate) place: Place,
}

pub(crate) struct ScriptUnit<'a> {
    pub(crate) source: &'a ScriptSource,
    pub(crate) functions: Vec<Function>,
    pub(crate) imports: Vec<Import>,
    /// Constants outside functions.
    pub(crate) constants: BTreeMap<String, Expr>,
    /// Variables outside functions, which no function sees.
    pub(crate) variables: BTreeSet<String>,
    /// Functions that exist but cannot be parsed.
    pub(crate) unparsed: BTreeSet<String>,
    /// Set if no part of the file can be parsed.
    pub(crate) unreadable: bool,
}

pub(crate) struct CheckSet<'a> {
    pub(crate) units: &'a BTreeMap<&'a str, ScriptUnit<'a>>,
    pub(crate) known: &'a ScriptNames,
    /// The language's own functions, with the argument counts of each.
    pub(super) builtin: BTreeMap<&'a str, BTreeSet<usize>>,
}

impl<'a> CheckSet<'a> {
    pub(crate) fn new(
        units: &'a BTreeMap<&'a str, ScriptUnit<'a>>,
        known: &'a ScriptNames,
        functions: &'a [(String, usize)],
    ) -> Self {
        let mut builtin: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        // The language's own names include operators and accessors, which no script can write.
        let written = |name: &str| name.chars().all(|one| one.is_alphanumeric() || one == '_');
        for (name, count) in functions.iter().filter(|(name, _)| written(name)) {
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

/// Reads a file, and reports misplaced statements outside functions.
pub(crate) fn read_unit<'a>(
    engine: &Engine,
    source: &'a ScriptSource,
    problems: &mut Issues,
) -> ScriptUnit<'a> {
    let Parsed { tree, unparsed: lost } = parse(engine, source, problems);
    let mut unit = ScriptUnit {
        source,
        functions: Vec::new(),
        imports: Vec::new(),
        constants: BTreeMap::new(),
        variables: BTreeSet::new(),
        unparsed: lost,
        unreadable: tree.is_none(),
    };
    if let Some(tree) = tree {
        unit.functions = functions(source, &tree);
        for statement in tree.statements() {
            read_statement(&mut unit, statement, problems);
        }
    }
    unit
}

/// Returns the functions of a tree, sorted by line.
fn functions(source: &ScriptSource, tree: &AST) -> Vec<Function> {
    let found = tree.shared_lib().iter_script_fn_info().map(|(_, _, name, count, definition)| {
        let line = place(definition.body.start_position()).map_or(1, |(line, _)| line);
        Function {
            name: name.to_owned(),
            parameters: definition.params.iter().map(ToString::to_string).collect(),
            place: source.definition(name, line),
            body: body(tree, name, count),
        }
    });
    let mut functions: Vec<Function> = found.collect();
    functions.sort_by(|one, other| (one.place, &one.name).cmp(&(other.place, &other.name)));
    functions
}

fn body(tree: &AST, name: &str, count: usize) -> Vec<Stmt> {
    let mut alone = tree.clone();
    alone.clear_statements();
    alone.retain_functions(|_, _, found, parameters| found == name && parameters == count);
    let mut statements = Vec::new();
    alone.walk(&mut |path: &[ASTNode<'_>]| {
        if let [ASTNode::Stmt(statement)] = path {
            let statement: &Stmt = statement;
            statements.push(statement.clone());
        }
        true
    });
    statements
}

/// Records one statement outside functions: an import, a constant, or one that never runs.
#[expect(clippy::wildcard_enum_match_arm, reason = "every other statement has the same problem")]
fn read_statement(unit: &mut ScriptUnit<'_>, statement: &Stmt, problems: &mut Issues) {
    let source = unit.source;
    let mut report = |at, message: &str, help: &str| {
        problems.push(source.problem(place_or_start(at), "loose", message, help));
    };
    match statement {
        Stmt::Noop(_) => {}
        Stmt::Import(parts, at) => {
            let (path, alias) = &**parts;
            let written = place(path.start_position()).unwrap_or_else(|| place_or_start(*at));
            let path = match path {
                Expr::StringConstant(path, _) => Some(path.to_string()),
                _ => None,
            };
            unit.imports.push(Import { path, alias: alias.name.to_string(), place: written });
        }
        Stmt::Var(parts, flags, _) if flags.intersects(ASTFlags::CONSTANT) => {
            let (name, value, _) = &**parts;
            unit.constants.insert(name.name.to_string(), value.clone());
        }
        Stmt::Var(parts, _, _) => {
            let (name, _, _) = &**parts;
            let message = format!("no function sees the variable `{}`", name.name);
            let help = format!("write `const {0} = …` and `global::{0}` in functions", name.name);
            report(name.pos, &message, &help);
            unit.variables.insert(name.name.to_string());
        }
        other => {
            let message = "code outside functions is never run";
            let help = "move it into a function: an event calls `on_…(event)`";
            report(other.position(), message, help);
        }
    }
}

/// Prefix of the functions that events call.
const PREFIX: &str = "on_";

/// Reports hooks that are never called, or take another number of arguments. `called` holds the
/// functions that the file calls itself.
pub(crate) fn check_reach(unit: &ScriptUnit<'_>, called: &BTreeSet<String>, problems: &mut Issues) {
    let functions = unit.functions.iter().filter(|function| !function.is_anonymous());
    let module = unit.source.is_module();
    let mut answers = module || unit.unreadable || unit.unparsed.iter().any(|name| is_hook(name));
    for function in functions {
        answers = answers || is_hook(&function.name);
        let found = if module {
            module_reach_problem(function)
        } else {
            script_reach_problem(function, called)
        };
        if let Some((code, severity, message, help)) = found {
            let problem = unit.source.problem(function.place, code, &message, &help);
            problems.push(PlacedIssue { severity, ..problem });
        }
    }
    if !answers && !problems.iter().any(|problem| problem.severity == Severity::Error) {
        let message = "no event reaches this script: it has no function `on_…(event)`";
        let help = "write one, such as `fn on_transaction_failed(event) { … }`; put modules in a \
            folder";
        let problem = unit.source.problem((1, 1), "no_hook", message, help);
        problems.push(PlacedIssue { severity: Severity::Warning, ..problem });
    }
}

type ReachProblem = Option<(&'static str, Severity, String, String)>;

fn module_reach_problem(function: &Function) -> ReachProblem {
    is_hook(&function.name).then(|| {
        let message = format!("no event reaches `{}`: it is in a module", function.name);
        let help = "move it into a script of the scripts folder itself".to_owned();
        ("unreachable", Severity::Error, message, help)
    })
}

fn script_reach_problem(function: &Function, called: &BTreeSet<String>) -> ReachProblem {
    let name = function.name.as_str();
    if is_hook(name) {
        return arity_problem(function);
    }
    if called.contains(name) {
        return None;
    }
    let hook = name.starts_with(PREFIX);
    let meant = names::nearest_handler(name).filter(|meant| ends_alike(name, meant));
    if let Some(meant) = meant.filter(|_| hook || looks_like_handler(function)) {
        let message = format!("no event calls `{name}`");
        return Some(("event", Severity::Error, message, format!("did you mean `{meant}`?")));
    }
    if hook {
        let message = format!("no event calls `{name}`");
        return Some(("event", Severity::Error, message, suggest_events(name)));
    }
    let help = "remove it, or name it by the event that should call it: `on_…`".to_owned();
    Some(("unused", Severity::Warning, format!("nothing calls `{name}`"), help))
}

/// Returns true if the last words may mean the same: `deleted` does not mean `expired`.
fn ends_alike(name: &str, meant: &str) -> bool {
    let last = |name: &str| name.rsplit('_').next().unwrap_or_default().to_lowercase();
    let (one, other) = (last(name), last(meant));
    one.ends_with(&other) || wording::nearest(&one, [other.as_str()]).is_some()
}

/// Suggests the events with the same first word, or the documentation if there are none.
fn suggest_events(name: &str) -> String {
    let family = name.split('_').nth(1).unwrap_or_default();
    let all: Vec<String> = names::handler_names().collect();
    let kin = |known: &&String| known.split('_').nth(1).is_some_and(|word| word == family);
    let kin: Vec<&str> = all.iter().filter(kin).map(String::as_str).collect();
    if kin.is_empty() {
        return "list events with `reckon hooks doc`; `on_event(event)` handles those without a \
            function"
            .to_owned();
    }
    wording::suggestion_help("", kin.iter().copied())
}

/// Returns true if the function takes a parameter that its author calls an event.
fn looks_like_handler(function: &Function) -> bool {
    let plain = function.name.to_lowercase().replace('_', "");
    let event = function.parameters.iter().any(|name| name.to_lowercase().starts_with("ev"));
    let named = names::handler_names().any(|known| {
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

// Constants with a meaning for the host. `const CONCURRENCY = 4;` is the number of events for
// which the script may run at once. `const SINCE = "2026-11-01";` is the moment from which a new
// script runs on already known events.

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

/// Reports invalid constants: in a module, or with an unfit value.
pub(crate) fn check_constants(unit: &ScriptUnit<'_>, problems: &mut Issues) {
    let count = format!(
        "`{CONCURRENCY}` is how many events the script is run for at once: 1 to {AT_ONCE_MAX}"
    );
    let count_help = format!(
        "write `const {CONCURRENCY} = 4;`, or leave it out: then it is run for one after the other"
    );
    let moment = format!("`{SINCE}` is the date or time from which a new script is run");
    let moment_help = format!(
        "write `const {SINCE} = \"2026-11-01\";`, or leave it out: then it begins with the next event"
    );
    for (name, code, fits, message, help) in [
        (CONCURRENCY, "concurrency", concurrency(unit).is_some(), count, count_help),
        (SINCE, "since", since(unit).is_some(), moment, moment_help),
    ] {
        let Some(value) = unit.constants.get(name) else { continue };
        let at = place_or_start(value.start_position());
        if unit.source.is_module() {
            let message = format!("`{name}` belongs in a script, and this is a module");
            let help = "move it to the scripts that it is meant for";
            problems.push(unit.source.problem(at, code, &message, help));
        } else if !fits {
            problems.push(unit.source.problem(at, code, &message, &help));
        }
    }
}

// Checks for action names that two scripts share: within one event, one name is one action.

/// A name that a script gives to an action, and its line and column.
pub(crate) type NamedAction = (String, Place);

/// Reports names that two scripts with a common event share.
pub(crate) fn shared_names(all: &[(&ScriptUnit<'_>, Vec<NamedAction>)]) -> Issues {
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

/// Returns an event function that both scripts have, or one while the other handles all events.
fn common_event<'u>(one: &'u ScriptUnit<'_>, other: &'u ScriptUnit<'_>) -> Option<&'u str> {
    let hooks = |unit: &'u ScriptUnit<'_>| -> Vec<&'u str> {
        let names = unit.functions.iter().map(|function| function.name.as_str());
        names.filter(|name| is_hook(name) && !unit.source.is_module()).collect()
    };
    let (one, other) = (hooks(one), hooks(other));
    let meets = |name: &str, others: &[&str]| others.contains(&name) || others.contains(&ANY_EVENT);
    let found = one.iter().find(|name| meets(name, &other));
    found.or_else(|| other.iter().find(|name| meets(name, &one))).copied()
}

fn shared_name_problem(
    unit: &ScriptUnit<'_>,
    name: &str,
    place: Place,
    (earlier, first): (&ScriptUnit<'_>, Place),
    event: &str,
) -> PlacedIssue {
    let other = earlier.source.name();
    let message = format!("`{other}` also names an action `{name}`, and both handle `{event}`");
    let help = format!(
        "write `{}-{name}`: within one event, one name is one action",
        unit.source.name().replace('_', "-")
    );
    let problem = unit.source.problem(place, "shared_name", &message, &help);
    let related = vec![earlier.source.related(first, "the other one")];
    PlacedIssue { severity: Severity::Warning, related, ..problem }
}
