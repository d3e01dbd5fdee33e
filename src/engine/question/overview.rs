//! The state of all resources in a few counts.

use super::Overview;
use crate::base::id::Key;
use crate::engine::{Engine, Unable};
use crate::model::plan::Verdict;
use crate::plan::World;

impl Engine {
    /// Returns the overview of the whole state.
    pub fn overview(&self) -> Overview {
        let totals = self.planner.totals();
        let resources = self.planner.count();
        let head = self.shared.writer.head();
        Overview {
            resources,
            ready: resources.saturating_sub(totals.unready()),
            changes: totals.changes(),
            stuck: totals.stuck().saturating_add(self.stuck_in_trying()),
            orphaned: totals.with(Verdict::Orphan),
            suspended: self.suspended(),
            under_way: self.busy.len().saturating_add(self.queue.len()),
            open_intents: self.world.open_intents().len(),
            broken: self.world.desired().broken.len(),
            coverage: self.world.desired().coverage,
            position: head.sequence,
            head: data_encoding::HEXLOWER.encode(&head.hash),
            traffic: self.traffic(),
        }
    }

    /// Counts resources whose step is possible, but whose attempt fails for a reason that only a
    /// person can change.
    fn stuck_in_trying(&self) -> usize {
        let unable = self.unable.iter().filter(|(_, unable)| unable.needs_attention());
        let step =
            |(key, _): &(&Key, &Unable)| self.planner.step(key).is_some_and(|step| !step.stuck());
        unable.filter(step).count()
    }
}
