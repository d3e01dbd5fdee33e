//! Open intents and possible orphans, as they are told.

use super::Engine;
use super::question::{IntentView, IntentsView, RemadeView};
use super::shared::EngineError;
use crate::base::clock::timestamp;
use crate::model::intent::{IntentState, OpenIntent};

impl Engine {
    /// Open intents and possible orphans.
    pub fn intents(&self) -> Result<IntentsView, EngineError> {
        let mut open: Vec<&OpenIntent> = self.world.open_intents().map(|open| &**open).collect();
        open.sort_by_key(|open| open.intent.id);
        let orphans = self.shared.facts.possible_orphans()?.into_iter();
        let remade =
            orphans.map(|orphan| RemadeView { intent: orphan.intent.to_string(), key: orphan.key });
        Ok(IntentsView {
            items: open.into_iter().map(intent_view).collect(),
            remade: remade.collect(),
        })
    }
}

/// One intent for people and machines.
fn intent_view(open: &OpenIntent) -> IntentView {
    let reason = match &open.state {
        IntentState::InDoubt { attempt: _, reason } | IntentState::Held { attempt: _, reason } => {
            Some(reason.clone())
        }
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
    }
}
