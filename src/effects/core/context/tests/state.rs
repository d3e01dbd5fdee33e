//! Changes of existing objects: captures, voids, signatures, payments of occurrences.

use serde_json::{Value, json};

use crate::base::id::RemoteId;
use crate::base::money::Money;
use crate::effects::core::context::tests::{body, check, event, intent, kept, no_item, refused};
use crate::effects::payments::{CaptureTime, capture, sign, void};
use crate::effects::recurring::occurrences::pay;
use crate::effects::register::effect_row;
use crate::effects::testing::{items, no_path, obligation};

fn id(text: &str) -> RemoteId {
    RemoteId::new(text).unwrap()
}

fn usd(text: &str) -> Money {
    text.parse().unwrap()
}

/// Judges a change of the transaction `ch1` by itself, and by events on a service that does not
/// show it.
fn both(effect: &str, now: &Value) -> [String; 2] {
    let before = json!({"results": [{"id": "e1", "created": "2030-01-01T00:00:01.000Z"}]});
    let events =
        items(&json!([event(1, &json!({"id": "ch1", "status": "VOIDED"})), event(2, now)]));
    let none = || items(&json!([]));
    [
        check(effect, &json!({}), before.clone(), &[body(now.clone()), none(), none()]),
        check(effect, &json!({}), before, &[no_path(), events, none()]),
    ]
}

#[test]
fn a_capture_is_settled_by_the_status() {
    let now =
        |status: &str, auto: bool| json!({"id": "ch1", "status": status, "auto_capture": auto});
    for done in [now("COMPLETED", false), now("AUTHORIZED", true)] {
        assert_eq!(both("charge.capture", &done), ["happened ch1", "happened ch1"], "{done}");
    }
    for over in ["VOIDED", "FAILED"] {
        let refused = "refused not_valid_for_transaction_status";
        assert_eq!(both("charge.capture", &now(over, false)), [refused, refused], "{over}");
    }
    let [read, told] = both("charge.capture", &now("AUTHORIZED", false));
    assert_eq!(read, "absent");
    assert!(told.starts_with("unseen until Some(2030-01-01T00:00:02Z)"), "{told}");
}

#[test]
fn a_void_is_settled_by_the_status() {
    let now = |status: &str| json!({"id": "ch1", "status": status});
    assert_eq!(both("transaction.void", &now("VOIDED")), ["happened ch1", "happened ch1"]);
    for over in ["COMPLETED", "FAILED"] {
        let refused = "refused not_valid_for_transaction_status";
        assert_eq!(both("transaction.void", &now(over)), [refused, refused], "{over}");
    }
    assert_eq!(both("transaction.void", &now("AUTHORIZED"))[0], "absent");
}

#[test]
fn events_of_others_and_of_before_say_nothing_and_a_hold_that_is_listed_still_is_one() {
    let before = json!({"results": [{"id": "e1", "created": "2030-01-01T00:00:01.000Z"}]});
    let other = event(2, &json!({"id": "ch2", "status": "COMPLETED"}));
    let older = event(1, &json!({"id": "ch1", "status": "COMPLETED"}));
    let events = || items(&json!([older.clone(), other.clone()]));
    let holds = |id: &str| items(&json!([{"id": id}]));
    let judge =
        |holds| check("charge.capture", &json!({}), before.clone(), &[no_path(), events(), holds]);
    assert_eq!(judge(holds("ch1")), "absent");
    assert!(judge(holds("ch2")).starts_with("unseen"));
    let gone = [no_item(), events(), holds("ch1")];
    let found = check("charge.capture", &json!({}), Value::Null, &gone);
    assert_eq!(found, "unknown: the transaction cannot be found any more");
    let strange = [items(&json!([])), events(), holds("ch1")];
    assert!(check("charge.capture", &json!({}), Value::Null, &strange).starts_with("unknown"));
}

#[test]
fn the_last_word_of_the_events_counts() {
    let events = [("AUTHORIZED", 1), ("COMPLETED", 2), ("AUTHORIZED", 3)];
    let events = events.map(|(status, at)| event(at, &json!({"id": "ch1", "status": status})));
    let answers = [no_path(), items(&json!(events)), items(&json!([{"id": "ch1"}]))];
    assert_eq!(check("charge.capture", &json!({}), Value::Null, &answers), "happened ch1");
}

#[test]
fn another_amount_than_the_authorised_one_is_not_sent() {
    let new = |time| capture(obligation(), &id("ch1"), usd("1.00 USD"), time, Some("July"));
    let effect = new(CaptureTime::Immediate);
    assert_eq!(effect.request.body["capture_time"], "IMMEDIATE");
    assert_eq!(new(CaptureTime::NextRun).request.body["capture_time"], "NEXT_AUTO_CAPTURE");
    assert!(effect.request.body["reference"].as_str().unwrap().starts_with("July [rk"));
    let before = |target: Value| json!({ "target": target });
    assert_eq!(refused(&effect, &before(json!({"amount": 100, "currency": "USD"}))), None);
    assert_eq!(refused(&effect, &before(json!({"amount": null, "currency": null}))), None);
    let amount = refused(&effect, &before(json!({"amount": 99, "currency": "USD"}))).unwrap();
    assert_eq!(amount, "the charge's amount is 99, not 100");
    let currency = refused(&effect, &before(json!({"amount": 100, "currency": "CAD"}))).unwrap();
    assert_eq!(currency, "the charge's currency is \"CAD\", not \"USD\"");
    assert_eq!(refused(&effect, &json!({})), None, "nothing was shown");
}

