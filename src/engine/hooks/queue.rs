//! Order of hook actions: one queue for each channel, each with slots of its own.
//!
//! Guarantees: money never waits behind notifications, and no target behind another one. An action
//! is read from the index once when it becomes due, and one that is not due costs nothing. Nothing
//! here is durable: the index has every action that is not settled, and [`ActionQueue::reload`] starts
//! from it again.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Instant;

use crate::base::timers::Timers;
use crate::engine::handles::shared::EngineResult;
use crate::engine::scheduler::backoff::instant_of;
use crate::model::events::hook_run::{ActionRequestId, Channel, Scheduled};
use crate::store::read_model::model::{ReadModel, ReadModelError};

/// Greatest age of a merchant's list reading when a hook requests an action.
const READ_AGO: TimeDelta = TimeDelta::minutes(10);

/// Returns the number of actions of one channel that may be under way at once. A target that hangs
/// occupies only its own slots.
const fn slots(channel: &Channel) -> usize {
    match channel {
        Channel::Internal | Channel::Service => 8,
        Channel::Target(_) => 4,
    }
}

#[derive(Debug, Default)]
pub(crate) struct ActionQueue {
    /// Every action of this process that is not settled.
    known: BTreeSet<ActionRequestId>,
    /// Due, and waiting for a slot.
    ready: BTreeMap<Channel, BTreeSet<Scheduled>>,
    /// Retries, and actions that are due later since the clock was set back.
    later: Timers<Scheduled, Instant>,
    under_way: BTreeMap<ActionRequestId, Scheduled>,
    tries: BTreeMap<ActionRequestId, u32>,
    /// Every action of the index that is due by then was read, or came directly from a hook run.
    read_to: Option<DateTime<Utc>>,
    /// The due time of the first action in the index behind that.
    next: Option<DateTime<Utc>>,
}

impl ActionQueue {
    /// Reads everything that is due from the index again.
    pub(crate) fn reload(&mut self) {
        self.read_to = None;
    }

    /// Adds actions that a hook run has just requested.
    pub(crate) fn add(&mut self, asked: Vec<Scheduled>, now: DateTime<Utc>) {
        for one in asked {
            match self.read_to {
                Some(read_to) if one.at <= read_to.max(now) => self.queue(one, now),
                Some(_) | None => {}
            }
        }
    }

    /// Queues all actions that have become due, from the index and from those that wait here.
    pub(crate) fn wake(&mut self, facts: &ReadModel, now: DateTime<Utc>) -> EngineResult<()> {
        // A time of an action's own is checked when the action is started.
        let by = if self.read_to.is_none() { newest(facts, now)? } else { now };
        let (due, next) = facts.due_actions(self.read_to, by)?;
        for one in due {
            self.queue(one, by);
        }
        self.next = next;
        self.read_to = self.read_to.max(Some(by));
        let now = Instant::now();
        while let Some(one) = self.later.pop_due(now) {
            self.enqueue(one);
        }
        Ok(())
    }

    fn queue(&mut self, one: Scheduled, now: DateTime<Utc>) {
        if !self.known.insert(one.id.clone()) {
            return;
        }
        match instant_of(now, one.at).filter(|_| one.at > now) {
            Some(due) => self.later.set(one, Some(due)),
            None => self.enqueue(one),
        }
    }

    fn enqueue(&mut self, one: Scheduled) {
        self.ready.entry(one.channel.clone()).or_default().insert(one);
    }

    /// Starts the next action that has a slot: the service's come before any target's. During a
    /// freeze the service's wait.
    pub(crate) fn start(&mut self, is_frozen: bool) -> Option<ActionRequestId> {
        let mut busy: BTreeMap<&Channel, usize> = BTreeMap::new();
        for one in self.under_way.values() {
            let busy = busy.entry(&one.channel).or_default();
            *busy = busy.saturating_add(1);
        }
        let free = |channel: &Channel| {
            let waits = is_frozen && *channel == Channel::Service;
            !waits && busy.get(channel).is_none_or(|busy| *busy < slots(channel))
        };
        let channel = self.ready.keys().find(|channel| free(channel))?.clone();
        let ready = self.ready.get_mut(&channel)?;
        let one = ready.pop_first()?;
        if ready.is_empty() {
            self.ready.remove(&channel);
        }
        let id = one.id.clone();
        self.under_way.insert(id.clone(), one);
        Some(id)
    }

