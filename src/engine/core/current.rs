//! Keeps the engine's own copy equal to the fold.
//!
//! A task writes records while it runs, and the engine plans its resource again only once it ends:
//! settling a lost answer can take minutes. So every answer begins with the resources that records
//! changed since the last catch-up.

use super::coordinator::Engine;
use crate::base::fault_injection;
use crate::engine::handles::shared::EngineError;
use crate::model::action::is_action;
use crate::plan::state_view::StateView;

impl Engine {
    /// Reads again the resources that records changed, and plans them again: the next answer is
    /// made of the same fold as the journal's newest record.
    pub(crate) fn catch_up(&mut self) -> Result<(), EngineError> {
        if fault_injection::is_active("view-of-a-stale-copy") {
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

    /// Plans everything again: resources on hold may be ready now.
    pub(crate) fn replan_all(&mut self) -> Result<(), EngineError> {
        let known = self.known_state.known_keys();
        for key in &known {
            self.known_state.refresh(&self.shared.facts, key)?;
        }
        let made = self.planner.recompute_all(&self.known_state);
        self.enqueue(made);
        self.redispatch_actions()
    }
}
