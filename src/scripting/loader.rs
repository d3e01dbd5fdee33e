//! Loads files as a runnable set, or returns every problem with them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rhai::module_resolvers::StaticModuleResolver;
use rhai::{Engine, Module, Scope};

use crate::base::hash::{Digest, sha256};
use crate::base::wording;
use crate::model::events::hook_run::ScriptIdentity;
use crate::model::issue::Severity;
use crate::scripting::check::declarations::{CheckSet, Import, ScriptUnit};
use crate::scripting::check::{checker, declarations, syntax};
use crate::scripting::engine::{builtin_functions, classify_error, engine};
use crate::scripting::hooks::{CompiledScript, Hooks, ScriptQueue};
use crate::scripting::language::limits::on_stack;
use crate::scripting::language::names::{ConfiguredNames, ScriptNames};
use crate::scripting::language::source::{Issues, ScriptSource, is_template};
use crate::scripting::language::{names, template};

/// Word in every script that uses templates.
const TEMPLATE: &str = "template";

impl Hooks {
    /// Checks and loads a set. Files in the folder itself are scripts, and files in subfolders are
    /// modules that scripts import. In `templates`, files in `.txt` or `.html` are templates.
    ///
    /// # Errors
    /// Every problem of the set, with warnings; then no part of the set is used.
    pub fn load(sources: &[ScriptSource], known: &ConfiguredNames) -> Result<Self, Issues> {
        on_stack(|| load(sources, known)).unwrap_or_else(|| {
            let message = "internal error: the check of the scripts panicked";
            let help = "remove one script after the other to find the cause, then report this bug";
            let bug = sources.first().map(|source| source.problem((1, 1), "bug", message, help));
            Err(bug.into_iter().collect())
        })
    }
}

fn load(sources: &[ScriptSource], known: &ConfiguredNames) -> Result<Hooks, Issues> {
    let mut engine = engine();
    let builtin = builtin_functions(&engine);
    let mut problems = Vec::new();
    let templates = template::parse_templates(sources, &mut problems);
    let names = ScriptNames { configured: known.clone(), templates };
    let units = read_units(&engine, sources, &mut problems);
    check_imports(&units, &mut problems);
    problems.extend(checker::check_set(&CheckSet::new(&units, &names, &builtin)));
    problems.sort();
    problems.dedup();
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        return Err(problems);
    }
    engine.set_strict_variables(true);
    match assemble(&mut engine, &units, sources) {
        Err(found) => {
            problems.extend(found);
            Err(problems)
        }
        Ok(scripts) => {
            let (engine, scripts) = (Arc::new(engine), Arc::new(scripts));
            Ok(Hooks { engine, scripts, names: Arc::new(names), warnings: Arc::new(problems) })
        }
    }
}

fn read_units<'s>(engine: &Engine, sources: &'s [ScriptSource], issues: &mut Issues) -> Units<'s> {
    let scripts = sources.iter().filter(|source| !is_template(&source.path));
    scripts.map(|source| (source.name(), declarations::read_unit(engine, source, issues))).collect()
}

/// Returns an engine for experiments. It has the modules of a set, if the set is valid.
pub(crate) fn experiment_engine(sources: &[ScriptSource]) -> Engine {
    let mut engine = engine();
    let mut problems = Vec::new();
    let units = read_units(&engine, sources, &mut problems);
    engine.set_strict_variables(true);
    register_modules(&mut engine, &units, &mut problems);
    engine
}

