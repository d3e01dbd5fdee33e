//! Intents that are not closed, and possible orphans, as plain data.

use serde::{Deserialize, Serialize};

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::engine::{Engine, EngineError};
use crate::model::intent::{IntentState, OpenIntent};

/// One intent that is not closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentView {
    /// Its number.
    pub id: String,
    /// The resource.
    pub key: Key,
    /// The effect.
    pub effect: String,
    /// open, `in_doubt` or held.
    pub state: String,
    /// How often it was sent.
    pub attempts: u32,
    /// Why it is not settled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The name of the obligation.
    pub source_id: String,
    /// The same as it stands in fields of the service.
    pub mark: String,
    /// When it was written down.
    pub at: String,
}

/// Open intents, and contacts that were made again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentsView {
    /// Intents that are not closed, oldest first.
    pub items: Vec<IntentView>,
    /// Resources that were made again although nothing proved that the first try failed.
    pub remade: Vec<RemadeView>,
}

/// A resource that was made again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemadeView {
    /// The intent whose fate is not known.
    pub intent: String,
    /// The resource.
    pub key: Key,
}

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
