//! A plan that is saved in a file and applied once.
//!
//! Guarantees: it holds no secret, and of private values only those that `plan` shows. It is sealed
//! with the state's key, so that no other state accepts it, nor an edited one. Its token is used up
//! in the journal before the first call, so that it is applied once, whatever happens then. Changes
//! since it was made are reported by name (`stale.rs`); a journal that moved for other reasons does
//! not matter.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::base::hash::{Digest, canonical, keyed_digest};
use crate::base::id::Key;
use crate::engine::handles::shared::EngineError;
use crate::engine::protocol::commands::saved_plan::{SavePlan, SavedPlan, SavedStep};
use crate::engine::protocol::queries::views::{PlanView, StepView};
use crate::engine::protocol::query::Reply;
use crate::engine::view::EngineView;
use crate::plan::state_view::StateView;

/// The version of the form.
pub const SAVED_PLAN: u32 = 1;

pub(crate) const STATE: &str = "saved-plan-state";

const DOCUMENT: &str = "saved-plan-document";

const FACT: &str = "saved-plan-fact";

/// Random bytes of a token.
const TOKEN_BYTES: usize = 16;

/// Characters of the token's digest that name the plan.
const NAME_LENGTH: usize = 12;

impl EngineView<'_> {
    /// Returns the plan in a form that can be saved, or the selected names that no resource has.
    pub(crate) fn save_plan(&self, saving: SavePlan) -> Result<Reply, EngineError> {
        let plan = match self.plan_within(&saving.scope) {
            Ok(plan) => plan,
            Err(unknown) => return Ok(Reply::Unknown(unknown)),
        };
        let key = self.digest_key();
        let token = self.token();
        let epoch = self.shared.facts.state_owner()?.map_or(0, |binding| binding.epoch);
        let name: String = keyed_digest(key, STATE, token.as_bytes())
            .to_string()
            .chars()
            .take(NAME_LENGTH)
            .collect();
        let mut saved = SavedPlan {
            saved_plan: SAVED_PLAN,
            id: format!("plan-{name}"),
            token,
            made_at: self.shared.now(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
            state: keyed_digest(key, STATE, &[]),
            partner: self.shared.settings.planning.partner.clone(),
            epoch,
            dirty: saving.dirty,
            scope: saving.scope,
            steps: self.saved_steps(&plan),
            plan,
            seal: Digest::ZERO,
        };
        saved.seal = saved.seal_digest(key);
        Ok(Reply::Saved(Box::new(saved)))
    }

    /// Returns the steps of a plan that change something, with their basis.
    fn saved_steps(&self, plan: &PlanView) -> Vec<SavedStep> {
        let changing = plan.steps.iter().filter(|step| step.verdict.is_change());
        changing.filter_map(|step| Some(self.saved_step(step.key()?, step))).collect()
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
        Some(keyed_digest(self.digest_key(), DOCUMENT, manifest.digest.as_bytes()))
    }

    /// Returns a keyed digest of each known fact of a resource. The time of the fact does not
    /// matter.
    pub(crate) fn fact_digests(&self, key: &Key) -> BTreeMap<String, String> {
        let digest =
            |value: &Value| keyed_digest(self.digest_key(), FACT, &canonical(value)).short();
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

    /// Makes the token that a plan's one use consumes.
    fn token(&self) -> String {
        let mut bytes = [0_u8; TOKEN_BYTES];
        self.shared.random(|rng| rand_core::Rng::fill_bytes(rng, &mut bytes));
        data_encoding::BASE32_NOPAD.encode(&bytes).to_ascii_lowercase()
    }

    pub(crate) fn digest_key(&self) -> &[u8; 32] {
        &self.shared.settings.planning.digest_key
    }
}
