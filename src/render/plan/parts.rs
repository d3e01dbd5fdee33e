//! Parts that every form of a rendered plan shares: symbols, field changes, notes and origin.

use std::collections::BTreeSet;

use owo_colors::Style;

use crate::base::wording::count_noun;
use crate::engine::protocol::queries::views::{PlanView, StepView};
use crate::model::manifest::TreeState;
use crate::model::plans::change::PlannedAction;
use crate::model::state::drift::FieldChange;
use crate::render::words::{clean, short_hash};

/// Word of the reason that names unchangeable fields.
const CANNOT_CHANGE: &str = "CannotChange";
/// Start of that reason's sentence; the fields follow.
const CANNOT_CHANGE_SENTENCE: &str = "the service cannot change ";

/// Renders `before → after`, or only the value if the object is new.
pub(super) fn before_after(
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
pub(super) fn unchangeable_fields(step: &StepView) -> BTreeSet<&str> {
    let named = (step.reason == CANNOT_CHANGE).then_some(&step.message);
    let fields = named.and_then(|message| message.strip_prefix(CANNOT_CHANGE_SENTENCE));
    let fields = fields.and_then(|rest| rest.split("; ").next());
    fields.into_iter().flat_map(|fields| fields.split(", ")).collect()
}

/// Returns the symbol of a step and its style.
pub(super) fn symbol(step: &StepView) -> (char, Style) {
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
pub(super) fn notes(plan: &PlanView) -> Vec<String> {
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
pub(super) fn origin(plan: &PlanView) -> String {
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
