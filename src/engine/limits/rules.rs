//! Judges one step or effect by the limits: for the plan, and again for the meter.
//!
//! Both use the same judgement. A limit is passed only by approvals that name exactly this request;
//! an unreadable state counts as an exceeded limit.

use std::cell::RefCell;
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::base::clock::SharedClock;
use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key, Mode};
use crate::model::change::{LimitExceeded, LimitScope, PlannedAction};
use crate::model::effect::{RecordedMove, RunningTotals, SpendRequest};
use crate::model::operator::StoredApproval;
use crate::policy::PolicyRules;
use crate::policy::limit_check::{
    LimitPeriod, LimitSubject, SpendHistory, check_single, check_sums,
};
use crate::policy::limits::TypicalAmounts;
use crate::policy::permission::approval_status;
use crate::store::read_model::model::{ReadModel, ReadModelError};

#[derive(derive_more::Debug)]
#[debug("Guard({:?})", rules.limits)]
pub(crate) struct SpendBudget {
    pub(crate) rules: PolicyRules,
    pub(crate) facts: ReadModel,
    clock: SharedClock,
    state: Mutex<PendingSpend>,
    /// Notified whenever a pending request is counted or given up.
    pub(crate) freed: Notify,
}

/// State that is counted outside the fold.
#[derive(Debug, Default)]
pub(crate) struct PendingSpend {
    /// Digest of the present state of the files.
    pub tree: String,
    pub whole: Vec<PlanLimitExceeded>,
    /// Requests that passed the meter and are not in the fold yet.
    pub pending: BTreeMap<IntentId, SpendRequest>,
}

/// A limit that the plan as a whole exceeds: nothing that it concerns is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlanLimitExceeded {
    pub mode: Mode,
    /// The merchant whose limit it is; `None` for a general one.
    pub merchant: Option<Key>,
    pub about: LimitSubject,
    pub over: LimitExceeded,
}

