//! Compares the running engine's views with the fold of the journal's records: no view is older
//! than a record.

use std::collections::BTreeMap;

use super::laws::Violation;
use crate::engine::queries::intents::IntentsView;
use crate::engine::queries::metrics::Metrics;
use crate::engine::queries::views::ResourceView;
use crate::model::intents::intent::IntentState;
use crate::store::read_model::model::{ReadModel, ReadModelError};

/// Views of one moment.
#[derive(Debug)]
pub(crate) struct ViewSnapshot {
    /// Intents that are not closed.
    pub(crate) intents: IntentsView,
    pub(crate) metrics: Metrics,
    /// Every resource.
    pub(crate) resources: Vec<ResourceView>,
}

/// Compares views with the fold, which did not change meanwhile.
pub(crate) fn check_views(
    facts: &ReadModel,
    asked: &ViewSnapshot,
) -> Result<Vec<Violation>, ReadModelError> {
    let mut found = Vec::new();
    let mut wrong = |text: String| found.push(Violation::new("views", text));
    let mut states: BTreeMap<&str, u64> = BTreeMap::new();
    let open = facts.open_intents()?;
    for one in &open {
        let count = states.entry(one.state.word()).or_default();
        *count = count.saturating_add(1);
        let (id, state) = (one.intent.id.to_string(), one.state.word());
        let shown = asked.intents.items.iter().find(|item| item.id == id);
        if shown.is_none_or(|item| item.state != state || item.attempts != one.state.attempt()) {
            wrong(format!("{id} is {state}, and intents shows {shown:?}"));
        }
        let key = &one.intent.key;
        let view = asked.resources.iter().find(|view| view.is_of(key));
        if let Some(view) = view.filter(|view| view.reason != reason(&one.state) || view.ready) {
            let text = format!(
                "{} is {state}, and get shows {} (ready: {})",
                key, view.reason, view.ready
            );
            wrong(text);
        }
    }
    let shown = asked.intents.items.len();
    if shown != open.len() || asked.metrics.overview.open_intents != open.len() {
        let counted = asked.metrics.overview.open_intents;
        wrong(format!("{} intents are open; intents shows {shown}, status {counted}", open.len()));
    }
    for (state, (count, _)) in &asked.metrics.intents {
        if states.get(state.as_str()).copied().unwrap_or(0) != *count {
            wrong(format!("metrics count {count} intents as {state}, and the fold has {states:?}"));
        }
    }
    Ok(found)
}

/// Returns the reason that an intent gives its resource.
fn reason(state: &IntentState) -> &'static str {
    match state {
        IntentState::Open { .. } | IntentState::Closed => "InFlight",
        IntentState::InDoubt { .. } => "InDoubt",
        IntentState::OnHold { .. } => "Held",
    }
}
