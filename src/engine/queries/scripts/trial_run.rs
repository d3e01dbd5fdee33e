//! Data for a trial run of a script: the event, and the known state. A trial run changes nothing.

use serde_json::{Value, json};

use crate::engine::hooks::event::event_value;
use crate::engine::protocol::queries::trial_run::TrialRunQuery;
use crate::engine::view::EngineView;
use crate::kinds::planning::step::MERCHANT;
use crate::model::events::event::EventStatus;

/// The kind beside merchants whose documents have events of their own.
const APPLICATION: &str = "MerchantApplication";

impl EngineView<'_> {
    /// Answers the request; null if there is nothing.
    ///
    /// # Errors
    /// An event that is not verified yet, or cannot be read.
    pub(crate) fn trial_data(&self, asked: &TrialRunQuery) -> Result<Value, String> {
        let facts = &self.shared.facts;
        match asked {
            TrialRunQuery::Event(id) => self.trial_event(id),
            TrialRunQuery::Transaction { merchant, id } => {
                let known = facts.remote_object(merchant, id).map_err(|error| error.to_string())?;
                Ok(known.map_or(Value::Null, |known| json!(known)))
            }
            TrialRunQuery::Kept { script, key } => {
                facts.stored_value(script, key).map_err(|error| error.to_string())
            }
        }
    }

    fn trial_event(&self, id: &str) -> Result<Value, String> {
        let owners = self.planner.steps().map(|step| &step.key);
        let owners = owners.filter(|key| [MERCHANT, APPLICATION].contains(&key.kind.as_str()));
        for owner in owners {
            let entry = self.shared.facts.event(owner, id).map_err(|error| error.to_string())?;
            match entry.map(|entry| entry.status) {
                None => {}
                Some(EventStatus::Verified(told)) => {
                    return event_value(self.shared, &told).map_err(|error| error.to_string());
                }
                Some(EventStatus::Waiting) => {
                    return Err("posted, but not verified yet".to_owned());
                }
                Some(EventStatus::Forged) => {
                    return Err("forged: the service does not have it".to_owned());
                }
                Some(EventStatus::OtherMode) => {
                    return Err("posted to the address of the other mode".to_owned());
                }
            }
        }
        Ok(Value::Null)
    }
}
