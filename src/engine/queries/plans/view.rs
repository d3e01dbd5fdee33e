//! The whole plan as plain data.

use super::due::due;
use super::scoped;
use crate::engine::protocol::queries::views::{CHECKSUM_SHORT, MoneyView, PlanView, StepView};
use crate::engine::view::EngineView;
use crate::model::plans::change::PlannedAction;
use crate::model::plans::plan::{Reason, Step};
use crate::plan::state_view::StateView;

impl EngineView<'_> {
    /// Returns the plan and its basis.
    pub fn plan_view(&self) -> PlanView {
        let head = self.shared.writer.head();
        let plan = self.planner.plan(self.known_state);
        let totals = plan.totals.iter().map(|((currency, mode, meaning), amount)| MoneyView {
            currency: currency.clone(),
            mode: *mode,
            meaning: (*meaning).to_owned(),
            amount: *amount,
        });
        let checksum = self.checksum(plan.steps.iter());
        let told = |step: &Step| {
            let due = self.planner.dues(self.known_state, step);
            let view = StepView { problems: self.field_problems(step), due, ..step_view(step) };
            with_plan_checksum(view, step, &checksum)
        };
        let problems = self.known_state.files().problems();
        let steps = plan.steps.iter().filter(|step| !is_settled(step)).map(told);
        let steps: Vec<StepView> = steps.collect();
        PlanView {
            version: 1,
            coverage: self.known_state.desired().tree_state,
            position: head.sequence,
            head: data_encoding::HEXLOWER.encode(&head.hash),
            commit: self.known_state.files().commit(),
            files: self.known_state.files().digest(),
            checksum: checksum.clone(),
            looked_at: self.readers.sweeps.list_reads(),
            totals: totals.collect(),
            due: due(&steps),
            against: None,
            resources: plan.steps.len(),
            steps,
            problems: problems.shown,
            omitted: problems.omitted,
        }
    }
}

/// Returns true if a step has nothing to report.
pub(crate) fn is_settled(step: &Step) -> bool {
    step.action == PlannedAction::Settled && step.ready
}

/// Builds the view of one step.
pub(crate) fn step_view(step: &Step) -> StepView {
    let money = step.money.iter().map(|money| MoneyView {
        currency: money.amount.currency().to_string(),
        mode: money.mode,
        meaning: money.meaning.to_owned(),
        amount: money.amount.minor(),
    });
    StepView {
        kind: step.key.kind.to_string(),
        namespace: step.key.namespace.to_string(),
        name: step.key.name.to_string(),
        verdict: step.action,
        reason: step.reason.word().to_owned(),
        message: step.reason.to_string(),
        stuck: step.needs_operator(),
        file: step.place.as_ref().map(|(file, _)| file.to_string()),
        line: step.place.as_ref().map(|(_, line)| *line),
        changes: step.changes.clone(),
        money: money.collect(),
        due: Vec::new(),
        limit: None,
        replaces: step.replaces.clone(),
        removal: step.reason.removal(),
        problems: Vec::new(),
        waits_for: scoped::waits(&step.reason),
    }
}

/// Adds to a step that a limit blocks the plan that can be approved.
pub(crate) fn with_plan_checksum(mut view: StepView, step: &Step, checksum: &str) -> StepView {
    if let Reason::OverLimit(over) = &step.reason {
        let short: String = checksum.chars().take(CHECKSUM_SHORT).collect();
        view.message = over.for_plan(&short);
        view.limit = Some(over.clone());
    }
    view
}
