//! Read-only view of the engine's parts, from which commands are decided and queries answered.

use std::sync::Arc;

use crate::engine::events::schedule::EventSchedule;
use crate::engine::handles::shared::EngineShared;
use crate::engine::hooks::scripts::Scripts;
use crate::engine::known::known_state::{KnownState, Snapshot};
use crate::engine::readers::timers::Readers;
use crate::engine::scheduler::schedule::Scheduler;
use crate::plan::planner::Planner;

/// The engine's parts at one moment; nothing changes through it.
#[derive(derive_more::Debug)]
#[debug("EngineView({known_state:?}, {scheduler:?})")]
pub struct EngineView<'a> {
    pub(crate) shared: &'a Arc<EngineShared>,
    pub(crate) known_state: &'a KnownState,
    pub(crate) planner: &'a Planner,
    pub(crate) scheduler: &'a Scheduler,
    pub(crate) readers: &'a Readers,
    pub(crate) event_schedule: &'a EventSchedule,
    pub(crate) scripts: &'a Scripts,
    /// True if no more work is started.
    pub(crate) stopping: bool,
}

impl EngineView<'_> {
    pub(crate) fn digest_key(&self) -> &[u8; 32] {
        &self.shared.settings.planning.digest_key
    }

    /// Returns the part of the view that reads are started from.
    pub(crate) fn snapshot(&self) -> Snapshot<'_> {
        Snapshot {
            shared: self.shared,
            known_state: self.known_state,
            planner: self.planner,
            busy: &self.scheduler.busy,
            stopping: self.stopping,
        }
    }
}
