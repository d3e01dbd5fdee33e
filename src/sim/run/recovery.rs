//! Trouble of the machine's store and clock, and the responses of people.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::base::clock::Clock;
use crate::base::hash::SourceId;
use crate::base::id::Key;
use crate::engine::protocol::query::ResourcesQuery;
use crate::engine::protocol::resources::ResourceFilter;
use crate::model::state::lifecycle::ReleaseRequest;
use crate::sim::check::evidence::LostState;
use crate::sim::machine::backup::Backup;
use crate::sim::machine::journal::{self, DurableRecord};
use crate::sim::machine::process::{GRACE, TIMEOUT};
use crate::sim::plan::documents::{GENERATIONS_MAX, PARTNER};
use crate::sim::plan::trouble::{Incident, StateLoss, Trouble};
use crate::sim::run::memory::{query, release};
use crate::sim::run::state::SimRun;
use crate::sim::service::control::find;
use crate::sim::service::post_office::EngineSender;
use crate::sim::service::sandbox::SandboxControl;
use crate::store::journal::chain::Head;

/// Number of looks, and their interval, of a person who looks after a restored state.
const LOOKS: u32 = 3;
const LOOKS_EVERY: Duration = Duration::from_mins(5);

impl SimRun<'_> {
    pub(crate) fn apply_incidents(&mut self, nth: usize) {
        for Incident { at, trouble } in &self.script.incidents {
            match trouble {
                Trouble::Restore { kept, .. } if *kept == nth => {
                    let backup = self.machine.back_up(self.troubles.wall.now());
                    self.troubles.backups.extend(backup.map(|backup| (nth, backup)));
                }
                Trouble::Jump { seconds } if *at == nth => {
                    let ahead = self.troubles.wall.jump(*seconds);
                    let last = journal::allowed_counts(&self.machine.journal).pop();
                    self.troubles.jumps.note(last.map_or(0, |last| last.sequence), ahead);
                }
                Trouble::Refuse { what, seconds } if *at == nth => {
                    self.machine.capacity.refuse(*what, Duration::from_secs(*seconds));
                }
                Trouble::Restore { .. }
                | Trouble::Forget
                | Trouble::Lose(_)
                | Trouble::Jump { .. }
                | Trouble::Refuse { .. } => {}
            }
        }
    }

    pub(crate) async fn apply_losses(&mut self) {
        for (nth, mishap) in self.script.incidents.iter().enumerate() {
            let due = mishap.is_between_lives() && mishap.at < self.steps;
            if !due || !self.troubles.done.insert(nth) {
                continue;
            }
            self.machine.power.switch_on(Vec::new());
            let old = journal::allowed_counts(&self.machine.journal);
            match &mishap.trouble {
                Trouble::Restore { kept, .. } => {
                    if let Some(backup) = self.troubles.backups.get(kept).cloned() {
                        self.restore(&backup, old).await;
                    }
                }
                Trouble::Forget => self.begin_empty(old).await,
                Trouble::Lose(what) => self.apply_loss(*what).await,
                Trouble::Jump { .. } | Trouble::Refuse { .. } => {}
            }
        }
    }

    async fn restore(&mut self, backup: &Backup, old: Vec<DurableRecord>) {
        self.machine.capacity.clear();
        self.lose_all(Some(backup.head.sequence), old);
        match self.machine.restore(backup, self.troubles.wall.now()).await {
            Ok(head) => self.acknowledged = head,
            Err(error) => self.violate("journal", format!("a backup cannot be restored: {error}")),
        }
        self.begin_anew().await;
    }

    async fn begin_empty(&mut self, old: Vec<DurableRecord>) {
        self.lose_all(None, old);
        // Calls of the lost state must end first, since only that state recorded them.
        sleep(TIMEOUT.saturating_add(GRACE)).await;
        self.machine.lose_everything();
        self.acknowledged = Head::EMPTY;
        self.begin_anew().await;
    }

    /// Notes the loss of a state after the last record of a backup.
    fn lose_all(&mut self, kept: Option<u64>, old: Vec<DurableRecord>) {
        let histories = journal::intent_histories(&self.troubles.jumps.correct_times(old));
        let at = self.clock.now();
        self.troubles.lost.push(LostState { at, last_kept: kept, histories });
        self.deaths.push(at);
        let ahead = self.troubles.wall.ahead_s();
        self.troubles.jumps.cut(kept.unwrap_or(0), ahead);
        let reached = |backup: &Backup| kept.is_some_and(|kept| backup.head.sequence <= kept);
        self.troubles.backups.retain(|_, backup| reached(backup));
    }

    /// Begins with another journal, and issues a new code to each merchant.
    async fn begin_anew(&mut self) {
        self.front.journal_replaced();
        let codes = self.desk.issue_codes().await;
        *self.outside.secrets.0.lock() = codes;
    }

    /// Loses a part of the state. The state then opens unchanged, or a person restores the newest
    /// backup, or begins with an empty state if there is none.
    async fn apply_loss(&mut self, what: StateLoss) {
        // Only a trusted index knows the end of the journal.
        let detectable = matches!(what, StateLoss::Index | StateLoss::Keys | StateLoss::Sealed);
        if !detectable && !self.machine.believes_index() {
            return;
        }
        self.machine.capacity.clear();
        let before = self.machine.rebuilt_digest().ok();
        let newest = self.troubles.backups.values().next_back().cloned();
        let old = journal::allowed_counts(&self.machine.journal);
        self.machine.apply_loss(what, newest.as_ref());
        if let Ok(after) = self.machine.open_digest() {
            if Some(after) != before && !self.has_acknowledged() {
                let text = format!("{what:?} is lost, and the state opens without a report");
                self.violate("journal", text);
            }
            // `store check` reports the missing values.
            if what != StateLoss::Sealed {
                return;
            }
        }
        match newest {
            Some(backup) => self.restore(&backup, old).await,
            None => self.begin_empty(old).await,
        }
    }

    pub(crate) fn has_acknowledged(&self) -> bool {
        let Head { sequence, hash } = self.acknowledged;
        let all = journal::allowed_counts(&self.machine.journal);
        sequence == 0 || all.iter().any(|one| one.sequence == sequence && one.hash == hash)
    }

    /// Returns true if a person resolves what a restore left in doubt.
    pub(crate) fn has_restore_review(&self) -> bool {
        let mut troubles = self.script.incidents.iter().map(|mishap| &mishap.trouble);
        let asks = troubles.any(|trouble| matches!(trouble, Trouble::Restore { asks: true, .. }));
        !self.troubles.lost.is_empty() && asks
    }

    /// Resolves at intervals what a restore left in doubt, if the script says so.
    pub(crate) fn start_restore_review(&self, engine: &EngineSender, under_way: &mut JoinSet<()>) {
        if !self.has_restore_review() {
            return;
        }
        let (desk, engine) = (self.desk.clone(), engine.clone());
        under_way.spawn(async move {
            for _ in 0..LOOKS {
                sleep(LOOKS_EVERY).await;
                // If the engine has ended, its next life gets the request.
                release_missing(&desk, &engine).await.unwrap_or_default();
            }
        });
    }
}

/// Looks up at the service everything that the epoch holds, and reports missing objects.
async fn release_missing(desk: &SandboxControl, engine: &EngineSender) -> Option<()> {
    let views = query(engine, ResourcesQuery(ResourceFilter::default())).await?.ok()?.items;
    let objects = desk.objects().await;
    let mut absent: Vec<Key> = Vec::new();
    for view in views.iter().filter(|view| view.message.contains("store release")) {
        let key: Key = format!("{}/default/{}", view.kind, view.name).parse().ok()?;
        let email = format!("{}@payers.example", view.name);
        let mut marks = (0..GENERATIONS_MAX).map(|nth| SourceId::new(PARTNER, &key, nth).mark());
        let there = find(&objects.contacts, "preferred_email", &email).is_some()
            || marks.any(|mark| find(&objects.applications, "reference", mark.as_str()).is_some());
        if !there {
            absent.push(key);
        }
    }
    if absent.is_empty() {
        return Some(());
    }
    release(engine, ReleaseRequest { keys: absent, done: false }).await
}
