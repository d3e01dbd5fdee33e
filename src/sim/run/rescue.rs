//! Trouble of the machine's store and clock, and the responses of people.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::super::machine::{Backup, GRACE, TIMEOUT};
use super::super::mishap::{Loss, Mishap};
use super::super::wall::{Jumps, Wall};
use super::drive::ask;
use super::{End, Stage};
use crate::base::clock::{Clock, SharedClock};
use crate::base::hash::SourceId;
use crate::base::id::Key;
use crate::engine::{Event, Question, Reply};
use crate::model::epoch::Releasing;
use crate::sim::check::Lost;
use crate::sim::desk::{Desk, text};
use crate::sim::durable::{self, Entry};
use crate::sim::world::PARTNER;
use crate::store::journal::Head;

/// Number of looks, and their interval, of a person who looks after a restored state.
const LOOKS: u32 = 3;
const LOOKS_EVERY: Duration = Duration::from_mins(5);
/// Time after which a process is restarted if its disk refused operations.
const STARTED_AGAIN: Duration = Duration::from_secs(10);
/// Generations in which an application may have been submitted.
const GENERATIONS: u32 = 10;

/// Trouble of the machine so far.
#[derive(Debug)]
pub(super) struct Troubles {
    /// The machine's own clock.
    pub(super) wall: Arc<Wall>,
    /// Lost states, in order.
    pub(super) lost: Vec<Lost>,
    jumps: Jumps,
    kept: BTreeMap<usize, Backup>,
    done: BTreeSet<usize>,
}

impl Troubles {
    pub(super) fn new(clock: SharedClock) -> Self {
        Self {
            wall: Arc::new(Wall::new(clock)),
            lost: Vec::new(),
            jumps: Jumps::default(),
            kept: BTreeMap::new(),
            done: BTreeSet::new(),
        }
    }

    /// Returns the records with the right times of their writing.
    pub(super) fn put_right(&self, entries: Vec<Entry>) -> Vec<Entry> {
        self.jumps.put_right(entries)
    }
}

