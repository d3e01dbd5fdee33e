//! Keeps the engine's own copy equal to the fold.
//!
//! A task writes records while it runs, and the engine looks at its resource once it ends: an answer that is lost can
//! take minutes to settle. So every answer begins with the resources that records spoke of since the last look.

use super::{Engine, EngineError};
use crate::base::planted;
use crate::model::action::is_action;

impl Engine {
    /// Reads again the resources that records spoke of, and makes their steps again: what is answered next is made of
    /// the same fold as the journal's newest record.
    pub(super) fn catch_up(&mut self) -> Result<(), EngineError> {
        if planted::is("view-of-a-stale-copy") {
            return Ok(());
        }
        let keys = self.shared.writer.touched().take();
        for key in &keys {
            self.world.refresh(&self.shared.facts, key)?;
        }
        // No document stands for an action, and none is planned.
        let documents = keys.into_iter().filter(|key| !is_action(key));
        let made = self.planner.touch(&self.world, documents);
        self.enqueue(made);
        Ok(())
    }
}
