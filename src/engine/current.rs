//! Keeps the engine's own copy equal to the fold.
//!
//! A task writes records while it runs, and the engine plans its resource again only once it ends:
//! settling a lost answer can take minutes. So every answer begins with the resources that records
//! changed since the last catch-up.

use super::{Engine, EngineError};
use crate::base::planted;
use crate::model::action::is_action;

impl Engine {
    /// Reads again the resources that records changed, and plans them again: the next answer is
    /// made of the same fold as the journal's newest record.
    pub(super) fn catch_up(&mut self) -> Result<(), EngineError> {
        if planted::is_active("view-of-a-stale-copy") {
            return Ok(());
        }
        let keys = self.shared.writer.changed_resources().take();
        for key in &keys {
            self.known_state.refresh(&self.shared.facts, key)?;
        }
        // An action has no document, so it has no step.
        let documents = keys.into_iter().filter(|key| !is_action(key));
        let made = self.planner.recompute(&self.known_state, documents);
        self.enqueue(made);
        Ok(())
    }
}
