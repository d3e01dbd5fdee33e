//! Decides if a saved plan may be applied, and records its one use.

use serde_json::Value;

use super::saved_plan::{SAVED_PLAN, STATE};
use crate::base::hash::keyed_digest;
use crate::engine::handles::shared::EngineError;
use crate::engine::protocol::commands::saved_plan::SavedPlan;
use crate::engine::protocol::commands::saved_plan_use::{PlanUnfit, UsedBefore};
use crate::engine::view::EngineView;
use crate::model::operator::approval::PlanUse;
use crate::plan::state_view::StateView;

impl EngineView<'_> {
    /// Decides if a saved plan, read from this JSON value, may be applied now.
    pub fn check_saved_plan(
        &self,
        saved: &SavedPlan,
        file: Value,
    ) -> Result<Result<(), PlanUnfit>, EngineError> {
        let binding = self.shared.facts.state_owner()?;
        let epoch = binding.map_or(0, |binding| binding.epoch);
        let head = self.shared.writer.head();
        let partner = &self.shared.settings.planning.partner;
        let plan = &saved.plan;
        let same_head = data_encoding::HEXLOWER.encode(&head.hash) == plan.head;
        let unfit = if saved.saved_plan != SAVED_PLAN {
            PlanUnfit::Form(saved.saved_plan)
        } else if saved.partner != *partner {
            PlanUnfit::Partner(saved.partner.clone())
        } else if saved.state != keyed_digest(self.digest_key(), STATE, &[]) {
            PlanUnfit::State
        } else if !SavedPlan::seal_of(file, self.digest_key()).matches(&saved.seal) {
            PlanUnfit::Edited
        } else if saved.epoch != epoch {
            PlanUnfit::Epoch { plan: saved.epoch, state: epoch }
        } else if plan.position > head.sequence {
            PlanUnfit::Ahead { plan: plan.position, state: head.sequence }
        } else if plan.position == head.sequence && !same_head {
            PlanUnfit::State
        } else if let Some(used) = self.shared.facts.use_of_plan(&saved.token)? {
            PlanUnfit::Used(Box::new(self.used_before(saved, used)))
        } else {
            let moved = self.plan_changes(saved);
            return Ok(if moved.is_empty() { Ok(()) } else { Err(PlanUnfit::Stale(moved)) });
        };
        Ok(Err(unfit))
    }

    /// Returns the state of the steps of a used plan.
    fn used_before(&self, saved: &SavedPlan, used: PlanUse) -> UsedBefore {
        let PlanUse { plan, token: _, checksum: _, actor, at } = used;
        let mut before =
            UsedBefore { plan, actor, at, done: Vec::new(), open: Vec::new(), left: Vec::new() };
        for step in &saved.steps {
            let now = self.planner.step(&step.key);
            let is_left = now.is_some_and(|now| now.action.is_change() || !now.ready);
            let list = if self.known_state.open_intent(&step.key).is_some() {
                &mut before.open
            } else if is_left {
                &mut before.left
            } else {
                &mut before.done
            };
            list.push(step.key.clone());
        }
        before
    }
}
