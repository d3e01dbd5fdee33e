use super::*;
use crate::engine::tests::fixture::{StateFixture, complete};
use crate::engine::tests::records::merchant;
use crate::model::operator::{RotationRecord, RotationStep};

struct ReceiverParts {
    fixture: StateFixture,
    receiver: EventReceiver,
    engine: mpsc::Receiver<EngineInput>,
}

fn receiver() -> ReceiverParts {
    let fixture = StateFixture::with_documents(&[]);
    let (sender, engine) = mpsc::channel(4);
    let receiver = EventReceiver::new(fixture.shared.clone(), sender);
    ReceiverParts { fixture, receiver, engine }
}

impl ReceiverParts {
    fn post(&self, mode: Mode, body: &str) -> Receipt {
        complete(self.receiver.post(&merchant(), mode, body.as_bytes())).unwrap()
    }

    fn ledger(&self) -> EventLedger {
        self.fixture.shared.facts.event_ledger(&merchant()).unwrap()
    }
}

#[test]
fn a_post_is_on_disk_before_it_is_answered_and_signals_the_engine() {
    let mut one = receiver();
    let before = one.fixture.length();
    assert_eq!(one.post(Mode::Test, r#"{"id": "evt_1"}"#), Receipt::Stored);
    assert_eq!((one.fixture.length(), one.ledger().waiting), (before + 1, 1));
    assert!(matches!(one.engine.try_recv(), Ok(EngineInput::Posted)));
}

#[test]
fn one_signal_covers_all_posts_of_a_merchant_until_they_are_read() {
    let mut one = receiver();
    for id in ["evt_1", "evt_2", "evt_3"] {
        one.post(Mode::Test, &format!("{{\"id\": \"{id}\"}}"));
    }
    assert!(one.engine.try_recv().is_ok());
    assert!(one.engine.try_recv().is_err());
    one.fixture.shared.unread_posts.remove(&merchant());
    one.post(Mode::Test, r#"{"id": "evt_4"}"#);
    assert!(one.engine.try_recv().is_ok());
}

#[test]
fn a_known_event_is_answered_and_not_recorded_again() {
    let one = receiver();
    one.post(Mode::Test, r#"{"id": "evt_1"}"#);
    let before = one.fixture.length();
    assert_eq!(one.post(Mode::Test, r#"{"id": "evt_1", "more": 1}"#), Receipt::Stored);
    assert_eq!(one.fixture.length(), before);
}

#[test]
fn an_event_of_the_other_mode_waits_for_nothing_and_may_still_come_in_its_own() {
    let one = receiver();
    assert_eq!(one.post(Mode::Live, r#"{"id": "evt_1"}"#), Receipt::Stored);
    assert_eq!((one.ledger().waiting, one.ledger().other_mode), (0, 1));
    assert_eq!(one.post(Mode::Test, r#"{"id": "evt_1"}"#), Receipt::Stored);
    assert_eq!(one.ledger().waiting, 1);
}

#[test]
fn a_body_that_names_no_event_is_stored_once_and_waits_for_nothing() {
    let one = receiver();
    let long = format!("{{\"id\": \"{}\"}}", "a".repeat(65));
    for body in ["", "{", "{}", r#"{"id": 7}"#, r#"{"id": ""}"#, r#"{"id": "../x"}"#, &long] {
        assert_eq!(one.post(Mode::Test, body), Receipt::Malformed, "{body}");
    }
    let ledger = one.ledger();
    assert_eq!((ledger.malformed, ledger.waiting), (7, 0));
    let before = one.fixture.length();
    assert_eq!(one.post(Mode::Test, "{"), Receipt::Malformed);
    assert_eq!(one.fixture.length(), before);
}

#[test]
fn a_post_for_an_unknown_merchant_is_not_stored() {
    let one = receiver();
    let (other, before): (Key, u64) = ("Merchant/other".parse().unwrap(), one.fixture.length());
    let receipt = complete(one.receiver.post(&other, Mode::Test, b"{\"id\": \"evt_1\"}")).unwrap();
    assert_eq!((receipt, one.fixture.length()), (Receipt::Unknown, before));
    assert!(!one.receiver.accepts_events_of(&other).unwrap());
    assert!(one.receiver.accepts_events_of(&merchant()).unwrap());
}

#[test]
fn the_body_of_a_post_is_sealed_and_holds_no_number_of_a_card() {
    let one = receiver();
    let body = br#"{"id": "evt_1", "number": "4242424242424242", "name": "Jane"}"#;
    let what = one.receiver.classify(body, true);
    let (blobs, posted) = one.receiver.posted_record(&merchant(), Mode::Test, what, body).unwrap();
    assert!(!serde_json::to_string(&posted).unwrap().contains("Jane"));
    complete(one.fixture.shared.write(blobs, Vec::new())).unwrap();
    let opened = one.fixture.shared.vault.unseal_text(&posted.body).unwrap();
    let opened = String::from_utf8(opened.to_vec()).unwrap();
    assert!(opened.contains("Jane") && !opened.contains("4242424242424242"), "{opened}");
}

#[test]
fn an_address_stays_valid_through_one_rotation_that_is_not_finished() {
    let mut one = receiver();
    let address = WebhookAddress::Merchant(merchant());
    let valid = |one: &ReceiverParts| -> Vec<u32> {
        (0..3).filter(|n| one.receiver.accepts_address(&address, *n).unwrap()).collect()
    };
    let rotate = |one: &mut ReceiverParts, step| {
        let (addresses, actor) = (vec![address.clone()], "ann".to_owned());
        let rotated = RotationRecord { addresses, step, actor, at: one.fixture.now() };
        one.fixture.record(Record::Rotated(Box::new(rotated)));
    };
    assert_eq!(valid(&one), [0]);
    rotate(&mut one, RotationStep::Begun);
    assert_eq!(valid(&one), [0, 1]);
    rotate(&mut one, RotationStep::Finished);
    assert_eq!(valid(&one), [1]);
}
