//! The checksum of a plan: two plans with one checksum do the same.

use serde_json::{Value, json};

use crate::base::hash::{canonical, keyed};
use crate::engine::Engine;
use crate::model::plan::{Reason, Step, Verdict};
use crate::plan::World;

/// Separates these digests from all others.
const LABEL: &str = "plan";

impl Engine {
    /// Returns a keyed digest over every step that changes something: its resource, its verdict,
    /// its document, its object and the money that it moves. It does not depend on the time of day,
    /// nor on steps that do nothing.
    pub(in crate::engine) fn checksum<'a>(&self, steps: impl Iterator<Item = &'a Step>) -> String {
        let changing = steps.filter(|step| wanted(step).changes());
        let about: Vec<Value> = changing.map(|step| self.essence(step)).collect();
        let key = &self.shared.settings.planning.digest_key;
        keyed(key, LABEL, &canonical(&Value::Array(about))).to_string()
    }

    /// Returns the parts of a step that an approval covers.
    fn essence(&self, step: &Step) -> Value {
        let manifest = self.world.desired().manifests.get(&step.key);
        let money = step.money.iter().map(|money| {
            json!([money.amount.minor(), money.amount.currency(), money.mode, money.meaning])
        });
        json!({
            "key": step.key,
            "verdict": wanted(step),
            "document": manifest.map(|manifest| manifest.digest.to_string()),
            "object": step.remote_id,
            "money": money.collect::<Vec<_>>(),
        })
    }
}

/// Returns the verdict that a step would have without a limit, so that the plan's checksum is the
/// same before and after its approval.
fn wanted(step: &Step) -> Verdict {
    if let Reason::OverLimit(over) = &step.reason { over.wants } else { step.verdict }
}
