//! Renders the steps of a large plan as counts by kind and merchant. Steps that a person has to act on
//! are not counted only: the plan shows each of them.

use std::collections::BTreeMap;

use crate::engine::protocol::views::{MoneyView, PlanView, StepView};
use crate::engine::queries::scoped::sum_money;
use crate::model::change::PlannedAction;
use crate::render::table::{Column, Line, push_table};
use crate::render::words::{Screen, clean, money_text};

/// Steps above which a plan is shown as counts.
const STEPS_SHOWN: usize = 30;

/// Returns true if the steps are shown as counts, unless a person asks for details.
pub(super) fn is_large(plan: &PlanView) -> bool {
    plan.steps.len() > STEPS_SHOWN
}

#[derive(Debug, Default)]
struct Group<'a> {
    created: usize,
    updated: usize,
    deleted: usize,
    other: usize,
    money: Vec<&'a MoneyView>,
}

/// Appends a table of the steps by kind and merchant.
pub(super) fn push_groups(out: &mut String, plan: &PlanView, screen: Screen) {
    let mut groups: BTreeMap<(&str, &str), Group<'_>> = BTreeMap::new();
    for step in &plan.steps {
        let merchant = step.merchant.as_deref().unwrap_or("-");
        groups.entry((step.kind.as_str(), merchant)).or_default().add(step);
    }
    let columns = [
        Column::new("KIND"),
        Column::new("MERCHANT").elastic(),
        Column::new("CREATE").right(),
        Column::new("UPDATE").right(),
        Column::new("DELETE").right(),
        Column::new("OTHER").right(),
        Column::new("AMOUNT").right().dispensable(),
    ];
    let lines = groups.into_iter().map(|((kind, merchant), group)| group.line(kind, merchant));
    push_table(out, screen, &columns, lines.collect());
    out.push('\n');
}

impl<'a> Group<'a> {
    fn add(&mut self, step: &'a StepView) {
        let count = match step.verdict {
            PlannedAction::Create => &mut self.created,
            PlannedAction::Update => &mut self.updated,
            PlannedAction::Delete => &mut self.deleted,
            PlannedAction::Settled
            | PlannedAction::Read
            | PlannedAction::Orphan
            | PlannedAction::Wait
            | PlannedAction::Blocked => &mut self.other,
        };
        *count = count.saturating_add(1);
        if step.verdict != PlannedAction::Blocked {
            self.money.extend(&step.money);
        }
    }

    fn line(self, kind: &str, merchant: &str) -> Line {
        let Self { created, updated, deleted, other, money } = self;
        let money: Vec<String> = sum_money(money.into_iter()).iter().map(money_text).collect();
        let counts = [created, updated, deleted, other].map(|count| match count {
            0 => "-".to_owned(),
            count => count.to_string(),
        });
        let mut cells = vec![clean(kind), clean(merchant)];
        cells.extend(counts);
        cells.push(money.join(", "));
        Line::from(cells)
    }
}
