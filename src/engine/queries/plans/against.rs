//! The plan from one tree to another without any service: the consequences of a change of the files
//! if the service matched the first tree.

use chrono::{DateTime, Utc};

use super::due::due;
use super::scoped::step_sums;
use super::view::{is_settled, step_view};
use crate::base::id::Key;
use crate::base::wording::nearest;
use crate::engine::protocol::queries::against::ComparedTrees;
use crate::engine::protocol::queries::scoped::UnknownName;
use crate::engine::protocol::queries::views::{PlanView, StepView};
use crate::model::manifest::Desired;
use crate::model::operator::suspension::StepSelection;
use crate::model::plans::plan::{Reason, Step};
use crate::plan::assumed_state::{AssumedState, plan_with_limits};
use crate::plan::state_view::PlannerSettings;

impl PlanView {
    /// Returns the plan of the scope, from one tree to another.
    ///
    /// # Errors
    /// The selected names that neither tree has.
    pub fn against(
        settings: &PlannerSettings,
        trees: ComparedTrees<'_>,
        scope: &StepSelection,
        now: DateTime<Utc>,
    ) -> Result<Self, Vec<UnknownName>> {
        let ComparedTrees { before, after, against, problems, rules } = trees;
        let unknown = unknown_names(before, after, scope);
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let world = AssumedState::new(settings, before, after.clone(), now);
        let (world, planner) = plan_with_limits(settings, world, before, rules);
        let plan = planner.plan(&world);
        let shown = plan.steps.iter().filter(|step| !is_settled(step));
        let told = |step: &Step| {
            let due = planner.dues(&world, step);
            StepView { due, ..step_with_place(step, before) }
        };
        let steps: Vec<StepView> = shown.map(told).collect();
        let whole = Self {
            looked_at: Vec::new(),
            version: 1,
            coverage: after.tree_state,
            position: 0,
            head: String::new(),
            commit: against.after.clone(),
            files: None,
            checksum: String::new(),
            against: Some(Box::new(against)),
            resources: plan.steps.len(),
            totals: step_sums(&steps),
            due: due(&steps),
            steps,
            problems: problems.shown,
            omitted: problems.omitted,
        };
        Ok(if scope.is_everything() { whole } else { whole.select(scope) })
    }
}

/// Builds the view of one step; a removed resource has the place of its former document.
fn step_with_place(step: &Step, before: &Desired) -> StepView {
    let mut view = step_view(step);
    if let Reason::OverLimit(over) = &step.reason {
        view.limit = Some(over.clone());
    }
    let old = before.manifests.get(&step.key).filter(|_| view.file.is_none());
    let Some(place) = old.map(|manifest| &manifest.place) else { return view };
    StepView { file: Some(place.file.to_string()), line: Some(place.line), ..view }
}

/// Returns the selected names that neither tree has.
fn unknown_names(before: &Desired, after: &Desired, scope: &StepSelection) -> Vec<UnknownName> {
    let known = |key: &Key| {
        let in_tree =
            |tree: &Desired| tree.manifests.contains_key(key) || tree.broken.contains(key);
        in_tree(before) || in_tree(after)
    };
    let names: Vec<String> =
        before.manifests.keys().chain(after.manifests.keys()).map(Key::short).collect();
    let like = |key: &Key| nearest(&key.short(), names.iter().map(String::as_str));
    let unknown = scope.names().filter(|key| !known(key));
    unknown
        .map(|key| UnknownName { key: key.clone(), nearest: like(key).map(str::to_owned) })
        .collect()
}
