use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::*;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{action_request, hook_run, merchant};
use crate::model::events::hook::NOTIFY;

/// Delivers nothing, with this result, and counts the attempts.
struct FixedSender {
    result: fn() -> DeliveryResult,
    drops_repeats: bool,
    attempts: AtomicUsize,
}

impl NotificationSender for FixedSender {
    fn deliver<'a>(&'a self, _: &'a OutgoingNotification) -> DeliveryAttempt<'a> {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { (self.result)() })
    }

    fn drops_repeats(&self, _: &str) -> bool {
        self.drops_repeats
    }

    fn intake_address(&self, _: &IntakeLink) -> String {
        String::new()
    }

    fn allows_any_address(&self, _: &str) -> bool {
        false
    }
}

fn sender(result: fn() -> DeliveryResult, drops_repeats: bool) -> Arc<FixedSender> {
    Arc::new(FixedSender { result, drops_repeats, attempts: AtomicUsize::new(0) })
}

fn id() -> ActionRequestId {
    let name = "tell".parse().unwrap();
    ActionRequestId { merchant: merchant(), event: "e1".to_owned(), name }
}

fn with_request() -> StateFixture {
    let mut fixture = StateFixture::with_documents(&[]);
    let request = action_request("tell", NOTIFY, json!({"target": "ops", "body": "x"}));
    fixture.record(Record::HooksRun(Box::new(hook_run(1, "a", vec![request]))));
    fixture
}

fn message() -> OutgoingNotification {
    OutgoingNotification {
        key: "hook-1".to_owned(),
        target: "ops".to_owned(),
        body: json!("x"),
        html: None,
        subject: None,
        to: None,
    }
}

type Begun = Result<NotificationSend, (ActionOutcome, String)>;

fn begin(fixture: &StateFixture, sender: &Arc<FixedSender>) -> Begun {
    let pending = fixture.shared.facts.pending(&id()).unwrap().expect("a request");
    attempt(&fixture.shared, &pending, sender.clone(), || Ok(message())).unwrap()
}

/// Makes one attempt; returns true if it settled the notification, and its outcome.
async fn send(fixture: &StateFixture, sender: &Arc<FixedSender>) -> (bool, Option<ActionOutcome>) {
    let Ok(begun) = begin(fixture, sender) else { panic!("it was not tried") };
    let tried = begun.run().await.unwrap();
    let TaskResult::ActionTried(_, settled, _) = tried else { panic!("{tried:?}") };
    let result = fixture.shared.facts.action_result(&id()).unwrap();
    (settled, result.map(|result| result.outcome))
}

#[tokio::test]
async fn a_delivery_settles_a_notification_by_what_is_proved() {
    let cases: [(fn() -> DeliveryResult, ActionOutcome); 3] = [
        (|| DeliveryResult::Done, ActionOutcome::Done),
        (|| DeliveryResult::Refused("no".to_owned()), ActionOutcome::Refused),
        (|| DeliveryResult::InDoubt("lost".to_owned()), ActionOutcome::Unknown),
    ];
    for (result, outcome) in cases {
        let told = send(&with_request(), &sender(result, false)).await;
        assert_eq!(told, (true, Some(outcome)));
    }
}

#[tokio::test]
async fn what_provably_did_not_leave_is_tried_again() {
    let fixture = with_request();
    let sender = sender(|| DeliveryResult::NotSent("down".to_owned()), false);
    for _ in 0..2 {
        assert_eq!(send(&fixture, &sender).await, (false, None));
        assert!(!fixture.shared.facts.is_sending(&id()).unwrap());
    }
    assert_eq!(sender.attempts.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_notification_that_may_have_arrived_is_never_sent_a_second_time() {
    let mut fixture = with_request();
    let attempt = NotificationAttempt { id: id(), in_progress: true, at: fixture.now() };
    fixture.record(Record::NotificationAttempt(Box::new(attempt)));
    let sender = sender(|| DeliveryResult::Done, false);
    let Err((outcome, _)) = begin(&fixture, &sender) else { panic!("it was sent again") };
    assert_eq!(outcome, ActionOutcome::Unknown);
}

#[tokio::test]
async fn a_target_that_drops_repeats_gets_a_lost_notification_again_for_a_day() {
    let mut fixture = with_request();
    let lost = sender(|| DeliveryResult::InDoubt("lost".to_owned()), true);
    assert_eq!(send(&fixture, &lost).await, (false, None));
    fixture.pass(TimeDelta::hours(23));
    assert_eq!(send(&fixture, &lost).await, (false, None), "its attempt is under way");
    fixture.pass(TimeDelta::hours(1));
    assert!(matches!(begin(&fixture, &lost), Err((ActionOutcome::Unknown, _))));
}

#[tokio::test]
async fn an_attempt_is_on_disk_before_anything_leaves() {
    let fixture = with_request();
    let before = fixture.length();
    let crash = sender(|| panic!("the process ends here"), false);
    let Ok(begun) = begin(&fixture, &crash) else { panic!("it was not tried") };
    assert!(tokio::spawn(begun.run()).await.is_err());
    assert_eq!(fixture.length(), before + 1);
    assert!(fixture.shared.facts.is_sending(&id()).unwrap());
}

#[test]
fn an_invalid_notification_is_settled_without_an_attempt() {
    let fixture = with_request();
    let pending = fixture.shared.facts.pending(&id()).unwrap().unwrap();
    let sender = sender(|| DeliveryResult::Done, false);
    let why = || Err("it names no target".to_owned());
    let begun = attempt(&fixture.shared, &pending, sender, why).unwrap();
    assert!(matches!(begun, Err((ActionOutcome::Invalid, why)) if why == "it names no target"));
}
