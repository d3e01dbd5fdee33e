//! Imports of modules: only within the set, and never in a cycle.

use std::collections::{BTreeMap, BTreeSet};

use rhai::module_resolvers::StaticModuleResolver;
use rhai::{Engine, Module, Scope};

use super::unit::{Import, ScriptUnit};
use super::{module_problem, syntax};
use crate::base::suggestion;
use crate::model::spec::issue::PlacedIssue;
use crate::scripting::load::source::ScriptSource;

type Units<'u, 's> = BTreeMap<&'s str, ScriptUnit<'s>>;

/// Reports imports of a missing file, of a script, or of a module that imports its importer.
pub(super) fn check(units: &Units<'_, '_>, problems: &mut Vec<PlacedIssue>) {
    for unit in units.values() {
        for import in &unit.imports {
            if let Some((message, help)) = import_problem(units, unit, import) {
                problems.push(unit.source.problem(import.place, "import", &message, &help));
            }
        }
    }
}

fn import_problem(
    units: &Units<'_, '_>,
    unit: &ScriptUnit<'_>,
    import: &Import,
) -> Option<(String, String)> {
    let Some(path) = &import.path else {
        let help = "write its name, such as `import \"lib/dates\" as dates;`";
        return Some(("the imported path is not a plain text".to_owned(), help.to_owned()));
    };
    let modules = units.values().filter(|unit| unit.source.is_module());
    let names: Vec<&str> = modules.map(|unit| unit.source.name()).collect();
    match units.get(path.as_str()) {
        None => {
            let message = format!("there is no module `{path}` in the scripts folder");
            let help = if names.is_empty() {
                "put modules in folders beneath it, such as `lib/dates.rhai`".to_owned()
            } else {
                suggestion::suggestion_help(path, names)
            };
            Some((message, help))
        }
        Some(found) if !found.source.is_module() => {
            let message = format!("`{path}` is a script, and scripts cannot be imported");
            Some((
                message,
                "move the shared functions into a folder, such as `lib/shared.rhai`".to_owned(),
            ))
        }
        Some(found) if reaches(units, found, unit.source.name(), &mut BTreeSet::new()) => {
            let message = format!("`{path}` imports this file in turn");
            Some((message, "move the shared functions into a third file".to_owned()))
        }
        Some(_) => None,
    }
}

/// Returns the units that a unit imports directly.
fn direct_imports<'u, 's>(
    units: &'u Units<'_, 's>,
    unit: &ScriptUnit<'_>,
) -> Vec<&'u ScriptUnit<'s>> {
    let paths = unit.imports.iter().filter_map(|import| import.path.as_deref());
    paths.filter_map(|path| units.get(path)).collect()
}

/// Returns true if imports lead from a unit to the unit of this name.
fn reaches<'u>(
    units: &'u Units<'_, '_>,
    from: &'u ScriptUnit<'_>,
    to: &str,
    seen: &mut BTreeSet<&'u str>,
) -> bool {
    from.source.name() == to
        || (seen.insert(from.source.name())
            && direct_imports(units, from).into_iter().any(|next| reaches(units, next, to, seen)))
}

/// Returns a file and everything that it imports, each once, imported files first.
pub(super) fn import_closure<'s>(
    units: &Units<'_, 's>,
    unit: &ScriptUnit<'s>,
) -> Vec<&'s ScriptSource> {
    let mut all = Vec::new();
    collect_imports(units, unit, &mut all);
    all
}

fn collect_imports<'s>(
    units: &Units<'_, 's>,
    unit: &ScriptUnit<'s>,
    all: &mut Vec<&'s ScriptSource>,
) {
    for next in direct_imports(units, unit) {
        collect_imports(units, next, all);
    }
    if !all.contains(&unit.source) {
        all.push(unit.source);
    }
}

/// Compiles the modules of a set without cycles and adds them to the engine. An `import` can reach
/// no other place.
pub(super) fn register_modules(
    engine: &mut Engine,
    units: &Units<'_, '_>,
    problems: &mut Vec<PlacedIssue>,
) {
    let mut order = Vec::new();
    for unit in units.values().filter(|unit| unit.source.is_module()) {
        collect_imports(units, unit, &mut order);
    }
    let mut resolver = StaticModuleResolver::new();
    engine.set_module_resolver(resolver.clone());
    for source in order {
        let tree = match engine.compile(&source.text) {
            Ok(tree) => tree,
            Err(error) => {
                problems.push(syntax::problem(source, &error));
                continue;
            }
        };
        match Module::eval_ast_as_new(Scope::new(), &tree, engine) {
            Err(error) => problems.push(module_problem(source, &error)),
            Ok(module) => {
                resolver.insert(source.name(), module);
                engine.set_module_resolver(resolver.clone());
            }
        }
    }
}
