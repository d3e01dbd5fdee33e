//! Readers: reads of the service that change nothing there.

use super::account_refresh::RefreshTimer;
use super::sweep::SweepSchedule;

/// The timers of all reads, and their results.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    pub(crate) accounts: RefreshTimer,
    pub(crate) sweeps: SweepSchedule,
}
