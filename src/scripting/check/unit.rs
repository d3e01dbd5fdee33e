//! One file as the checker sees it.

use std::collections::{BTreeMap, BTreeSet};

use rhai::{AST, ASTFlags, ASTNode, Engine, Expr, Stmt};

use super::syntax::{Parsed, parse};
use crate::model::issue::PlacedIssue;
use crate::scripting::language::names::ScriptNames;
use crate::scripting::language::source::{ScriptSource, place, place_or_start};

/// Prefix that the language gives to anonymous functions.
const NAMELESS: &str = "anon$";

/// A line and a column, from 1.
pub(crate) type SourcePosition = (usize, usize);

pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) parameters: Vec<String>,
    pub(crate) place: SourcePosition,
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
    /// Alias before `::`.
    pub(crate) alias: String,
    pub(crate) place: SourcePosition,
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

/// Context against which all files of a set are checked.
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
        for (name, count) in functions.iter().filter(|(name, _)| is_identifier(name)) {
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

/// Returns true if a script can write this name; the language's own names include operators and
/// accessors.
fn is_identifier(name: &str) -> bool {
    name.chars().all(|found| found.is_alphanumeric() || found == '_')
}

/// Reads a file, and reports misplaced statements outside functions.
pub(crate) fn read_unit<'a>(
    engine: &Engine,
    source: &'a ScriptSource,
    problems: &mut Vec<PlacedIssue>,
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
fn read_statement(unit: &mut ScriptUnit<'_>, statement: &Stmt, problems: &mut Vec<PlacedIssue>) {
    let source = unit.source;
    let mut report = |at, message: &str, help: &str| {
        problems.push(source.problem(place_or_start(at), "loose", message, help));
    };
    match statement {
        Stmt::Noop(_) => {}
        Stmt::Import(parts, at) => {
            let (path, alias) = &**parts;
            let written = place(path.start_position()).unwrap_or_else(|| place_or_start(*at));
            let path = if let Expr::StringConstant(path, _) = path {
                Some(path.to_string())
            } else {
                None
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
