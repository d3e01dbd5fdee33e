//! Power of the simulated machine: it fails at a chosen point, and the machine stops.
//!
//! Every place at which a process can die passes through this module, so that each is counted and
//! any of them can be the last.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Side of a place, before or after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CrashSide {
    Before,
    After,
}

/// A place at which a process can die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CrashPoint {
    pub when: CrashSide,
    /// Operation at the place: `journal.write`, or `send` with the name of an effect.
    pub place: &'static str,
    /// Effect that is sent; empty for the disk.
    pub effect: &'static str,
}

impl fmt::Display for CrashPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = match self.when {
            CrashSide::Before => "before",
            CrashSide::After => "after",
        };
        let space = if self.effect.is_empty() { "" } else { " " };
        write!(f, "{when} {}{space}{}", self.place, self.effect)
    }
}

/// Kind of death.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// The process alone dies: its writes reach the disk, and the index stays as it was.
    Process,
    /// The power fails: any part of the unsynced bytes may be lost, and the index is not trusted.
    Power,
}

/// A planned crash, counted from the last start of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crash {
    pub point: CrashPoint,
    /// Number of the passing of that place, from 1.
    pub nth: u32,
    pub death: Death,
    /// Seconds that the machine stays down.
    pub down_s: u64,
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { point, nth, death, down_s } = self;
        let what = match death {
            Death::Process => "the process dies",
            Death::Power => "the power fails",
        };
        write!(f, "{what} {point} number {nth}, down for {down_s} s")
    }
}

/// The power; clones share it.
#[derive(Debug, Clone, Default)]
pub struct MachinePower {
    state: Arc<Mutex<PowerState>>,
    failed: Arc<Notify>,
}

#[derive(Debug, Default)]
struct PowerState {
    dead: bool,
    planned: Vec<Crash>,
    fatal_crash: Option<Crash>,
    passed: BTreeMap<CrashPoint, u32>,
}

impl MachinePower {
    fn state(&self) -> MutexGuard<'_, PowerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Switches the machine on; the first of these crashes that is reached kills it.
    pub fn switch_on(&self, planned: Vec<Crash>) {
        *self.state() = PowerState { planned, ..PowerState::default() };
    }

    /// Removes all planned crashes.
    pub fn clear_plan(&self) {
        self.state().planned.clear();
    }

    /// Returns the crash that killed the machine.
    pub fn fatal_crash(&self) -> Option<Crash> {
        self.state().fatal_crash
    }

    /// Returns true if the machine is dead.
    pub fn is_dead(&self) -> bool {
        self.state().dead
    }

    /// Passes a point. Returns false if the machine is dead or dies at the point.
    pub fn pass(&self, point: CrashPoint) -> bool {
        let mut state = self.state();
        if state.dead {
            return false;
        }
        let passed = state.passed.entry(point).or_default();
        *passed = passed.saturating_add(1);
        let passed = *passed;
        let due = |crash: &&Crash| crash.point == point && crash.nth <= passed;
        state.fatal_crash = state.planned.iter().find(due).copied();
        state.dead = state.fatal_crash.is_some();
        let lives = !state.dead;
        drop(state);
        if !lives {
            self.failed.notify_one();
        }
        lives
    }

    /// Resolves once the machine is dead.
    pub async fn wait_until_dead(&self) {
        while !self.is_dead() {
            self.failed.notified().await;
        }
    }
}
