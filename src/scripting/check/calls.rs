//! Checks every call: the function exists, and accepts this number and these types of arguments.

use rhai::{Expr, FnCallExpr, Position, Stmt};

use crate::base::wording::{count_verb, did_you_mean, suggestion_help};
use crate::scripting::check::checker::FileChecker;
use crate::scripting::engine;
use crate::scripting::host::argument_type::{ArgumentType, Literal};
use crate::scripting::host::call::HostFn;
use crate::scripting::language::source::place_or_start;

/// Functions of the language that take any arguments.
const UNCHECKED: [&str; 8] =
    ["call", "curry", "type_of", "is_def_var", "is_def_fn", "is_shared", "this", "exit"];

/// Function that makes a function pointer of a name.
const POINTER: &str = "Fn";

/// Functions of other languages, and their replacements here.
const FOREIGN_NAMES: [(&[&str], &str); 5] = [
    (&["print", "debug", "puts", "echo", "console"], "write `log(…)`"),
    (
        &["now", "timestamp", "today", "sleep", "time"],
        "there is no clock: `date(event.created)` is the only time, and the option `at` waits",
    ),
    (
        &["rand", "random", "uuid"],
        "there are no random numbers: the same event has the same actions",
    ),
    (
        &["float", "parse_float", "to_float"],
        "there are no fractions: money is `money(\"1.50 USD\")`",
    ),
    (
        &["http", "fetch", "get_url", "post", "email", "mail", "send"],
        "write `notify(target, text)`",
    ),
];

