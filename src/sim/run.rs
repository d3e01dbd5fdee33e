//! One run: a world, its people, its faults, and the production engine on a machine that dies. The
//! checkers judge the result at the end.

mod drive;
mod rescue;

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::applicant;
use super::check::{self, Evidence, Heard, Listening, Violation};
use super::command::Notebook;
use super::deed::Answered;
use super::desk::{Desk, Objects, text};
use super::durable;
use super::faults::Fault;
use super::front::Front;
use super::hooks::Rig;
use super::machine::{Drawer, Machine, Open, Outside};
use super::net::Doors;
use super::net::post::Post;
use super::person::{self, Memory};
use super::power::{Crash, Death, Point};
use super::script::Script;
use super::share::{self, Shares};
use super::specs::{SharedTree, SimSpecs};
use super::world::Tree;
use crate::base::clock::{SharedClock, VirtualClock};
use crate::engine::{Engine, EngineError, ResourceView, Until};
use crate::store::journal::Head;
use crate::store::open;
use drive::{Drove, watched};
use rescue::Troubles;

/// Time within which everything settles after the last fault.
const SETTLES_WITHIN: Duration = Duration::from_hours(6);
/// Time within which an undelivered webhook is sent again.
const TOLD_WITHIN: Duration = Duration::from_mins(11);
/// Turns of the scheduler after which every task that has to end has ended.
const TURNS: u32 = 64;

/// Result of one run.
#[derive(Debug, Clone, Default)]
pub struct Report {
    pub seed: u64,
    /// Broken laws; empty for a clean run.
    pub violations: Vec<Violation>,
    /// Hash of the journal's last record.
    pub head: [u8; 32],
    /// Number of records in the journal.
    pub records: u64,
    /// Strikes of each fault on each effect.
    pub struck: BTreeMap<(&'static str, Fault), u32>,
    /// Deaths of the machine at each crash point.
    pub died: BTreeMap<Point, u32>,
    /// Intents, and intents that needed a person, by effect.
    pub shares: Shares,
    /// Contacts that were created again without proof.
    pub remade: u32,
    /// Live merchants that a person approved.
    pub approved: usize,
    /// Plans over a limit that a person approved.
    pub plans_approved: usize,
    /// Payments that the service collected in the two months after the run.
    pub collected: usize,
    /// Merchants' events by outcome.
    pub heard: Heard,
    /// Actions of hooks, by verb.
    pub hooks: BTreeMap<String, u32>,
}

/// Runs a script to its end, in virtual time.
pub fn run(script: &Script) -> Report {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    match runtime {
        Ok(runtime) => {
            runtime.block_on(Box::pin(async { Box::pin(Stage::set(script).await.play()).await }))
        }
        Err(error) => Report {
            seed: script.seed,
            violations: vec![Violation::new("simulator", format!("no runtime: {error}"))],
            ..Report::default()
        },
    }
}

/// State of a run.
struct Stage<'a> {
    script: &'a Script,
    clock: SharedClock,
    desk: Desk,
    front: Arc<Front>,
    machine: Machine,
    outside: Outside,
    tree: SharedTree,
    history: Vec<(DateTime<Utc>, Tree)>,
    /// Steps already taken; `stepped` is the time of the last one.
    steps: usize,
    stepped: Instant,
    answered: Answered,
    notebook: Notebook,
    memory: Memory,
    post: Post,
    troubles: Troubles,
    crashes: Vec<Crash>,
    deaths: Vec<DateTime<Utc>>,
    died: BTreeMap<Point, u32>,
    rig: Rig,
    acknowledged: Head,
    violations: Vec<Violation>,
    views: Vec<ResourceView>,
}

/// End of one life of the machine.
enum End {
    /// The machine died.
    Died,
    /// The process was stopped for a restart.
    Stopped,
    /// Every step is done.
    Over,
}

