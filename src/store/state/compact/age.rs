//! Age of a segment's records, with that of its evidence.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use crate::base::id::IntentId;
use crate::model::plans::missing_document::MissingDocumentChange;
use crate::model::record::Record;

/// Minimum age of approvals and of intents that move money before they are dropped: six months.
const EVIDENCE: TimeDelta = TimeDelta::days(184);

/// The newest times that records name.
#[derive(Debug, Default)]
pub(super) struct SegmentAge {
    newest: Option<DateTime<Utc>>,
    /// The newest time among evidence.
    evidence: Option<DateTime<Utc>>,
}

impl SegmentAge {
    /// Notes a record. `money` holds the intents so far that move money.
    pub(super) fn note(&mut self, record: &Record, money: &mut BTreeSet<IntentId>) {
        let at = time_of(record);
        self.newest = self.newest.max(at);
        if is_evidence(record, money) {
            self.evidence = self.evidence.max(at);
        }
    }

    /// Returns true if all records are older than `keep`, and all evidence is also older than six
    /// months. A segment without any time is kept.
    pub(super) fn is_expired(&self, keep: TimeDelta, now: DateTime<Utc>) -> bool {
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
        && !intent.exposure.moves.is_empty()
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
fn time_of(record: &Record) -> Option<DateTime<Utc>> {
    Some(match record {
        Record::Intent(one) => one.at,
        Record::Progress { at, .. }
        | Record::Resolved { at, .. }
        | Record::OnHold { at, .. }
        | Record::EmptyRemote { at, .. }
        | Record::Resumed { at, .. } => *at,
        Record::Observation(one) => one.at,
        Record::PartnerWebhook(one) => one.at,
        Record::WebhookReceived(one) => one.at,
        Record::EventVerified(one) => one.at,
        Record::Forged(one) => one.at,
        Record::HooksRun(one) => one.at,
        Record::ActionSettled(one) => one.at,
        Record::NotificationAttempt(one) => one.at,
        Record::Replayed(one) => one.at,
        Record::Polled(one) => one.at,
        Record::Approval(one) => one.at,
        Record::PlanApproval(one) => one.at,
        Record::PlanUsed(one) => one.at,
        Record::Suspended(one) => one.at,
        Record::MissingDocument(one) => time_of_absence(&one.change),
        Record::Moved(one) => one.at,
        Record::Restored(one) => one.at,
        Record::Compacted(one) => one.at,
        Record::Released(one) => one.at,
        Record::Forgotten(one) => one.at,
        Record::Disowned(one) => one.at,
        Record::UnknownObjects(one) => one.at,
        Record::TokenAttached(one) => one.at,
        Record::HooksAcknowledged(one) => one.at,
        Record::ScriptsLoaded(one) => one.at,
        Record::ScriptForgotten(one) => one.at,
        Record::OrphanDismissed(one) => one.at,
        Record::EventsDropped(one) => one.at,
        Record::Lapsed(one) => one.at,
        Record::Rotated(one) => one.at,
        Record::Rekeyed(one) => one.at,
        Record::Adopted(one) => one.fact.at,
        Record::StateOwner(_) | Record::CursorAdvanced(_) | Record::Unauthorised(_) => return None,
    })
}

/// Returns the time of an observation or decision about a missing document.
fn time_of_absence(said: &MissingDocumentChange) -> DateTime<Utc> {
    match said {
        MissingDocumentChange::Returned { at } => *at,
        MissingDocumentChange::Marked(marked) => marked.at,
        MissingDocumentChange::Allowed(allowed) => allowed.at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::Mode;
    use crate::base::money::{Currency, Money};
    use crate::model::intents::intent::Intent;
    use crate::model::plans::exposure::{Exposure, RecordedMove};
    use crate::store::testing::old_intent;

    fn day(days: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH.checked_add_signed(TimeDelta::days(days)).unwrap()
    }

    /// Closes K11: records of moved money stay for six months, all others for the given time.
    #[test]
    fn money_is_kept_for_six_months_whatever_is_said() {
        let over = |records: &[Record], keep: i64, now: i64| {
            let (mut age, mut money) = (SegmentAge::default(), BTreeSet::new());
            for record in records {
                age.note(record, &mut money);
            }
            age.is_expired(TimeDelta::days(keep), day(now))
        };
        let hold = |at| Record::OnHold {
            key: "Contact/jane".parse().unwrap(),
            reason: "x".into(),
            at: day(at),
        };
        assert!(!over(&[], 1, 1000), "no time is known");
        assert!(over(&[hold(1), hold(5)], 10, 16) && !over(&[hold(1), hold(5)], 10, 15));
        let still =
            Record::Intent(Box::new(Intent { at: day(0), ..old_intent(1, "a", "m", Mode::Test) }));
        assert!(over(&[still, hold(0)], 10, 20), "it moves nothing");
        let moved = RecordedMove { amount: Money::new(100, Currency::USD), meaning: "paid".into() };
        let stake = Exposure { moves: vec![moved], ..Exposure::default() };
        let intent = Intent { at: day(0), exposure: stake, ..old_intent(1, "a", "m", Mode::Test) };
        let money = [Record::Intent(Box::new(intent)), hold(0)];
        assert!(!over(&money, 10, 184) && over(&money, 10, 185) && !over(&money, 400, 300));
    }
}
