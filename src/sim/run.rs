//! One run: a world, its people, its faults, the production engine on a machine that dies, and
//! at the end what the checkers say.

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

/// Once nothing goes wrong any more, everything settles within this time.
const SETTLES_WITHIN: Duration = Duration::from_hours(6);
/// A notification that found nobody comes again within this time.
const TOLD_WITHIN: Duration = Duration::from_mins(11);
/// After so many turns of the scheduler every task that was told to end has ended.
const TURNS: u32 = 64;

/// What one run came to.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Its seed.
    pub seed: u64,
    /// What went wrong; empty for a clean run.
    pub violations: Vec<Violation>,
    /// The hash of the journal's last record.
    pub head: [u8; 32],
    /// How many records the journal has.
    pub records: u64,
    /// How often each fault struck each effect.
    pub struck: BTreeMap<(&'static str, Fault), u32>,
    /// The crash points at which the machine died.
    pub died: BTreeMap<Point, u32>,
    /// How many intents there were and how many needed a person, by effect.
    pub shares: Shares,
    /// Contacts that were made again without proof.
    pub remade: u32,
    /// Live merchants that a person approved.
    pub approved: usize,
    /// Plans that exceeded a limit and that a person approved.
    pub plans_approved: usize,
    /// How many payments the service collected when time went on.
    pub collected: usize,
    /// What became of merchants' events.
    pub heard: Heard,
    /// What hooks did, by verb.
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

/// Everything that a run consists of.
struct Stage<'a> {
    script: &'a Script,
    clock: SharedClock,
    desk: Desk,
    front: Arc<Front>,
    machine: Machine,
    outside: Outside,
    tree: SharedTree,
    history: Vec<(DateTime<Utc>, Tree)>,
    /// How many steps were taken, and when the last one was.
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

/// How one life of the machine ended.
enum End {
    /// It died.
    Died,
    /// It was stopped to be started again.
    Stopped,
    /// Everything is done.
    Over,
}

impl<'a> Stage<'a> {
    /// Sets the stage.
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

    /// Lives until everything is done, then looks at what is left.
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

    /// One life of the machine.
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

    /// A state that was opened is the one that the disks alone give.
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

    /// The engine works while people change files.
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
            // What is being handed over holds what the engine needs to end.
            () = &mut post => Ok(End::Stopped),
            ended = &mut running => ended.map(|()| End::Stopped),
        }
    }

    /// A clean stop.
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

    /// The machine is dead for a while, and comes back.
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

    /// Looks at everything that is left.
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
