//! Watches the states of resources until each has lasted for a minute, for all targets. Pure.
//!
//! Guarantees: the work is in proportion to the resources that changed; nothing is due while no
//! state is new.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use crate::base::id::Key;
use crate::base::timers::Timers;
use crate::engine::alerts::target::{OpenMessage, TargetAlerts};
use crate::engine::alerts::verdict::AlertVerdict;
use crate::model::alerts::{AlertChange, AlertClass, AlertOutcome, AlertPart, ReportedAlert};
use crate::notify::alert::AlertTarget;

/// Time for which a state has to last before it is reported.
const LASTS_FOR: TimeDelta = TimeDelta::minutes(1);

/// A state that no target knows yet; `None`: no problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WatchedState {
    class: Option<AlertClass>,
    since: DateTime<Utc>,
}

#[derive(Debug, Default)]
pub(crate) struct Alerts {
    pub(crate) targets: BTreeMap<String, TargetAlerts>,
    /// True before the fold was read, if there is a sender.
    pub(crate) is_to_load: bool,
    /// Resources whose state may have changed since the last look.
    touched: BTreeSet<Key>,
    watched: BTreeMap<Key, WatchedState>,
    due: Timers<Key, DateTime<Utc>>,
    /// Messages since the process began, by target and result.
    pub(crate) counts: BTreeMap<(String, AlertOutcome), u64>,
}

impl Alerts {
    /// Returns empty alerts for these targets; they begin once the fold is read.
    pub(crate) fn new(targets: Vec<AlertTarget>) -> Self {
        let targets = targets.into_iter().filter(|target| !target.choices.is_empty());
        let targets = targets.map(|target| (target.name.clone(), TargetAlerts::new(target)));
        Self { targets: targets.collect(), is_to_load: true, ..Self::default() }
    }

    /// Takes over what the fold knows. Returns the targets that take no alerts any more.
    pub(crate) fn load(
        &mut self,
        told: Vec<((String, Key), ReportedAlert)>,
        sending: Vec<((String, u64), AlertPart)>,
    ) -> BTreeSet<String> {
        self.is_to_load = false;
        let mut forgotten = BTreeSet::new();
        for ((name, key), told) in told {
            match self.targets.get_mut(&name) {
                Some(target) => {
                    target.reported.insert(key.clone(), told.class);
                    self.touched.insert(key);
                }
                None => drop(forgotten.insert(name)),
            }
        }
        for ((name, _), part) in sending {
            match self.targets.get_mut(&name) {
                Some(target) => add_part(target, part),
                None => drop(forgotten.insert(name)),
            }
        }
        forgotten
    }

    /// Notes that the state of a resource may have changed.
    pub(crate) fn touch<'k>(&mut self, keys: impl IntoIterator<Item = &'k Key>) {
        if !self.targets.is_empty() {
            self.touched.extend(keys.into_iter().cloned());
        }
    }

    pub(crate) fn take_touched(&mut self) -> BTreeSet<Key> {
        std::mem::take(&mut self.touched)
    }

    /// Notes the present state of a resource.
    pub(crate) fn note(&mut self, key: Key, verdict: AlertVerdict, now: DateTime<Utc>) {
        match verdict {
            AlertVerdict::Problem(class) => self.note_state(key, Some(class), now),
            AlertVerdict::Over => self.note_state(key, None, now),
            // Its time goes on, and it is reported only if the state comes back.
            AlertVerdict::Undecided => self.due.set(key, None),
        }
    }

    fn note_state(&mut self, key: Key, class: Option<AlertClass>, now: DateTime<Utc>) {
        self.targets.values_mut().for_each(|target| target.discard_other(&key, class));
        if !self.targets.values().any(|target| target.is_news(&key, class)) {
            self.watched.remove(&key);
            return self.due.set(key, None);
        }
        let before = self.watched.get(&key).filter(|before| before.class == class);
        let since = before.map_or(now, |before| before.since);
        self.due.set(key.clone(), since.checked_add_signed(LASTS_FOR));
        self.watched.insert(key, WatchedState { class, since });
    }

    /// Hands the states that have lasted for a minute to the targets.
    pub(crate) fn hand_over(&mut self, now: DateTime<Utc>) {
        while let Some(key) = self.due.pop_due(now) {
            let Some(state) = self.watched.remove(&key) else { continue };
            self.targets.values_mut().for_each(|target| target.note(&key, state.class, now));
        }
    }

    /// Returns the time at which a state has lasted for a minute, or a message is due.
    pub(crate) fn next_due(&self) -> Option<DateTime<Utc>> {
        let targets = self.targets.values().filter_map(TargetAlerts::next_due);
        targets.chain(self.due.next_due()).min()
    }

    /// Notes the end of an attempt at a message to a target.
    pub(crate) fn end(
        &mut self,
        name: &str,
        (outcome, reason): (Option<AlertOutcome>, String),
        now: DateTime<Utc>,
    ) {
        if let Some(outcome) = outcome {
            let count = self.counts.entry((name.to_owned(), outcome)).or_default();
            *count = count.saturating_add(1);
        }
        if let Some(target) = self.targets.get_mut(name) {
            target.end(outcome, reason, now);
        }
    }
}

/// Adds a part of a message that an earlier process did not settle.
fn add_part(target: &mut TargetAlerts, part: AlertPart) {
    let AlertPart { message, at, changes } = part;
    let open = target.open.get_or_insert_with(|| OpenMessage {
        message,
        began: at,
        changes: Vec::new(),
        is_under_way: false,
    });
    open.changes.extend::<Vec<AlertChange>>(changes);
}

#[cfg(test)]
mod tests;
