//! Advancing time at once or in steps gives the same state: everything due in between runs in
//! order, each entry at its own moment.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::applications::{application, submit};
use super::partner::new_invoice;
use super::portal::pay_by;
use super::story::{bank, id};
use super::tokens::token;
use super::{TestSandbox, visa, with};
use crate::sandbox::options::ServiceSurface;

const DECLINING: &str = "4000000000000002";

/// Makes a recurring charge on this schedule, with the method of a token.
async fn recurs(house: &TestSandbox, method: &Value, schedule: &Value, more: &Value) -> Value {
    let token = token(house, method).await;
    let mut body = json!({"amount": 700, "method": token["id"], "schedule": schedule});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    house.secret("POST", "/v1/recurring/charges", &body).await.ok()
}

/// Makes recurring charges of every unit: endless, with an end or a limit, and by a card that is
/// declined or expires.
async fn recurring(house: &TestSandbox) {
    let none = json!({});
    let expiring = with(with(visa(), "exp_year", 2027), "exp_month", 2);
    let declining = with(visa(), "number", DECLINING);
    let every = |start: &str, unit: &str, delay: u32, more: Value| {
        let mut schedule = json!({"start": start, "interval_unit": unit, "interval_delay": delay});
        schedule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schedule
    };
    let days = |unit: &str, days: Value| every("2026-11-25", unit, 1, json!({"days": days}));
    for (method, schedule, more) in [
        (visa(), every("2026-11-22", "DAY", 3, none.clone()), json!({"reference": "r-1"})),
        (visa(), days("WEEK", json!(["1", "5"])), json!({"max_occurrences": 40})),
        (bank(), every("2026-12-01", "WEEK", 2, none.clone()), json!({"max_amount": 6_000})),
        (visa(), days("MONTH", json!(["15", "LAST"])), none.clone()),
        (visa(), every("2027-01-31", "MONTH", 1, json!({"end": "2027-08-31"})), none.clone()),
        (expiring, every("2026-12-24", "MONTH", 1, none.clone()), none.clone()),
        (declining, every("2026-12-24", "WEEK", 1, none.clone()), json!({"max_occurrences": 9})),
    ] {
        recurs(house, &method, &schedule, &more).await;
    }
    let recur = json!({"interval_unit": "DAY", "interval_delay": 10, "amount": 900});
    let body = json!({"amount": 1_000, "method": visa(), "recur": recur});
    house.secret("POST", "/v1/charges", &body).await.ok();
}

/// Makes charges of both kinds, refunds, holds, a credit, a void and a decline.
async fn payments(house: &TestSandbox) {
    house.allow("credits_enabled", true).await;
    house.allow("limits", json!({"monthly_count": 10_000})).await;
    let (card, check) = (house.charged(5_000, visa()).await, house.charged(6_000, bank()).await);
    house.refund(&card, 1_500).await;
    assert_eq!(house.refund(&check, 2_500).await["status"], "PENDING");
    house.held(800).await;
    let held = house.held(900).await;
    let body = json!({"amount": 900, "capture_time": "NEXT_AUTO_CAPTURE"});
    house.to_charge(&held, "capture", body).await.ok();
    let body = json!({"amount": 250, "method": bank()});
    house.secret("POST", "/v1/credits", &body).await.ok();
    house.void(&house.charged(77, bank()).await).await.ok();
    let declined = json!({"amount": 5, "method": with(visa(), "number", DECLINING)});
    assert_eq!(house.secret("POST", "/v1/charges", &declined).await.status, 422);
}

/// Makes the other objects with timers: a saved card, an unused token, an application, and an
/// invoice paid by check.
async fn others(house: &TestSandbox) {
    let card = with(with(visa(), "exp_year", 2027), "exp_month", 3);
    let mut card = with(card, "cvv", Value::Null);
    card.as_object_mut().unwrap().remove("type");
    house.secret("POST", "/v1/cards", &card).await.ok();
    token(house, &visa()).await;
    submit(house, &application("usr_1", "Doe LLC", "00-0000001")).await;
    let bearer = house.bearer("demo").await;
    let invoice = new_invoice(house, &bearer).await;
    let made = house.call("POST", "/invoices", Some(&bearer), &invoice).await.ok();
    assert_eq!(pay_by(house, &format!("/invoices/{}", id(&made)), &bank()).await.status, 303);
}

