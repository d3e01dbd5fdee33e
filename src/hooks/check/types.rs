//! Checks sums of texts and money, whose types are known before a script runs: they do not add up.

use std::collections::BTreeSet;

use rhai::{ASTNode, Expr, FnCallExpr, OpAssignment, Position, Stmt};

use super::walk::Walk;
use crate::hooks::load::Unit;
use crate::hooks::values::{NO_SUM, NO_SUM_HELP};

/// Nested expressions that are examined for the type of one expression.
const DEPTH_MAX: usize = 8;

/// Host functions that return money.
const MONEY: [&str; 2] = ["money", "amount_of"];
/// Host functions that return a text.
const TEXT: [&str; 3] = ["format", "month_of", "intake_link"];

/// Type of a value that does not add up with the other type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Money,
}

/// Returns the variables that the functions of a file assign after their declaration.
pub(super) fn assigned(unit: &Unit<'_>) -> BTreeSet<String> {
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

impl Walk<'_> {
    /// Returns the type of a value, if it is certain.
    pub(super) fn type_of(&self, value: &Expr) -> Option<Type> {
        self.typed(value, 0)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "of all else the type is not sure")]
    fn typed(&self, value: &Expr, depth: usize) -> Option<Type> {
        if depth > DEPTH_MAX {
            return None;
        }
        match value {
            Expr::StringConstant(..) | Expr::InterpolatedString(..) => Some(Type::Text),
            Expr::Variable(parts, _, _) if parts.2.is_empty() => self.local_type(&parts.1),
            Expr::FnCall(call, _) => self.answered(call, depth.saturating_add(1)),
            _ => None,
        }
    }

    /// Returns the type of a call's result.
    fn answered(&self, call: &FnCallExpr, depth: usize) -> Option<Type> {
        let name = call.name.as_str();
        if call.is_operator_call() {
            let [one, other] = &*call.args else { return None };
            let types = (self.typed(one, depth), self.typed(other, depth));
            return match (name, types) {
                ("+" | "-", (Some(Type::Money), Some(Type::Money)))
                | ("*", (Some(Type::Money), _)) => Some(Type::Money),
                ("+", (Some(Type::Text), found)) if found != Some(Type::Money) => Some(Type::Text),
                _ => None,
            };
        }
        let own = call.is_qualified() || self.unit.functions.iter().any(|one| one.name == name);
        let of = |names: &[&str], found| names.contains(&name).then_some(found);
        let found = of(&MONEY, Type::Money).or_else(|| of(&TEXT, Type::Text));
        found.filter(|_| !own)
    }

    /// Checks an operator between two values.
    pub(super) fn operator(&mut self, call: &FnCallExpr, at: Position) {
        if let ("+", [one, other]) = (call.name.as_str(), &*call.args) {
            self.added(one, other, at);
        }
    }

    /// Checks `lhs += rhs`.
    pub(super) fn added_to(&mut self, how: &OpAssignment, to: &Expr, value: &Expr) {
        if how.get_op_assignment_info().is_some_and(|info| info.5 == "+") {
            self.added(to, value, how.position());
        }
    }

    fn added(&mut self, one: &Expr, other: &Expr, at: Position) {
        let types = (self.type_of(one), self.type_of(other));
        if matches!(
            types,
            (Some(Type::Text), Some(Type::Money)) | (Some(Type::Money), Some(Type::Text))
        ) {
            let at = if at.is_none() { one.start_position() } else { at };
            self.tell(at, "text_and_money", NO_SUM, NO_SUM_HELP);
        }
    }
}
