//! The state of all resources in a few counts.

use crate::base::id::Key;
use crate::engine::handles::failure::TaskFailure;
use crate::engine::protocol::queries::views::Overview;
use crate::engine::view::EngineView;
use crate::model::plans::change::PlannedAction;
use crate::plan::state_view::StateView;

impl EngineView<'_> {
    /// Returns the overview of the whole state.
    pub fn overview(&self) -> Overview {
        let totals = self.planner.totals();
        let resources = self.planner.count();
        let head = self.shared.writer.head();
        Overview {
            resources,
            ready: resources.saturating_sub(totals.unready_count()),
            changes: totals.changes(),
            stuck: totals.needing_attention().saturating_add(self.failures_needing_attention()),
            orphaned: totals.count_of(PlannedAction::Orphan),
            suspended: self.suspended_count(),
            under_way: self.scheduler.busy.len().saturating_add(self.scheduler.queue.len()),
            open_intents: self.known_state.open_intents().len(),
            broken: self.known_state.desired().broken.len(),
            coverage: self.known_state.desired().tree_state,
            position: head.sequence,
            head: data_encoding::HEXLOWER.encode(&head.hash),
            traffic: self.traffic(),
        }
    }

    /// Counts resources whose step is possible, but whose attempt fails for a reason that only a
    /// person can change.
    fn failures_needing_attention(&self) -> usize {
        let unable = self.scheduler.failures.iter().filter(|(_, unable)| unable.needs_attention());
        let step = |(key, _): &(&Key, &TaskFailure)| {
            self.planner.step(key).is_some_and(|step| !step.needs_operator())
        };
        unable.filter(step).count()
    }
}
