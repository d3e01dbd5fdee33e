//! Loads files as a runnable set, or returns every problem with them.

mod modules;
mod parse;
mod syntax;
mod unit;

use std::collections::BTreeMap;
use std::sync::Arc;

use rhai::{Engine, EvalAltResult};

use super::events;
use super::source::ScriptSource;
use crate::base::hash::{Digest, sha256};
use crate::model::spec::issue::{PlacedIssue, Severity};
use crate::scripting::check::checker;
use crate::scripting::check::checker::CheckSet;
use crate::scripting::check::known_names::ScriptNames;
use crate::scripting::host::template;
use crate::scripting::interface::{CompiledScript, ConfiguredNames, Hooks};
use crate::scripting::run::engine::{builtin_functions, engine};

pub(crate) use syntax::problem;
pub(crate) use unit::{Function, ScriptUnit};

/// Word in every script that uses templates.
const TEMPLATE: &str = "template";

pub(crate) fn load(
    sources: &[ScriptSource],
    known: &ConfiguredNames,
) -> Result<Hooks, Vec<PlacedIssue>> {
    let mut engine = engine();
    let builtin = builtin_functions(&engine);
    let mut problems = Vec::new();
    let names = ScriptNames::new(known, template::parse_templates(sources, &mut problems));
    let scripts = sources.iter().filter(|source| !template::is_template(&source.path));
    let units: BTreeMap<&str, ScriptUnit<'_>> = scripts
        .map(|source| (source.name(), unit::read_unit(&engine, source, &mut problems)))
        .collect();
    modules::check(&units, &mut problems);
    let set = CheckSet::new(&units, &names, &builtin);
    problems.extend(checker::check(&set));
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
        Ok(scripts) => Ok(Hooks {
            engine: Arc::new(engine),
            scripts: Arc::new(scripts),
            hash: digest(sources.iter()),
            names: Arc::new(names),
            warnings: Arc::new(problems),
        }),
    }
}

/// Returns an engine for experiments. It has the modules of a set, if the set is valid.
pub(crate) fn experiment_engine(sources: &[ScriptSource]) -> Engine {
    let mut engine = engine();
    let mut problems = Vec::new();
    let scripts = sources.iter().filter(|source| !template::is_template(&source.path));
    let units: BTreeMap<&str, ScriptUnit<'_>> = scripts
        .map(|source| (source.name(), unit::read_unit(&engine, source, &mut problems)))
        .collect();
    engine.set_strict_variables(true);
    modules::register_modules(&mut engine, &units, &mut problems);
    engine
}

/// Returns the problem for a failure of the check itself; the set is refused all the same.
pub(crate) fn check_failure_problem(sources: &[ScriptSource]) -> Vec<PlacedIssue> {
    let message = "internal error: the check of the scripts panicked";
    let help = "remove one script after the other to find the cause, then report this bug";
    sources.first().map(|source| source.problem((1, 1), "bug", message, help)).into_iter().collect()
}

/// Compiles modules, then scripts.
///
/// # Errors
///
/// Problems that appear only when a module's constants are evaluated.
fn assemble(
    engine: &mut Engine,
    units: &BTreeMap<&str, ScriptUnit<'_>>,
    sources: &[ScriptSource],
) -> Result<BTreeMap<String, CompiledScript>, Vec<PlacedIssue>> {
    let mut problems = Vec::new();
    modules::register_modules(engine, units, &mut problems);
    let mut scripts = BTreeMap::new();
    for unit in units.values().filter(|unit| !unit.source.is_module()) {
        match engine.compile(&unit.source.text) {
            Err(error) => problems.push(problem(unit.source, &error)),
            Ok(ast) => {
                let functions = unit.functions.iter().map(|function| function.name.clone());
                let functions = functions.filter(|name| events::is_hook(name)).collect();
                let files = modules::import_closure(units, unit);
                let texts = sources.iter().filter(|source| template::is_template(&source.path));
                let texts = texts.filter(|_| unit.source.text.contains(TEMPLATE));
                let hash = digest(files.iter().copied().chain(texts));
                let nameless = ScriptSource { path: String::new(), ..unit.source.clone() };
                let others = files.into_iter().filter(|file| *file != unit.source);
                let text = digest(others.chain([&nameless]));
                let concurrency = checker::concurrency(unit).unwrap_or(1);
                let (name, since) = (unit.source.name().to_owned(), checker::since(unit));
                let script = CompiledScript {
                    name: name.clone(),
                    ast,
                    hash,
                    content_hash: text,
                    functions,
                    concurrency,
                    since,
                };
                scripts.insert(name, script);
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
            let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
            bytes.extend(length.to_be_bytes());
            bytes.extend(part.as_bytes());
        }
    }
    sha256(&bytes)
}

/// Converts an error of the language to a problem of a file.
fn module_problem(source: &ScriptSource, error: &EvalAltResult) -> PlacedIssue {
    let (_, message, place) = crate::scripting::run::failure::classify(error);
    let help = "use plain constants: a module computes them once, when it is loaded";
    source.problem(place.unwrap_or((1, 1)), "module", &message, help)
}
