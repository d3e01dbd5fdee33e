//! The windows and freezes of the configuration, as evaluated at the last change of one of them.
//!
//! Guarantees: between two changes a question costs no work with zones, whatever their number.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;

use crate::base::id::Key;
use crate::engine::protocol::time_rules::TimeRuleView;
use crate::model::holds::Hold;
use crate::policy::TimeRules;
use crate::policy::time_rules::{RuleState, TimeRule};

#[derive(Debug)]
pub(crate) struct TimedHolds {
    rules: TimeRules,
    /// The moment of these states.
    at: DateTime<Utc>,
    states: Vec<RuleState>,
    /// The holds at that moment, by merchant.
    known: Mutex<BTreeMap<Option<Key>, Option<Arc<Hold>>>>,
}

/// A rule whose state changed.
#[derive(Debug)]
pub(crate) struct RuleChange {
    pub(crate) name: Arc<str>,
    /// A sentence for the log; `None` if only the next moment changed.
    pub(crate) notice: Option<String>,
}

impl TimedHolds {
    pub(crate) fn new(rules: TimeRules, at: DateTime<Utc>) -> Self {
        let states = rules.states(at);
        Self { rules, at, states, known: Mutex::default() }
    }

    /// Returns the hold of a merchant's changes.
    pub(crate) fn hold(&self, merchant: Option<&Key>) -> Option<Arc<Hold>> {
        if self.states.is_empty() {
            return None;
        }
        let merchant = merchant.filter(|_| self.rules.differ_by_merchant()).cloned();
        let mut known = self.known.lock();
        let make = || self.rules.hold(merchant.as_ref(), self.at).map(Arc::new);
        known.entry(merchant.clone()).or_insert_with(make).clone()
    }

    /// Returns the hold that every merchant's changes have.
    pub(crate) fn common_hold(&self) -> Option<Arc<Hold>> {
        if self.rules.differ_by_merchant() { None } else { self.hold(None) }
    }

    /// Returns every rule with its state.
    pub(crate) fn rules(&self) -> impl Iterator<Item = (&TimeRule, RuleState)> {
        self.rules.rules().iter().zip(self.states.iter().copied())
    }

    /// Returns the next moment at which a rule begins or ends to hold.
    pub(crate) fn next_change(&self) -> Option<DateTime<Utc>> {
        self.states.iter().filter_map(|state| state.until).min()
    }

    /// Evaluates the rules again if one of them changed since, or the clock was set back.
    pub(crate) fn advance(&mut self, now: DateTime<Utc>) -> Vec<RuleChange> {
        let is_due = now < self.at || self.next_change().is_some_and(|change| change <= now);
        if !is_due {
            return Vec::new();
        }
        let states = self.rules.states(now);
        let before = std::mem::replace(&mut self.states, states);
        (self.at, self.known) = (now, Mutex::default());
        let pairs = self.rules().zip(before);
        let changed = pairs.filter(|((_, state), before)| state != before);
        let change = |((rule, state), before): ((&TimeRule, RuleState), RuleState)| RuleChange {
            name: rule.name.clone(),
            notice: (state.holds != before.holds)
                .then(|| TimeRuleView::new(rule, state, 0).sentence()),
        };
        changed.map(change).collect()
    }
}
