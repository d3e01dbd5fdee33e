//! Static checks of a script: a walk through its statements and expressions, with the variables.

use std::collections::{BTreeMap, BTreeSet};

use rhai::{ASTFlags, ASTNode, Expr, FlowControl, Position, Stmt};

use crate::base::wording::did_you_mean;
use crate::model::issue::Severity;
use crate::scripting::check::declarations::{self, CheckSet, Function, NamedAction, ScriptUnit};
use crate::scripting::host::event_data::data_fields;
use crate::scripting::language::names::{EVENT_FIELDS, EVENTS, handler_name, is_hook};
use crate::scripting::language::source::{Issues, place_or_start};

/// Name under which a script reads the constants outside its functions.
const GLOBAL: &str = "global";

/// Type of a value that does not add up with the other type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SumType {
    Text,
    Money,
}

type TypedVariable = (String, Option<SumType>);

pub(crate) struct FileChecker<'a> {
    pub(crate) set: &'a CheckSet<'a>,
    pub(crate) unit: &'a ScriptUnit<'a>,
    pub(crate) problems: Issues,
    /// Functions of the file that it calls itself.
    pub(crate) called: BTreeSet<String>,
    /// Host functions that the file calls, with the position of the first call.
    pub(crate) host_calls: BTreeMap<&'static str, Position>,
    pub(crate) names: Vec<NamedAction>,
    /// Variables in scope with their certain types, the innermost block last.
    scopes: Vec<Vec<TypedVariable>>,
    /// Variables of the file that are assigned anywhere, so that their types are not certain.
    assigned: BTreeSet<String>,
    /// Name of the event in a function that gets one.
    event: Option<String>,
    /// The kind of record in that event's data, in a function for one type.
    record: Option<&'static str>,
}

impl<'a> FileChecker<'a> {
    pub(crate) fn new(set: &'a CheckSet<'a>, unit: &'a ScriptUnit<'a>) -> Self {
        Self {
            set,
            unit,
            problems: Vec::new(),
            called: BTreeSet::new(),
            host_calls: BTreeMap::new(),
            names: Vec::new(),
            scopes: Vec::new(),
            assigned: assigned_variables(unit),
            event: None,
            record: None,
        }
    }

    fn check_function(&mut self, function: &Function) {
        let hook = is_hook(&function.name) && !self.unit.source.is_module();
        self.event = function.parameters.first().filter(|_| hook).cloned();
        let row = EVENTS.iter().find(|row| handler_name(row.name) == function.name);
        self.record = row.map(|row| row.data);
        self.scopes = vec![untyped_variables(function.parameters.iter().cloned())];
        self.block(&function.body);
        self.scopes.clear();
    }

    pub(crate) fn report(&mut self, at: Position, code: &str, message: &str, help: &str) {
        self.problems.push(self.unit.source.problem(place_or_start(at), code, message, help));
    }

    pub(crate) fn warn(&mut self, at: Position, code: &str, message: &str, help: &str) {
        self.report(at, code, message, help);
        if let Some(problem) = self.problems.last_mut() {
            problem.severity = Severity::Warning;
        }
    }

    pub(crate) fn is_in_scope(&self, name: &str) -> bool {
        self.scopes.iter().flatten().any(|(known, _)| known == name)
    }

    /// Returns the type of a variable, if it is certain.
    pub(crate) fn local_type(&self, name: &str) -> Option<SumType> {
        let mut known = self.scopes.iter().rev().flat_map(|scope| scope.iter().rev());
        let (_, found) = known.find(|(known, _)| known == name)?;
        found.filter(|_| !self.assigned.contains(name))
    }

