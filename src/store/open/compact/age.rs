//! Age of a segment's records, with that of its evidence.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use crate::base::id::IntentId;
use crate::model::absence::Said;
use crate::model::record::Record;

/// Minimum age of approvals and of intents that move money before they are dropped: six months.
const EVIDENCE: TimeDelta = TimeDelta::days(184);

/// The newest times that records name.
#[derive(Debug, Default)]
pub(super) struct Age {
    newest: Option<DateTime<Utc>>,
    /// The newest time among evidence.
    evidence: Option<DateTime<Utc>>,
}

impl Age {
    /// Notes a record. `money` holds the intents so far that move money.
    pub(super) fn note(&mut self, record: &Record, money: &mut BTreeSet<IntentId>) {
        let at = at(record);
        self.newest = self.newest.max(at);
        if is_evidence(record, money) {
            self.evidence = self.evidence.max(at);
        }
    }

    /// Returns true if all records are older than `keep`, and all evidence is also older than six
    /// months. A segment without any time is kept.
    pub(super) fn is_over(&self, keep: TimeDelta, now: DateTime<Utc>) -> bool {
        let older = |at: DateTime<Utc>, than: TimeDelta| {
            now.checked_sub_signed(than).is_some_and(|horizon| at < horizon)
        };
        let evidence = self.evidence.is_none_or(|at| older(at, keep.max(EVIDENCE)));
        self.newest.is_some_and(|at| older(at, keep)) && evidence
    }
}

/// Returns true if a record is about an approval or about money.
fn is_evidence(record: &Record, money: &mut BTreeSet<IntentId>) -> bool {
    if let Record::Intent(intent) = record
        && !intent.stake.moves.is_empty()
    {
        money.insert(intent.id);
    }
    matches!(record, Record::Approval(_) | Record::PlanApproval(_))
        || intent_of(record).is_some_and(|id| money.contains(&id))
}

/// Returns the intent that a record is, or is about.
fn intent_of(record: &Record) -> Option<IntentId> {
    if let Record::Intent(intent) = record {
        return Some(intent.id);
    }
    if let Record::Progress { intent, .. } | Record::Resolved { intent, .. } = record {
        return Some(*intent);
    }
    None
}

/// Returns the time in a record, if it names one.
fn at(record: &Record) -> Option<DateTime<Utc>> {
    Some(match record {
        Record::Intent(one) => one.at,
        Record::Progress { at, .. }
        | Record::Resolved { at, .. }
        | Record::Hold { at, .. }
        | Record::EmptyRemote { at, .. }
        | Record::Resumed { at, .. } => *at,
        Record::Observation(one) => one.at,
        Record::Inbox(one) => one.at,
        Record::Posted(one) => one.at,
        Record::Told(one) => one.at,
        Record::Forged(one) => one.at,
        Record::Ran(one) => one.at,
        Record::Granted(one) => one.at,
        Record::Telling(one) => one.at,
        Record::Replayed(one) => one.at,
        Record::Polled(one) => one.at,
        Record::Approval(one) => one.at,
        Record::PlanApproval(one) => one.at,
        Record::PlanUsed(one) => one.at,
        Record::Suspended(one) => one.at,
        Record::Absence(one) => said(&one.said),
        Record::Moved(one) => one.at,
        Record::Restored(one) => one.at,
        Record::Compacted(one) => one.at,
        Record::Released(one) => one.at,
        Record::Forgotten(one) => one.at,
        Record::Disowned(one) => one.at,
        Record::Strays(one) => one.at,
        Record::Attached(one) => one.at,
        Record::Dismissed(one) => one.at,
        Record::Loaded(one) => one.at,
        Record::ScriptForgotten(one) => one.at,
        Record::OrphanSeen(one) => one.at,
        Record::Retained(one) => one.at,
        Record::Lapsed(one) => one.at,
        Record::Rotated(one) => one.at,
        Record::Rekeyed(one) => one.at,
        Record::Adopted(one) => one.fact.at,
        Record::Bound(_) | Record::Passed(_) | Record::Unauthorised(_) => return None,
    })
}

/// Returns the time of an observation or decision about a missing document.
fn said(said: &Said) -> DateTime<Utc> {
    match said {
        Said::Back { at } => *at,
        Said::Marked(marked) => marked.at,
        Said::Allowed(allowed) => allowed.at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::Mode;
    use crate::base::money::{Currency, Money};
    use crate::model::intent::Intent;
    use crate::model::stake::{Moved, Stake};
    use crate::store::testing::old;

    fn day(days: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH.checked_add_signed(TimeDelta::days(days)).unwrap()
    }

    /// Closes K11: records of moved money stay for six months, all others for the given time.
    #[test]
    fn money_is_kept_for_six_months_whatever_is_said() {
        let over = |records: &[Record], keep: i64, now: i64| {
            let (mut age, mut money) = (Age::default(), BTreeSet::new());
            for record in records {
                age.note(record, &mut money);
            }
            age.is_over(TimeDelta::days(keep), day(now))
        };
        let hold = |at| Record::Hold {
            key: "Contact/jane".parse().unwrap(),
            reason: "x".into(),
            at: day(at),
        };
        assert!(!over(&[], 1, 1000), "nobody knows when");
        assert!(over(&[hold(1), hold(5)], 10, 16) && !over(&[hold(1), hold(5)], 10, 15));
        let still = Record::Intent(Box::new(Intent { at: day(0), ..old(1, "a", "m", Mode::Test) }));
        assert!(over(&[still, hold(0)], 10, 20), "it moves nothing");
        let moved = Moved { amount: Money::new(100, Currency::USD), meaning: "paid".into() };
        let stake = Stake { moves: vec![moved], ..Stake::default() };
        let intent = Intent { at: day(0), stake, ..old(1, "a", "m", Mode::Test) };
        let money = [Record::Intent(Box::new(intent)), hold(0)];
        assert!(!over(&money, 10, 184) && over(&money, 10, 185) && !over(&money, 400, 300));
    }
}
