//! Plans that are saved in a file: made, compared with the present state by name, and applied once.
//! [`crate::engine::protocol::approvals`] has the guarantees.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::base::hash::{Digest, canonical, keyed_digest};
use crate::base::id::Key;
use crate::engine::handles::shared::EngineResult;
use crate::engine::protocol::approvals::{
    PlanChange, PlanUnfit, SavePlan, SavedPlan, SavedStep, UsedBefore,
};
use crate::engine::protocol::query::Reply;
use crate::engine::protocol::unknown_names::UnknownName;
use crate::engine::protocol::views::{PlanView, StepView};
use crate::engine::view::EngineView;
use crate::model::change::PlannedAction;
use crate::model::operator::PlanUse;
use crate::plan::state_view::StateView;

pub const SAVED_PLAN: u32 = 1;
pub(crate) const STATE_LABEL: &str = "saved-plan-state";
const DOCUMENT_LABEL: &str = "saved-plan-document";
const FACT_LABEL: &str = "saved-plan-fact";
const TOKEN_BYTES: usize = 16;
/// Characters of the token's digest that name the plan.
const NAME_LENGTH: usize = 12;

impl EngineView<'_> {
    /// Returns the plan in a form that can be saved, or the selected names that no resource has.
    pub(crate) fn save_plan(&self, saving: SavePlan) -> EngineResult<Reply> {
        let plan = match self.plan_within(&saving.scope) {
            Ok(plan) => plan,
            Err(unknown) => return Ok(Reply::Unknown(unknown)),
        };
        let key = self.digest_key();
        let token = self.token();
        let epoch = self.shared.facts.state_owner()?.map_or(0, |binding| binding.epoch);
        let digest = keyed_digest(key, STATE_LABEL, token.as_bytes()).to_string();
        let name: String = digest.chars().take(NAME_LENGTH).collect();
        let mut saved = SavedPlan {
            saved_plan: SAVED_PLAN,
            id: format!("plan-{name}"),
            token,
            made_at: self.shared.now(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
            state: keyed_digest(key, STATE_LABEL, &[]),
            partner: self.shared.settings.planning.partner.clone(),
            epoch,
            dirty: saving.dirty,
            scope: saving.scope,
            steps: changing(&plan).map(|(key, step)| self.saved_step(key, step)).collect(),
            plan,
            seal: Digest::ZERO,
        };
        saved.seal = saved.seal_digest(key);
        Ok(Reply::Saved(Box::new(saved)))
    }

    fn saved_step(&self, key: Key, step: &StepView) -> SavedStep {
        SavedStep {
            verdict: step.verdict,
            file: step.file.clone(),
            line: step.line,
            document: self.document(&key),
            observed: self.fact_digests(&key),
            money: step.money.clone(),
            key,
        }
    }

    /// Returns a keyed digest of a resource's document.
    pub(crate) fn document(&self, key: &Key) -> Option<Digest> {
        let manifest = self.known_state.desired().manifests.get(key)?;
        Some(keyed_digest(self.digest_key(), DOCUMENT_LABEL, manifest.digest.as_bytes()))
    }

    /// Returns a keyed digest of each known fact of a resource, without the time of the fact.
    pub(crate) fn fact_digests(&self, key: &Key) -> BTreeMap<String, String> {
        let digest =
            |value: &Value| keyed_digest(self.digest_key(), FACT_LABEL, &canonical(value)).short();
        let mut known = BTreeMap::new();
        let mut note = |name: &str, value: Value| {
            if !value.is_null() {
                known.insert(name.to_owned(), digest(&value));
            }
        };
        if let Some(open) = self.known_state.open_intent(key) {
            note("an effect under way", Value::from(open.intent.id.to_string()));
        }
        let Some(observed) = self.known_state.observed(key) else { return known };
        note("its id", observed.remote_id.as_ref().map(ToString::to_string).into());
        note("whether it exists", observed.exists.into());
        let applied = observed.applied.as_ref();
        let applied = applied.map(|applied| format!("{} {}", applied.digest, applied.generation));
        note("what was put on the service", applied.into());
        note("a refusal", observed.refusal.as_ref().map(|one| one.digest.to_string()).into());
        note("a hold", observed.on_hold.as_ref().map(|held| held.reason.clone()).into());
        for (name, value) in observed.facts.as_object().into_iter().flatten() {
            note(name, value.clone());
        }
        known
    }

    fn token(&self) -> String {
        let mut bytes = [0_u8; TOKEN_BYTES];
        self.shared.random(|rng| rand_core::Rng::fill_bytes(rng, &mut bytes));
        data_encoding::BASE32_NOPAD.encode(&bytes).to_ascii_lowercase()
    }

    /// Decides if a saved plan, read from this JSON value, may be applied now.
    pub fn check_saved_plan(
        &self,
        saved: &SavedPlan,
        file: Value,
    ) -> EngineResult<Result<(), PlanUnfit>> {
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
        } else if saved.state != keyed_digest(self.digest_key(), STATE_LABEL, &[]) {
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

    /// Returns the change of one step: of its document, its known state, or else its action.
    fn step_change(&self, then: &SavedStep, now: Option<&StepView>) -> Option<PlanChange> {
        let said = |what: String| {
            let place = self.planner.step(&then.key).and_then(|step| step.place.clone());
            let (file, line) = place.map_or((then.file.clone(), then.line), |(file, line)| {
                (Some(file.to_string()), Some(line))
            });
            Some(PlanChange { key: then.key.clone(), file, line, what })
        };
        match (then.document, self.document(&then.key)) {
            (Some(before), Some(after)) if before != after => {
                return said("its document changed".to_owned());
            }
            (Some(_), None) => return said("its document is missing or invalid".to_owned()),
            (None, Some(_)) => return said("it has a document now".to_owned()),
            (Some(_), Some(_)) | (None, None) => {}
        }
        let differing = differing(&then.observed, &self.fact_digests(&then.key));
        if !differing.is_empty() {
            return said(format!("its known state changed: {}", differing.join(", ")));
        }
        let Some(now) = now else {
            let now = self.planner.step(&then.key).map(|step| step.reason.to_string());
            let why = now.unwrap_or_else(|| "unknown resource".to_owned());
            return said(format!("it would no longer change: {why}"));
        };
        if now.verdict != then.verdict {
            let (before, after) = (action_verb(then.verdict), action_verb(now.verdict));
            return said(format!("the action changed from {before} to {after}"));
        }
        (now.money != then.money).then(|| said("it moves other amounts".to_owned())).flatten()
    }
}

/// Returns the steps of a plan that change something.
fn changing(plan: &PlanView) -> impl Iterator<Item = (Key, &StepView)> {
    let changing = plan.steps.iter().filter(|step| step.verdict.is_change());
    changing.filter_map(|step| Some((step.key()?, step)))
}

fn new_step(key: &Key, step: &StepView) -> PlanChange {
    let (file, line) = (step.file.clone(), step.line);
    let what = format!("new step: {} ({})", action_verb(step.verdict), step.message);
    PlanChange { key: key.clone(), file, line, what }
}

/// Describes a selected name that no longer exists.
fn missing_name(unknown: UnknownName) -> PlanChange {
    let what = "the plan selects it, but no resource has this name now".to_owned();
    PlanChange { key: unknown.key, file: None, line: None, what }
}

fn differing(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    names.into_iter().filter(|name| then.get(*name) != now.get(*name)).cloned().collect()
}

/// Returns the verb for a step's action, as used after "to".
fn action_verb(verdict: PlannedAction) -> String {
    format!("{verdict:?}").to_lowercase()
}

#[cfg(test)]
mod tests;
