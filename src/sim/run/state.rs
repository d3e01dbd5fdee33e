//! State of one run: a world, its people, its faults, and a machine that dies; and its report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::time::Instant;

use super::hooks::HookState;
use super::memory::Memory;
use super::requests::{AnsweredRequests, Notebook};
use crate::base::clock::SharedClock;
use crate::engine::protocol::queries::views::ResourceView;
use crate::sim::check::attention::Shares;
use crate::sim::check::events::EventOutcomes;
use crate::sim::check::evidence::{LostState, Violation};
use crate::sim::machine::backup::Backup;
use crate::sim::machine::journal_decoder::DurableRecord;
use crate::sim::machine::process::{ClientContext, Machine};
use crate::sim::machine::specs::SharedTree;
use crate::sim::machine::wall_clock::{ClockJumps, WallClock};
use crate::sim::plan::documents::DocTree;
use crate::sim::plan::faults::{CallFault, Crash, CrashPoint};
use crate::sim::plan::script::SimScript;
use crate::sim::service::frontend::Frontend;
use crate::sim::service::post_office::PostOffice;
use crate::sim::service::sandbox::SandboxControl;
use crate::store::journal::chain::Head;

/// Time within which everything settles after the last fault.
pub(crate) const SETTLES_WITHIN: Duration = Duration::from_hours(6);

/// Time within which an undelivered webhook is sent again.
pub(crate) const REDELIVERED_WITHIN: Duration = Duration::from_mins(11);

/// Result of one run.
#[derive(Debug, Clone, Default)]
pub struct RunReport {
    pub seed: u64,
    /// Broken laws; empty for a clean run.
    pub violations: Vec<Violation>,
    /// Hash of the journal's last record.
    pub head: [u8; 32],
    /// Number of records in the journal.
    pub records: u64,
    /// Strikes of each fault on each effect.
    pub struck: BTreeMap<(&'static str, CallFault), u32>,
    /// Deaths of the machine at each crash point.
    pub died: BTreeMap<CrashPoint, u32>,
    /// Intents, and intents that needed a person, by effect.
    pub shares: Shares,
    /// Contacts that were created again without proof.
    pub recreated: u32,
    /// Live merchants that a person approved.
    pub approved: usize,
    /// Plans over a limit that a person approved.
    pub plans_approved: usize,
    /// Payments that the service collected in the two months after the run.
    pub collected: usize,
    /// Merchants' events by outcome.
    pub event_outcomes: EventOutcomes,
    /// Actions of hooks, by verb.
    pub hooks: BTreeMap<String, u32>,
}

/// State of a run.
pub(crate) struct SimRun<'a> {
    pub(crate) script: &'a SimScript,
    pub(crate) clock: SharedClock,
    pub(crate) desk: SandboxControl,
    pub(crate) front: Arc<Frontend>,
    pub(crate) machine: Machine,
    pub(crate) outside: ClientContext,
    pub(crate) tree: SharedTree,
    pub(crate) history: Vec<(DateTime<Utc>, DocTree)>,
    /// Steps already taken; `stepped` is the time of the last one.
    pub(crate) steps: usize,
    pub(crate) stepped: Instant,
    pub(crate) answered: AnsweredRequests,
    pub(crate) notebook: Notebook,
    pub(crate) memory: Memory,
    pub(crate) post: PostOffice,
    pub(crate) troubles: TroubleLog,
    pub(crate) crashes: Vec<Crash>,
    pub(crate) deaths: Vec<DateTime<Utc>>,
    pub(crate) died: BTreeMap<CrashPoint, u32>,
    pub(crate) rig: HookState,
    pub(crate) acknowledged: Head,
    pub(crate) violations: Vec<Violation>,
    pub(crate) views: Vec<ResourceView>,
}

/// End of one life of the machine.
pub(crate) enum LifeEnd {
    /// The machine died.
    Died,
    /// The process was stopped for a restart.
    Stopped,
    /// Every step is done.
    Over,
}

/// Trouble of the machine so far.
#[derive(Debug)]
pub(crate) struct TroubleLog {
    /// The machine's own clock.
    pub(crate) wall: Arc<WallClock>,
    /// Lost states, in order.
    pub(crate) lost: Vec<LostState>,
    pub(crate) jumps: ClockJumps,
    pub(crate) backups: BTreeMap<usize, Backup>,
    pub(crate) done: BTreeSet<usize>,
}

impl TroubleLog {
    pub(crate) fn new(clock: SharedClock) -> Self {
        Self {
            wall: Arc::new(WallClock::new(clock)),
            lost: Vec::new(),
            jumps: ClockJumps::default(),
            backups: BTreeMap::new(),
            done: BTreeSet::new(),
        }
    }

    /// Returns the records with the right times of their writing.
    pub(crate) fn correct_times(&self, entries: Vec<DurableRecord>) -> Vec<DurableRecord> {
        self.jumps.correct_times(entries)
    }
}