impl FileChecker<'_> {
    /// Checks one call. With `method`, the value before the dot is the first argument.
    pub(crate) fn check_call(&mut self, call: &FnCallExpr, at: Position, method: bool) {
        for argument in &call.args {
            self.check_expression(argument);
        }
        if call.is_operator_call() {
            if let ("+", [one, other]) = (call.name.as_str(), &*call.args) {
                self.check_sum(one, other, at);
            }
            return;
        }
        let (name, count) = (call.name.as_str(), call.args.len());
        if call.is_qualified() {
            return self.check_module_call(call, at);
        }
        if name == POINTER {
            return self.check_pointer(call);
        }
        if !UNCHECKED.contains(&name) && !self.is_local(name, count, at) {
            self.check_external(call, at, method);
        }
    }

    /// Returns true for a function or variable of this file; all its problems are then reported.
    fn is_local(&mut self, name: &str, count: usize, at: Position) -> bool {
        let functions = self.unit.functions.iter().filter(|function| function.name == name);
        let arities: Vec<usize> = functions.map(|function| function.parameters.len()).collect();
        if arities.is_empty() {
            return self.unit.unparsed.contains(name) || self.is_in_scope(name);
        }
        self.called.insert(name.to_owned());
        if !arities.contains(&count)
            && self.set.builtin.get(name).is_none_or(|known| !known.contains(&count))
        {
            self.report_arity(name, count, &arities, at, "look at its definition in this file");
        }
        true
    }

    /// Checks a call of a function of the host or of the language.
    fn check_external(&mut self, call: &FnCallExpr, at: Position, method: bool) {
        let name = call.name.as_str();
        let count = call.args.len().saturating_add(usize::from(method));
        let rows: Vec<&'static HostFn> = engine::host_functions_named(name).collect();
        self.check_former_names(&rows, call, at);
        let builtin = self.set.builtin.get(name);
        let language = builtin.is_some_and(|known| known.contains(&count));
        // A list has a method `find`, too; the type is known only at run time.
        if let Some(row) =
            rows.iter().find(|row| row.argument_counts().contains(&count) && !(method && language))
        {
            self.check_rights(row, call, usize::from(method), at);
            self.host_calls.entry(row.name).or_insert(at);
            self.check_filter(name, call);
            return self.check_arguments(row, call, method);
        }
        if language {
            return;
        }
        let given = call.args.len();
        if !rows.is_empty() {
            let usages: Vec<String> = rows.iter().map(|row| format!("`{}`", row.usage())).collect();
            let takes: Vec<usize> = rows.iter().flat_map(|row| row.argument_counts()).collect();
            let help = format!("write {}", usages.join(" or "));
            return self.report_arity(name, given, &takes, at, &help);
        }
        if let Some(known) = builtin {
            let known: Vec<usize> =
                known.iter().map(|most| most.saturating_sub(usize::from(method))).collect();
            let help = "see the book of the language for this function: https://rhai.rs/book";
            return self.report_arity(name, given, &known, at, help);
        }
        let message = format!("there is no function `{name}`");
        self.report(at, "unknown_function", &message, &self.suggest(name));
    }

    fn report_arity(
        &mut self,
        name: &str,
        given: usize,
        takes: &[usize],
        at: Position,
        help: &str,
    ) {
        let takes = render_counts(takes);
        let given = count_verb(given, "is given", "are given");
        self.report(at, "arity", &format!("`{name}` takes {takes}, and {given}"), help);
    }

    fn suggest(&self, name: &str) -> String {
        if let Some((_, help)) = FOREIGN_NAMES.iter().find(|(names, _)| names.contains(&name)) {
            return (*help).to_owned();
        }
        let own = self.unit.functions.iter().filter(|function| !function.is_anonymous());
        let own = own.map(|function| function.name.as_str());
        let near = did_you_mean(name, own.chain(engine::host_functions().map(|row| row.name)));
        let builtin = self.set.builtin.keys().copied();
        let language = builtin.filter(|name| engine::host_functions_named(name).next().is_none());
        near.or_else(|| did_you_mean(name, language))
            .unwrap_or_else(|| "list all functions with `reckon hooks doc`".to_owned())
    }

    fn check_module_call(&mut self, call: &FnCallExpr, at: Position) {
        let (alias, name, count) = (call.namespace.root(), call.name.as_str(), call.args.len());
        if !self.check_alias(alias, call.namespace.position()) {
            return;
        }
        let Some(module) = self.set.module(self.unit, alias) else { return };
        if module.unreadable || module.unparsed.contains(name) {
            return;
        }
        let functions = module.functions.iter().filter(|function| !function.is_anonymous());
        let named = functions.clone().filter(|function| function.name == name);
        let arities: Vec<usize> = named.map(|function| function.parameters.len()).collect();
        if arities.is_empty() {
            let message = format!("the module `{alias}` has no function `{name}`");
            let help = suggestion_help(name, functions.map(|function| function.name.as_str()));
            self.report(at, "unknown_function", &message, &help);
        } else if !arities.contains(&count) {
            let help = format!("look at its definition in {}", module.source.display_path);
            self.report_arity(&format!("{alias}::{name}"), count, &arities, at, &help);
        }
    }

    /// Checks `Fn("name")`, which calls a function later.
    fn check_pointer(&mut self, call: &FnCallExpr) {
        if let Some(Expr::StringConstant(name, at)) = call.args.first() {
            self.called.insert(name.to_string());
            let mut functions = self.unit.functions.iter();
            if !functions.any(|function| function.name == name.as_str())
                && !self.unit.unparsed.contains(name.as_str())
            {
                let message = format!("there is no function `{name}` in this file");
                self.report(*at, "unknown_function", &message, &self.suggest(name));
            }
        }
    }

    fn check_arguments(&mut self, row: &'static HostFn, call: &FnCallExpr, method: bool) {
        let skipped = usize::from(method);
        for (argument, value) in row.arguments.iter().skip(skipped).zip(&call.args) {
            if let Some(literal) = literal_of(value)
                && let Err(unfit) = argument.value_type.check_literal(&literal, self.set.known)
            {
                let message = format!("`{}` of `{}` {}", argument.name, call.name, unfit.message);
                self.report(value.start_position(), "argument", &message, &unfit.help);
            }
        }
        let options = call.args.get(row.arguments.len().saturating_sub(skipped));
        if let Some(options) = options {
            self.check_options((row, &call.name), options);
        }
        if row.options().any(|option| option.value_type == ArgumentType::Template) {
            self.check_at_most(call);
            self.check_template(call, skipped);
        }
    }

    fn check_options(&mut self, (row, function): (&'static HostFn, &str), value: &Expr) {
        if let Expr::Map(map, _) = value {
            for (key, value) in &map.0 {
                self.check_option((row, function), &key.name, key.pos, value);
            }
        } else if let Some(literal) = literal_of(value) {
            let message = format!("`{function}` takes a map of options at its end, not {literal}");
            let first = row.options().next().map_or("name", |option| option.name);
            let help = format!("write `#{{{first}: …}}`, or leave it out");
            self.report(value.start_position(), "argument", &message, &help);
        }
    }

    fn check_option(
        &mut self,
        (row, function): (&'static HostFn, &str),
        name: &str,
        at: Position,
        value: &Expr,
    ) {
        let Some(option) = row.options().find(|option| option.has_key(name)) else {
            let message = format!("`{function}` has no option `{name}`");
            let all: Vec<&str> = row.options().map(|option| option.name).collect();
            let help = suggestion_help(name, all);
            return self.report(at, "option", &message, &help);
        };
        if let (Expr::StringConstant(text, at), ArgumentType::Name) = (value, option.value_type) {
            self.names.push((text.to_string(), place_or_start(*at)));
        }
        if let Some(literal) = literal_of(value)
            && let Err(unfit) = option.value_type.check_literal(&literal, self.set.known)
        {
            let message = format!("the option `{name}` of `{function}` {}", unfit.message);
            self.report(value.start_position(), "argument", &message, &unfit.help);
        }
    }
}

/// Returns the literal form of an expression, if its text shows it.
#[expect(clippy::wildcard_enum_match_arm, reason = "other values are known only at run time")]
fn literal_of(value: &Expr) -> Option<Literal> {
    Some(match value {
        Expr::StringConstant(text, _) => Literal::Text(text.to_string()),
        Expr::InterpolatedString(..) => Literal::Interpolated,
        Expr::IntegerConstant(..) => Literal::Whole,
        Expr::BoolConstant(..) => Literal::Truth,
        Expr::CharConstant(..) => Literal::Character,
        Expr::Array(..) => Literal::List,
        Expr::Map(..) => Literal::Map,
        Expr::Unit(_) => Literal::Unit,
        Expr::DynamicConstant(value, _) if value.is_fnptr() => Literal::Function,
        Expr::Stmt(block) if matches!(block.statements().first(), Some(Stmt::Share(_))) => {
            Literal::Function
        }
        _ => return None,
    })
}

/// Formats `1 or 2 arguments`.
fn render_counts(counts: &[usize]) -> String {
    let mut sorted = counts.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let plural = if sorted == [1] { "argument" } else { "arguments" };
    let words: Vec<String> = sorted.iter().map(ToString::to_string).collect();
    format!("{} {plural}", words.join(" or "))
}
