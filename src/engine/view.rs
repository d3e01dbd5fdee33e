//! Read-only view of the engine's parts, from which commands are decided and queries answered.

use crate::engine::alerts::watch::Alerts;
use crate::engine::events::schedule::EventSchedule;
use crate::engine::hooks::scripts::Scripts;
use crate::engine::known::known_state::Snapshot;
use crate::engine::known::money_book::MoneyBook;
use crate::engine::readers::timers::Readers;
use crate::engine::scheduler::schedule::Scheduler;

/// The engine's parts at one moment; nothing changes through it.
#[derive(derive_more::Debug, derive_more::Deref)]
#[debug("EngineView({:?}, {scheduler:?})", snapshot.known_state)]
pub struct EngineView<'a> {
    #[deref]
    pub(crate) snapshot: Snapshot<'a>,
    pub(crate) scheduler: &'a Scheduler,
    pub(crate) readers: &'a Readers,
    pub(crate) event_schedule: &'a EventSchedule,
    pub(crate) scripts: &'a Scripts,
    pub(crate) money: &'a MoneyBook,
    pub(crate) alerts: &'a Alerts,
}

impl EngineView<'_> {
    pub(crate) fn digest_key(&self) -> &[u8; 32] {
        &self.shared.settings.planning.digest_key
    }

    /// Returns the part of the view that reads are started from.
    pub(crate) fn snapshot(&self) -> Snapshot<'_> {
        self.snapshot
    }
}