    fn declare(&mut self, name: &str, found: Option<SumType>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((name.to_owned(), found));
        }
    }

    fn block(&mut self, statements: &[Stmt]) {
        self.block_with(statements, Vec::new());
    }

    fn block_with(&mut self, statements: &[Stmt], names: Vec<String>) {
        self.scopes.push(untyped_variables(names));
        for statement in statements {
            self.check_statement(statement);
        }
        self.scopes.pop();
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other statements name nothing")]
    fn check_statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::If(flow, _) | Stmt::While(flow, _) | Stmt::Do(flow, _, _) => {
                self.check_expression(&flow.expr);
                self.block(flow.body.statements());
                self.block(flow.branch.statements());
            }
            Stmt::Switch(parts, _) => {
                let (value, cases) = &**parts;
                self.check_expression(value);
                for case in &cases.expressions {
                    self.check_expression(&case.lhs);
                    self.check_expression(&case.rhs);
                }
            }
            Stmt::For(parts, _) => {
                let (item, counter, flow) = &**parts;
                self.check_expression(&flow.expr);
                let names = [Some(item), counter.as_ref()].into_iter().flatten();
                let names = names.map(|name| name.name.to_string()).collect();
                self.block_with(flow.body.statements(), names);
            }
            Stmt::Var(parts, _, _) => {
                let (name, value, _) = &**parts;
                self.check_expression(value);
                self.declare(&name.name, self.type_of(value));
            }
            Stmt::Assignment(parts) => {
                let (how, sides) = &**parts;
                self.check_expression(&sides.lhs);
                self.check_expression(&sides.rhs);
                self.check_assignment(how, &sides.lhs, &sides.rhs);
            }
            Stmt::FnCall(call, at) => self.check_call(call, *at, false),
            Stmt::Block(block) => self.block(block.statements()),
            Stmt::TryCatch(flow, _) => self.try_catch(flow),
            Stmt::Expr(value) => self.check_expression(value),
            Stmt::BreakLoop(Some(value), _, _) | Stmt::Return(Some(value), _, _) => {
                self.check_expression(value);
            }
            Stmt::Import(_, at) => {
                let help = "move it to the top of the file";
                self.report(*at, "import", "modules are imported outside of functions", help);
            }
            _ => {}
        }
    }

    fn try_catch(&mut self, flow: &FlowControl) {
        self.block(flow.body.statements());
        let mut caught = Vec::new();
        if let Expr::Variable(name, _, _) = &flow.expr {
            caught.push(name.1.to_string());
        }
        self.block_with(flow.branch.statements(), caught);
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what is left are literals")]
    pub(crate) fn check_expression(&mut self, value: &Expr) {
        match value {
            Expr::InterpolatedString(parts, _) | Expr::Array(parts, _) => self.expressions(parts),
            Expr::Map(map, _) => {
                for (_, value) in &map.0 {
                    self.check_expression(value);
                }
            }
            Expr::Variable(parts, _, at) => {
                if parts.2.is_empty() {
                    self.check_variable(&parts.1, *at);
                } else {
                    self.check_qualified(parts.2.root(), parts.2.position(), &parts.1, *at);
                }
            }
            Expr::Stmt(block) => self.block(block.statements()),
            Expr::FnCall(call, at) => self.check_call(call, *at, false),
            Expr::MethodCall(call, at) => self.check_call(call, *at, true),
            Expr::Dot(sides, _, _) => {
                self.check_expression(&sides.lhs);
                self.check_event_field(&sides.lhs, &sides.rhs);
                self.chain(&sides.rhs);
            }
            Expr::Index(sides, flags, _) => {
                self.check_expression(&sides.lhs);
                self.index(&sides.rhs, *flags);
            }
            Expr::And(parts, _) | Expr::Or(parts, _) | Expr::Coalesce(parts, _) => {
                self.expressions(parts);
            }
            _ => {}
        }
    }

    fn expressions(&mut self, values: &[Expr]) {
        for value in values {
            self.check_expression(value);
        }
    }

    /// Checks the part after a dot: properties have any name, and methods are functions.
    fn chain(&mut self, value: &Expr) {
        if let Expr::Dot(sides, _, _) = value {
            self.chain(&sides.lhs);
            self.chain(&sides.rhs);
        } else if let Expr::Index(sides, flags, _) = value {
            self.chain(&sides.lhs);
            self.index(&sides.rhs, *flags);
        } else if !matches!(value, Expr::Property(..)) {
            self.check_expression(value);
        }
    }

    /// Checks an index in brackets, and the part after it.
    fn index(&mut self, value: &Expr, flags: ASTFlags) {
        let ends = flags.intersects(ASTFlags::BREAK);
        if let (Expr::Dot(sides, _, _), false) = (value, ends) {
            self.check_expression(&sides.lhs);
            self.chain(&sides.rhs);
        } else if let (Expr::Index(sides, next, _), false) = (value, ends) {
            self.check_expression(&sides.lhs);
            self.index(&sides.rhs, *next);
        } else {
            self.check_expression(value);
        }
    }

    fn check_variable(&mut self, name: &str, at: Position) {
        if self.is_in_scope(name) || self.unit.variables.contains(name) {
            return;
        }
        let message = format!("there is no variable `{name}` here");
        let help = if self.unit.constants.contains_key(name) {
            format!("write `{GLOBAL}::{name}`: functions see constants by that name")
        } else {
            let all = self.scopes.iter().flatten().map(|(name, _)| name.as_str());
            did_you_mean(name, all).unwrap_or_else(|| {
                format!("write `let {name} = …` before it, or a text in quotes: `\"{name}\"`")
            })
        };
        self.report(at, "unknown_variable", &message, &help);
    }

    /// Checks `global::NAME` or `module::NAME`.
    fn check_qualified(&mut self, root: &str, root_at: Position, name: &str, at: Position) {
        if root == GLOBAL {
            if !self.unit.constants.contains_key(name) {
                let message = format!("there is no constant `{name}` in this file");
                let help = did_you_mean(name, self.unit.constants.keys().map(String::as_str))
                    .unwrap_or_else(|| format!("write `const {name} = …;` outside of functions"));
                self.report(at, "unknown_variable", &message, &help);
            }
        } else {
            self.check_alias(root, root_at);
        }
    }

    /// Reports a name before `::` under which nothing is imported. Returns true if it is known.
    pub(crate) fn check_alias(&mut self, alias: &str, at: Position) -> bool {
        let imports = self.unit.imports.iter().map(|import| import.alias.as_str());
        if imports.clone().any(|known| known == alias) {
            return true;
        }
        let help = did_you_mean(alias, imports).unwrap_or_else(|| {
            format!("write `import \"lib/{alias}\" as {alias};` at the top of the file")
        });
        self.report(at, "unknown_module", &format!("nothing is imported as `{alias}`"), &help);
        false
    }

    /// Checks `event.…`, since an event has known fields.
    fn check_event_field(&mut self, of: &Expr, chain: &Expr) {
        let Expr::Variable(name, _, _) = of else { return };
        if self.event.as_deref() != Some(name.1.as_str()) {
            return;
        }
        let first = if let Expr::Dot(sides, _, _) | Expr::Index(sides, _, _) = chain {
            &sides.lhs
        } else {
            chain
        };
        let Expr::Property(property, at) = first else { return };
        if property.2.as_str() == "data" {
            self.check_data_field(chain);
        }
        if EVENT_FIELDS.iter().all(|field| field.name != property.2.as_str()) {
            let message = format!("an event has no field `{}`", property.2);
            let all = EVENT_FIELDS.iter().map(|field| field.name);
            let help = did_you_mean(&property.2, all).unwrap_or_else(|| {
                format!("write `event.data.{}`: the record's own fields are there", property.2)
            });
            self.report(*at, "unknown_field", &message, &help);
        }
    }
}

