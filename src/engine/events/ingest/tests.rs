#![expect(clippy::arithmetic_side_effects, reason = "an overflow fails the test")]

use chrono::TimeDelta;
use serde_json::json;

use super::*;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{merchant, now, observation, poll_record};
use crate::model::state::lifecycle::EventsDropped;
use crate::plan::state_view::StateView;

/// Returns an event about a transaction of this status, so many minutes after the beginning.
fn event(id: &str, status: &str, minutes: i64) -> Event {
    let at = crate::base::clock::timestamp(&(now() + TimeDelta::minutes(minutes)));
    let value = json!({
        "id": id, "created": at, "type": "transaction.updated",
        "data": {"id": "tx_1", "status": status, "modified": at, "amount": 500, "currency": "USD"},
    });
    serde_json::from_value(value).unwrap()
}

fn drop_record(hours: i64) -> Record {
    Record::EventsDropped(Box::new(EventsDropped {
        merchant: merchant(),
        horizon: now() + TimeDelta::hours(hours),
        events: (0, 0),
        forged: Vec::new(),
        malformed: Vec::new(),
        actions: Vec::new(),
        at: now(),
    }))
}

/// Adds events to one batch; returns the records of verified events, with the resources to sweep.
async fn ingest(fixture: &StateFixture, events: &[Event]) -> (Vec<VerifiedEvent>, BTreeSet<Key>) {
    let wallet = fixture.known_state.credential_source(&merchant());
    let mut ingest = Ingest::new(&fixture.shared, &wallet);
    for event in events {
        ingest.add(event, Via::Poll).await.unwrap();
    }
    let verified = ingest.records.iter().filter_map(|record| {
        if let Record::EventVerified(one) = record { Some((**one).clone()) } else { None }
    });
    let verified: Vec<VerifiedEvent> = verified.collect();
    assert_eq!(ingest.new_events(), u64::try_from(verified.len()).unwrap());
    let (blobs, records) = (ingest.blobs.clone(), ingest.records.clone());
    fixture.shared.write(blobs, records).await.unwrap();
    (verified, ingest.about)
}

#[tokio::test]
async fn an_event_is_recorded_once_within_a_batch_and_after_it() {
    let fixture = StateFixture::with_documents(&[]);
    let one = event("evt_1", "PENDING", 0);
    assert_eq!(ingest(&fixture, &[one.clone(), one.clone()]).await.0.len(), 1);
    assert_eq!(ingest(&fixture, &[one]).await.0.len(), 0);
}

#[tokio::test]
async fn an_event_without_an_id_or_a_time_is_no_event() {
    let fixture = StateFixture::with_documents(&[]);
    let nameless = event("", "PENDING", 0);
    let timeless = Event { created: None, ..event("evt_1", "PENDING", 0) };
    assert_eq!(ingest(&fixture, &[nameless, timeless]).await.0.len(), 0);
}

#[tokio::test]
async fn an_event_up_to_the_horizon_is_no_news_and_a_later_one_is() {
    let mut fixture = StateFixture::with_documents(&[]);
    fixture.record(poll_record(now()));
    fixture.record(drop_record(1));
    let (at, after) = (event("evt_1", "PENDING", 60), event("evt_2", "PENDING", 61));
    let (verified, _) = ingest(&fixture, &[at, after]).await;
    let names: Vec<&str> = verified.iter().map(|one| one.event.as_str()).collect();
    assert_eq!(names, ["evt_2"]);
}

#[tokio::test]
async fn an_older_version_of_an_object_is_recorded_and_changes_nothing() {
    let mut fixture = StateFixture::with_documents(&[]);
    fixture.record(observation("Invoice/a", "tx_1", json!({})));
    let (new, old) = (event("evt_2", "COMPLETED", 2), event("evt_1", "PENDING", 1));
    let (verified, about) = ingest(&fixture, &[new]).await;
    assert_eq!(verified[0].freshness, Freshness::Newer);
    assert_eq!(about, ["Invoice/a".parse().unwrap()].into());
    let (verified, about) = ingest(&fixture, &[old]).await;
    assert_eq!((verified[0].freshness, about.len()), (Freshness::Older, 0));
}

#[tokio::test]
async fn the_text_of_an_event_is_sealed() {
    let fixture = StateFixture::with_documents(&[]);
    let mut one = event("evt_1", "PENDING", 0);
    one.data.as_mut().unwrap()["payer"] = json!("Jane Doe");
    let (verified, _) = ingest(&fixture, &[one]).await;
    let record = serde_json::to_string(&verified[0]).unwrap();
    assert!(!record.contains("Jane"), "{record}");
    let body = fixture.shared.open(&verified[0].body).unwrap();
    assert!(body.expose().contains("Jane Doe"));
    assert!(fixture.known_state.desired().broken.is_empty());
}

#[tokio::test]
async fn events_that_are_read_again_without_hooks_are_quiet() {
    let fixture = StateFixture::with_documents(&[]);
    let wallet = fixture.known_state.credential_source(&merchant());
    let mut quiet = Ingest::new(&fixture.shared, &wallet);
    quiet.quiet = true;
    quiet.add(&event("evt_1", "PENDING", 0), Via::Poll).await.unwrap();
    let [Record::EventVerified(one)] = &quiet.records[..] else { panic!("no event") };
    assert!(one.quiet);
}
