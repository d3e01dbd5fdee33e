//! Judges one step or effect by the limits: for the plan, and again for the meter.
//!
//! Both use the same judgement. A limit is passed only by approvals that name exactly this request;
//! an unreadable state counts as an exceeded limit.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use tokio::sync::Notify;

use super::shared::Settings;
use crate::base::clock::SharedClock;
use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key, Mode};
use crate::model::limit::{Over, Scope};
use crate::model::plan::Verdict;
use crate::model::plan_approval::KeptApproval;
use crate::model::stake::{Moved, Tally, Wish};
use crate::policy::Rules;
use crate::policy::approval::standing;
use crate::policy::meter::{Known, Span, Whole, single, sums};
use crate::policy::usual::Usual;
use crate::store::facts::{FactError, Facts};

/// The limits, the counted sums, and the pending ones.
pub(super) struct Guard {
    pub(super) rules: Rules,
    pub(super) facts: Facts,
    clock: SharedClock,
    state: Mutex<Counting>,
    /// Notified whenever a pending request is counted or given up.
    pub(super) freed: Notify,
}

/// State that is counted outside the fold.
#[derive(Debug, Default)]
pub(super) struct Counting {
    /// Digest of the present state of the files.
    pub tree: String,
    /// The limits that the plan as a whole exceeds.
    pub whole: Vec<WholePlan>,
    /// Requests that passed the meter and are not in the fold yet.
    pub pending: BTreeMap<IntentId, Wish>,
}

/// A limit that the plan as a whole exceeds: nothing that it concerns is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WholePlan {
    pub mode: Mode,
    /// The merchant whose limit it is; `None` for a general one.
    pub merchant: Option<Key>,
    pub about: Whole,
    pub over: Over,
}

impl WholePlan {
    fn concerns(&self, wish: &Wish) -> bool {
        let merchant = self.merchant.as_ref().is_none_or(|merchant| *merchant == wish.merchant);
        self.mode == wish.mode && merchant && self.about.concerns(wish)
    }
}

/// The judgement of the limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Judged {
    /// No limit is exceeded.
    Within,
    /// A limit is exceeded, and these approvals permit that.
    Approved(Vec<String>),
    /// A limit is exceeded.
    Over(Box<Over>),
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Guard({:?})", self.rules.limits)
    }
}

impl Guard {
    /// Builds a guard over this read model.
    pub(super) fn new(settings: &Settings, facts: &Facts, clock: &SharedClock) -> Self {
        Self {
            rules: settings.policy.clone(),
            facts: facts.clone(),
            clock: clock.clone(),
            state: Mutex::default(),
            freed: Notify::new(),
        }
    }

    /// Returns true if there is any limit.
    pub(super) fn is_limited(&self) -> bool {
        !self.rules.limits.is_empty()
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Locks the state that is counted outside the fold.
    pub(super) fn counting(&self) -> MutexGuard<'_, Counting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the limit that blocks a step of the plan.
    pub(super) fn over(&self, wish: &Wish, rest: &dyn Fn() -> Digest) -> Option<Over> {
        if !self.is_limited() {
            return None;
        }
        match self.judge(&self.counting(), self.now(), wish, rest, false) {
            Ok(Judged::Within | Judged::Approved(_)) => None,
            Ok(Judged::Over(over)) => Some(*over),
            Err(error) => Some(unreadable(&error)),
        }
    }

    /// Judges a request, with or without the pending ones.
    pub(super) fn judge(
        &self,
        counting: &Counting,
        now: DateTime<Utc>,
        wish: &Wish,
        rest: &dyn Fn() -> Digest,
        pending: bool,
    ) -> Result<Judged, FactError> {
        let past =
            Past { guard: self, counting, now, mode: wish.mode, pending, failed: None.into() };
        let limits = &self.rules.limits;
        let whole = || {
            let whole = counting.whole.iter().find(|whole| whole.concerns(wish));
            whole.map(|whole| whole.over.clone())
        };
        let over = single(limits, wish, &past).or_else(whole).or_else(|| sums(limits, wish, &past));
        if let Some(error) = past.failed.into_inner() {
            return Err(error);
        }
        match over {
            None => Ok(Judged::Within),
            Some(over) => Ok(self.approved(over, wish, rest(), now, &self.facts.plan_approvals()?)),
        }
    }

    /// Decides if approvals permit an exceeded limit.
    fn approved(
        &self,
        over: Over,
        wish: &Wish,
        rest: Digest,
        now: DateTime<Utc>,
        kept: &[KeptApproval],
    ) -> Judged {
        let rules = &self.rules.approvals;
        let wish = Wish { rest: Some(rest), ..wish.clone() };
        let standing = standing(rules, kept, &wish, now);
        if standing.is_enough() {
            return Judged::Approved(standing.ids);
        }
        let alone = rules.needed(std::slice::from_ref(&wish));
        let approvers = if standing.needed == 0 { alone } else { standing.needed };
        let approved_by = standing.actors.into_iter().collect();
        Judged::Over(Box::new(Over { approved_by, approvers, ..over }))
    }

    /// Names the run that is counted now: one state of the files on one UTC day.
    pub(super) fn run(tree: &str, now: DateTime<Utc>) -> String {
        format!("{tree}@{}", day(now))
    }
}

/// Names a UTC day, as sums are named.
pub(super) fn day(now: DateTime<Utc>) -> String {
    now.date_naive().to_string()
}

/// Builds the block for an unreadable state: nothing is done.
fn unreadable(error: &FactError) -> Over {
    Over {
        limit: "the state".to_owned(),
        allows: "nothing".to_owned(),
        would: "more".to_owned(),
        place: error.to_string(),
        scope: Scope::Object,
        wants: Verdict::Blocked,
        approved_by: Vec::new(),
        approvers: 1,
    }
}

/// The sums that are known at one moment.
struct Past<'a> {
    guard: &'a Guard,
    counting: &'a Counting,
    now: DateTime<Utc>,
    mode: Mode,
    pending: bool,
    failed: RefCell<Option<FactError>>,
}

impl Past<'_> {
    /// Returns the read value, or the default after noting the failure.
    fn or_note<T: Default>(&self, read: Result<T, FactError>) -> T {
        read.unwrap_or_else(|error| {
            *self.failed.borrow_mut() = Some(error);
            T::default()
        })
    }
}

impl Known for Past<'_> {
    fn counted(&self, span: Span, merchant: Option<&Key>) -> Tally {
        let name = match span {
            Span::Day => day(self.now),
            Span::Run => Guard::run(&self.counting.tree, self.now),
        };
        let counted = self.guard.facts.counted((span, &name), self.mode, merchant);
        let mut tally = self.or_note(counted);
        let others = self.counting.pending.values().filter(|other| {
            self.pending
                && other.mode == self.mode
                && other.stake.approvals.is_empty()
                && merchant.is_none_or(|merchant| other.merchant == *merchant)
        });
        others.for_each(|other| tally.add(&other.stake));
        tally
    }

    fn usual(&self, wish: &Wish, moved: &Moved) -> Usual {
        self.or_note(self.guard.facts.usual(wish.mode, &wish.merchant, &wish.key, moved))
    }
}
