//! Summary of a plan in one line.

use crate::base::wording::count_verb;
use crate::engine::protocol::queries::views::{PlanView, StepView};
use crate::model::plans::change::PlannedAction;
use crate::model::plans::removal::Removal;

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
pub(super) fn summary(plan: &PlanView) -> String {
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
