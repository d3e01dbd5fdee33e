//! Effects that move money anew: charges, credits, refunds.

use serde_json::{Value, json};

use crate::base::id::RemoteId;
use crate::base::money::Money;
use crate::effects::core::context::tests::{body, check, event, intent, no_item, refused};
use crate::effects::payments::charge::{TransactionRequest, charge, credit};
use crate::effects::payments::refund::refund;
use crate::effects::register::action_row;
use crate::effects::testing::{items, no_path, obligation};

fn usd(text: &str) -> Money {
    text.parse().unwrap()
}

/// Returns the mark of the judged intent.
fn mark() -> String {
    intent("charge.create", &json!({}), Value::Null).mark.to_string()
}

/// Returns a transaction that carries the mark.
fn marked(id: &str, status: &str) -> Value {
    json!({"id": id, "status": status, "amount": 300, "failure_code": "card_declined",
        "reference": format!("Rent [{}]", mark())})
}

fn events(list: &[Value]) -> super::RemoteAnswer {
    let events: Vec<Value> = (1..).zip(list).map(|(at, one)| event(at, one)).collect();
    items(&json!(events))
}

#[test]
fn a_charge_is_found_by_its_mark_in_the_search_or_in_events() {
    let judge = |search, told: &[Value]| {
        check("charge.create", &json!({"amount": 300}), Value::Null, &[search, events(told)])
    };
    let list = |one: Value| items(&json!([{"id": "x", "reference": "Rent"}, one]));
    let none = || items(&json!([]));
    assert_eq!(judge(list(marked("t1", "AUTHORIZED")), &[]), "happened t1");
    assert_eq!(judge(none(), &[marked("t1", "COMPLETED")]), "happened t1");
    let twice = judge(list(marked("t1", "AUTHORIZED")), &[marked("t1", "COMPLETED")]);
    assert_eq!(twice, "happened t1", "one transaction, shown twice");
    let two = judge(list(marked("t1", "AUTHORIZED")), &[marked("t2", "AUTHORIZED")]);
    assert!(two.starts_with("unknown: 2 transactions carry"), "{two}");
    assert_eq!(judge(none(), &[marked("t1", "FAILED")]), "refused card_declined");
    assert_eq!(judge(list(marked("t1", "FAILED")), &[]), "absent", "an older try's");
    let begun = judge(no_path(), &[marked("t1", "PENDING")]);
    assert_eq!(begun, "unknown: t1 was begun; its result is not known");
    assert_eq!(judge(none(), &[json!({"id": "t9", "status": "AUTHORIZED"})]), "absent");
    assert!(judge(no_path(), &[]).starts_with("unseen until None"));
}

#[test]
fn a_credit_without_its_mark_is_known_by_everything_else() {
    let expect = json!({"type": "CREDIT", "amount": 300, "currency": "USD"});
    let judge =
        |told: &[Value]| check("credit.create", &expect, Value::Null, &[no_path(), events(told)]);
    let alike = |id: &str, status: &str| {
        json!({"id": id, "type": "CREDIT", "amount": 300, "currency": "USD", "status": status,
            "failure_code": "ach_declined"})
    };
    assert_eq!(judge(&[alike("t1", "AUTHORIZED")]), "happened t1");
    assert_eq!(judge(&[alike("t1", "FAILED")]), "refused ach_declined");
    let two = judge(&[alike("t1", "AUTHORIZED"), alike("t2", "AUTHORIZED")]);
    assert!(two.starts_with("unknown: 2 new credits"), "{two}");
    let mut other = alike("t1", "AUTHORIZED");
    other["amount"] = json!(301);
    assert!(judge(&[other]).starts_with("unseen"), "of another amount");
    let mut theirs = alike("t1", "AUTHORIZED");
    theirs["reference"] = json!("somebody's");
    assert!(judge(&[theirs]).starts_with("unseen"), "with another reference");
    let mut elsewhere = alike("t1", "AUTHORIZED");
    elsewhere["method"] = json!({"id": "another"});
    assert!(judge(&[elsewhere]).starts_with("unknown: 1 new credits"), "to another method");
}

#[test]
fn a_charge_asks_for_what_was_asked_and_a_hold_is_not_captured() {
    let movement = TransactionRequest {
        amount: usd("3.00 USD"),
        method: "m1".to_owned(),
        account: Some("a1".to_owned()),
        reference: Some("Rent".to_owned()),
        hold: false,
        surcharge: None,
    };
    let now = charge(obligation(), &movement);
    let hold = charge(obligation(), &TransactionRequest { hold: true, ..movement.clone() });
    assert_eq!(
        (&now.request.body["amount"], &now.request.body["method"]),
        (&json!(300), &json!("m1"))
    );
    assert_eq!(now.request.body["account_id"], "a1");
    assert_eq!(hold.request.body["auto_capture"], json!(false));
    assert_ne!(now.request.body["auto_capture"], json!(false));
    assert_eq!(now.expect["type"], "CHARGE");
    assert_eq!(credit(obligation(), &movement).expect["type"], "CREDIT");
}

