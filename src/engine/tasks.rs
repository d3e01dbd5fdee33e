//! Tasks: their start, and the consequences of their end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::access::Wallet;
use super::inbox::Looked;
use super::question::Reply;
use super::read::Write;
use super::schedule::{to_next_quarter, until_time};
use super::shared::EngineError;
use super::sweep::Swept;
use super::unable::Unable;
use super::{Engine, Notice, notice, perform, read, settle};
use crate::base::hash::{Digest, SourceId};
use crate::base::id::{IntentId, Key};
use crate::base::planted;
use crate::client::Urgency;
use crate::model::effect::{Effect, Reading, Work};
use crate::model::intent::{Cause, IntentState, OpenIntent};
use crate::model::observed::{Applied, Observation, Source};
use crate::model::ran::WishId;
use crate::model::record::Record;
use crate::model::rotation::Address;
use crate::plan::World;

/// Tasks for each permitted call: those that send, those whose intents are being written, and those
/// whose answers are.
const TASKS_PER_CALL: usize = 4;

/// The result of a task. Its work is in the journal; the result only decides on another try.
#[derive(Debug)]
pub enum Finished {
    /// Something was recorded: plan the resource again.
    Moved(Key),
    /// Unknown objects block this resource; the set names the resources under which they are
    /// recorded.
    Barred(Key, BTreeSet<Key>),
    /// The try failed; try again after a wait of at least this duration.
    Again(Key, Unable, Duration),
    /// A record about this resource, if any, was written outside its own task, such as a partner
    /// webhook.
    Heard(Option<Key>),
    /// A list of the service was read.
    Swept(Swept),
    /// A merchant's events were read.
    Looked(Looked),
    /// Hooks that failed for good are to be run again.
    Replayed,
    /// The list of scripts that are used from now on is on disk.
    Enrolled,
    /// A search for settled old data has ended.
    Retained,
    /// The hooks of a merchant's events have run.
    HooksRan(Key),
    /// A try of a hook's action has ended: true if it is settled, and the resource to plan again.
    Granted(WishId, bool, Option<Key>),
    /// A plan was approved: plan every resource again that a limit blocks.
    Approved,
    /// Bookkeeping records of these resources were written.
    Booked(BTreeSet<Key>),
    /// A release was recorded: plan everything again.
    Released,
    /// Handles the inner result first, and then sends this answer: the asker's next question sees
    /// the consequences.
    Answered(Box<Finished>, Reply, oneshot::Sender<Reply>),
    /// The task was requested to stop.
    Stopped(Key),
    /// The service refuses the credentials: the resource, and its merchant.
    Unauthorised(Key, Key),
    /// The state on disk failed, or the program has a mistake: everything ends.
    Broken(EngineError),
}

impl Finished {
    /// Adds an answer that is sent once the engine has handled this result.
    pub(super) fn answering(self, reply: Reply, to: oneshot::Sender<Reply>) -> Self {
        Self::Answered(Box::new(self), reply, to)
    }
}

/// One effect to be performed.
#[derive(Debug)]
pub(super) struct Job {
    /// The number of its intent.
    pub id: IntentId,
    pub effect: Effect,
    /// The sources of the merchant's credentials.
    pub wallet: Wallet,
    pub cause: Cause,
    /// Digest of its document without the amounts; approvals are bound to it.
    pub rest: Digest,
    /// True if an earlier try failed: it counts against the limits all the same.
    pub again: bool,
}

impl Engine {
    /// Continues with every intent that an earlier process left open. The result of calls that were
    /// under way when it ended is not known, so they are in doubt.
    pub(super) fn recover(&mut self) {
        let open: Vec<Arc<OpenIntent>> = self.world.open_intents().cloned().collect();
        for open in open {
            if matches!(open.state, IntentState::Held { .. }) {
                continue;
            }
            let key = open.intent.key.clone();
            let account = open.intent.request.account.clone();
            let wallet = Wallet { account, ..self.wallet(&open.intent.merchant) };
            let shared = self.shared.clone();
            self.busy.insert(key.clone());
            self.queue.remove(&key);
            self.alone(&open.intent);
            self.tasks.spawn(async move { settle::recovered(&shared, &open, &wallet).await });
        }
    }

    /// Starts tasks up to the permitted number.
    pub(super) fn start_tasks(&mut self) -> Result<(), EngineError> {
        let room = self.shared.settings.concurrency.saturating_mul(TASKS_PER_CALL).max(1);
        self.unpark_idle();
        let waits = self.stopping || self.world.files().is_away();
        while !waits && self.tasks.len() < self.room(room) {
            let Some(key) = self.queue.pop_first() else {
                return Ok(());
            };
            let work = self.planner.whole(&self.world, &key).and_then(|step| step.work);
            match work {
                Some(work) => self.start(&key, &work)?,
                // The work was possible when its step was planned, but no longer is: a date has
                // passed.
                None => drop(self.planner.touch(&self.world, [key])),
            }
        }
        Ok(())
    }

