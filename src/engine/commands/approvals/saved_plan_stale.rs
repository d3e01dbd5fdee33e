//! Changes since a plan was saved, by name.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::id::Key;
use crate::engine::protocol::commands::saved_plan::{SavedPlan, SavedStep};
use crate::engine::protocol::commands::saved_plan_stale::PlanChange;
use crate::engine::protocol::queries::scoped::UnknownName;
use crate::engine::protocol::queries::views::{PlanView, StepView};
use crate::engine::view::EngineView;
use crate::model::plans::change::PlannedAction;

impl EngineView<'_> {
    /// Returns every change in a saved plan's basis. An empty list: it may be applied.
    pub(crate) fn plan_changes(&self, saved: &SavedPlan) -> Vec<PlanChange> {
        let now = match self.plan_within(&saved.scope) {
            Ok(plan) => plan,
            Err(unknown) => return unknown.into_iter().map(missing_name).collect(),
        };
        let now: BTreeMap<Key, &StepView> = changing(&now).collect();
        let then: BTreeSet<&Key> = saved.steps.iter().map(|step| &step.key).collect();
        let new = now.iter().filter(|(key, _)| !then.contains(key));
        let steps = saved.steps.iter();
        let moved = steps.filter_map(|step| self.step_change(step, now.get(&step.key).copied()));
        moved.chain(new.map(|(key, step)| new_step(key, step))).collect()
    }

    /// Returns the change of one step: of its document, of its known state, or else of its planned
    /// action.
    fn step_change(&self, then: &SavedStep, now: Option<&StepView>) -> Option<PlanChange> {
        let said = |what: String| {
            let place = self.planner.step(&then.key).and_then(|step| step.place.clone());
            let (file, line) = place.map_or((then.file.clone(), then.line), |(file, line)| {
                (Some(file.to_string()), Some(line))
            });
            Some(PlanChange { key: then.key.clone(), file, line, what })
        };
        let (before, after) = (then.document, self.document(&then.key));
        match (before, after) {
            (Some(before), Some(after)) if before != after => {
                return said("its document changed".to_owned());
            }
            (Some(_), None) => return said("its document is missing or invalid".to_owned()),
            (None, Some(_)) => return said("it has a document now".to_owned()),
            (Some(_), Some(_)) | (None, None) => {}
        }
        let differing = differing(&then.observed, &self.fact_digests(&then.key));
        if !differing.is_empty() {
            let facts = differing.join(", ");
            return said(format!("its known state changed: {facts}"));
        }
        let Some(now) = now else {
            let now = self.planner.step(&then.key).map(|step| step.reason.to_string());
            let why = now.unwrap_or_else(|| "unknown resource".to_owned());
            return said(format!("it would no longer change: {why}"));
        };
        if now.verdict != then.verdict {
            return said(format!(
                "the action changed from {} to {}",
                word(then.verdict),
                word(now.verdict)
            ));
        }
        (now.money != then.money).then(|| said("it moves other amounts".to_owned())).flatten()
    }
}

/// Returns the steps of a plan that change something.
fn changing(plan: &PlanView) -> impl Iterator<Item = (Key, &StepView)> {
    let changing = plan.steps.iter().filter(|step| step.verdict.is_change());
    changing.filter_map(|step| Some((step.key()?, step)))
}

/// Describes a step that the saved plan does not have.
fn new_step(key: &Key, step: &StepView) -> PlanChange {
    let (file, line) = (step.file.clone(), step.line);
    let what = format!("new step: {} ({})", word(step.verdict), step.message);
    PlanChange { key: key.clone(), file, line, what }
}

/// Describes a selected name that no longer exists.
fn missing_name(unknown: UnknownName) -> PlanChange {
    let what = "the plan selects it, but no resource has this name now".to_owned();
    PlanChange { key: unknown.key, file: None, line: None, what }
}

/// Returns the names whose digests differ.
fn differing(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    names.into_iter().filter(|name| then.get(*name) != now.get(*name)).cloned().collect()
}

/// Returns the verb for a step's action, as used after "to".
fn word(verdict: PlannedAction) -> String {
    format!("{verdict:?}").to_lowercase()
}