#[test]
fn what_is_compared_later_is_kept_and_nothing_of_the_payer() {
    let effect = void(obligation(), &id("ch1"), None);
    let newest = || body(json!({"results": [{"id": "e1", "created": "2030", "data": {"x": 1}}]}));
    let shown = json!({"id": "ch1", "status": "AUTHORIZED", "amount": 5, "currency": "USD",
        "amount_refunded": 2, "refunds": [{"id": "r1", "amount": 2}], "method": {"name": "Jane"}});
    let before = kept(&effect, &[newest(), body(shown.clone())]);
    let target = json!({"status": "AUTHORIZED", "amount": 5, "currency": "USD", "amount_refunded": 2,
        "refunds": ["r1"], "signature_id": null});
    let first = json!([{"id": "e1", "created": "2030"}]);
    assert_eq!(before, json!({"results": first, "target": target}));
    assert_eq!(kept(&effect, &[newest(), no_path()]), json!({"results": first}));
    assert_eq!(kept(&effect, &[no_path(), body(shown)]), json!({ "target": target }));
    assert_eq!(kept(&effect, &[no_path(), no_path()]), Value::Null);
}

#[test]
fn a_signature_is_there_once_the_transaction_names_another_than_before() {
    let before = |id: Value| json!({"target": {"signature_id": id}});
    let now = |id: Value| body(json!({"id": "ch1", "signature_id": id}));
    let judge = |had: Value, answer| check("transaction.sign", &json!({}), before(had), &[answer]);
    assert_eq!(judge(Value::Null, now(json!("s1"))), "happened ch1");
    assert_eq!(judge(json!("s1"), now(json!("s1"))), "absent");
    assert_eq!(judge(Value::Null, now(Value::Null)), "absent");
    assert_eq!(judge(Value::Null, no_path()), "absent", "a second signature is refused");
    assert!(judge(Value::Null, no_item()).starts_with("unknown"));
    let strokes = json!({"$secret": "x"});
    let effect = sign(obligation(), &id("ch1"), "service/jsignature", &strokes);
    assert!(effect.sealed, "strokes are a secret");
    assert_eq!(effect.request.body, json!({"mime_type": "service/jsignature", "data": strokes}));
}

#[test]
fn an_occurrence_is_settled_by_its_status_and_its_attempts() {
    let before = json!({"status": "PENDING", "attempts": 1, "amount": 5});
    let now = |status: &str, attempts: Value| {
        json!({"id": "o1", "status": status, "attempts": attempts,
            "transactions": [{"failure_code": "old"}, {"failure_code": "card_declined"}]})
    };
    let judge = |one: Value| check("occurrence.pay", &json!({}), before.clone(), &[body(one)]);
    assert_eq!(judge(now("PAID", json!(2))), "happened o1");
    assert_eq!(judge(now("PENDING", json!(1))), "absent");
    assert_eq!(judge(now("FAILED", json!(2))), "refused card_declined");
    assert!(judge(now("PAYING", json!(1))).starts_with("unknown"));
    assert!(judge(now("PENDING", Value::Null)).starts_with("unknown"));
    assert!(check("occurrence.pay", &json!({}), before, &[no_item()]).starts_with("unknown"));
}

#[test]
fn an_occurrence_of_another_amount_and_a_paid_one_are_not_paid() {
    let effect = pay(obligation(), &id("r1"), &id("o1"), usd("20.00 USD"));
    let shown = |status: &str, amount: i64| {
        body(json!({"id": "o1", "status": status, "attempts": 0, "amount": amount, "x": 1}))
    };
    let before = |status, amount| kept(&effect, &[shown(status, amount)]);
    assert_eq!(
        before("PENDING", 2000),
        json!({"status": "PENDING", "attempts": 0, "amount": 2000})
    );
    assert_eq!(refused(&effect, &before("PENDING", 2000)), None);
    let other = refused(&effect, &before("PENDING", 1999)).unwrap();
    assert_eq!(other, "the occurrence's amount is 1999, not 2000, in minor units");
    let paid = refused(&effect, &before("PAID", 2000)).unwrap();
    assert_eq!(paid, "the occurrence is paid already");
    assert_eq!(kept(&effect, &[no_path()]), Value::Null);
    let learned = effect_row("occurrence.pay").unwrap().learn;
    let reply = json!({"id": "o1", "status": "PAID", "transactions": [{"id": "a"}, {"id": "b"}]});
    let learned = learned(&intent("occurrence.pay", &json!({}), Value::Null), &reply).unwrap();
    assert_eq!((learned.exists, &learned.facts["transaction"]), (true, &json!("b")));
}
