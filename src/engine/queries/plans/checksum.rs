//! The checksum of a plan: two plans with one checksum do the same.

use serde_json::{Value, json};

use crate::base::hash::{canonical, keyed_digest};
use crate::engine::view::EngineView;
use crate::model::plans::change::PlannedAction;
use crate::model::plans::plan::{Reason, Step};
use crate::plan::state_view::StateView;

/// Separates these digests from all others.
const LABEL: &str = "plan";

impl EngineView<'_> {
    /// Returns a keyed digest over every step that changes something: its resource, its verdict,
    /// its document, its object and the money that it moves. It does not depend on the time of day,
    /// nor on steps that do nothing.
    pub(crate) fn checksum<'a>(&self, steps: impl Iterator<Item = &'a Step>) -> String {
        let changing = steps.filter(|step| unlimited_verdict(step).is_change());
        let about: Vec<Value> = changing.map(|step| self.approved_parts(step)).collect();
        let key = &self.shared.settings.planning.digest_key;
        keyed_digest(key, LABEL, &canonical(&Value::Array(about))).to_string()
    }

    /// Returns the parts of a step that an approval covers.
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

/// Returns the verdict that a step would have without a limit, so that the plan's checksum is the
/// same before and after its approval.
fn unlimited_verdict(step: &Step) -> PlannedAction {
    if let Reason::OverLimit(over) = &step.reason { over.intended } else { step.action }
}
