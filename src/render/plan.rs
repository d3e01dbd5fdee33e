//! Renders a plan for people: the money that moves, each step with its reason, and the place in the
//! files.

mod count;
mod due;
mod markdown;

use std::collections::BTreeSet;

use owo_colors::Style;

use super::words::{self, Paint, clean, key, line, place, short, value};
use crate::base::counted::counted;
use crate::engine::{PlanView, StepView};
use crate::model::desired::Coverage;
use crate::model::issue::Problem;
use crate::model::plan::{FieldChange, Verdict};

pub use markdown::markdown;
pub(super) use markdown::prose;

pub use crate::engine::sums as totals;

/// Word of the reason that names unchangeable fields.
const CANNOT_CHANGE: &str = "CannotChange";
/// Start of that reason's sentence; the fields follow.
const CANNOT_CHANGE_SENTENCE: &str = "the service cannot change ";

/// Renders a plan as text, with or without colours.
pub fn text(plan: &PlanView, color: bool) -> String {
    let paint = Paint { color };
    let mut out = String::new();
    for money in &plan.totals {
        line(&mut out, &paint.bold(&words::money(money)));
    }
    if !plan.totals.is_empty() {
        out.push('\n');
    }
    due_text(&mut out, plan);
    for step in &plan.steps {
        block(&mut out, step, paint);
    }
    if !plan.steps.is_empty() {
        out.push('\n');
    }
    line(&mut out, &paint.bold(&count::summary(plan)));
    for note in notes(plan) {
        line(&mut out, &note);
    }
    line(&mut out, &paint.dim(&origin(plan)));
    out
}

/// Renders the amounts due by month, before and after the plan.
fn due_text(out: &mut String, plan: &PlanView) {
    let rows = due::rows(plan);
    for row in &rows {
        let due::Row { months, before, after, difference, mode } = row;
        line(out, &format!("due {months}: {before} → {after}, {difference} ({mode})"));
    }
    if !rows.is_empty() {
        out.push('\n');
    }
}

/// Renders `specs/acme.yaml:14:9 what is wrong`.
pub fn problem(problem: &Problem) -> String {
    clean(&words::problem(problem))
}

/// Renders one step with its place, its money and its fields.
fn block(out: &mut String, step: &StepView, paint: Paint) {
    let (symbol, style) = symbol(step);
    let name = key(&step.kind, &step.namespace, &step.name);
    let head = paint.paint(style, &format!("{symbol} {name}"));
    line(out, &format!("{head}  {}", clean(&step.message)));
    let place = place(step.file.as_deref(), step.line);
    let about: Vec<String> = place.into_iter().chain(step.money.iter().map(words::money)).collect();
    if !about.is_empty() {
        line(out, &format!("    {}", paint.dim(&about.join(", "))));
    }
    if let Some(replaced) = &step.replaces {
        line(out, &format!("    {}", clean(&replaced.to_string())));
    }
    for problem in &step.problems {
        line(out, &format!("    {}", clean(&words::problem(problem))));
    }
    let fixed = fixed(step);
    for change in &step.changes {
        let mut text =
            format!("    {}: {}", clean(&change.path), before_after(step, change, value));
        if fixed.contains(change.path.as_str()) {
            let marked = paint.paint(Style::new().red(), "the service cannot change this");
            text = format!("{text}  ! {marked}");
        }
        line(out, &text);
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
    if step.verdict == Verdict::Create && change.before.is_null() {
        return side(&change.after);
    }
    format!("{} → {}", side(&change.before), side(&change.after))
}

/// Returns the fields that the reason names as unchangeable.
fn fixed(step: &StepView) -> BTreeSet<&str> {
    let named = (step.reason == CANNOT_CHANGE).then_some(&step.message);
    let fields = named.and_then(|message| message.strip_prefix(CANNOT_CHANGE_SENTENCE));
    let fields = fields.and_then(|rest| rest.split("; ").next());
    fields.into_iter().flat_map(|fields| fields.split(", ")).collect()
}

/// Returns the symbol of a step and its style.
fn symbol(step: &StepView) -> (char, Style) {
    match step.verdict {
        Verdict::Settled if step.stuck => ('!', Style::new().red()),
        Verdict::Settled | Verdict::Wait => ('…', Style::new().dimmed()),
        Verdict::Create => ('+', Style::new().green()),
        Verdict::Update => ('~', Style::new().yellow()),
        Verdict::Delete => ('-', Style::new().red()),
        Verdict::Read => ('?', Style::new().cyan()),
        Verdict::Orphan => ('o', Style::new().dimmed()),
        Verdict::Blocked => ('!', Style::new().red()),
    }
}

/// Returns the notes that a reader must know before trusting the plan.
fn notes(plan: &PlanView) -> Vec<String> {
    let mut notes = Vec::new();
    let problems = plan.all_problems();
    if !problems.is_zero() {
        let problems = counted(problems.errors.saturating_add(problems.warnings), "problem");
        notes.push(format!("{problems} in the files: `reckon validate` shows where."));
    }
    if plan.coverage == Coverage::Partial {
        notes.push("Not every document is good: absence of one removes nothing.".to_owned());
    }
    notes.extend(looked_at(plan));
    notes
}

/// Returns the notes on the lists of the service that were read for this plan.
fn looked_at(plan: &PlanView) -> Vec<String> {
    let (read, hidden): (Vec<_>, Vec<_>) =
        plan.looked_at.iter().partition(|look| look.at.is_some());
    let oldest = read.iter().filter_map(|look| look.at.as_deref()).min();
    let mut notes = Vec::new();
    if let Some(oldest) = oldest {
        let lists = counted(read.len(), "list");
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
            trees.after.as_deref().map_or_else(|| "the tree as it stands".to_owned(), short);
        let before = short(&trees.before);
        return format!("From {before} to {after}, as if the service were just as {before} says");
    }
    let commit = plan.commit.as_deref().map(|commit| format!(", commit {}", short(commit)));
    let (position, head) = (plan.position, short(&plan.head));
    format!("Position {position}, head {head}{}", commit.unwrap_or_default())
}

#[cfg(test)]
mod tests;