    /// Starts one task.
    fn start(&mut self, key: &Key, work: &Work) -> Result<(), EngineError> {
        if !self.paced(key, work) {
            return Ok(());
        }
        if !self.busy.insert(key.clone()) && !planted::is("two-open-effects") {
            return Err(EngineError::Bug(format!("{key} has two tasks")));
        }
        self.backoff.trying(key);
        match work {
            Work::Effect(effect) if !self.may_start(key, effect) => self.unpaced(key),
            Work::Effect(effect) => {
                self.count(key, effect)?;
                self.start_effect(key, effect.clone());
            }
            Work::Read(reading) => self.start_reading(reading.clone()),
            Work::Note(applied) => self.start_note(key, applied.clone()),
        }
        Ok(())
    }

    /// Returns the time at which dated steps are planned again, if any step waits for a date.
    pub(super) fn next_dates(&self) -> Option<Instant> {
        let waits = !self.planner.dated().is_empty();
        let quarter = waits.then(|| Instant::now().checked_add(to_next_quarter(self.shared.now())));
        let turn = self.planner.next_turn();
        let turn = turn.and_then(|turn| until_time(self.shared.now(), turn));
        [quarter.flatten(), self.next_resumption(), turn].into_iter().flatten().min()
    }

    /// Plans the steps again that wait for another day.
    pub(super) fn redate(&mut self) {
        let mut keys: BTreeSet<Key> =
            self.planner.dated().union(&self.resumed()).cloned().collect();
        keys.extend(self.planner.turned(self.shared.now()));
        let made = self.planner.touch(&self.world, keys);
        self.enqueue(made);
        self.look_at_whole();
    }

    /// Starts an effect. The engine, as the single owner, assigns the number of its intent.
    fn start_effect(&mut self, key: &Key, effect: Effect) {
        let (shared, job) = (self.shared.clone(), self.job(key, effect));
        self.tasks.spawn(async move { perform::perform(&shared, job).await });
    }

    /// Builds the job of an effect, with its number and its cause.
    pub(super) fn job(&mut self, key: &Key, effect: Effect) -> Job {
        self.shared.recalled().begin(key);
        self.world.works(key, &effect.merchant);
        let id = self.next_intent;
        self.next_intent = id.next();
        let cause = self.cause(key);
        let account = effect.request.account.clone();
        let wallet = Wallet { account, ..self.wallet(&effect.merchant) };
        let effect = if planted::is("attempt-in-the-name") {
            renamed(effect, &self.shared.settings.planning.partner, id)
        } else {
            effect
        };
        let rest = self.rest(key);
        let again = self.backoff.failed(key);
        Job { id, effect, wallet, cause, rest, again }
    }

    /// Starts a reading.
    fn start_reading(&mut self, reading: Reading) {
        self.again.reading(&reading.key);
        let is_read = reading.key == reading.merchant;
        let account = reading.about.get("account").and_then(|one| one.as_str()).map(str::to_owned);
        self.world.works(&reading.key, &reading.merchant);
        let wallet = Wallet { is_read, account, ..self.wallet(&reading.merchant) };
        let shared = self.shared.clone();
        self.tasks.spawn(async move { read::read(&shared, reading, &wallet, Write::Always).await });
    }

    /// Records a resource for which nothing has to be sent.
    fn start_note(&mut self, key: &Key, applied: Applied) {
        let known = self.world.observed(key);
        let merchant = known.map_or_else(|| key.clone(), |known| known.merchant.clone());
        let note = Observation {
            key: key.clone(),
            merchant,
            at: self.shared.now(),
            source: Source::Operator,
            remote_id: None,
            exists: None,
            applied: Some(applied),
            facts: serde_json::Value::Null,
        };
        let (shared, key) = (self.shared.clone(), key.clone());
        self.tasks.spawn(async move {
            let records = vec![Record::Observation(Box::new(note))];
            match shared.write(Vec::new(), records).await {
                Ok(()) => Finished::Moved(key),
                Err(error) => Finished::Broken(error),
            }
        });
    }

    /// Stores a partner webhook, and answers once it is durable.
    pub(super) fn hear(&mut self, notice: Notice, stored: oneshot::Sender<()>) {
        let shared = self.shared.clone();
        // Its address could not be checked while the state was closed: the service sends a rejected
        // webhook again.
        let good = shared.facts.rotation(&Address::Partner);
        if good.is_ok_and(|good| !good.opens(notice.generation)) {
            return;
        }
        self.tasks.spawn(async move {
            match notice::receive(&shared, &notice).await {
                Ok(key) => {
                    // The sender may have gone away; it sends the webhook again.
                    stored.send(()).unwrap_or_default();
                    Finished::Heard(key)
                }
                Err(error) => Finished::Broken(error),
            }
        });
    }

    /// Plans a resource again after a record about it; a task of the resource continues.
    pub(super) fn heard(&mut self, key: Option<Key>) -> Result<(), EngineError> {
        if let Some(key) = key {
            self.world.refresh(&self.shared.facts, &key)?;
            self.look_again(self.spoken_of(&key));
        }
        self.run_hooks()
    }