    /// Removes an action under way that is settled, or that this process does not perform.
    pub(crate) fn end(&mut self, id: &ActionRequestId) {
        self.under_way.remove(id);
        self.tries.remove(id);
        self.known.remove(id);
    }

    /// Counts one more try of an action that is not settled. Returns the count.
    pub(crate) fn count_try(&mut self, id: &ActionRequestId) -> u32 {
        let tries = self.tries.entry(id.clone()).or_default();
        *tries = tries.saturating_add(1);
        *tries
    }

    /// Schedules an unsettled action again for this time.
    pub(crate) fn reschedule(&mut self, id: &ActionRequestId, due: Option<Instant>) {
        if let Some(one) = self.under_way.remove(id) {
            self.later.set(one, due);
        }
    }

    /// Returns the time at which the next waiting action becomes due.
    pub(crate) fn next_due(&self, now: DateTime<Utc>) -> Option<Instant> {
        let here = self.later.next_due();
        let there = self.next.and_then(|next| instant_of(now, next));
        here.into_iter().chain(there).min()
    }
}

/// Returns a time no earlier than any action requested for at once: now, unless the clock was set
/// back since a merchant's list was read.
fn newest(facts: &ReadModel, now: DateTime<Utc>) -> Result<DateTime<Utc>, ReadModelError> {
    let mut newest = now;
    for merchant in facts.event_merchants()? {
        let polled = facts.event_ledger(&merchant)?.polled_at.filter(|at| *at > now);
        newest = newest.max(polled.and_then(|at| at.checked_add_signed(READ_AGO)).unwrap_or(now));
    }
    Ok(newest)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::hash::sha256;
    use crate::base::id::Key;
    use crate::model::events::event::Polled;
    use crate::model::events::hook::{ActionRequest, HookRun, NOTIFY};
    use crate::model::events::hook_run::{HookRunRecord, ScriptIdentity};
    use crate::model::record::Record;
    use crate::store::index::ordered::{Batch, Index, MemoryIndex};
    use crate::store::tests::support::fold;

    fn merchant() -> Key {
        "Merchant/acme".parse().unwrap()
    }

    /// The run of a hook that requested these actions at this moment, each with a time of its own
    /// or none.
    fn asked(at: DateTime<Utc>, actions: &[(&str, Option<DateTime<Utc>>)]) -> Record {
        let wish = |(name, at): &(&str, Option<DateTime<Utc>>)| ActionRequest {
            name: name.parse().unwrap(),
            verb: NOTIFY.to_owned(),
            merchant: None,
            fields: serde_json::json!({"target": "ops"}),
            at: *at,
            at_most: None,
            content: None,
        };
        let run = HookRun {
            script: "tells".to_owned(),
            function: "on_event".to_owned(),
            hash: sha256(b"text"),
            requests: actions.iter().map(wish).collect(),
            kept: Vec::new(),
            added: Vec::new(),
            reads: Vec::new(),
            log: Vec::new(),
            operations: 1,
            sealed: None,
            answers: Vec::new(),
        };
        Record::HooksRun(Box::new(HookRunRecord {
            merchant: merchant(),
            event: "e1".to_owned(),
            number: 1,
            is_retry: false,
            script_identity: Some(ScriptIdentity {
                script: "tells".to_owned(),
                text: sha256(b"text"),
            }),
            former_script: None,
            runs: vec![run],
            failures: Vec::new(),
            depth: 0,
            at,
        }))
    }

    /// In a process whose clock is an hour behind the previous process, an action requested for at
    /// once is done at once; an action with a later time of its own waits for it.
    #[tokio::test(start_paused = true)]
    async fn what_was_asked_for_at_once_is_done_at_once_although_the_clock_went_back() {
        let then: DateTime<Utc> = "2026-11-22T12:00:00Z".parse().unwrap();
        let later = then + TimeDelta::days(2);
        let index = Arc::new(MemoryIndex::new());
        let polled = Polled { merchant: merchant(), to: then, whole: true, at: then };
        let actions = asked(then + TimeDelta::minutes(1), &[("now", None), ("then", Some(later))]);
        for record in [Record::Polled(Box::new(polled)), actions] {
            let mut batch = Batch::new();
            fold(&*index, &mut batch, &record).unwrap();
            index.apply(batch).unwrap();
        }
        let (facts, mut agenda) = (ReadModel::new(index), ActionQueue::default());
        agenda.wake(&facts, then - TimeDelta::hours(1)).unwrap();
        let started = agenda.start(false).map(|id| id.name.to_string());
        assert_eq!(started.as_deref(), Some("now"));
        assert_eq!(agenda.start(false), None, "the other one has a time of its own");
    }

    fn action(name: &str, channel: Channel) -> Scheduled {
        let name = name.parse().unwrap();
        let id = ActionRequestId { merchant: merchant(), event: "e1".to_owned(), name };
        Scheduled { at: DateTime::UNIX_EPOCH, id, channel }
    }

    /// Builds a queue that has read everything until now, with these actions.
    fn queue_of(actions: Vec<Scheduled>) -> ActionQueue {
        let mut queue = ActionQueue { read_to: Some(now()), ..ActionQueue::default() };
        queue.add(actions, now());
        queue
    }

    fn now() -> DateTime<Utc> {
        "2026-11-22T12:00:00Z".parse().unwrap()
    }

    fn many(count: usize, prefix: &str, channel: &Channel) -> Vec<Scheduled> {
        (0..count).map(|one| action(&format!("{prefix}-{one}"), channel.clone())).collect()
    }

    fn start_all(queue: &mut ActionQueue) -> Vec<String> {
        std::iter::from_fn(|| queue.start(false)).map(|id| id.name.to_string()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_target_that_hangs_occupies_its_own_slots_and_money_goes_first() {
        let (slow, quick) = (Channel::Target("a".to_owned()), Channel::Target("b".to_owned()));
        let mut actions = many(9, "slow", &slow);
        actions.extend(many(2, "quick", &quick));
        actions.extend(many(1, "money", &Channel::Service));
        let mut queue = queue_of(actions);
        let started = start_all(&mut queue);
        assert_eq!(started[0], "money-0");
        let count = |prefix: &str| started.iter().filter(|name| name.starts_with(prefix)).count();
        assert_eq!((count("slow"), count("quick"), count("money")), (4, 2, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_settled_action_frees_its_slot_for_the_next_one() {
        let channel = Channel::Target("a".to_owned());
        let mut queue = queue_of(many(5, "tell", &channel));
        assert_eq!(start_all(&mut queue).len(), 4);
        queue.end(&action("tell-0", channel).id);
        assert_eq!(start_all(&mut queue), ["tell-4"]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_action_is_started_once_however_often_it_is_added() {
        let one = action("once", Channel::Service);
        let mut queue = queue_of(vec![one.clone(), one.clone()]);
        assert_eq!(start_all(&mut queue), ["once"]);
        queue.add(vec![one], now());
        assert_eq!(start_all(&mut queue), [""; 0], "it is under way");
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_action_comes_back_at_its_time_and_counts_its_tries() {
        let one = action("again", Channel::Service);
        let mut queue = queue_of(vec![one.clone()]);
        let facts = ReadModel::new(Arc::new(MemoryIndex::new()));
        start_all(&mut queue);
        assert_eq!((queue.count_try(&one.id), queue.count_try(&one.id)), (1, 2));
        let wait = std::time::Duration::from_secs(30);
        queue.reschedule(&one.id, Instant::now().checked_add(wait));
        assert_eq!(queue.next_due(now()), Instant::now().checked_add(wait));
        queue.wake(&facts, now()).unwrap();
        assert_eq!(start_all(&mut queue), [""; 0]);
        tokio::time::advance(wait).await;
        queue.wake(&facts, now()).unwrap();
        assert_eq!(start_all(&mut queue), ["again"]);
        queue.end(&one.id);
        assert_eq!(queue.count_try(&one.id), 1, "a settled action has no tries");
    }

    #[tokio::test(start_paused = true)]
    async fn before_the_first_read_of_the_index_nothing_is_taken_from_a_run() {
        let mut queue = ActionQueue::default();
        queue.add(many(1, "early", &Channel::Service), now());
        assert_eq!(start_all(&mut queue), [""; 0], "the index has it, too");
    }
}