impl<'a> Stage<'a> {
    /// Prepares the run of a script.
    async fn set(script: &'a Script) -> Self {
        let epoch = DateTime::from_timestamp(1_800_000_000, 0).unwrap_or_default();
        let clock: SharedClock = Arc::new(VirtualClock::new(epoch));
        let machine = Machine::new(script.seed);
        let desk = Desk::open(script, clock.clone()).await;
        let strikes = script.strikes.clone();
        let front =
            Front::new(desk.router(), machine.journal.clone(), clock.clone(), strikes, &script.net);
        let front = Arc::new(front);
        let troubles = Troubles::new(clock.clone());
        let outside = Outside {
            router: front.router(),
            clock: troubles.wall.clone(),
            drawer: Arc::new(Drawer(desk.codes().await.into())),
            partner: desk.partner().await,
            rules: script.people.rules(),
        };
        let mut tree = script.files.clone();
        desk.name(&mut tree);
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
            answered: Answered::default(),
            notebook: Notebook::default(),
            memory: Memory::default(),
            post: Post::new(&script.net),
            troubles,
            crashes: script.crashes.clone(),
            deaths: Vec::new(),
            died: BTreeMap::new(),
            rig: Rig::new(script.hooks.as_ref(), &machine.power),
            machine,
            acknowledged: Head::EMPTY,
            violations: Vec::new(),
            views: Vec::new(),
        }
    }

    /// Runs lives of the machine until everything is done, then judges the result.
    async fn play(mut self) -> Report {
        loop {
            self.rescue().await;
            self.machine.power.on(self.crashes.clone());
            self.front.begin();
            match Box::pin(self.live()).await {
                End::Died => self.die().await,
                End::Stopped => {}
                End::Over => return self.judge().await,
            }
        }
    }

    fn violate(&mut self, law: &'static str, text: String) {
        self.violations.push(Violation::new(law, text));
    }

    /// Runs one life of the machine.
    async fn live(&mut self) -> End {
        let opened = self.machine.open(&self.outside).await;
        let open = match opened {
            Ok(open) => open,
            Err(_) if self.machine.power.dead() => return End::Died,
            Err(error) if self.machine.room.was_refused() => {
                return self.no_room(&error.to_string()).await;
            }
            Err(error) => {
                self.violate("journal", format!("the state cannot be opened: {error}"));
                return End::Over;
            }
        };
        self.compare(&open);
        let engine = Engine::new(open.shared.clone(), Box::new(SimSpecs::new(self.tree.clone())));
        let mut engine = match engine {
            Ok(engine) => engine,
            Err(error) => {
                self.violate("stops", format!("the engine cannot start: {error}"));
                return End::Over;
            }
        };
        let end = self.work(&mut engine, &open).await;
        drop(engine);
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
        self.acknowledged = open.shared.writer.head();
        if matches!(end, Ok(End::Over)) {
            self.compare(&open);
        }
        match end {
            Ok(End::Stopped) => self.stop(&open).await,
            Ok(end) => end,
            Err(_) if self.machine.power.dead() => End::Died,
            Err(error) if self.machine.room.was_refused() => self.no_room(&error.to_string()).await,
            Err(error) => {
                self.violate("stops", format!("the engine stopped by itself: {error}"));
                End::Over
            }
        }
    }

    /// Checks that an opened state equals the state that the disks alone give.
    fn compare(&mut self, open: &Open) {
        let rebuilt = self.machine.rebuilt();
        match (open.shared.facts.digest(), rebuilt) {
            (Ok(kept), Ok(rebuilt)) if kept == rebuilt => {}
            (Ok(kept), Ok(rebuilt)) => self.violate(
                "journal",
                format!("the index says {}, the journal {}", kept.short(), rebuilt.short()),
            ),
            (Err(error), _) => {
                self.violate("journal", format!("the index cannot be read: {error}"));
            }
            (_, Err(error)) => {
                self.violate("journal", format!("the journal cannot be folded: {error}"));
            }
        }
    }

    /// Runs the engine while people change files.
    async fn work(&mut self, engine: &mut Engine, open: &Open) -> Result<End, EngineError> {
        let (sender, events) = mpsc::channel(16);
        let (inbox, shared) = (engine.inbox(sender.clone()), open.shared.clone());
        if self.script.net.gateway.is_some() {
            engine.keep_looking();
        }
        engine.tell_through(Arc::new(self.rig.courier.clone()));
        engine.retain(drive::retention());
        let power = self.machine.power.clone();
        let mut running = pin!(watched(engine.run(events, Until::Stopped)));
        let (postman, way) = (self.desk.clone(), self.post.clone());
        let doors = Doors { engine: sender.clone(), inbox, shared };
        let (memory, ever) = (self.memory.clone(), person::ever(self.script));
        let post = applicant::postman(&postman, &way, &doors);
        let people = (&self.script.people, &memory);
        let mut post = pin!(person::beside(post, people, (&postman, &ever), &doors.engine));
        let drove = tokio::select! {
            biased;
            () = power.failed() => return Ok(End::Died),
            () = &mut post => return Ok(End::Stopped),
            ended = &mut running => {
                ended?;
                return Err(EngineError::Bug("it ended although nobody told it to".to_owned()));
            }
            drove = self.drive(sender, open) => drove,
        };
        if let Drove::Settled(settled) = drove {
            if !settled {
                self.violate(
                    "settles",
                    format!("not settled {SETTLES_WITHIN:?} after the last fault"),
                );
            }
            return Ok(End::Over);
        }
        tokio::select! {
            biased;
            () = power.failed() => Ok(End::Died),
            // A running delivery holds handles that must be dropped before the engine can end.
            () = &mut post => Ok(End::Stopped),
            ended = &mut running => ended.map(|()| End::Stopped),
        }
    }

    /// Stops the process cleanly.
    async fn stop(&mut self, open: &Open) -> End {
        match open::close(&open.shared.writer, &*open.index).await {
            Ok(head) => {
                self.acknowledged = head;
                End::Stopped
            }
            Err(_) if self.machine.power.dead() => End::Died,
            Err(error) if self.machine.room.was_refused() => self.no_room(&error.to_string()).await,
            Err(error) => {
                self.violate("stops", format!("the state cannot be closed: {error}"));
                End::Over
            }
        }
    }

    /// Keeps the machine down for a while, and restarts it.
    async fn die(&mut self) {
        self.deaths.push(self.clock.now());
        let Some(crash) = self.machine.power.died_of() else { return };
        if let Some(at) = self.crashes.iter().position(|one| *one == crash) {
            self.crashes.remove(at);
        }
        let died = self.died.entry(crash.point).or_default();
        *died = died.saturating_add(1);
        sleep(Duration::from_secs(crash.down_s)).await;
        self.machine.reboot(crash.death);
        if !self.keeps_acknowledged() {
            let head = self.acknowledged;
            let how = if crash.death == Death::Power { "power failure" } else { "crash" };
            let text =
                format!("record {} was acknowledged and is gone after a {how}", head.sequence);
            self.violate("journal", text);
        }
    }

    /// Checks everything that the run has left.
    async fn judge(mut self) -> Report {
        let entries = self.troubles.put_right(durable::all(&self.machine.journal));
        let known = self.machine.read_anew().ok();
        check::compacted(&self.machine, &mut self.violations).await;
        check::damage(&mut self.machine, &entries, &mut self.violations);
        let approved = check::approved(&entries, &mut self.violations);
        let before = self.desk.objects().await;
        let events = self.desk.events().await;
        let now = self.clock.now();
        let after: Objects = self.desk.two_months_later().await;
        let evidence = Evidence {
            script: self.script,
            history: &self.history,
            arrivals: &self.front.arrivals(),
            strangers: &self.front.strangers(),
            stories: &durable::stories(&entries),
            numbers: &durable::numbers(&entries),
            deaths: &self.deaths,
            lost: &self.troubles.lost,
            objects: &before,
            later: &after,
            views: &self.views,
            answers: &self.notebook.answers(),
            swallowed: &self.post.swallowed(),
            storms: &self.front.weather().passed(),
            took: self.front.weather().took(),
        };
        let complete = self.violations.is_empty();
        self.violations.extend(check::all(&evidence, complete));
        self.violations.extend(check::bounds(&evidence, &entries, &self.memory.seen()));
        let told = Listening {
            events: &events,
            entries: &entries,
            answered: &self.post.answered(),
            merchants: self.desk.merchants(),
            known: known.as_ref(),
            now,
        };
        self.violations.extend(check::events(&evidence, &told, complete));
        self.violations.extend(check::hooks(&evidence, &told, &self.rig.tries(), complete));
        let shares = share::count(&evidence);
        share::provable(self.script.surface, &shares, &mut self.violations);
        let (last, seed) = (entries.last(), self.script.seed);
        Report {
            seed,
            head: last.map_or([0; 32], |entry| entry.hash),
            records: last.map_or(0, |entry| entry.sequence),
            struck: self.front.struck(),
            died: self.died,
            shares,
            remade: check::remade(&evidence),
            approved,
            plans_approved: check::plans_approved(&entries),
            collected: after.ledger.iter().filter(|one| text(one, "type") == "CHARGE").count(),
            heard: told.heard(),
            hooks: check::hooked(&told),
            violations: self.violations,
        }
    }
}
