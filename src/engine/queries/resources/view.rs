//! Resources as plain data, with their conditions.

use std::collections::BTreeMap;

use super::conditions::failure_reason;
use super::{conditions, payments};
use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::engine::protocol::queries::views::ResourceView;
use crate::engine::view::EngineView;
use crate::model::plans::plan::{Reason, Step};
use crate::model::state::health::{ConditionStatus, ConditionType};
use crate::plan::state_view::StateView;

impl EngineView<'_> {
    /// Returns one resource with all its properties, without secrets.
    pub(crate) fn resource(&self, key: &Key) -> Option<ResourceView> {
        let mut view = self.resource_view(self.planner.step(key)?);
        if let Some(observed) = self.known_state.observed(key) {
            let facts = observed.facts.as_object().into_iter().flatten();
            let open = facts.filter(|(_, value)| value.get("sealed").is_none());
            view.facts = open.map(|(name, value)| (name.clone(), value.clone())).collect();
        }
        Some(view)
    }

    /// Returns the status of each condition of a resource, without messages.
    pub(crate) fn statuses(&self, step: &Step) -> [(ConditionType, ConditionStatus); 4] {
        let unable = self
            .scheduler
            .failures
            .get(&step.key)
            .filter(|_| self.known_state.open_intent(&step.key).is_none());
        conditions::statuses(step, self.is_suspended(&step.key), unable)
    }

    /// Returns one resource as in a list.
    pub(crate) fn resource_view(&self, step: &Step) -> ResourceView {
        let observed = self.known_state.observed(&step.key);
        let confidence =
            observed.as_ref().and_then(|known| self.readers.sweeps.confidence(&step.key, known));
        let open = self.known_state.open_intent(&step.key);
        let suspension = self.suspension(&step.key);
        let known = conditions::ConditionInputs {
            step,
            observed: observed.as_deref(),
            open: open.as_deref(),
            suspension: suspension.as_deref(),
            suspended: self.is_suspended(&step.key),
            unable: self.scheduler.failures.get(&step.key).filter(|_| open.is_none()),
            confidence: confidence.as_ref().map(|(confidence, _)| *confidence),
        };
        let (reason, message) = headline(&known);
        ResourceView {
            kind: step.key.kind.to_string(),
            namespace: step.key.namespace.to_string(),
            name: step.key.name.to_string(),
            ready: step.is_ready(),
            reason,
            message,
            remote_id: step.remote_id.clone(),
            conditions: conditions::conditions(&known),
            verdict: format!("{:?}", step.action).to_lowercase(),
            file: step.place.as_ref().map(|(file, _)| file.to_string()),
            line: step.place.as_ref().map(|(_, line)| *line),
            last_known: observed.as_ref().map(|observed| timestamp(&observed.at)),
            confidence: known.confidence,
            verified_at: confidence.and_then(|(_, at)| at),
            payments: observed.as_deref().and_then(payments::view),
            possible_orphans: observed.as_ref().map_or(0, |observed| observed.recreated),
            facts: BTreeMap::new(),
        }
    }
}

/// Returns the headline of a resource: the failure of its last attempt, its problem, or its last
/// known state.
fn headline(known: &conditions::ConditionInputs<'_>) -> (String, String) {
    if let Some(unable) = known.unable {
        return (failure_reason(unable).to_owned(), unable.message().to_owned());
    }
    let (word, message) = known.step.headline();
    if known.step.is_ready() && known.step.reason == Reason::Settled {
        return (word.to_owned(), conditions::in_sync(known).1);
    }
    (word.to_owned(), message)
}
