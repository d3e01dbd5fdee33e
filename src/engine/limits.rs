//! What the limits say of one thing that is to be done: for the plan, and again for the meter.
//!
//! One judgement for both. A limit is passed only by approvals that name just this; what cannot be read
//! counts as a limit in the way.

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

/// The limits, what was counted, and what is about to be.
pub(super) struct Guard {
    pub(super) rules: Rules,
    pub(super) facts: Facts,
    clock: SharedClock,
    state: Mutex<Counting>,
    /// Told whenever something that was about to be counted is counted, or is not done.
    pub(super) freed: Notify,
}

/// What is counted outside the fold.
#[derive(Debug, Default)]
pub(super) struct Counting {
    /// The present state of the files.
    pub tree: String,
    /// The limits that the plan as a whole exceeds.
    pub whole: Vec<WholePlan>,
    /// What passed the meter and is not in the fold yet.
    pub pending: BTreeMap<IntentId, Wish>,
}

/// A limit that the plan as a whole exceeds: none of what it is about is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WholePlan {
    /// Test or live.
    pub mode: Mode,
    /// The merchant whose limit it is; none for a general one.
    pub merchant: Option<Key>,
    /// What it is about.
    pub about: Whole,
    /// The limit.
    pub over: Over,
}

impl WholePlan {
    fn concerns(&self, wish: &Wish) -> bool {
        let merchant = self.merchant.as_ref().is_none_or(|merchant| *merchant == wish.merchant);
        self.mode == wish.mode && merchant && self.about.concerns(wish)
    }
}

/// What the limits say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Judged {
    /// No limit stands in the way.
    Within,
    /// One does, and these approvals let it past.
    Approved(Vec<String>),
    /// One does.
    Over(Box<Over>),
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Guard({:?})", self.rules.limits)
    }
}

impl Guard {
    /// A guard over these facts.
    pub(super) fn new(settings: &Settings, facts: &Facts, clock: &SharedClock) -> Self {
        Self {
            rules: settings.policy.clone(),
            facts: facts.clone(),
            clock: clock.clone(),
            state: Mutex::default(),
            freed: Notify::new(),
        }
    }

    /// Whether anything is limited at all.
    pub(super) fn is_limited(&self) -> bool {
        !self.rules.limits.is_empty()
    }

    /// The present time.
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// What is counted outside the fold.
    pub(super) fn counting(&self) -> MutexGuard<'_, Counting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The limit that stands in the way of a step of the plan.
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

    /// What the limits say, with or without what is not in the fold yet.
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

    /// Whether approvals let it past.
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

    /// The run that is counted now: one state of the files on one UTC day.
    pub(super) fn run(tree: &str, now: DateTime<Utc>) -> String {
        format!("{tree}@{}", day(now))
    }
}

/// The UTC day, as sums are named by.
pub(super) fn day(now: DateTime<Utc>) -> String {
    now.date_naive().to_string()
}

/// What a failed look at the past comes to: nothing is done.
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

/// What is known of the past at one moment.
struct Past<'a> {
    guard: &'a Guard,
    counting: &'a Counting,
    now: DateTime<Utc>,
    mode: Mode,
    pending: bool,
    failed: RefCell<Option<FactError>>,
}

impl Past<'_> {
    /// What was read, or nothing and a note that it failed.
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
