//! The power of the simulated machine: it fails at a chosen point, and everything stands still.
//!
//! Every place at which a process can die is passed through here, so that each is counted and any
//! of them can be the last.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Before or after something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum When {
    /// Before it.
    Before,
    /// After it.
    After,
}

/// A place at which a process can die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// Before or after what is named.
    pub when: When,
    /// What happens there: `journal.write`, or `send` and an effect's name.
    pub place: &'static str,
    /// The effect that is sent; empty for the disk.
    pub effect: &'static str,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = match self.when {
            When::Before => "before",
            When::After => "after",
        };
        let space = if self.effect.is_empty() { "" } else { " " };
        write!(f, "{when} {}{space}{}", self.place, self.effect)
    }
}

/// How a machine dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// The process alone: what it wrote reaches the disk, and the index stays as it was.
    Process,
    /// The power: what was not synced may be lost in any part, and the index is not believed.
    Power,
}

/// When the machine may die, counted from its last start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crash {
    /// Where.
    pub point: Point,
    /// At which passing of that place, from 1.
    pub nth: u32,
    /// How.
    pub death: Death,
    /// How long it stays down, in seconds.
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
pub struct Power {
    state: Arc<Mutex<State>>,
    failed: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    dead: bool,
    planned: Vec<Crash>,
    died_of: Option<Crash>,
    passed: BTreeMap<Point, u32>,
}

impl Power {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Switches the machine on; it will die of the first of these that comes.
    pub fn on(&self, planned: Vec<Crash>) {
        *self.state() = State { planned, ..State::default() };
    }

    /// Nothing more happens by plan.
    pub fn calm(&self) {
        self.state().planned.clear();
    }

    /// What the machine died of.
    pub fn died_of(&self) -> Option<Crash> {
        self.state().died_of
    }

    /// Whether the machine is dead.
    pub fn dead(&self) -> bool {
        self.state().dead
    }

    /// Passes a point; `false` if the machine is dead or dies here.
    pub fn pass(&self, point: Point) -> bool {
        let mut state = self.state();
        if state.dead {
            return false;
        }
        let passed = state.passed.entry(point).or_default();
        *passed = passed.saturating_add(1);
        let passed = *passed;
        let due = |crash: &&Crash| crash.point == point && crash.nth <= passed;
        state.died_of = state.planned.iter().find(due).copied();
        state.dead = state.died_of.is_some();
        let lives = !state.dead;
        drop(state);
        if !lives {
            self.failed.notify_one();
        }
        lives
    }

    /// Resolves once the machine is dead.
    pub async fn failed(&self) {
        while !self.dead() {
            self.failed.notified().await;
        }
    }
}
