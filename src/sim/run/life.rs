//! Lives of the machine in one run: the production engine works until the machine dies, is
//! restarted, or everything is done.

use std::collections::BTreeMap;
use std::error::Error;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use chrono::DateTime;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use crate::base::clock::{SharedClock, VirtualClock};
use crate::engine::core::coordinator::{Engine, RunUntil};
use crate::engine::handles::shared::EngineError;
use crate::sim::check::evidence::Violation;
use crate::sim::machine::process::{ClientContext, Machine, OpenedState, SimSecrets};
use crate::sim::machine::specs::SimSpecs;
use crate::sim::plan::chance::Death;
use crate::sim::plan::parts::add;
use crate::sim::plan::script::SimScript;
use crate::sim::run::memory::{HookState, Memory};
use crate::sim::run::people::{DriveResult, run_watched};
use crate::sim::run::state::{LifeEnd, RunReport, SETTLES_WITHIN, SimRun, TroubleLog};
use crate::sim::run::{people, settler};
use crate::sim::service::control::fill_charge_ids;
use crate::sim::service::frontend::Frontend;
use crate::sim::service::post_office::{PostOffice, WebhookReceivers};
use crate::sim::service::sandbox::SandboxControl;
use crate::store::journal::chain::Head;
use crate::store::state::index;

/// Turns of the scheduler after which every task that has to end has ended.
const SCHEDULER_TURNS: u32 = 64;
/// Time after which a process is restarted if its disk refused operations.
const RESTART_AFTER_REFUSAL: Duration = Duration::from_secs(10);

/// Runs a script to its end, in virtual time.
pub fn run(script: &SimScript) -> RunReport {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    match runtime {
        Ok(runtime) => runtime
            .block_on(Box::pin(async { Box::pin(SimRun::set(script).await.run_lives()).await })),
        Err(error) => RunReport {
            seed: script.seed,
            violations: vec![Violation::new("simulator", format!("no runtime: {error}"))],
            ..RunReport::default()
        },
    }
}

impl<'a> SimRun<'a> {
    async fn set(script: &'a SimScript) -> Self {
        let epoch = DateTime::from_timestamp(1_800_000_000, 0).unwrap_or_default();
        let clock: SharedClock = Arc::new(VirtualClock::new(epoch));
        let machine = Machine::new(script.seed);
        let desk = SandboxControl::open(script, clock.clone()).await;
        let (sandbox, journal) = (desk.control.router.clone(), machine.journal.clone());
        let front = Arc::new(Frontend::new(sandbox, journal, clock.clone(), script));
        let troubles = TroubleLog::new(clock.clone());
        let outside = ClientContext {
            router: front.router(),
            clock: troubles.wall.clone(),
            secrets: Arc::new(SimSecrets(desk.issue_codes().await.into())),
            partner: desk.partner().await,
            rules: script.people.rules(),
        };
        let mut tree = script.files.clone();
        fill_charge_ids(&mut tree, &desk.earlier_charges);
        Self {
            script,
            history: vec![(clock.now(), tree.clone())],
            tree: Arc::new(tree.into()),
            clock,
            desk,
            front,
            outside,
            steps: 0,
            stepped: Instant::now(),
            memory: Memory::default(),
            post: PostOffice::new(&script.net),
            troubles,
            crashes: script.crashes.clone(),
            deaths: Vec::new(),
            died: BTreeMap::new(),
            rig: HookState::new(script.hooks.as_ref(), &machine.power),
            machine,
            acknowledged: Head::EMPTY,
            violations: Vec::new(),
            views: Vec::new(),
        }
    }

    /// Runs lives of the machine until everything is done, then judges the result.
    async fn run_lives(mut self) -> RunReport {
        loop {
            self.apply_losses().await;
            self.machine.power.switch_on(self.crashes.clone());
            self.front.begin_life();
            match Box::pin(self.run_life()).await {
                LifeEnd::Died => self.restart_after_death().await,
                LifeEnd::Stopped => {}
                LifeEnd::Over => return self.check_result().await,
            }
        }
    }

    pub(crate) fn violate(&mut self, law: &'static str, text: String) {
        self.violations.push(Violation::new(law, text));
    }

    async fn run_life(&mut self) -> LifeEnd {
        let open = match self.machine.open(&self.outside).await {
            Ok(open) => open,
            Err(error) => {
                return self.end_by(&error, "journal", "the state cannot be opened").await;
            }
        };
        self.compare_with_rebuilt(&open);
        let engine = Engine::new(open.shared.clone(), Box::new(SimSpecs::new(self.tree.clone())));
        let mut engine = match engine {
            Ok(engine) => engine,
            Err(error) => {
                self.violate("stops", format!("the engine cannot start: {error}"));
                return LifeEnd::Over;
            }
        };
        let end = self.run_engine(&mut engine, &open).await;
        drop(engine);
        for _ in 0..SCHEDULER_TURNS {
            tokio::task::yield_now().await;
        }
        self.acknowledged = open.shared.writer.head();
        if matches!(end, Ok(LifeEnd::Over)) {
            self.compare_with_rebuilt(&open);
        }
        match end {
            Ok(LifeEnd::Stopped) => self.stop(&open).await,
            Ok(end) => end,
            Err(error) => self.end_by(&error, "stops", "the engine stopped by itself").await,
        }
    }

