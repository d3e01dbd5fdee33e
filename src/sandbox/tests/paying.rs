//! Slow payments (service-facts, 59).

use serde_json::{Value, json};

use super::TestSandbox;
use super::recurring::{act, card, check, create, monthly, occurrences, path};
use crate::sandbox::options::ServiceSurface;

/// Returns a sandbox in which payments take half an hour, and a monthly charge whose first date has
/// just come.
async fn house(number: &str) -> (TestSandbox, Value) {
    let house = TestSandbox::new(ServiceSurface::Public);
    let set = house.control("POST", "settings", &json!({"paying_minutes": 30})).await;
    assert_eq!(set["paying_minutes"], 30);
    let charge = create(&house, &monthly(&card(&house, number).await)).await;
    house.control("POST", "clock", &json!({"set": "2026-12-31T18:10:00Z"})).await;
    check(&occurrences(&house, &charge).await, &[("PAYING", "2026-12-31")]);
    (house, charge)
}

async fn paid(house: &TestSandbox) -> Value {
    let page = house.secret("GET", "/v1/transactions", &Value::Null).await.ok();
    page["results"].as_array().unwrap().iter().map(|one| one["amount"].clone()).collect()
}

#[tokio::test]
async fn a_payment_that_takes_its_time_is_made_once_at_its_end() {
    let (house, charge) = house("4242424242424242").await;
    for action in ["pay", "ignore"] {
        assert_eq!(act(&house, &charge, 0, action).await.status, 422, "{action}");
    }
    let more = json!({"amount": 2000});
    house.secret("PATCH", &path(&charge), &more).await.ok();
    check(&occurrences(&house, &charge).await, &[("PAYING", "2026-12-31")]);
    assert_eq!(paid(&house).await, json!([]));
    house.advance("PT19M").await;
    assert_eq!(paid(&house).await, json!([]), "a minute is left");
    house.advance("PT1M").await;
    let after = [("PENDING", "2027-01-31"), ("PAID", "2026-12-31")];
    check(&occurrences(&house, &charge).await, &after);
    assert_eq!(paid(&house).await, json!([1000]), "the amount with which it began");
    house.advance("P32D").await;
    assert_eq!(paid(&house).await, json!([2000, 1000]));
}

#[tokio::test]
async fn its_beginning_is_told_and_a_decline_is_known_at_its_end() {
    let (house, charge) = house("4000000000000002").await;
    let statuses = async || {
        let events = house.objects("events").await;
        let of_occurrences = events.into_iter().filter_map(|event| {
            let kind = event["type"].as_str()?.strip_prefix("recurring_charge.occurrence.")?;
            Some(format!("{kind} {}", event["data"]["status"].as_str()?))
        });
        of_occurrences.collect::<Vec<_>>()
    };
    assert_eq!(statuses().await, ["created PENDING", "updated PAYING"]);
    house.advance("PT20M").await;
    let after = [("PENDING", "2027-01-31"), ("FAILED", "2026-12-31")];
    check(&occurrences(&house, &charge).await, &after);
    assert_eq!(statuses().await[2..], ["failed FAILED", "created PENDING"]);
}

#[tokio::test]
async fn the_end_of_its_recurring_charge_does_not_stop_it() {
    for (method, way, status) in [("POST", "/cancel", "COMPLETED"), ("DELETE", "", "DELETED")] {
        let (house, charge) = house("4242424242424242").await;
        let way = format!("{}{way}", path(&charge));
        assert_eq!(house.secret(method, &way, &Value::Null).await.ok()["status"], status);
        house.advance("P1Y").await;
        check(&occurrences(&house, &charge).await, &[("PAID", "2026-12-31")]);
        assert_eq!(paid(&house).await, json!([1000]));
        let now = house.secret("GET", &path(&charge), &Value::Null).await.ok();
        assert_eq!((&now["status"], &now["total_amount"]), (&json!(status), &json!(1000)));
    }
}
