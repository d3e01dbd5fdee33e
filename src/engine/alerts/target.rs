//! The alerts of one target: the problems that it knows, changes that wait, and its open message. Pure.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use crate::base::id::Key;
use crate::model::alerts::{AlertChange, AlertClass, AlertOutcome};
use crate::notify::alert::AlertTarget;

/// Time between two messages, at least.
const EVERY: TimeDelta = TimeDelta::minutes(1);
/// Time for which the first change waits for others.
const GATHERED_FOR: TimeDelta = TimeDelta::seconds(15);
/// Largest time between two attempts after failures.
const AGAIN_MAX: TimeDelta = TimeDelta::minutes(30);
/// Number of failures in a row after which the time between attempts stops growing.
const DOUBLINGS_MAX: u32 = 5;
/// Time in which a message with a lost answer is repeated, if its target drops repeats.
const REPEATED_FOR: TimeDelta = TimeDelta::days(1);

/// A message that was begun, and has no result yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenMessage {
    /// The name of the message, the same in each attempt.
    pub(crate) message: String,
    pub(crate) began: DateTime<Utc>,
    pub(crate) changes: Vec<AlertChange>,
    pub(crate) is_under_way: bool,
}

impl OpenMessage {
    /// Returns true if a lost answer is too old for a repeat.
    pub(crate) fn is_expired(&self, now: DateTime<Utc>) -> bool {
        now.signed_duration_since(self.began) >= REPEATED_FOR
    }
}

/// The next work for a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TargetWork {
    /// A new message with these changes.
    Send(Vec<AlertChange>),
    /// The open message, whose answer was lost.
    Repeat,
    /// Problems ended, and the target takes no news of that.
    Drop(Vec<Key>),
}

/// The time since when messages do not arrive, and the reason of the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Undelivered {
    pub(crate) since: DateTime<Utc>,
    pub(crate) reason: String,
}

#[derive(Debug)]
pub(crate) struct TargetAlerts {
    pub(crate) target: AlertTarget,
    /// The problem that the target knows of each resource; a message under way counts as reported.
    pub(crate) reported: BTreeMap<Key, AlertClass>,
    /// The state of each resource that the next message reports.
    waiting: BTreeMap<Key, Option<AlertClass>>,
    pub(crate) open: Option<OpenMessage>,
    next_at: Option<DateTime<Utc>>,
    failures: u32,
    pub(crate) undelivered: Option<Undelivered>,
}

impl TargetAlerts {
    pub(crate) fn new(target: AlertTarget) -> Self {
        Self {
            target,
            reported: BTreeMap::new(),
            waiting: BTreeMap::new(),
            open: None,
            next_at: None,
            failures: 0,
            undelivered: None,
        }
    }

    /// Returns true if this state of a resource would be news that does not wait yet.
    pub(crate) fn is_news(&self, key: &Key, class: Option<AlertClass>) -> bool {
        self.waiting.get(key) != Some(&class) && self.differs(key, class)
    }

    fn differs(&self, key: &Key, class: Option<AlertClass>) -> bool {
        let told = self.reported.get(key);
        match class {
            Some(class) => self.target.choices.classes.contains(&class) && told != Some(&class),
            None => told.is_some(),
        }
    }

    /// Drops the waiting change of a resource whose state changed since.
    pub(crate) fn discard_other(&mut self, key: &Key, class: Option<AlertClass>) {
        if self.waiting.get(key).is_some_and(|waiting| *waiting != class) {
            self.waiting.remove(key);
        }
    }

    /// Notes the state of a resource that has lasted for long enough.
    pub(crate) fn note(&mut self, key: &Key, class: Option<AlertClass>, now: DateTime<Utc>) {
        if !self.differs(key, class) {
            self.waiting.remove(key);
            return;
        }
        if self.waiting.is_empty() && self.open.is_none() {
            let gathered = now.checked_add_signed(GATHERED_FOR);
            self.next_at = self.next_at.max(gathered);
        }
        self.waiting.insert(key.clone(), class);
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the time at which something is to be done; `None` if nothing waits.
    pub(crate) fn next_due(&self) -> Option<DateTime<Utc>> {
        let due = self.next_at.unwrap_or(DateTime::<Utc>::MIN_UTC);
        match &self.open {
            Some(open) => (!open.is_under_way).then_some(due),
            None => (!self.waiting.is_empty()).then_some(due),
        }
    }

    /// Returns the work that is due. New changes count as reported from now on.
    pub(crate) fn take_work(&mut self, now: DateTime<Utc>) -> Vec<TargetWork> {
        if self.next_due().is_none_or(|due| due > now) {
            return Vec::new();
        }
        if let Some(open) = &mut self.open {
            open.is_under_way = true;
            return vec![TargetWork::Repeat];
        }
        let changes = std::mem::take(&mut self.waiting).into_iter();
        let changes = changes.map(|(key, after)| AlertChange {
            before: self.reported.get(&key).copied(),
            key,
            after,
        });
        let is_sent =
            |change: &AlertChange| change.after.is_some() || self.target.choices.recovered;
        let (sent, dropped): (Vec<_>, Vec<_>) = changes.partition(is_sent);
        sent.iter().chain(&dropped).for_each(|change| self.set_reported(&change.key, change.after));
        let dropped: Vec<Key> = dropped.into_iter().map(|change| change.key).collect();
        let dropped = (!dropped.is_empty()).then_some(TargetWork::Drop(dropped));
        let sent = (!sent.is_empty()).then_some(TargetWork::Send(sent));
        [dropped, sent].into_iter().flatten().collect()
    }

    fn set_reported(&mut self, key: &Key, class: Option<AlertClass>) {
        match class {
            Some(class) => drop(self.reported.insert(key.clone(), class)),
            None => drop(self.reported.remove(key)),
        }
    }

    /// Handles the end of an attempt; `None` is a lost answer after which the message is repeated.
    pub(crate) fn end(
        &mut self,
        outcome: Option<AlertOutcome>,
        reason: String,
        now: DateTime<Utc>,
    ) {
        let delivered = outcome == Some(AlertOutcome::Delivered);
        let is_tried_again = matches!(outcome, None | Some(AlertOutcome::NotSent));
        self.failures = if is_tried_again { self.failures.saturating_add(1) } else { 0 };
        self.next_at = now.checked_add_signed(self.wait());
        let since = self.undelivered.as_ref().map_or(now, |known| known.since);
        self.undelivered = (!delivered).then_some(Undelivered { since, reason });
        match (outcome, self.open.take()) {
            (None, Some(open)) => self.open = Some(OpenMessage { is_under_way: false, ..open }),
            (Some(AlertOutcome::NotSent), Some(open)) => self.put_back(open.changes),
            (Some(_) | None, _) => {}
        }
    }

    fn wait(&self) -> TimeDelta {
        let doublings = self.failures.saturating_sub(1).min(DOUBLINGS_MAX);
        let wait = EVERY.checked_mul(2_i32.saturating_pow(doublings));
        wait.unwrap_or(AGAIN_MAX).min(AGAIN_MAX)
    }

    /// Puts the changes of a message back that did not arrive. A newer state takes precedence.
    fn put_back(&mut self, changes: Vec<AlertChange>) {
        for AlertChange { key, before, after } in changes {
            self.set_reported(&key, before);
            let state = self.waiting.remove(&key).unwrap_or(after);
            if self.differs(&key, state) {
                self.waiting.insert(key, state);
            }
        }
    }
}

#[cfg(test)]
mod tests;
