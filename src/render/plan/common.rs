//! Parts that every form of a rendered plan shares: symbols, field changes, notes, origin, the
//! summary in one line, and the amounts due by month.

use std::collections::{BTreeMap, BTreeSet};

use owo_colors::Style;

use crate::base::wording::{count_noun, count_verb};
use crate::engine::protocol::time_rules::{TimeRuleView, holding_sentences};
use crate::engine::protocol::views::{DueView, PlanView, StepView};
use crate::model::change::{PlannedAction, Removal};
use crate::model::holds::Hold;
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

pub(super) fn unchangeable_fields(step: &StepView) -> BTreeSet<&str> {
    let named = (step.reason == CANNOT_CHANGE).then_some(&step.message);
    let fields = named.and_then(|message| message.strip_prefix(CANNOT_CHANGE_SENTENCE));
    let fields = fields.and_then(|rest| rest.split("; ").next());
    fields.into_iter().flat_map(|fields| fields.split(", ")).collect()
}

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

/// Returns the sentences on what holds changes back: the hold of all of them, else each rule.
pub(crate) fn hold_lines(hold: Option<&Hold>, rules: &[TimeRuleView]) -> Vec<String> {
    match hold {
        Some(hold) => vec![hold.sentence()],
        None => holding_sentences(rules).collect(),
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StepSort {
    Create,
    Update,
    Delete,
    Neutralise,
    Deauthorise,
    Move,
    Read,
    Wait,
    Blocked,
    Orphan,
    Unready,
}

impl StepSort {
    fn of(step: &StepView) -> Self {
        match step.verdict {
            PlannedAction::Create => Self::Create,
            PlannedAction::Update if step.reason == MOVED => Self::Move,
            PlannedAction::Update => Self::Update,
            PlannedAction::Delete => match step.removal {
                Some(Removal::Neutralise) => Self::Neutralise,
                Some(Removal::Deauthorise) => Self::Deauthorise,
                Some(Removal::Delete | Removal::Orphan) | None => Self::Delete,
            },
            PlannedAction::Read => Self::Read,
            PlannedAction::Wait => Self::Wait,
            PlannedAction::Blocked => Self::Blocked,
            PlannedAction::Orphan => Self::Orphan,
            PlannedAction::Settled if step.stuck => Self::Blocked,
            PlannedAction::Settled => Self::Unready,
        }
    }
}

struct StepCounts(BTreeMap<StepSort, usize>);

impl StepCounts {
    fn from_steps(steps: &[StepView]) -> Self {
        let mut counts = BTreeMap::new();
        for step in steps {
            let count: &mut usize = counts.entry(StepSort::of(step)).or_default();
            *count = count.saturating_add(1);
        }
        Self(counts)
    }

    /// Renders the counts of these sorts, without those that the plan does not have.
    fn words(&self, sorts: &[(StepSort, &str)]) -> Vec<String> {
        let counts = sorts.iter().filter_map(|(sort, what)| Some((self.0.get(sort)?, what)));
        counts.map(|(count, what)| format!("{count} {what}")).collect()
    }

    /// Renders the counts of steps that do nothing now; empty if there are none.
    fn remaining_text(&self) -> String {
        let sorts = [
            (StepSort::Wait, "waiting"),
            (StepSort::Blocked, "blocked"),
            (StepSort::Unready, "not ready yet"),
            (StepSort::Orphan, "orphaned"),
        ];
        self.words(&sorts).join(", ")
    }

    fn work_text(&self) -> String {
        let count = |sort| self.0.get(&sort).copied().unwrap_or_default();
        let [create, update, delete] =
            [StepSort::Create, StepSort::Update, StepSort::Delete].map(count);
        let mut work = vec![format!("{create} to create, {update} to update, {delete} to delete")];
        work.extend(self.words(&[
            (StepSort::Neutralise, "to neutralise"),
            (StepSort::Deauthorise, "to deauthorise"),
            (StepSort::Move, "to move"),
            (StepSort::Read, "to read"),
        ]));
        work.join(", ")
    }

    /// Returns true if nothing would be done and nothing is blocked.
    fn is_empty(&self) -> bool {
        self.0.keys().all(|sort| matches!(sort, StepSort::Unready | StepSort::Orphan))
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

/// One row: consecutive months with equal amounts. The cells are the months (`2030-01`, or
/// `2030-01 to 2030-12, each month`), the amounts before and after the plan, the difference and the
/// mode.
pub(super) type DueRow = [String; 5];

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
    let difference = format!("{sign}{}", money(first.difference));
    Some([months, money(first.before), money(first.after), difference, first.mode.to_string()])
}