    /// Returns the sources of a merchant's credentials.
    pub(super) fn wallet(&self, merchant: &Key) -> Wallet {
        let manifest = self.world.desired().manifest(merchant);
        let spec = manifest.as_ref().and_then(|one| one.spec.get("credentials").cloned());
        let generation = manifest.map_or(0, |manifest| manifest.annotations.generation);
        let (merchant, urgency) = (merchant.clone(), Urgency::Change);
        Wallet { merchant, spec, is_read: false, account: None, urgency, generation }
    }

    /// Handles the end of a task.
    pub(super) fn finish(&mut self, finished: Finished) -> Result<(), EngineError> {
        self.after_calls(&finished);
        if self.only_again(&finished) {
            return Ok(());
        }
        let (key, again) = match finished {
            Finished::Moved(key) => (key, None),
            Finished::Barred(key, touched) => {
                for one in &touched {
                    self.world.refresh(&self.shared.facts, one)?;
                }
                self.look_again(touched);
                (key, None)
            }
            Finished::Again(key, unable, least) => (key, Some((unable, least))),
            Finished::Stopped(key) => {
                self.busy.remove(&key);
                return Ok(());
            }
            Finished::Heard(key) => return self.heard(key),
            Finished::Swept(swept) => return self.swept(swept),
            Finished::Looked(looked) => return self.looked(looked),
            Finished::Enrolled => return self.changed_scripts(),
            Finished::Replayed => return self.hooks_due(),
            Finished::HooksRan(merchant) => return self.hooks_ran(&merchant),
            Finished::Retained => {
                self.retained();
                return Ok(());
            }
            Finished::Granted(id, settled, key) => return self.granted(&id, settled, key),
            Finished::Approved => {
                self.approved();
                return Ok(());
            }
            Finished::Unauthorised(key, merchant) => return self.unauthorised(&key, &merchant),
            Finished::Booked(keys) => return self.booked(keys),
            Finished::Released => return self.look_at_all(),
            Finished::Answered(finished, reply, to) => {
                self.finish(*finished)?;
                // The asker may have gone away; the records remain.
                drop(to.send(reply));
                return Ok(());
            }
            Finished::Broken(error) => return Err(error),
        };
        self.busy.remove(&key);
        let used = self.world.rests(&key);
        let left = self.leaving(&key, used);
        self.shared.writer.touched().forget(&key);
        self.world.refresh(&self.shared.facts, &key)?;
        self.read_afterwards(&key)?;
        self.counted(&key);
        self.let_others_go(&key);
        self.schedule_sweeps(&key);
        self.schedule_events(&key);
        match again {
            Some((unable, least)) if self.planner.step(&key).is_some() => {
                self.put_off(key, unable, least);
            }
            Some(_) | None => {
                self.ended(&key);
                self.resume(&key);
            }
        }
        self.look_again(left.into_iter().collect());
        Ok(())
    }

    /// Notes the end of a task that changed nothing: a merchant that is being removed no longer
    /// waits for it.
    pub(super) fn let_merchant_go(&mut self, key: &Key) {
        let used = self.world.rests(key);
        let left = self.leaving(key, used);
        self.look_again(left.into_iter().collect());
    }

    /// Returns the merchant without a document whose removal waits for a task or an open intent of
    /// this resource.
    fn leaving(&self, key: &Key, used: Option<Key>) -> Option<Key> {
        let open = || self.world.open(key).map(|open| open.intent.merchant.clone());
        let merchant = used.or_else(open)?;
        let stays = self.world.desired().manifests.contains_key(&merchant) || merchant == *key;
        (!stays).then_some(merchant)
    }

    /// Schedules another try of a resource, or gives it up after too many failures.
    pub(super) fn put_off(&mut self, key: Key, unable: Unable, least: Duration) {
        self.uncount(&key);
        let shared = self.shared.clone();
        let least = least.max(unable.wait_min());
        let failures = shared.random(|rng| self.backoff.fail(&key, least, rng));
        let most = shared.settings.failures_max.map(|most| unable.tries(most));
        if most.is_some_and(|most| failures >= most) {
            self.backoff.give_up(&key);
        }
        if matches!(unable, Unable::Waiting(_)) {
            tracing::info!(key = %key, reason = unable.message(), "waits");
        } else {
            tracing::warn!(key = %key, failures, reason = unable.message(), "put off");
        }
        self.unable.insert(key.clone(), unable);
        let made = self.planner.touch(&self.world, [key]);
        self.enqueue(made);
    }
}

/// An injected fault: the effect's own name at the service contains the number of the attempt.
fn renamed(mut effect: Effect, partner: &str, id: IntentId) -> Effect {
    let number = u32::try_from(id.get()).unwrap_or(u32::MAX).saturating_add(1000);
    let name = SourceId::new(partner, &effect.key, number);
    let old = std::mem::replace(&mut effect.source_id, name.clone());
    let rename = |value: &serde_json::Value| {
        let text = value.to_string().replace(old.as_str(), name.as_str());
        let text = text.replace(old.mark().as_str(), name.mark().as_str());
        serde_json::from_str(&text).unwrap_or_default()
    };
    effect.request.body = rename(&effect.request.body);
    effect.expect.values_mut().for_each(|value| *value = rename(value));
    effect
}
