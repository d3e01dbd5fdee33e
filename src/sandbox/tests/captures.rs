//! Captures and holds (gateway-api, capture and holds; service-facts, 45, 46).

use serde_json::{Value, json};

use super::story::{events, id, movements};
use super::{TestSandbox, fields, visa};
use crate::sandbox::options::ServiceSurface;

const UNFIT: (u16, &str) = (422, "not_valid_for_transaction_status");

/// Returns status and code of a refusal.
fn refused(reply: &super::Reply) -> (u16, String) {
    let (status, code, _) = reply.refusal();
    (status, code)
}

fn are(expect: (u16, &str)) -> (u16, String) {
    (expect.0, expect.1.to_owned())
}

async fn holds(house: &TestSandbox, query: &str) -> (Vec<i64>, u64) {
    let path = format!("/v1/charges/holds{query}");
    let page = house.secret("GET", &path, &Value::Null).await.ok();
    let results = page["results"].as_array().unwrap();
    let amounts = results.iter().map(|one| one["amount"].as_i64().unwrap()).collect();
    (amounts, page["total_entries"].as_u64().unwrap())
}

#[tokio::test]
async fn a_capture_completes_a_hold_at_once_and_only_once() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let held = house.held(500).await;
    let before = house.told().await;
    let body = json!({"amount": "500", "reference": "r-1", "currency": null, "capture_time": null});
    let done = house.to_charge(&held, "capture", body).await.ok();
    assert_eq!((&done["status"], &done["amount"]), (&json!("COMPLETED"), &json!(500)));
    assert_eq!(done["capture_reference"], "r-1");
    assert_eq!(done["completion_timestamp"], "2026-11-21T18:00:00.000Z");
    assert_eq!(house.events_since(before).await, events(&[("completed", "COMPLETED")]));
    let again = house.to_charge(&held, "capture", json!({"amount": 500})).await;
    assert_eq!(refused(&again), are(UNFIT));
    house.advance("P10D").await;
    assert_eq!(house.status(&held).await, "COMPLETED");
    let expect = [("CHARGE", "CHARGE", 500), ("CAPTURE", "CHARGE", 500)];
    assert_eq!(house.ledger_movements().await, movements(&expect));
    let ended = [house.held(300).await, house.held(300).await];
    house.void(&ended[0]).await.ok();
    house.settle(&ended[1], "failed").await;
    for charge in &ended {
        let late = house.to_charge(charge, "capture", json!({"amount": 300})).await;
        assert_eq!(refused(&late), are(UNFIT));
    }
    super::covers(&["35.9", "36.1"]);
}

#[tokio::test]
async fn a_capture_left_to_the_daily_run_is_an_automatic_one_from_then_on() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let held = house.held(500).await;
    house.advance("P6DT23H").await;
    let before = house.told().await;
    let body = json!({"amount": 500, "capture_time": "NEXT_AUTO_CAPTURE", "reference": "later"});
    let left = house.to_charge(&held, "capture", body.clone()).await.ok();
    assert_eq!((&left["status"], &left["auto_capture"]), (&json!("AUTHORIZED"), &json!(true)));
    assert_eq!(left["capture_reference"], "later");
    assert_eq!(house.events_since(before).await, events(&[("updated", "AUTHORIZED")]));
    assert_eq!(refused(&house.to_charge(&held, "capture", body).await), are(UNFIT));
    house.advance("PT2H").await;
    assert_eq!(house.status(&held).await, "AUTHORIZED", "the seven days of a hold no longer apply");
    house.advance("PT10H").await;
    assert_eq!(house.fetch(&held).await["completion_timestamp"], "2026-11-29T04:00:00.000Z");
    for body in [json!({"amount": 300}), json!({"amount": 300, "capture_time": "IMMEDIATE"})] {
        let fresh = house.held(300).await;
        let done = house.to_charge(&fresh, "capture", body).await.ok();
        assert_eq!((&done["status"], &done["auto_capture"]), (&json!("COMPLETED"), &json!(false)));
    }
    super::covers(&["36.6"]);
}

