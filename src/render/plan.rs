//! Renders a plan for people: the money that moves, each step with its reason, and the place in the
//! files.

mod count;
mod due;
pub mod markdown;

use std::collections::BTreeSet;

use owo_colors::Style;

use super::words;
use super::words::{Paint, clean, file_place, push_line, resource_key, short_hash, value_text};
use crate::base::plural::count_noun;
use crate::engine::queries::views::{PlanView, StepView};
use crate::model::plans::plan::{FieldChange, PlannedAction};
use crate::model::spec::desired::TreeState;
use crate::model::spec::issue::PlacedIssue;

pub(super) use markdown::escape_markdown;
pub use markdown::markdown;

pub use crate::engine::queries::scoped::step_sums as totals;

/// Word of the reason that names unchangeable fields.
const CANNOT_CHANGE: &str = "CannotChange";
/// Start of that reason's sentence; the fields follow.
const CANNOT_CHANGE_SENTENCE: &str = "the service cannot change ";

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

/// Renders `before → after`, or only the value if the object is new.
fn before_after(
    step: &StepView,
    change: &FieldChange,
    shown: impl Fn(&serde_json::Value) -> String,
) -> String {
    let side = |value: &serde_json::Value| {
        if value.is_null() { "(none)".to_owned() } else { shown(value) }
    };
    if step.verdict == PlannedAction::Create && change.before.is_null() {
        return side(&change.after);
    }
    format!("{} → {}", side(&change.before), side(&change.after))
}

/// Returns the fields that the reason names as unchangeable.
fn unchangeable_fields(step: &StepView) -> BTreeSet<&str> {
    let named = (step.reason == CANNOT_CHANGE).then_some(&step.message);
    let fields = named.and_then(|message| message.strip_prefix(CANNOT_CHANGE_SENTENCE));
    let fields = fields.and_then(|rest| rest.split("; ").next());
    fields.into_iter().flat_map(|fields| fields.split(", ")).collect()
}

/// Returns the symbol of a step and its style.
fn symbol(step: &StepView) -> (char, Style) {
    match step.verdict {
        PlannedAction::Settled if step.stuck => ('!', Style::new().red()),
        PlannedAction::Settled | PlannedAction::Wait => ('…', Style::new().dimmed()),
        PlannedAction::Create => ('+', Style::new().green()),
        PlannedAction::Update => ('~', Style::new().yellow()),
        PlannedAction::Delete => ('-', Style::new().red()),
        PlannedAction::Read => ('?', Style::new().cyan()),
        PlannedAction::Orphan => ('o', Style::new().dimmed()),
        PlannedAction::Blocked => ('!', Style::new().red()),
    }
}

/// Returns the notes that a reader must know before trusting the plan.
fn notes(plan: &PlanView) -> Vec<String> {
    let mut notes = Vec::new();
    let problems = plan.all_problems();
    if !problems.is_zero() {
        let problems = count_noun(problems.errors.saturating_add(problems.warnings), "problem");
        notes.push(format!("{problems} in the files: `reckon validate` shows where."));
    }
    if plan.coverage == TreeState::Incomplete {
        notes.push("Some documents are invalid: a missing document removes nothing.".to_owned());
    }
    notes.extend(verified_lists(plan));
    notes
}

/// Returns the notes on the lists of the service that were read for this plan.
fn verified_lists(plan: &PlanView) -> Vec<String> {
    let (read, hidden): (Vec<_>, Vec<_>) =
        plan.looked_at.iter().partition(|look| look.at.is_some());
    let oldest = read.iter().filter_map(|look| look.at.as_deref()).min();
    let mut notes = Vec::new();
    if let Some(oldest) = oldest {
        let lists = count_noun(read.len(), "list");
        notes.push(format!("Verified at {}: {lists} of the service.", clean(oldest)));
    }
    for look in hidden {
        let (list, merchant) = (clean(&look.list), clean(&look.merchant));
        notes.push(format!("Cannot be verified: the service shows no {list} of {merchant}."));
    }
    notes
}

/// Renders the state from which the plan was made.
fn origin(plan: &PlanView) -> String {
    if let Some(trees) = &plan.against {
        let after =
            trees.after.as_deref().map_or_else(|| "the present tree".to_owned(), short_hash);
        let before = short_hash(&trees.before);
        return format!("From {before} to {after}, as if the service matched {before} exactly");
    }
    let commit = plan.commit.as_deref().map(|commit| format!(", commit {}", short_hash(commit)));
    let (position, head) = (plan.position, short_hash(&plan.head));
    format!("Position {position}, head {head}{}", commit.unwrap_or_default())
}

#[cfg(test)]
mod tests;
