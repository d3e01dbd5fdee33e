//! Open intents, and possible orphans, as plain data.

use super::resources::disown::disown_preview;
use crate::base::clock::timestamp;
use crate::engine::handles::shared::EngineError;
use crate::engine::protocol::queries::intents::{IntentView, IntentsView, RemadeView, evidence};
use crate::engine::view::EngineView;
use crate::model::intents::intent::{IntentState, OpenIntent};

impl EngineView<'_> {
    /// Returns open intents and possible orphans.
    pub fn intents(&self) -> Result<IntentsView, EngineError> {
        let mut open: Vec<&OpenIntent> =
            self.known_state.open_intents().map(|open| &**open).collect();
        open.sort_by_key(|open| open.intent.id);
        let orphans = self.shared.facts.possible_orphans()?.into_iter();
        let remade =
            orphans.map(|orphan| RemadeView { intent: orphan.intent.to_string(), key: orphan.key });
        let unknown = disown_preview(&self.shared.facts)?;
        Ok(IntentsView {
            last_resort: (!unknown.objects.is_empty()).then_some(unknown),
            items: open.into_iter().map(intent_view).collect(),
            remade: remade.collect(),
            unknown_objects: self.unknown_objects()?,
        })
    }
}

/// Builds the view of one intent.
fn intent_view(open: &OpenIntent) -> IntentView {
    let reason = match &open.state {
        IntentState::InDoubt { attempt: _, reason }
        | IntentState::OnHold { attempt: _, reason } => Some(reason.clone()),
        IntentState::Open { attempt: _ } | IntentState::Closed => None,
    };
    IntentView {
        id: open.intent.id.to_string(),
        key: open.intent.key.clone(),
        effect: open.intent.effect.clone(),
        state: open.state.word().to_owned(),
        attempts: open.state.attempt(),
        reason,
        source_id: open.intent.source_id.to_string(),
        mark: open.intent.mark.to_string(),
        at: timestamp(&open.intent.at),
        evidence: evidence(&open.intent),
    }
}
