//! Checks of calls of host functions (rights, recipients, former names, counters, filters,
//! templates), and of sums of texts and money, which do not add up.

use rhai::{Expr, FnCallExpr, OpAssignment, Position};

use crate::base::wording;
use crate::model::issue::Severity;
use crate::policy::ScriptPower;
use crate::scripting::check::checker::{FileChecker, SumType};
use crate::scripting::engine;
use crate::scripting::host::actions::{AT_MOST, AT_MOST_HELP, TO_HELP, closed_address_message};
use crate::scripting::host::call::HostFn;
use crate::scripting::host::reads;
use crate::scripting::language::names::former_name_words;
use crate::scripting::language::template::Template;
use crate::scripting::language::values::{NO_SUM, NO_SUM_HELP};

/// Function that sends a notification to a target, and its option for another recipient.
const NOTIFY: &str = "notify";
const TO: &str = "to";
/// Function that makes a payer's link.
const LINK: &str = "new_card_link";
const READ: &str = "kv_get";
const WRITE: &str = "kv_set";
const BOUND: &str = "at_most";
const FIND: &str = "find";
/// Option that names a template, and the index of the argument with its values.
const TEMPLATE: &str = "template";
const VALUES: usize = 1;

impl FileChecker<'_> {
    /// Reports missing rights of a call. `skipped` is 1 if the first argument is before a dot.
    pub(crate) fn check_rights(
        &mut self,
        row: &HostFn,
        call: &FnCallExpr,
        skipped: usize,
        at: Position,
    ) {
        if let Some(power) = row.right {
            self.check_right(power, at);
        }
        if row.name == LINK {
            self.check_link(at);
        }
        if let (NOTIFY, 0, Some(Expr::StringConstant(target, place))) =
            (row.name, skipped, call.args.first())
        {
            self.check_mail(target, call, *place);
        }
    }

    fn check_right(&mut self, power: ScriptPower, at: Position) {
        if !self.set.known.configured.rights.allows_any(power) {
            let (message, help) = power.refusal(None);
            self.report(at, "right", &message, &help);
        }
    }

    /// Only a warning: links of test merchants are harmless, and a run alone knows the merchant.
    fn check_link(&mut self, at: Position) {
        let before = self.problems.len();
        self.check_right(ScriptPower::CardLink, at);
        for problem in self.problems.iter_mut().skip(before) {
            problem.severity = Severity::Warning;
            problem.message = format!("{}: no link is made for a live merchant", problem.message);
        }
    }

    fn check_mail(&mut self, target: &str, call: &FnCallExpr, at: Position) {
        let Some(any) = self.set.known.configured.mail.get(target).copied() else { return };
        self.check_right(ScriptPower::Mail, at);
        if let Some(Expr::StringConstant(to, place)) = option_of(call, TO)
            && to.contains('@')
            && !any
        {
            self.report(*place, "recipient", &closed_address_message(target), TO_HELP);
        }
    }

    /// Warns about the former name of a called function, and of each option of the call.
    pub(crate) fn check_former_names(&mut self, rows: &[&HostFn], call: &FnCallExpr, at: Position) {
        let name = call.name.as_str();
        if let Some(row) = rows.iter().find(|row| row.former_name == Some(name)) {
            self.warn_of_former_name(name, row.name, at);
        }
        let Some(Expr::Map(map, _)) = call.args.last() else { return };
        for (key, _) in &map.0 {
            let mut options = rows.iter().flat_map(|row| row.options());
            let former = options.find(|option| option.former_name == Some(key.name.as_str()));
            if let Some(option) = former {
                self.warn_of_former_name(&key.name, option.name, key.pos);
            }
        }
    }

    fn warn_of_former_name(&mut self, former: &str, name: &str, at: Position) {
        let (message, help) = former_name_words(former, name);
        self.warn(at, "former_name", &message, &help);
    }

    /// Warns about a key read and written in concurrent runs: one overwrites another's update.
    pub(crate) fn check_counters(&mut self) {
        let concurrency = super::declarations::concurrency(self.unit).unwrap_or(1);
        let (true, true, Some(at)) = (
            concurrency > 1,
            self.host_calls.contains_key(READ),
            self.host_calls.get(WRITE).copied(),
        ) else {
            return;
        };
        let message =
            "`kv_get` and `kv_set` lose updates where the script runs for several events at once";
        let help = "count with `kv_add(key, 1)`, or leave `CONCURRENCY` out";
        self.warn(at, "lost_update", message, help);
    }

    pub(crate) fn check_at_most(&mut self, call: &FnCallExpr) {
        let Some(Expr::Map(words, _)) = option_of(call, BOUND) else { return };
        for (word, _) in words.0.iter().filter(|(word, _)| !AT_MOST.contains(&word.name.as_str())) {
            let message = format!("`{BOUND}` has no field `{}`", word.name);
            let help = wording::did_you_mean(&word.name, AT_MOST);
            let help = help.unwrap_or_else(|| AT_MOST_HELP.to_owned());
            self.report(word.pos, "option", &message, &help);
        }
    }

    /// Reports fields of a filter that no resource of the kind has, or that are closed to scripts.
    pub(crate) fn check_filter(&mut self, name: &str, call: &FnCallExpr) {
        if let (FIND, [Expr::StringConstant(kind, _), map]) = (name, &*call.args) {
            self.check_filter_fields(kind, &[], map);
        }
    }

    fn check_filter_fields(&mut self, kind: &str, above: &reads::FilterPath<'_>, value: &Expr) {
        let Expr::Map(map, _) = value else { return };
        let persons = self.set.known.configured.rights.allows_any(ScriptPower::Personal);
        for (key, value) in &map.0 {
            if let Some((message, help)) = reads::filter_problem(kind, above, &key.name, persons) {
                self.report(key.pos, "filter", &message, &help);
            } else {
                let below: Vec<&str> = above.iter().copied().chain([key.name.as_str()]).collect();
                self.check_filter_fields(kind, &below, value);
            }
        }
    }

    /// Checks a call with a template. `skipped` is 1 if the first argument is before a dot.
    pub(crate) fn check_template(&mut self, call: &FnCallExpr, skipped: usize) {
        let values = call.args.get(VALUES.saturating_sub(skipped));
        let Some(Expr::StringConstant(name, _)) = option_of(call, TEMPLATE) else { return };
        let (Some(template), Some(values)) = (self.set.known.templates.get(name.as_str()), values)
        else {
            return;
        };
        if let Expr::Map(given, at) = values {
            let keys: Vec<(&str, Position)> =
                given.0.iter().map(|(key, _)| (key.name.as_str(), key.pos)).collect();
            self.check_values(name, template, &keys, *at);
        } else if matches!(values, Expr::StringConstant(..) | Expr::InterpolatedString(..)) {
            let message = format!("the template `{name}` is filled in by a map, not a text");
            let help = format!("write `#{{{}}}`", required_values(template));
            self.report(values.start_position(), "template", &message, &help);
        }
    }

    fn check_values(
        &mut self,
        name: &str,
        template: &Template,
        keys: &[(&str, Position)],
        at: Position,
    ) {
        let names = template.names();
        for missing in names.iter().filter(|name| keys.iter().all(|(key, _)| key != *name)) {
            let message =
                format!("nothing is given for `{{{{{missing}}}}}` of the template `{name}`");
            let help = format!("write `#{{{}}}`", required_values(template));
            self.report(at, "template", &message, &help);
        }
        for (key, at) in keys.iter().filter(|(key, _)| !names.contains(key)) {
            let message = format!("the template `{name}` has no placeholder `{{{{{key}}}}}`");
            let help = wording::suggestion_help(key, names.iter().copied().collect::<Vec<_>>());
            self.report(*at, "template", &message, &help);
        }
    }
}

