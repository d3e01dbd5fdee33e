//! Power of the simulated machine: it fails at a chosen point, and the machine stops.
//!
//! Every place at which a process can die passes through this module, so that each is counted and
//! any of them can be the last.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::api::call::Call;
use crate::client::transport::{Wire, WireDecision};
use crate::sim::plan::chance::{
    Crash, CrashPoint, CrashSide, READ, SEND_POINT, effect_of_call, refine_effect,
};
use crate::sim::plan::parts::add;

/// The wire, which ends where the machine dies.
#[derive(Debug, Clone)]
pub struct CrashWire(pub MachinePower);

impl CrashWire {
    fn decide(&self, when: CrashSide, call: &Call) -> WireDecision {
        let body = call.body.as_deref().unwrap_or_default();
        let effect = effect_of_call(call.method.as_str(), &call.path, body);
        let effect = refine_effect(effect, body).unwrap_or(READ);
        let lives = self.0.pass(CrashPoint { when, place: SEND_POINT, effect });
        if lives { WireDecision::Pass } else { WireDecision::Crash }
    }
}

impl Wire for CrashWire {
    fn before(&self, call: &Call) -> WireDecision {
        self.decide(CrashSide::Before, call)
    }

    fn after(&self, call: &Call) -> WireDecision {
        self.decide(CrashSide::After, call)
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
    /// Switches the machine on; the first of these crashes that is reached kills it.
    pub fn switch_on(&self, planned: Vec<Crash>) {
        *self.state.lock() = PowerState { planned, ..PowerState::default() };
    }

    pub fn clear_plan(&self) {
        self.state.lock().planned.clear();
    }

    pub fn fatal_crash(&self) -> Option<Crash> {
        self.state.lock().fatal_crash
    }

    pub fn is_dead(&self) -> bool {
        self.state.lock().dead
    }

    /// Passes a point. Returns false if the machine is dead or dies at the point.
    pub fn pass(&self, point: CrashPoint) -> bool {
        let mut state = self.state.lock();
        if state.dead {
            return false;
        }
        let passed = add(&mut state.passed, point, 1);
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

    pub async fn wait_until_dead(&self) {
        while !self.is_dead() {
            self.failed.notified().await;
        }
    }
}
