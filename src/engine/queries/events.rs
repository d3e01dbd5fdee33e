//! The gateway's events and the state of their receiver, as plain data. Names and addresses of
//! payers stay sealed.

use chrono::{DateTime, TimeDelta, Utc};

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::engine::handles::shared::EngineResult;
use crate::engine::protocol::events::{
    EventView, EventsView, EventsWanted, IgnoredView, ReceiverView,
};
use crate::engine::queries::event_list::event_view;
use crate::engine::view::EngineView;
use crate::model::events::event::PartnerWebhook;

/// Span of the partner's webhook retries: 25, ten minutes apart (partner-api, Delivery rules, 3).
const SENDER_TRIES_FOR: TimeDelta = TimeDelta::minutes(250);
/// Shortest absence of the receiver that is reported.
const AWAY_MIN: TimeDelta = TimeDelta::minutes(20);

fn ignored_view(one: PartnerWebhook) -> IgnoredView {
    let reason = one.ignored.unwrap_or_default();
    IgnoredView { at: timestamp(&one.at), reference: one.reference, reason }
}

impl EngineView<'_> {
    /// Returns events, newest first, and the state of their receiver.
    pub(crate) fn events(&self, wanted: &EventsWanted) -> EngineResult<EventsView> {
        let at = Some(timestamp(&self.shared.now()));
        let mut view = EventsView { at, away: self.absence_message(), ..EventsView::default() };
        let merchants = self.snapshot().merchants();
        let chosen = |merchant: &&Key| wanted.merchant.as_ref().is_none_or(|one| one == *merchant);
        let merchants: Vec<&Key> = merchants.iter().filter(chosen).collect();
        for merchant in &merchants {
            view.receivers.push(self.receiver(merchant)?);
            self.list_posts(wanted, merchant, &mut view)?;
        }
        if wanted.merchant.is_none() && wanted.filter.is_empty() {
            let ignored = self.shared.facts.newest_ignored_webhooks(wanted.most)?;
            view.ignored = ignored.into_iter().map(ignored_view).collect();
        }
        self.list_events(wanted, &merchants, &mut view)?;
        Ok(view)
    }

    /// Returns one event, with the state of its hooks once it is verified.
    pub(crate) fn event(&self, id: &str) -> EngineResult<Option<EventView>> {
        for merchant in self.snapshot().merchants() {
            if let Some(entry) = self.shared.facts.event(&merchant, id)? {
                return Ok(Some(event_view(&merchant, id, &entry)));
            }
        }
        Ok(None)
    }

    fn receiver(&self, merchant: &Key) -> EngineResult<ReceiverView> {
        let ledger = self.shared.facts.event_ledger(merchant)?;
        let now = self.shared.now();
        let since = |at: Option<DateTime<Utc>>| {
            at.map(|at| now.signed_duration_since(at).num_seconds().max(0))
        };
        Ok(ReceiverView {
            merchant: merchant.short(),
            age_seconds: since(ledger.newest),
            lag_seconds: since(self.event_schedule.list_read_at(merchant, self.shared)?),
            ledger,
        })
    }

    /// Message if the receiver was absent before this process: webhooks of that time may be lost.
    fn absence_message(&self) -> Option<String> {
        let (from, to) = self.event_schedule.away?;
        let away = to.signed_duration_since(from);
        (away >= AWAY_MIN).then(|| {
            let lost = if away > SENDER_TRIES_FOR {
                ": decisions on applications may have been lost"
            } else {
                ""
            };
            let (away, tries) = (span(away), span(SENDER_TRIES_FOR));
            let (from, to) = (timestamp(&from), timestamp(&to));
            format!(
                "the receiver was down for {away} from {from} to {to}; the service retries for \
                {tries}{lost}"
            )
        })
    }
}

/// Formats a span in hours and minutes.
fn span(span: TimeDelta) -> String {
    let minutes = span.num_minutes().max(0);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    match (hours, minutes) {
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "an overflow fails the test")]
mod tests {
    use super::*;

    use crate::engine::tests::fixture::StateFixture;
    use crate::engine::tests::records::{merchant, now};

    fn away(minutes: i64) -> Option<String> {
        let mut fixture = StateFixture::with_documents(&[]);
        fixture.event_schedule.away = Some((now() - TimeDelta::minutes(minutes), now()));
        let wanted = EventsWanted { most: 10, ..EventsWanted::default() };
        fixture.view().events(&wanted).unwrap().away
    }

    #[test]
    fn an_absence_is_told_once_it_is_long_and_as_a_loss_once_the_service_gave_up() {
        assert_eq!(away(19), None);
        let told = away(20).unwrap();
        assert!(told.contains("was down for 20 min") && !told.contains("lost"), "{told}");
        assert!(!away(250).unwrap().contains("lost"));
        assert!(away(251).unwrap().contains("may have been lost"));
    }

    #[test]
    fn a_receiver_without_events_has_no_age_and_another_merchant_no_receiver() {
        let fixture = StateFixture::with_documents(&[]);
        let receivers = |merchant: Option<Key>| {
            fixture
                .view()
                .events(&EventsWanted { merchant, most: 10, ..EventsWanted::default() })
                .unwrap()
                .receivers
        };
        let [own] = &receivers(Some(merchant()))[..] else { panic!("no receiver") };
        assert_eq!((own.age_seconds, own.lag_seconds), (None, None));
        assert!(receivers(Some("Merchant/other".parse().unwrap())).is_empty());
        assert_eq!(fixture.view().event("evt_none").unwrap(), None);
    }

    #[test]
    fn a_span_is_told_in_hours_and_minutes() {
        let told = |minutes| span(TimeDelta::minutes(minutes));
        assert_eq!(
            (told(25), told(180), told(250)),
            ("25 min".into(), "3 h".into(), "4 h 10 min".into())
        );
    }
}