#[tokio::test]
async fn a_capture_is_of_the_whole_hold_and_of_nothing_else() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let held = house.held(500).await;
    let automatic = house.charged(500, visa()).await;
    for (charge, body, code) in [
        (&held, json!({"amount": 501}), "exceeds_authorized_amount"),
        (&held, json!({"amount": 499}), "invalid_data"),
        (&held, json!({}), "invalid_data"),
        (&held, json!({"amount": 500, "capture_time": "TOMORROW"}), "invalid_data"),
        (&held, json!({"amount": 90, "currency": "GBP"}), "currency_mismatch"),
        (&automatic, json!({"amount": 500}), UNFIT.1),
    ] {
        assert_eq!(refused(&house.to_charge(charge, "capture", body).await), are((422, code)));
    }
    let long = json!({"amount": 500, "reference": "r".repeat(129)});
    let reply = house.to_charge(&held, "capture", long).await;
    assert_eq!(fields(&reply), [("reference".to_owned(), "invalid_length".to_owned())]);
    let whole = json!({"amount": 500, "reference": "r".repeat(128)});
    let done = house.to_charge(&held, "capture", whole).await.ok();
    assert_eq!(done["capture_reference"], "r".repeat(128));
    let nobody = house.secret("POST", "/v1/charges/none/capture", &json!({"amount": 1})).await;
    let missing = (404, "resource_not_found".to_owned(), Some("Charge[none]".to_owned()));
    assert_eq!(nobody.refusal(), missing);
    let live = house.key("live", "secret_key").await;
    let path = format!("/v1/charges/{}/capture", id(&held));
    assert_eq!(house.call("POST", &path, Some(&live), &json!({"amount": 1})).await.status, 404);
    super::covers(&["36.2", "36.3", "36.5", "36.9"]);
}

#[tokio::test]
async fn the_tenant_enables_captures_per_account() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let card = house.demo().await["test"]["card_account_id"].as_str().unwrap().to_owned();
    let held = house.held(500).await;
    let told = house.allow("capture_enabled", json!({ card.clone(): false })).await;
    assert_eq!(told["capture_enabled"][&card], false);
    let body = json!({"amount": 500});
    let reply = house.to_charge(&held, "capture", body.clone()).await;
    assert_eq!(refused(&reply), are((422, "unavailable_for_merchant_policy")));
    let other = house.demo().await["test"]["ach_account_id"].as_str().unwrap().to_owned();
    house.allow("capture_enabled", json!({ other: true })).await;
    let reply = house.to_charge(&held, "capture", body.clone()).await;
    assert_eq!(refused(&reply), are((422, "unavailable_for_merchant_policy")));
    house.allow("capture_enabled", json!({ card: true })).await;
    house.to_charge(&held, "capture", body).await.ok();
    let wrong = json!({"merchant": "demo", "capture_enabled": {"none": true}});
    assert_eq!(house.call("POST", "/_sandbox/policy", None, &wrong).await.status, 400);
    super::covers(&["36.4"]);
}

#[tokio::test]
async fn holds_are_listed_newest_first_until_something_becomes_of_them() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let mut all = Vec::new();
    for amount in [100, 200, 300, 400, 500] {
        all.push(house.held(amount).await);
        house.charged(amount + 1, visa()).await;
    }
    assert_eq!(holds(&house, "").await, (vec![500, 400, 300, 200, 100], 5));
    assert_eq!(holds(&house, "?page=2&page_size=2").await, (vec![300, 200], 5));
    assert_eq!(holds(&house, "?page=9").await, (vec![], 5));
    house.to_charge(&all[0], "capture", json!({"amount": 100})).await.ok();
    house.void(&all[1]).await.ok();
    let later = json!({"amount": 300, "capture_time": "NEXT_AUTO_CAPTURE"});
    house.to_charge(&all[2], "capture", later).await.ok();
    house.settle(&all[3], "failed").await;
    assert_eq!(holds(&house, "").await, (vec![500], 1));
    let card = house.demo().await["test"]["card_account_id"].as_str().unwrap().to_owned();
    assert_eq!(holds(&house, &format!("?account_id={card}")).await, (vec![500], 1));
    assert_eq!(holds(&house, "?account_id=other").await, (vec![], 0));
    house.advance("P8D").await;
    assert_eq!(holds(&house, "").await, (vec![], 0));
    let live = house.key("live", "secret_key").await;
    let page = house.call("GET", "/v1/charges/holds", Some(&live), &Value::Null).await.ok();
    assert_eq!(page["total_entries"], 0);
    let public = house.key("test", "public_key").await;
    assert_eq!(
        house.call("GET", "/v1/charges/holds", Some(&public), &Value::Null).await.status,
        401
    );
    assert_eq!(
        house.secret("GET", "/v1/charges/holds?page_size=101", &Value::Null).await.status,
        422
    );
    super::covers(&["36.7", "36.8"]);
}
