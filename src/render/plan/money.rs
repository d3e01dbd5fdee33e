//! Renders the money of a plan: what moves when it is applied, what is due later before and after it,
//! and the largest amounts.

use std::collections::BTreeMap;

use crate::engine::protocol::views::{MoneyView, PlanView, StepView};
use crate::model::change::PlannedAction;
use crate::render::plan::common;
use crate::render::table::{Column, Line, push_table};
use crate::render::words::{Screen, meaning, money_amount, resource_key};

/// Amounts of one currency that are listed, at most; a plan of fewer shows each at its step.
const LARGEST_SHOWN: usize = 10;

/// Appends the sums of a plan, each table after a blank line; nothing for a plan without money.
pub(super) fn push_money(out: &mut String, plan: &PlanView, screen: Screen) {
    let columns = [Column::new("WHEN APPLIED"), Column::new("AMOUNT").right(), Column::new("MODE")];
    let totals = plan.totals.iter().map(|money| {
        Line::from(vec![meaning(&money.meaning), money_amount(money), money.mode.to_string()])
    });
    push_part(out, screen, &columns, totals.collect());
    let columns = [
        Column::new("DUE"),
        Column::new("BEFORE").right(),
        Column::new("AFTER").right(),
        Column::new("DIFFERENCE").right(),
        Column::new("MODE"),
    ];
    let due = common::due_by_month(plan).into_iter().map(|row| Line::from(row.to_vec()));
    push_part(out, screen, &columns, due.collect());
    let columns = [
        Column::new("LARGEST").right(),
        Column::new("RESOURCE").elastic(),
        Column::new("MEANING").dispensable(),
    ];
    push_part(out, screen, &columns, largest(&plan.steps));
}

fn push_part(out: &mut String, screen: Screen, columns: &[Column], lines: Vec<Line>) {
    if !lines.is_empty() {
        push_table(out, screen, columns, lines);
        out.push('\n');
    }
}

/// Returns the largest amounts of each currency; none of a plan that has only a few.
fn largest(steps: &[StepView]) -> Vec<Line> {
    let moving = steps.iter().filter(|step| step.verdict != PlannedAction::Blocked);
    let all = moving.flat_map(|step| step.money.iter().map(move |money| (money, step)));
    let mut by_currency: BTreeMap<&str, Vec<(&MoneyView, &StepView)>> = BTreeMap::new();
    for (money, step) in all {
        by_currency.entry(&money.currency).or_default().push((money, step));
    }
    if by_currency.values().map(Vec::len).sum::<usize>() <= LARGEST_SHOWN {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for mut amounts in by_currency.into_values() {
        amounts.sort_by_key(|(money, step)| (std::cmp::Reverse(money.amount), step.name.as_str()));
        lines.extend(amounts.into_iter().take(LARGEST_SHOWN).map(amount_line));
    }
    lines
}

fn amount_line((money, step): (&MoneyView, &StepView)) -> Line {
    let name = resource_key(&step.kind, &step.namespace, &step.name);
    Line::from(vec![money_amount(money), name, meaning(&money.meaning)])
}
