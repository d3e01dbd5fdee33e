//! Renders a plan for people: the money that moves, each step with its reason, and the place in the
//! files.

mod count;
mod due;
pub mod markdown;
mod parts;
#[cfg(test)]
mod tests;

use super::words;
use super::words::{Paint, clean, file_place, push_line, resource_key, value_text};
use crate::engine::protocol::queries::views::{PlanView, StepView};
pub use crate::engine::queries::plans::scoped::step_sums as totals;
use crate::model::issue::PlacedIssue;
pub(super) use markdown::escape_markdown;
pub use markdown::markdown;
use owo_colors::Style;
use parts::{before_after, notes, origin, symbol, unchangeable_fields};

/// Renders a plan as text, with or without colours.
pub fn text(plan: &PlanView, color: bool) -> String {
    let paint = Paint { color };
    let mut out = String::new();
    for money in &plan.totals {
        push_line(&mut out, &paint.bold(&words::money_text(money)));
    }
    if !plan.totals.is_empty() {
        out.push('\n');
    }
    due_rows(&mut out, plan);
    for step in &plan.steps {
        step_block(&mut out, step, paint);
    }
    if !plan.steps.is_empty() {
        out.push('\n');
    }
    push_line(&mut out, &paint.bold(&count::summary(plan)));
    for note in notes(plan) {
        push_line(&mut out, &note);
    }
    push_line(&mut out, &paint.dim(&origin(plan)));
    out
}

/// Renders the amounts due by month, before and after the plan.
fn due_rows(out: &mut String, plan: &PlanView) {
    let rows = due::rows(plan);
    for row in &rows {
        let due::DueRow { months, before, after, difference, mode } = row;
        push_line(out, &format!("due {months}: {before} → {after}, {difference} ({mode})"));
    }
    if !rows.is_empty() {
        out.push('\n');
    }
}

/// Renders `specs/acme.yaml:14:9 what is wrong`.
pub fn problem(problem: &PlacedIssue) -> String {
    clean(&words::problem_line(problem))
}

/// Renders one step with its place, its money and its fields.
fn step_block(out: &mut String, step: &StepView, paint: Paint) {
    let (symbol, style) = symbol(step);
    let name = resource_key(&step.kind, &step.namespace, &step.name);
    let head = paint.paint(style, &format!("{symbol} {name}"));
    push_line(out, &format!("{head}  {}", clean(&step.message)));
    let place = file_place(step.file.as_deref(), step.line);
    let about: Vec<String> =
        place.into_iter().chain(step.money.iter().map(words::money_text)).collect();
    if !about.is_empty() {
        push_line(out, &format!("    {}", paint.dim(&about.join(", "))));
    }
    if let Some(replaced) = &step.replaces {
        push_line(out, &format!("    {}", clean(&replaced.to_string())));
    }
    for problem in &step.problems {
        push_line(out, &format!("    {}", clean(&words::problem_line(problem))));
    }
    let fixed = unchangeable_fields(step);
    for change in &step.changes {
        let mut text =
            format!("    {}: {}", clean(&change.path), before_after(step, change, value_text));
        if fixed.contains(change.path.as_str()) {
            let marked = paint.paint(Style::new().red(), "the service cannot change this");
            text = format!("{text}  ! {marked}");
        }
        push_line(out, &text);
    }
}