impl Stage<'_> {
    /// Applies the trouble that befalls the running machine at a step.
    pub(super) fn befall(&mut self, nth: usize) {
        for mishap in &self.script.mishaps {
            match mishap {
                Mishap::Restore { kept, .. } if *kept == nth => {
                    let backup = self.machine.back_up(self.troubles.wall.now());
                    self.troubles.kept.extend(backup.map(|backup| (nth, backup)));
                }
                Mishap::Jump { at, seconds } if *at == nth => {
                    let ahead = self.troubles.wall.jump(*seconds);
                    let last = durable::all(&self.machine.journal).pop();
                    self.troubles.jumps.note(last.map_or(0, |last| last.sequence), ahead);
                }
                Mishap::Refuse { at, what, seconds } if *at == nth => {
                    self.machine.room.refuse(*what, Duration::from_secs(*seconds));
                }
                Mishap::Restore { .. }
                | Mishap::Forget { .. }
                | Mishap::Lose { .. }
                | Mishap::Jump { .. }
                | Mishap::Refuse { .. } => {}
            }
        }
    }

    /// Applies the trouble that befalls the machine between two lives.
    pub(super) async fn rescue(&mut self) {
        for (nth, mishap) in self.script.mishaps.iter().enumerate() {
            let due = mishap.between_lives() && mishap.at() < self.steps;
            if !due || !self.troubles.done.insert(nth) {
                continue;
            }
            self.machine.power.on(Vec::new());
            match mishap {
                Mishap::Restore { kept, .. } => {
                    if let Some(backup) = self.troubles.kept.get(kept).cloned() {
                        let old = durable::all(&self.machine.journal);
                        self.restore(&backup, old).await;
                    }
                }
                Mishap::Forget { .. } => {
                    let old = durable::all(&self.machine.journal);
                    self.forget(old).await;
                }
                Mishap::Lose { what, .. } => self.lose(*what).await,
                Mishap::Jump { .. } | Mishap::Refuse { .. } => {}
            }
        }
    }

    /// Restores a backup, as a person does.
    async fn restore(&mut self, backup: &Backup, old: Vec<Entry>) {
        self.machine.room.make();
        self.lose_all(Some(backup.head.sequence), old);
        match self.machine.restore(backup, self.troubles.wall.now()).await {
            Ok(head) => self.acknowledged = head,
            Err(error) => self.violate("journal", format!("a backup cannot be restored: {error}")),
        }
        self.begin_anew().await;
    }

    /// Begins with an empty state, as a person does.
    async fn forget(&mut self, old: Vec<Entry>) {
        self.lose_all(None, old);
        // Calls of the lost state must end first, since only that state recorded them.
        sleep(TIMEOUT.saturating_add(GRACE)).await;
        self.machine.forget();
        self.acknowledged = Head::EMPTY;
        self.begin_anew().await;
    }

    /// Notes the loss of a state after the last record of a backup.
    fn lose_all(&mut self, kept: Option<u64>, old: Vec<Entry>) {
        let stories = durable::stories(&self.troubles.put_right(old));
        self.troubles.lost.push(Lost { at: self.clock.now(), kept, stories });
        self.deaths.push(self.clock.now());
        let ahead = self.troubles.wall.ahead_s();
        self.troubles.jumps.cut(kept.unwrap_or(0), ahead);
        let reached = |backup: &Backup| kept.is_some_and(|kept| backup.head.sequence <= kept);
        self.troubles.kept.retain(|_, backup| reached(backup));
    }

    /// Begins with another journal, and issues a new code to each merchant.
    async fn begin_anew(&mut self) {
        self.front.restored();
        self.outside.drawer.fill(self.desk.codes().await);
    }

    /// Loses a part of the state. The state then opens unchanged, or a person restores the newest
    /// backup, or begins with an empty state if there is none.
    async fn lose(&mut self, what: Loss) {
        if !what.shows(self.machine.believes_index()) {
            return;
        }
        self.machine.room.make();
        let before = self.machine.rebuilt().ok();
        let newest = self.troubles.kept.values().next_back().cloned();
        let old = durable::all(&self.machine.journal);
        self.machine.lose(what, newest.as_ref());
        if let Ok(after) = self.machine.opens() {
            if Some(after) != before && !self.keeps_acknowledged() {
                let text = format!("{what:?} is lost, and the state opens without a word");
                self.violate("journal", text);
            }
            // `store check` reports the missing values.
            if what != Loss::Sealed {
                return;
            }
        }
        match newest {
            Some(backup) => self.restore(&backup, old).await,
            None => self.forget(old).await,
        }
    }

    /// Returns true if the journal holds the last acknowledged record.
    pub(super) fn keeps_acknowledged(&self) -> bool {
        let head = self.acknowledged;
        let all = durable::all(&self.machine.journal);
        let kept = |entry: &Entry| entry.sequence == head.sequence && entry.hash == head.hash;
        head.sequence == 0 || all.iter().any(kept)
    }

    /// Ends the process because a disk refused operations, and restarts it later.
    pub(super) async fn no_room(&mut self, error: &str) -> End {
        let told = ["no storage space", "read-only"].iter().any(|words| error.contains(words));
        if !told {
            self.violate("stops", format!("a disk refused, and what is said is: {error}"));
        }
        sleep(STARTED_AGAIN).await;
        End::Stopped
    }

    /// Returns true if a person resolves what a restore left in doubt.
    pub(super) fn looks_after(&self) -> bool {
        let asks = |mishap: &Mishap| matches!(mishap, Mishap::Restore { asks: true, .. });
        !self.troubles.lost.is_empty() && self.script.mishaps.iter().any(asks)
    }

    /// Resolves at intervals what a restore left in doubt, if the script says so.
    pub(super) fn look_after(&self, engine: &mpsc::Sender<Event>, under_way: &mut JoinSet<()>) {
        if !self.looks_after() {
            return;
        }
        let (desk, engine) = (self.desk.clone(), engine.clone());
        under_way.spawn(async move {
            for _ in 0..LOOKS {
                sleep(LOOKS_EVERY).await;
                // If the engine has ended, its next life gets the request.
                release(&desk, &engine).await.unwrap_or_default();
            }
        });
    }
}

/// Looks up at the service everything that the epoch holds, and reports missing objects.
async fn release(desk: &Desk, engine: &mpsc::Sender<Event>) -> Option<()> {
    let Some(Reply::Resources(views)) = ask(engine, Question::Resources).await else { return None };
    let objects = desk.objects().await;
    let mut absent: Vec<Key> = Vec::new();
    for view in views.iter().filter(|view| view.message.contains("store release")) {
        let key: Key = format!("{}/default/{}", view.kind, view.name).parse().ok()?;
        let email = format!("{}@payers.example", view.name);
        let mark = |generation| SourceId::new(PARTNER, &key, generation).mark().to_string();
        let marks: Vec<String> = (0..GENERATIONS).map(mark).collect();
        let submitted = |one: &Value| marks.iter().any(|mark| mark == text(one, "reference"));
        let there = objects.contacts.iter().any(|one| text(one, "preferred_email") == email)
            || objects.applications.iter().any(submitted);
        if !there {
            absent.push(key);
        }
    }
    if absent.is_empty() {
        return Some(());
    }
    let (reply, answer) = oneshot::channel();
    engine
        .send(Event::Release(
            Releasing { keys: absent, done: false },
            "the simulator".to_owned(),
            reply,
        ))
        .await
        .ok()?;
    answer.await.ok().map(drop)
}