/// Compiles modules, then scripts: a module's constants may be wrong only when they are evaluated.
fn assemble(
    engine: &mut Engine,
    units: &Units<'_>,
    sources: &[ScriptSource],
) -> Result<BTreeMap<String, CompiledScript>, Issues> {
    let mut problems = Vec::new();
    register_modules(engine, units, &mut problems);
    let mut scripts = BTreeMap::new();
    for unit in units.values().filter(|unit| !unit.source.is_module()) {
        match engine.compile(&unit.source.text) {
            Err(error) => problems.push(syntax::problem(unit.source, &error)),
            Ok(ast) => {
                let functions = unit.functions.iter().map(|function| function.name.clone());
                let functions = functions.filter(|name| names::is_hook(name)).collect();
                let mut files = Vec::new();
                collect_imports(units, unit, &mut files);
                let texts = sources.iter().filter(|source| is_template(&source.path));
                let texts = texts.filter(|_| unit.source.text.contains(TEMPLATE));
                let hash = digest(files.iter().copied().chain(texts));
                let nameless = ScriptSource { path: String::new(), ..unit.source.clone() };
                let others = files.into_iter().filter(|file| *file != unit.source);
                let name = unit.source.name().to_owned();
                let text = digest(others.chain([&nameless]));
                let queue = ScriptQueue {
                    lane: ScriptIdentity { script: name.clone(), text },
                    concurrency: declarations::concurrency(unit).unwrap_or(1),
                    since: declarations::since(unit),
                };
                scripts.insert(name, CompiledScript { queue, ast, hash, functions });
            }
        }
    }
    if problems.is_empty() { Ok(scripts) } else { Err(problems) }
}

/// Returns the SHA-256 of the names and texts of files, sorted by name.
fn digest<'a>(sources: impl Iterator<Item = &'a ScriptSource>) -> Digest {
    let texts: BTreeMap<&str, &str> =
        sources.map(|source| (source.path.as_str(), &*source.text)).collect();
    let mut bytes = Vec::new();
    for (path, text) in texts {
        for part in [path, text] {
            bytes.extend(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            bytes.extend(part.as_bytes());
        }
    }
    sha256(&bytes)
}

// Imports of modules: only within the set, and never in a cycle.

type Units<'s> = BTreeMap<&'s str, ScriptUnit<'s>>;

/// Reports imports of a missing file, of a script, or of a module that imports its importer.
fn check_imports(units: &Units<'_>, problems: &mut Issues) {
    for unit in units.values() {
        for import in &unit.imports {
            if let Some((message, help)) = import_problem(units, unit, import) {
                problems.push(unit.source.problem(import.place, "import", &message, &help));
            }
        }
    }
}

fn import_problem(
    units: &Units<'_>,
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
                wording::suggestion_help(path, names)
            };
            Some((message, help))
        }
        Some(found) if !found.source.is_module() => {
            let message = format!("`{path}` is a script, and scripts cannot be imported");
            let help = "move the shared functions into a folder, such as `lib/shared.rhai`";
            Some((message, help.to_owned()))
        }
        Some(found) if reaches(units, found, unit.source.name(), &mut BTreeSet::new()) => {
            let message = format!("`{path}` imports this file in turn");
            Some((message, "move the shared functions into a third file".to_owned()))
        }
        Some(_) => None,
    }
}

fn direct_imports<'u, 's>(units: &'u Units<'s>, unit: &ScriptUnit<'_>) -> Vec<&'u ScriptUnit<'s>> {
    let paths = unit.imports.iter().filter_map(|import| import.path.as_deref());
    paths.filter_map(|path| units.get(path)).collect()
}

/// Returns true if imports lead from a unit to the unit of this name.
fn reaches<'u>(
    units: &'u Units<'_>,
    from: &'u ScriptUnit<'_>,
    to: &str,
    seen: &mut BTreeSet<&'u str>,
) -> bool {
    from.source.name() == to
        || (seen.insert(from.source.name())
            && direct_imports(units, from).into_iter().any(|next| reaches(units, next, to, seen)))
}

/// Collects a file and everything that it imports, each once, imported files first.
fn collect_imports<'s>(units: &Units<'s>, unit: &ScriptUnit<'s>, all: &mut Vec<&'s ScriptSource>) {
    for next in direct_imports(units, unit) {
        collect_imports(units, next, all);
    }
    if !all.contains(&unit.source) {
        all.push(unit.source);
    }
}

/// Compiles the modules of a set without cycles into the engine. An `import` reaches nothing else.
fn register_modules(engine: &mut Engine, units: &Units<'_>, problems: &mut Issues) {
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
            Err(error) => {
                let (_, message, place) = classify_error(&error);
                let help = "use plain constants: a module computes them once, when it is loaded";
                problems.push(source.problem(place.unwrap_or((1, 1)), "module", &message, help));
            }
            Ok(module) => {
                resolver.insert(source.name(), module);
                engine.set_module_resolver(resolver.clone());
            }
        }
    }
}