/// Delivers every due webhook to receivers that do not answer.
async fn nobody_takes(house: &TestSandbox) {
    house.sandbox.deliver_due(|_| async { None }).await.unwrap();
}

/// Returns the state a year after this scenario, which advances in `count` steps of `step`.
/// Webhooks are tried only before and after that year: their sender runs in its own time, and a
/// step over several attempts counts as one (`Sandbox::deliver_due`).
async fn a_year_later(step: &str, count: usize) -> TestSandbox {
    let house = TestSandbox::new(ServiceSurface::Public);
    let urls = json!({"test_events_urls": "https://a.example/hook"});
    house.secret("PATCH", "/v1/merchant", &urls).await.ok();
    payments(&house).await;
    recurring(&house).await;
    others(&house).await;
    nobody_takes(&house).await;
    for _ in 0..count {
        house.advance(step).await;
    }
    nobody_takes(&house).await;
    house
}

/// Returns every entry of the state, the request log included: both scenarios send the same
/// requests.
async fn entries(house: &TestSandbox) -> Map<String, Value> {
    let snapshot = house.control("GET", "snapshot", &Value::Null).await;
    snapshot["entries"].as_object().unwrap().clone()
}

/// Returns the statuses of all objects of a kind.
async fn statuses(house: &TestSandbox, kind: &str) -> BTreeSet<String> {
    let all = house.objects(kind).await;
    all.iter().map(|one| one["status"].as_str().unwrap().to_owned()).collect()
}

/// Asserts that the year contains every kind of event.
async fn is_eventful(house: &TestSandbox) {
    assert_eq!(statuses(house, "recurring_charges").await, words(&["ACTIVE", "COMPLETED"]));
    assert_eq!(statuses(house, "occurrences").await, words(&["FAILED", "PAID", "PENDING"]));
    let ended = ["COMPLETED", "FAILED", "VOIDED"];
    assert!(statuses(house, "transactions").await.is_superset(&words(&ended)));
    let told = house.objects("events").await;
    let told: BTreeSet<&str> = told.iter().map(|one| one["type"].as_str().unwrap()).collect();
    for kind in [
        "payment_method.expired",
        "recurring_charge.payment_method.expired",
        "recurring_charge.completed",
        "recurring_charge.occurrence.failed",
        "transaction.pending_parent_settlement",
        "transaction.voided",
    ] {
        assert!(told.contains(kind), "{kind}");
    }
    assert_eq!(house.objects("invoices").await[0]["invoice_payments"][0]["status"], "completed");
    assert_eq!(house.objects("tokens").await.len(), 0);
    let webhooks = house.control("GET", "webhooks", &Value::Null).await;
    let deliveries = webhooks["deliveries"].as_array().unwrap();
    assert!(deliveries.iter().any(|one| one["attempts"] == 2));
    assert!(deliveries.iter().all(|one| one["state"] == "pending"));
}

fn words(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[tokio::test]
async fn a_year_in_one_step_is_a_year_in_many() {
    let at_once = a_year_later("P365D", 1).await;
    is_eventful(&at_once).await;
    let expect = entries(&at_once).await;
    for (step, count) in [("P1D", 365), ("PT73H", 120)] {
        let found = entries(&a_year_later(step, count).await).await;
        let keys: BTreeSet<&String> = expect.keys().chain(found.keys()).collect();
        let differ = keys.into_iter().filter(|key| expect.get(*key) != found.get(*key));
        let differ: Vec<_> = differ.map(|key| (key, expect.get(key), found.get(key))).collect();
        assert!(differ.is_empty(), "by {step}: {} of them, {:#?}", differ.len(), differ.first());
    }
}