impl PlanLimitExceeded {
    fn concerns(&self, wish: &SpendRequest) -> bool {
        let merchant = self.merchant.as_ref().is_none_or(|merchant| *merchant == wish.merchant);
        self.mode == wish.mode && merchant && self.about.concerns(wish)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LimitDecision {
    Within,
    /// A limit is exceeded, and these approvals permit that.
    Approved(Vec<String>),
    Over(Box<LimitExceeded>),
}

impl SpendBudget {
    pub(crate) fn new(policy: &PolicyRules, facts: &ReadModel, clock: &SharedClock) -> Self {
        let (rules, facts, clock) = (policy.clone(), facts.clone(), clock.clone());
        Self { rules, facts, clock, state: Mutex::default(), freed: Notify::new() }
    }

    pub(crate) fn is_limited(&self) -> bool {
        !self.rules.limits.is_empty()
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Locks the state that is counted outside the fold.
    pub(crate) fn counting(&self) -> MutexGuard<'_, PendingSpend> {
        self.state.lock()
    }

    pub(crate) fn blocking_limit(
        &self,
        wish: &SpendRequest,
        rest: &dyn Fn() -> Digest,
    ) -> Option<LimitExceeded> {
        if !self.is_limited() {
            return None;
        }
        match self.judge(&self.counting(), self.now(), wish, rest, false) {
            Ok(LimitDecision::Within | LimitDecision::Approved(_)) => None,
            Ok(LimitDecision::Over(over)) => Some(*over),
            Err(error) => Some(unreadable(&error)),
        }
    }

    /// Judges a request, with or without the pending ones.
    pub(crate) fn judge(
        &self,
        counting: &PendingSpend,
        now: DateTime<Utc>,
        wish: &SpendRequest,
        rest: &dyn Fn() -> Digest,
        pending: bool,
    ) -> Result<LimitDecision, ReadModelError> {
        let (mode, failed) = (wish.mode, RefCell::default());
        let past = CountedSpend { guard: self, counting, now, mode, pending, failed };
        let limits = &self.rules.limits;
        let whole = || {
            let whole = counting.whole.iter().find(|whole| whole.concerns(wish));
            whole.map(|whole| whole.over.clone())
        };
        let over = check_single(limits, wish, &past)
            .or_else(whole)
            .or_else(|| check_sums(limits, wish, &past));
        if let Some(error) = past.failed.into_inner() {
            return Err(error);
        }
        let Some(over) = over else { return Ok(LimitDecision::Within) };
        Ok(self.apply_approvals(over, wish, rest(), now, &self.facts.plan_approvals()?))
    }

    /// Decides if approvals permit an exceeded limit.
    fn apply_approvals(
        &self,
        over: LimitExceeded,
        wish: &SpendRequest,
        rest: Digest,
        now: DateTime<Utc>,
        kept: &[StoredApproval],
    ) -> LimitDecision {
        let rules = &self.rules.approvals;
        let wish = SpendRequest { amountless_digest: Some(rest), ..wish.clone() };
        let status = approval_status(rules, kept, &wish, now);
        if status.is_enough() {
            return LimitDecision::Approved(status.ids);
        }
        let alone = rules.approvers_needed(std::slice::from_ref(&wish));
        let approvers = if status.approvers_needed == 0 { alone } else { status.approvers_needed };
        let approved_by = status.actors.into_iter().collect();
        LimitDecision::Over(Box::new(LimitExceeded { approved_by, approvers, ..over }))
    }

    /// Names the run that is counted now: one state of the files on one UTC day.
    pub(crate) fn run(tree: &str, now: DateTime<Utc>) -> String {
        format!("{tree}@{}", day(now))
    }
}

/// Names a UTC day, as sums are named.
pub(crate) fn day(now: DateTime<Utc>) -> String {
    now.date_naive().to_string()
}

/// Builds the block for an unreadable state: nothing is done.
fn unreadable(error: &ReadModelError) -> LimitExceeded {
    LimitExceeded {
        limit: "the state".to_owned(),
        allowed: "nothing".to_owned(),
        resulting: "more".to_owned(),
        place: error.to_string(),
        scope: LimitScope::Object,
        intended: PlannedAction::Blocked,
        approved_by: Vec::new(),
        approvers: 1,
    }
}

/// The sums that are known at one moment.
struct CountedSpend<'a> {
    guard: &'a SpendBudget,
    counting: &'a PendingSpend,
    now: DateTime<Utc>,
    mode: Mode,
    pending: bool,
    failed: RefCell<Option<ReadModelError>>,
}

impl CountedSpend<'_> {
    /// Returns the read value, or the default after noting the failure.
    fn or_note<T: Default>(&self, read: Result<T, ReadModelError>) -> T {
        read.unwrap_or_else(|error| {
            *self.failed.borrow_mut() = Some(error);
            T::default()
        })
    }
}

impl SpendHistory for CountedSpend<'_> {
    fn totals(&self, span: LimitPeriod, merchant: Option<&Key>) -> RunningTotals {
        let name = match span {
            LimitPeriod::Day => day(self.now),
            LimitPeriod::Run => SpendBudget::run(&self.counting.tree, self.now),
        };
        let counted = self.guard.facts.tally((span, &name), self.mode, merchant);
        let mut tally = self.or_note(counted);
        let others = self.counting.pending.values().filter(|other| {
            self.pending
                && other.mode == self.mode
                && other.exposure.approvals.is_empty()
                && merchant.is_none_or(|merchant| other.merchant == *merchant)
        });
        others.for_each(|other| tally.add(&other.exposure));
        tally
    }

    fn typical_amounts(&self, wish: &SpendRequest, moved: &RecordedMove) -> TypicalAmounts {
        self.or_note(self.guard.facts.usual_amounts(wish.mode, &wish.merchant, &wish.key, moved))
    }
}

#[cfg(test)]
mod tests;
