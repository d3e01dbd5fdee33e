//! The cause of an effect: the document that asks for it, at the revision of the read that planned
//! it.

use crate::base::id::Key;
use crate::engine::view::EngineView;
use crate::model::intents::intent::Cause;
use crate::model::plans::plan::Step;

impl EngineView<'_> {
    /// Returns the cause of the effect that a resource's step asks for.
    pub(crate) fn cause(&self, key: &Key) -> Cause {
        let step = self.planner.full_step(self.known_state, key);
        let place = step.as_ref().and_then(|step| step.place.clone());
        let (Some(step), Some((file, line))) = (step, place) else {
            return Cause { commit: self.known_state.files().commit(), ..Cause::default() };
        };
        let read = self.known_state.files().provenance(&file);
        Cause {
            changed: self.changed_lines(&step),
            file: Some(file),
            line: Some(line),
            commit: read.commit,
            uncommitted: read.uncommitted,
            actor: None,
        }
    }

    /// Returns the lines of the fields that a step changes; empty for a step that creates, since
    /// all of its document is new.
    fn changed_lines(&self, step: &Step) -> Vec<(usize, usize)> {
        if step.changes.iter().all(|change| change.before.is_null()) {
            return Vec::new();
        }
        let fields: Vec<&str> = step.changes.iter().map(|change| change.path.as_str()).collect();
        let mut lines = self.known_state.files().lines(&step.key, &fields);
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}