fn option_of<'c>(call: &'c FnCallExpr, name: &str) -> Option<&'c Expr> {
    let Some(Expr::Map(options, _)) = call.args.last() else { return None };
    options.0.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
}

fn required_values(template: &Template) -> String {
    let names: Vec<String> = template.names().iter().map(|name| format!("{name}: …")).collect();
    names.join(", ")
}

/// Nested expressions that are examined for the type of one expression.
const DEPTH_MAX: usize = 8;

const MONEY_FUNCTIONS: [&str; 2] = ["money", "amount_of"];
const TEXT_FUNCTIONS: [&str; 3] = ["format", "month_of", "new_card_link"];

impl FileChecker<'_> {
    /// Returns the type of a value, if it is certain.
    pub(crate) fn type_of(&self, value: &Expr) -> Option<SumType> {
        self.type_within(value, 0)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the type of everything else is not known")]
    fn type_within(&self, value: &Expr, depth: usize) -> Option<SumType> {
        if depth > DEPTH_MAX {
            return None;
        }
        match value {
            Expr::StringConstant(..) | Expr::InterpolatedString(..) => Some(SumType::Text),
            Expr::Variable(parts, _, _) if parts.2.is_empty() => self.local_type(&parts.1),
            Expr::FnCall(call, _) => self.call_type(call, depth.saturating_add(1)),
            _ => None,
        }
    }

    fn call_type(&self, call: &FnCallExpr, depth: usize) -> Option<SumType> {
        let name = call.name.as_str();
        if call.is_operator_call() {
            let [one, other] = &*call.args else { return None };
            let types = (self.type_within(one, depth), self.type_within(other, depth));
            return match (name, types) {
                ("+" | "-", (Some(SumType::Money), Some(SumType::Money)))
                | ("*", (Some(SumType::Money), _)) => Some(SumType::Money),
                ("+", (Some(SumType::Text), found)) if found != Some(SumType::Money) => {
                    Some(SumType::Text)
                }
                _ => None,
            };
        }
        let own = call.is_qualified() || self.unit.functions.iter().any(|one| one.name == name);
        let host = engine::host_functions_named(name).next().map_or(name, |row| row.name);
        let of = |names: &[&str], found| names.contains(&host).then_some(found);
        let found =
            of(&MONEY_FUNCTIONS, SumType::Money).or_else(|| of(&TEXT_FUNCTIONS, SumType::Text));
        found.filter(|_| !own)
    }

    /// Checks `lhs += rhs`.
    pub(crate) fn check_assignment(&mut self, how: &OpAssignment, to: &Expr, value: &Expr) {
        if how.get_op_assignment_info().is_some_and(|info| info.5 == "+") {
            self.check_sum(to, value, how.position());
        }
    }

    pub(crate) fn check_sum(&mut self, one: &Expr, other: &Expr, at: Position) {
        let types = (self.type_of(one), self.type_of(other));
        if matches!(
            types,
            (Some(SumType::Text), Some(SumType::Money))
                | (Some(SumType::Money), Some(SumType::Text))
        ) {
            let at = if at.is_none() { one.start_position() } else { at };
            self.report(at, "text_and_money", NO_SUM, NO_SUM_HELP);
        }
    }
}
