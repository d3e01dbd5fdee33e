//! The whole plan as plain data: of the present state, or from one tree to another without any service.
//! Two plans with one checksum do the same.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::base::hash::{canonical, keyed_digest};
use crate::base::id::{Key, Mode};
use crate::engine::protocol::next_steps::NextStep;
use crate::engine::protocol::unknown_names::UnknownName;
use crate::engine::protocol::views::{
    CHECKSUM_SHORT, ComparedTrees, MoneyView, PlanView, StepView,
};
use crate::engine::queries::next_steps::next_steps;
use crate::engine::queries::scoped::{self, due, step_sums};
use crate::engine::view::EngineView;
use crate::model::change::PlannedAction;
use crate::model::manifest::Desired;
use crate::model::operator::StepSelection;
use crate::model::plan::{Reason, Step};
use crate::plan::assumed_state::{AssumedState, plan_with_limits};
use crate::plan::blocks;
use crate::plan::state_view::{PlannerSettings, StateView};

/// Separates these digests from all others.
const CHECKSUM_LABEL: &str = "plan";

impl EngineView<'_> {
    pub fn plan_view(&self) -> PlanView {
        let head = self.shared.writer.head();
        let plan = self.planner.plan(self.known_state);
        let checksum = self.checksum(plan.steps.iter());
        let told = |step: &Step| {
            let due = self.planner.dues(self.known_state, step);
            let (problems, merchant) =
                (self.field_problems(step), owner_name(self.known_state, step));
            let hold = self.stopping_hold(step);
            let held_by = hold.and_then(|hold| hold.rule().map(str::to_owned));
            let view = StepView { due, problems, merchant, held_by, ..step_view(step) };
            with_plan_checksum(view, step, &checksum)
        };
        let problems = self.known_state.files.problems();
        let steps = plan.steps.iter().filter(|step| !is_settled(step)).map(told);
        let steps: Vec<StepView> = steps.collect();
        PlanView {
            version: 1,
            coverage: self.known_state.desired().tree_state,
            position: head.sequence,
            head: data_encoding::HEXLOWER.encode(&head.hash),
            commit: self.known_state.files.commit(),
            files: self.known_state.files.digest(),
            checksum: checksum.clone(),
            looked_at: self.readers.sweeps.list_reads(),
            totals: total_views(&plan.totals),
            due: due(&steps),
            against: None,
            hold: self.common_hold(),
            rules: self.holding_rules(),
            resources: plan.steps.len(),
            steps,
            problems: problems.shown,
            omitted: problems.omitted,
        }
    }

    /// Returns a keyed digest over every step that changes something: its resource, verdict,
    /// document, object and money. It depends on neither the time of day nor any other step.
    pub(crate) fn checksum<'a>(&self, steps: impl Iterator<Item = &'a Step>) -> String {
        let changing = steps.filter(|step| unlimited_verdict(step).is_change());
        let about: Vec<Value> = changing.map(|step| self.approved_parts(step)).collect();
        let about = canonical(&Value::Array(about));
        keyed_digest(self.digest_key(), CHECKSUM_LABEL, &about).to_string()
    }

    fn approved_parts(&self, step: &Step) -> Value {
        let manifest = self.known_state.desired().manifests.get(&step.key);
        let money = step.money.iter().map(|money| {
            json!([money.amount.minor(), money.amount.currency(), money.mode, money.meaning])
        });
        json!({
            "key": step.key,
            "verdict": unlimited_verdict(step),
            "document": manifest.map(|manifest| manifest.digest.to_string()),
            "object": step.remote_id,
            "money": money.collect::<Vec<_>>(),
        })
    }
}

/// Returns the sums of a plan as plain data.
pub(crate) fn total_views(totals: &BTreeMap<(String, Mode, &'static str), i64>) -> Vec<MoneyView> {
    let view = |((currency, mode, meaning), amount): (&(String, Mode, &str), &i64)| MoneyView {
        currency: currency.clone(),
        mode: *mode,
        meaning: (*meaning).to_owned(),
        amount: *amount,
    };
    totals.iter().map(|(name, amount)| view((name, amount))).collect()
}

/// Returns true if a step has nothing to report.
pub(crate) fn is_settled(step: &Step) -> bool {
    step.action == PlannedAction::Settled && step.ready
}

pub(crate) fn step_view(step: &Step) -> StepView {
    let limit = if let Reason::OverLimit(over) = &step.reason { Some(over.clone()) } else { None };
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
        limit,
        replaces: step.replaces.clone(),
        removal: step.reason.removal(),
        problems: Vec::new(),
        merchant: None,
        held_by: None,
        waits_for: scoped::waits(&step.reason),
        next: ways_out(step),
    }
}

fn owner_name(world: &dyn StateView, step: &Step) -> Option<String> {
    blocks::owner(world, &step.key).map(|merchant| merchant.short())
}

/// Returns the commands for a step that a person has to act on. The plan itself shows the command
/// that approves it.
fn ways_out(step: &Step) -> Vec<NextStep> {
    let needs_person = step.needs_operator() && !matches!(step.reason, Reason::OverLimit(_));
    if needs_person { next_steps(step, None) } else { Vec::new() }
}

/// Adds to a step that a limit blocks the plan that can be approved.
pub(crate) fn with_plan_checksum(mut view: StepView, step: &Step, checksum: &str) -> StepView {
    if let Reason::OverLimit(over) = &step.reason {
        let short: String = checksum.chars().take(CHECKSUM_SHORT).collect();
        view.message = over.for_plan(&short);
    }
    view
}

/// Returns the verdict that a step would have without a limit, so that the plan's checksum is the
/// same before and after its approval.
fn unlimited_verdict(step: &Step) -> PlannedAction {
    if let Reason::OverLimit(over) = &step.reason { over.intended } else { step.action }
}

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
        let unknown = names_in_neither(before, after, scope);
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let world = AssumedState::new(settings, before, after.clone(), now);
        let (world, planner) = plan_with_limits(settings, world, before, rules);
        let plan = planner.plan(&world);
        let shown = plan.steps.iter().filter(|step| !is_settled(step));
        let told = |step: &Step| {
            let due = planner.dues(&world, step);
            let merchant = owner_name(&world, step);
            StepView { due, merchant, ..step_with_place(step, before) }
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
            hold: None,
            rules: Vec::new(),
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
    let view = step_view(step);
    let old = before.manifests.get(&step.key).filter(|_| view.file.is_none());
    let Some(place) = old.map(|manifest| &manifest.place) else { return view };
    StepView { file: Some(place.file.to_string()), line: Some(place.line), ..view }
}

fn names_in_neither(before: &Desired, after: &Desired, scope: &StepSelection) -> Vec<UnknownName> {
    let known = |key: &Key| {
        let in_tree = |one: &Desired| one.manifests.contains_key(key) || one.broken.contains(key);
        in_tree(before) || in_tree(after)
    };
    let keys = before.manifests.keys().chain(after.manifests.keys());
    UnknownName::among(scope.names(), known, keys)
}

#[cfg(test)]
mod tests;
