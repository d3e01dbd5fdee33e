//! The plan from one tree to another, without any service: what a change of the files would do if everything
//! were there just as the first tree says.

use chrono::{DateTime, Utc};

use super::scoped::Unknown;
use super::views::{Against, PlanView, StepView};
use super::{due, settled, step_view, sums};
use crate::base::id::Key;
use crate::base::nearest::nearest;
use crate::model::desired::Desired;
use crate::model::issue::Problems;
use crate::model::plan::{Reason, Step};
use crate::model::scope::Scope;
use crate::plan::{Assumed, Settings, limited};
use crate::policy::Rules;

/// Two trees that are compared.
#[derive(Debug)]
pub struct Compared<'a> {
    /// What is taken for what is there.
    pub before: &'a Desired,
    /// What is wanted.
    pub after: &'a Desired,
    /// Their commits.
    pub against: Against,
    /// What is wrong with the files of both.
    pub problems: Problems,
    /// The limits that the steps have to be within.
    pub rules: &'a Rules,
}

impl PlanView {
    /// The plan of what this chooses, from one tree to another. Errors: the names in it that neither has.
    pub fn against(
        settings: &Settings,
        trees: Compared<'_>,
        scope: &Scope,
        now: DateTime<Utc>,
    ) -> Result<Self, Vec<Unknown>> {
        let Compared { before, after, against, problems, rules } = trees;
        let unknown = unknown(before, after, scope);
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let world = Assumed::new(settings, before, after.clone(), now);
        let (world, planner) = limited(settings, world, before, rules);
        let plan = planner.plan(&world);
        let shown = plan.steps.iter().filter(|step| !settled(step));
        let told = |step: &Step| {
            let due = planner.dues(&world, step);
            StepView { due, ..placed(step, before) }
        };
        let steps: Vec<StepView> = shown.map(told).collect();
        let whole = Self {
            looked_at: Vec::new(),
            version: 1,
            coverage: after.coverage,
            position: 0,
            head: String::new(),
            commit: against.after.clone(),
            files: None,
            checksum: String::new(),
            against: Some(Box::new(against)),
            resources: plan.steps.len(),
            totals: sums(&steps),
            due: due(&steps),
            steps,
            problems: problems.shown,
            omitted: problems.omitted,
        };
        Ok(if scope.is_whole() { whole } else { whole.within(scope) })
    }
}

/// One step; what is removed stands where its document was.
fn placed(step: &Step, before: &Desired) -> StepView {
    let mut view = step_view(step);
    if let Reason::OverLimit(over) = &step.reason {
        view.limit = Some(over.clone());
    }
    let old = before.manifests.get(&step.key).filter(|_| view.file.is_none());
    let Some(place) = old.map(|manifest| &manifest.place) else { return view };
    StepView { file: Some(place.file.to_string()), line: Some(place.line), ..view }
}

/// The names that neither tree has.
fn unknown(before: &Desired, after: &Desired, scope: &Scope) -> Vec<Unknown> {
    let known = |key: &Key| {
        let in_tree =
            |tree: &Desired| tree.manifests.contains_key(key) || tree.broken.contains(key);
        in_tree(before) || in_tree(after)
    };
    let names: Vec<String> =
        before.manifests.keys().chain(after.manifests.keys()).map(Key::short).collect();
    let like = |key: &Key| nearest(&key.short(), names.iter().map(String::as_str));
    let unknown = scope.names().filter(|key| !known(key));
    unknown.map(|key| Unknown { key: key.clone(), nearest: like(key).map(str::to_owned) }).collect()
}