    /// Ends a life that an error cut short: a dead machine or a refusing disk explains the error,
    /// anything else breaks the law.
    async fn end_by(&mut self, error: &dyn Error, law: &'static str, what: &str) -> LifeEnd {
        if self.machine.power.is_dead() {
            return LifeEnd::Died;
        }
        if self.machine.capacity.take_refused() {
            let text = error.to_string();
            if !["no storage space", "read-only"].iter().any(|words| text.contains(words)) {
                let text = format!("a disk refused, and the error does not name it: {text}");
                self.violate("stops", text);
            }
            sleep(RESTART_AFTER_REFUSAL).await;
            return LifeEnd::Stopped;
        }
        self.violate(law, format!("{what}: {error}"));
        LifeEnd::Over
    }

    /// Checks that an opened state equals the state that the disks alone give.
    fn compare_with_rebuilt(&mut self, open: &OpenedState) {
        let text = match (open.shared.facts.digest(), self.machine.rebuilt_digest()) {
            (Ok(kept), Ok(rebuilt)) if kept == rebuilt => return,
            (Ok(kept), Ok(rebuilt)) => {
                let (kept, rebuilt) = (kept.short(), rebuilt.short());
                format!("the digest of the index is {kept}, that of the journal {rebuilt}")
            }
            (Err(error), _) => format!("the index cannot be read: {error}"),
            (_, Err(error)) => format!("the journal cannot be folded: {error}"),
        };
        self.violate("journal", text);
    }

    async fn run_engine(
        &mut self,
        engine: &mut Engine,
        open: &OpenedState,
    ) -> Result<LifeEnd, EngineError> {
        let (sender, events) = mpsc::channel(16);
        let (inbox, shared) = (engine.event_receiver(sender.clone()), open.shared.clone());
        if self.script.net.gateway.is_some() {
            engine.start_sweeps()?;
        }
        engine.set_notifier(Arc::new(self.rig.courier.clone()));
        engine.retain(people::retention());
        let power = self.machine.power.clone();
        let mut running = pin!(run_watched(engine.run(events, RunUntil::Stopped)));
        let (postman, way) = (self.desk.clone(), self.post.clone());
        let doors = WebhookReceivers { engine: sender.clone(), inbox, shared };
        let (memory, ever) = (self.memory.clone(), settler::contact_documents(self.script));
        let post = people::deliver_and_approve(&postman, &way, &doors);
        let people = (&self.script.people, &memory);
        let mut post = pin!(people::run_people(post, people, (&postman, &ever), &doors.engine));
        let drove = tokio::select! {
            biased;
            () = power.wait_until_dead() => return Ok(LifeEnd::Died),
            () = &mut post => return Ok(LifeEnd::Stopped),
            ended = &mut running => {
                ended?;
                return Err(EngineError::Bug("the engine ended without a stop".to_owned()));
            }
            drove = self.take_steps(sender, open) => drove,
        };
        if let DriveResult::Settled(settled) = drove {
            if !settled {
                let text = format!("not settled {SETTLES_WITHIN:?} after the last fault");
                self.violate("settles", text);
            }
            return Ok(LifeEnd::Over);
        }
        tokio::select! {
            biased;
            () = power.wait_until_dead() => Ok(LifeEnd::Died),
            // A running delivery holds handles that must be dropped before the engine can end.
            () = &mut post => Ok(LifeEnd::Stopped),
            ended = &mut running => ended.map(|_unhandled| LifeEnd::Stopped),
        }
    }

    async fn stop(&mut self, open: &OpenedState) -> LifeEnd {
        match index::close_state(&open.shared.writer, &*open.index).await {
            Ok(head) => {
                self.acknowledged = head;
                LifeEnd::Stopped
            }
            Err(error) => self.end_by(&error, "stops", "the state cannot be closed").await,
        }
    }

    /// Keeps the machine down for a while, and restarts it.
    async fn restart_after_death(&mut self) {
        self.deaths.push(self.clock.now());
        let Some(crash) = self.machine.power.fatal_crash() else { return };
        if let Some(at) = self.crashes.iter().position(|one| *one == crash) {
            self.crashes.remove(at);
        }
        add(&mut self.died, crash.point, 1);
        sleep(Duration::from_secs(crash.down_s)).await;
        self.machine.reboot(crash.death);
        if !self.has_acknowledged() {
            let last = self.acknowledged.sequence;
            let how = if crash.death == Death::Power { "power failure" } else { "crash" };
            let text = format!("record {last} was acknowledged and is missing after a {how}");
            self.violate("journal", text);
        }
    }
}
