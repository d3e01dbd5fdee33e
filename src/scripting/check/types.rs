//! Checks sums of texts and money, whose types are known before a script runs: they do not add up.

use rhai::{Expr, FnCallExpr, OpAssignment, Position};

use super::walk::{FileChecker, SumType};
use crate::scripting::host::register;
use crate::scripting::language::values::{NO_SUM, NO_SUM_HELP};

/// Nested expressions that are examined for the type of one expression.
const DEPTH_MAX: usize = 8;

/// Host functions that return money.
const MONEY: [&str; 2] = ["money", "amount_of"];
/// Host functions that return a text.
const TEXT: [&str; 3] = ["format", "month_of", "new_card_link"];

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

    /// Returns the type of a call's result.
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
        let host = register::rows_named(name).next().map_or(name, |row| row.name);
        let of = |names: &[&str], found| names.contains(&host).then_some(found);
        let found = of(&MONEY, SumType::Money).or_else(|| of(&TEXT, SumType::Text));
        found.filter(|_| !own)
    }

    /// Checks an operator between two values.
    pub(crate) fn check_operator(&mut self, call: &FnCallExpr, at: Position) {
        if let ("+", [one, other]) = (call.name.as_str(), &*call.args) {
            self.check_sum(one, other, at);
        }
    }

    /// Checks `lhs += rhs`.
    pub(crate) fn check_assignment(&mut self, how: &OpAssignment, to: &Expr, value: &Expr) {
        if how.get_op_assignment_info().is_some_and(|info| info.5 == "+") {
            self.check_sum(to, value, how.position());
        }
    }

    fn check_sum(&mut self, one: &Expr, other: &Expr, at: Position) {
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
