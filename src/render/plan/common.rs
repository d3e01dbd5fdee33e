//! Parts that every form of a rendered plan shares: symbols, field changes, notes, origin, the
//! summary in one line, and the amounts due by month.

use std::collections::BTreeSet;

use owo_colors::Style;

use crate::base::wording::{count_noun, count_verb};
use crate::engine::protocol::views::{DueView, PlanView, StepView};
use crate::model::change::{PlannedAction, Removal};
use crate::model::manifest::TreeState;
use crate::model::state::drift::FieldChange;
use crate::render::words::{clean, format_amount, short_hash};

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

/// Word of the reason of a move, which changes nothing at the service.
const MOVED: &str = "Moved";

/// Number of steps of each sort.
#[derive(Default)]
struct StepCounts {
    create: usize,
    update: usize,
    delete: usize,
    neutralise: usize,
    deauthorise: usize,
    moves: usize,
    read: usize,
    wait: usize,
    blocked: usize,
    orphan: usize,
    unready: usize,
}

impl StepCounts {
    fn from_steps(steps: &[StepView]) -> Self {
        let mut counts = Self::default();
        for step in steps {
            let count = match step.verdict {
                PlannedAction::Create => &mut counts.create,
                PlannedAction::Update if step.reason == MOVED => &mut counts.moves,
                PlannedAction::Update => &mut counts.update,
                PlannedAction::Delete => match step.removal {
                    Some(Removal::Neutralise) => &mut counts.neutralise,
                    Some(Removal::Deauthorise) => &mut counts.deauthorise,
                    Some(Removal::Delete | Removal::Orphan) | None => &mut counts.delete,
                },
                PlannedAction::Read => &mut counts.read,
                PlannedAction::Wait => &mut counts.wait,
                PlannedAction::Blocked => &mut counts.blocked,
                PlannedAction::Orphan => &mut counts.orphan,
                PlannedAction::Settled if step.stuck => &mut counts.blocked,
                PlannedAction::Settled => &mut counts.unready,
            };
            *count = count.saturating_add(1);
        }
        counts
    }

    /// Renders the counts of steps that do nothing now; empty if there are none.
    fn remaining_text(&self) -> String {
        let parts = [
            (self.wait, "waiting"),
            (self.blocked, "blocked"),
            (self.unready, "not ready yet"),
            (self.orphan, "orphaned"),
        ];
        let said = parts.iter().filter(|(count, _)| *count > 0);
        said.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
    }

    /// Renders the counts of steps to do.
    fn work_text(&self) -> String {
        let Self { create, update, delete, .. } = self;
        let work = format!("{create} to create, {update} to update, {delete} to delete");
        let more = [
            (self.neutralise, "to neutralise"),
            (self.deauthorise, "to deauthorise"),
            (self.moves, "to move"),
            (self.read, "to read"),
        ];
        let more = more.iter().filter(|(count, _)| *count > 0);
        more.fold(work, |work, (count, what)| format!("{work}, {count} {what}"))
    }

    /// Returns true if nothing would be done and nothing is blocked.
    fn is_empty(&self) -> bool {
        let Self {
            create,
            update,
            delete,
            neutralise,
            deauthorise,
            moves,
            read,
            wait,
            blocked,
            ..
        } = self;
        [create, update, delete, neutralise, deauthorise, moves, read, wait, blocked]
            .iter()
            .all(|count| **count == 0)
    }
}

/// Renders `Plan: 3 to create, 1 to update, 0 to delete; 2 waiting, 1 blocked`.
pub(super) fn plan_summary(plan: &PlanView) -> String {
    let counts = StepCounts::from_steps(&plan.steps);
    let aside = counts.remaining_text();
    let aside = if aside.is_empty() { aside } else { format!("; {aside}") };
    if !counts.is_empty() {
        return format!("Plan: {}{aside}", counts.work_text());
    }
    let matching = plan.resources.saturating_sub(plan.steps.len());
    let matching = count_verb(matching, "resource matches", "resources match");
    format!("Nothing to do: {matching}{aside}.")
}

/// One row: consecutive months with equal amounts.
pub(super) struct DueRow {
    /// `2030-01`, or `2030-01 to 2030-12, each month`.
    pub(super) months: String,
    /// Amount due before the plan.
    pub(super) before: String,
    /// Amount due after the plan.
    pub(super) after: String,
    /// `+12.00 USD`.
    pub(super) difference: String,
    /// `test` or `live`.
    pub(super) mode: String,
}

/// Returns the rows of a plan.
pub(super) fn due_by_month(plan: &PlanView) -> Vec<DueRow> {
    plan.due.chunk_by(continues).filter_map(due_row).collect()
}

/// Returns true if a month directly follows another one with equal amounts.
fn continues(one: &DueView, next: &DueView) -> bool {
    let like = |due: &DueView| (due.currency.clone(), due.mode, due.before, due.after);
    like(one) == like(next)
        && month_number(&next.month) == month_number(&one.month).and_then(|one| one.checked_add(1))
}

/// Returns the months since the year 0.
fn month_number(month: &str) -> Option<i32> {
    let (year, month) = month.split_once('-')?;
    year.parse::<i32>().ok()?.checked_mul(12)?.checked_add(month.parse().ok()?)
}

fn due_row(alike: &[DueView]) -> Option<DueRow> {
    let (first, last) = (alike.first()?, alike.last()?);
    let several = format!("{} to {}, each month", first.month, last.month);
    let months = if alike.len() > 1 { several } else { first.month.clone() };
    let money = |amount| format_amount(amount, &first.currency);
    let sign = if first.difference > 0 { "+" } else { "" };
    Some(DueRow {
        months,
        before: money(first.before),
        after: money(first.after),
        difference: format!("{sign}{}", money(first.difference)),
        mode: first.mode.to_string(),
    })
}