/// Judges a refund of 300, before which the charge had none.
fn refunded(answers: &[super::RemoteAnswer]) -> String {
    let before = json!({"target": {"refunds": [], "amount_refunded": 0}});
    check("charge.refund", &json!({"amount": 300}), before, answers)
}

fn ours(id: &str, status: &str) -> Value {
    json!({"id": id, "type": "REFUND", "charge_id": "ch1", "status": status, "amount": 300,
        "failure_code": "settlement_failed", "data": {"reckon": mark()}})
}

fn unmarked(id: &str, amount: i64) -> Value {
    json!({"id": id, "type": "REFUND", "charge_id": "ch1", "status": "AUTHORIZED", "amount": amount})
}

#[test]
fn a_refund_is_found_among_those_of_the_charge() {
    let none = || items(&json!([]));
    let judge = |refunds: &[Value], sum: Value| {
        let charge = json!({"id": "ch1", "refunds": refunds, "amount_refunded": sum});
        refunded(&[body(charge), none(), none()])
    };
    assert_eq!(judge(&[ours("r1", "AUTHORIZED")], json!(300)), "happened r1");
    assert_eq!(judge(&[ours("r1", "FAILED")], json!(0)), "refused settlement_failed");
    assert_eq!(judge(&[unmarked("r1", 300)], json!(300)), "happened r1", "data was dropped");
    assert!(judge(&[unmarked("r1", 299)], json!(299)).starts_with("unknown"));
    let two = [unmarked("r1", 300), unmarked("r2", 300)];
    assert!(judge(&two, json!(600)).starts_with("unknown"));
    assert_eq!(judge(&[unmarked("r1", 5), ours("r2", "PENDING")], json!(305)), "happened r2");
    assert_eq!(judge(&[], json!(0)), "absent");
    assert_eq!(judge(&[], Value::Null), "absent");
    assert!(judge(&[], json!(300)).starts_with("unknown"), "a sum that no refund shows");
    let mut theirs = ours("r1", "AUTHORIZED");
    theirs["data"]["reckon"] = json!("rk-another");
    assert_eq!(judge(&[theirs], json!(300)), "absent", "another command's");
}

#[test]
fn without_the_charge_events_tell_of_a_refund() {
    let judge = |told: &[Value]| refunded(&[no_path(), events(told), items(&json!([]))]);
    assert_eq!(judge(&[ours("r1", "PENDING"), ours("r1", "AUTHORIZED")]), "happened r1");
    let mut other = ours("r1", "AUTHORIZED");
    other["charge_id"] = json!("ch2");
    assert!(judge(&[other]).starts_with("unseen"));
    let mut kind = ours("r1", "AUTHORIZED");
    kind["type"] = json!("CHARGE");
    assert!(judge(&[kind]).starts_with("unseen"));
    assert!(judge(&[]).starts_with("unseen"));
    let gone = refunded(&[no_item(), items(&json!([])), items(&json!([]))]);
    assert!(gone.starts_with("unknown"), "{gone}");
}

#[test]
fn more_than_is_left_and_another_currency_are_not_refunded() {
    let effect = refund(obligation(), &RemoteId::new("ch1").unwrap(), usd("3.00 USD"), None);
    let before = |amount: i64, gone: Value, currency: &str| json!({"target": {"amount": amount, "amount_refunded": gone, "currency": currency}});
    assert_eq!(refused(&effect, &before(300, json!(0), "USD")), None);
    assert_eq!(refused(&effect, &before(300, Value::Null, "USD")), None);
    let left = refused(&effect, &before(500, json!(201), "USD")).unwrap();
    assert_eq!(left, "only 299 of the charge are left to refund, in minor units");
    let currency = refused(&effect, &before(300, json!(0), "CAD")).unwrap();
    assert_eq!(currency, "the charge is in CAD");
    assert_eq!(refused(&effect, &json!({})), None);
}

/// Closes the item of C: the receipt shows a surcharge, and a refund may go to another method.
#[test]
fn a_surcharge_and_another_method_are_sent_where_they_are_named_and_only_there() {
    let make = |verb: &str, fields: Value| {
        (action_row(verb).unwrap().make)(obligation(), &fields).map(|deed| deed.effect.request.body)
    };
    let money = |minor: i64| json!({"minor": minor, "currency": "USD"});
    let charge = |surcharge: Value| {
        make("charge", json!({"amount": money(515), "method": "m1", "surcharge": surcharge}))
    };
    assert_eq!(charge(money(15)).unwrap()["surcharge_amount"], 15);
    assert_eq!(charge(money(15)).unwrap()["amount"], 515, "the total is charged");
    assert!(charge(Value::Null).unwrap().get("surcharge_amount").is_none());
    for wrong in [money(0), money(515), money(600), json!({"minor": 15, "currency": "CAD"})] {
        assert!(charge(wrong.clone()).is_err(), "{wrong}");
    }
    let credit = json!({"amount": money(515), "method": "m1", "surcharge": money(15)});
    assert!(make("credit", credit).is_err());
    let refund = |method: Value| {
        make("refund", json!({"charge": "ch1", "amount": money(300), "method": method})).unwrap()
    };
    assert_eq!(refund(json!("m2"))["method"], "m2");
    assert!(refund(Value::Null).get("method").is_none());
}