impl FileChecker<'_> {
    /// Checks the field in `data.…`. Only a warning: the service may show more than it documents.
    fn check_data_field(&mut self, chain: &Expr) {
        let Some((name, at)) = data_field(chain) else { return };
        if data_fields(self.record).any(|known| known == name) {
            return;
        }
        let of =
            self.record.map_or("any event".to_owned(), |record| format!("the data of a {record}"));
        let message = format!("the service documents no field `{name}` in {of}");
        let help = did_you_mean(name, data_fields(self.record)).unwrap_or_else(|| {
            "`reckon hooks doc` lists the fields of each event's data".to_owned()
        });
        self.warn(at, "unknown_data_field", &message, &help);
    }
}

/// Returns the field that `data.NAME`, `data["NAME"]` or `data.get("NAME")` names.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other expression names a field")]
fn data_field(chain: &Expr) -> Option<(&str, Position)> {
    if let Expr::Index(sides, _, _) = chain {
        return literal_name(&sides.rhs);
    }
    let Expr::Dot(sides, _, _) = chain else { return None };
    let first = match &sides.rhs {
        Expr::Dot(next, _, _) | Expr::Index(next, _, _) => &next.lhs,
        only => only,
    };
    match first {
        Expr::Property(property, at) => Some((property.2.as_str(), *at)),
        Expr::MethodCall(call, _) if call.name.as_str() == "get" => {
            literal_name(call.args.first()?)
        }
        _ => None,
    }
}

fn literal_name(value: &Expr) -> Option<(&str, Position)> {
    if let Expr::StringConstant(text, at) = value { Some((text.as_str(), *at)) } else { None }
}

fn untyped_variables(names: impl IntoIterator<Item = String>) -> Vec<TypedVariable> {
    names.into_iter().map(|name| (name, None)).collect()
}

/// Returns the variables that the functions of a file assign after their declaration.
fn assigned_variables(unit: &ScriptUnit<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for statement in unit.functions.iter().flat_map(|function| &function.body) {
        statement.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
            if let Some(ASTNode::Stmt(Stmt::Assignment(parts))) = path.last()
                && let Expr::Variable(name, _, _) = &parts.1.lhs
            {
                names.insert(name.1.to_string());
            }
            true
        });
    }
    names
}

pub(crate) fn check_set(set: &CheckSet<'_>) -> Issues {
    let mut problems = Vec::new();
    let mut all = Vec::new();
    for one in set.units.values() {
        let (found, names) = check_unit(set, one);
        problems.extend(found);
        all.push((one, names));
    }
    problems.extend(declarations::shared_names(&all));
    problems
}

/// Returns every problem in one readable file, and the names that it gives to actions.
fn check_unit(set: &CheckSet<'_>, unit: &ScriptUnit<'_>) -> (Issues, Vec<NamedAction>) {
    let mut walk = FileChecker::new(set, unit);
    for value in unit.constants.values() {
        walk.check_expression(value);
    }
    for function in &unit.functions {
        walk.check_function(function);
    }
    walk.check_counters();
    let FileChecker { mut problems, called, names, .. } = walk;
    declarations::check_reach(unit, &called, &mut problems);
    declarations::check_constants(unit, &mut problems);
    (problems, names)
}
