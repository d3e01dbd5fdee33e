//! Refunds (gateway-api, POST /v1/charges/{chargeId}/refund and its transitions; service-facts, 33,
//! 43, 50 to 54).

use serde_json::{Value, json};

use super::story::{bank, events, id, movements};
use super::{TestSandbox, fields, visa, with};
use crate::sandbox::options::ServiceSurface;

async fn refused(house: &TestSandbox, charge: &Value, body: Value) -> String {
    let reply = house.to_charge(charge, "refund", body).await;
    assert_eq!(reply.status, 422, "{}", reply.text);
    reply.refusal().1
}

#[tokio::test]
async fn a_card_is_refunded_in_parts_up_to_what_it_paid() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let charge = house.charged(1000, visa()).await;
    let before = house.told().await;
    let body = json!({"amount": "400", "data": {"case": [7]}, "currency": "USD"});
    let refund = house.to_charge(&charge, "refund", body).await.ok();
    assert_eq!((&refund["type"], &refund["status"]), (&json!("REFUND"), &json!("AUTHORIZED")));
    assert_eq!((&refund["amount"], &refund["currency"]), (&json!(400), &json!("USD")));
    assert_eq!((&refund["charge_id"], &refund["auto_capture"]), (&charge["id"], &json!(true)));
    assert_eq!(refund["account_id"], charge["account_id"]);
    assert_eq!(refund["method"]["number"], "************4242");
    assert_eq!(refund["data"], json!({"case": [7]}));
    assert_eq!(refund["authorization_code"].as_str().unwrap().len(), 6);
    assert!(refund.get("amount_refunded").is_none());
    let expect = [("created", "PENDING"), ("authorized", "AUTHORIZED"), ("updated", "AUTHORIZED")];
    assert_eq!(house.events_since(before).await, events(&expect));
    assert_eq!(house.fetch(&refund).await, refund);
    assert_eq!(
        refused(&house, &charge, json!({"amount": 601})).await,
        "refund_exceeds_transaction"
    );
    house.refund(&charge, 600).await;
    assert_eq!(refused(&house, &charge, json!({"amount": 1})).await, "refund_exceeds_transaction");
    assert_eq!(house.fetch(&charge).await["amount_refunded"], 1000);
    assert_eq!(house.total("REFUND").await, 1000);
    super::covers(&["37.1", "37.3"]);
}

#[tokio::test]
async fn a_gratuity_is_refunded_with_its_charge_and_no_more() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let strokes = json!({"mime_type": "service/jsignature", "data": "[{\"x\":[1],\"y\":[2]}]"});
    let body = json!({"amount": 1000, "gratuity": 200, "signature": strokes, "method": visa()});
    let charge = house.secret("POST", "/v1/charges", &body).await.ok();
    let exceeds = "refund_exceeds_transaction";
    assert_eq!(refused(&house, &charge, json!({"amount": 1201})).await, exceeds);
    house.refund(&charge, 1000).await;
    assert_eq!(refused(&house, &charge, json!({"amount": 201})).await, exceeds);
    house.refund(&charge, 200).await;
    assert_eq!(refused(&house, &charge, json!({"amount": 1})).await, exceeds);
    super::covers(&["37.3"]);
}

#[tokio::test]
async fn a_charge_read_by_id_carries_its_refunds_and_a_search_does_not() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let charge = house.charged(1000, visa()).await;
    assert!(house.fetch(&charge).await.get("refunds").is_none());
    let refunds = [house.refund(&charge, 100).await, house.refund(&charge, 200).await];
    let shown = house.fetch(&charge).await;
    assert_eq!((&shown["refunds"], &shown["amount_refunded"]), (&json!(refunds), &json!(300)));
    let found = house.secret("GET", "/v1/transactions", &Value::Null).await.ok();
    let found = found["results"].as_array().unwrap();
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|one| one.get("refunds").is_none()));
    let documented = TestSandbox::new(ServiceSurface::Documented);
    let charge = documented.charged(1000, visa()).await;
    documented.refund(&charge, 100).await;
    let path = format!("/v1/transactions/{}", id(&charge));
    assert_eq!(documented.secret("GET", &path, &Value::Null).await.status, 404);
    super::covers(&["37.4"]);
}

#[tokio::test]
async fn the_daily_run_settles_refunds_after_the_charges_of_the_day() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let first = house.charged(1000, visa()).await;
    let refund = house.refund(&first, 300).await;
    assert_eq!(refund["status"], "AUTHORIZED", "its charge is authorized as well");
    house.charged(500, visa()).await;
    let before = house.ledger_movements().await.len();
    house.advance("P1D").await;
    let settled = house.ledger_movements().await.split_off(before);
    let expect =
        [("CAPTURE", "CHARGE", 1000), ("CAPTURE", "CHARGE", 500), ("CAPTURE", "REFUND", 300)];
    assert_eq!(settled, movements(&expect));
    assert_eq!(house.status(&refund).await, "COMPLETED");
    let late = house.refund(&first, 100).await;
    assert_eq!(late["status"], "AUTHORIZED", "its charge is completed");
    house.advance("P1D").await;
    assert_eq!(house.status(&late).await, "COMPLETED");
    super::covers(&["37.6"]);
}

#[tokio::test]
async fn a_hold_has_to_be_captured_before_it_can_be_refunded() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let held = house.held(500).await;
    let unfit = "not_valid_for_transaction_status";
    assert_eq!(refused(&house, &held, json!({"amount": 500})).await, unfit);
    house.to_charge(&held, "capture", json!({"amount": 500})).await.ok();
    assert_eq!(house.refund(&held, 500).await["status"], "AUTHORIZED", "until the daily run");
    let voided = house.charged(500, visa()).await;
    house.void(&voided).await.ok();
    assert_eq!(refused(&house, &voided, json!({"amount": 1})).await, unfit);
    let declined = json!({"amount": 5, "method": with(visa(), "number", "4000000000000002")});
    let reply = house.secret("POST", "/v1/charges", &declined).await;
    let failed = json!({"id": reply.json()["messages"][0]["entity_id"]});
    assert_eq!(refused(&house, &failed, json!({"amount": 1})).await, unfit);
    super::covers(&["37.5", "37.11"]);
}

#[tokio::test]
async fn a_charge_is_refunded_for_six_calendar_months() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let charge = house.charged(1000, visa()).await;
    house.control("POST", "clock", &json!({"set": "2027-05-22T04:59:00Z"})).await;
    house.refund(&charge, 10).await;
    house.advance("PT1M").await;
    let late = refused(&house, &charge, json!({"amount": 10})).await;
    assert_eq!(late, "not_valid_for_transaction_status", "the 22nd of May has begun in Chicago");
    super::covers(&["37.2"]);
}

#[tokio::test]
async fn a_refund_of_an_unsettled_bank_charge_waits_for_it() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let charge = house.charged(1000, bank()).await;
    let before = house.told().await;
    let refund = house.refund(&charge, 400).await;
    assert_eq!(refund["status"], "PENDING");
    let expect = [
        ("created", "PENDING"),
        ("pending_parent_settlement", "PENDING"),
        ("updated", "AUTHORIZED"),
    ];
    assert_eq!(house.events_since(before).await, events(&expect));
    assert_eq!(house.fetch(&charge).await["amount_refunded"], 400, "the refund counts at once");
    assert_eq!(house.total("REFUND").await, 0, "no money has moved");
    let before = house.told().await;
    house.advance("PT10H").await;
    let expect = [("completed", "COMPLETED"), ("authorized", "AUTHORIZED")];
    assert_eq!(house.events_since(before).await, events(&expect));
    assert_eq!(
        (house.status(&refund).await.as_str(), house.total("REFUND").await),
        ("AUTHORIZED", 400)
    );
    house.advance("P1DT1S").await;
    assert_eq!(house.status(&refund).await, "COMPLETED");
    let settled = house.refund(&charge, 600).await;
    assert_eq!(settled["status"], "AUTHORIZED", "a settled bank charge is refunded at once");
    super::covers(&["37.7", "37.8"]);
}

#[tokio::test]
async fn a_refund_that_waits_fails_with_its_charge() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let charge = house.charged(1000, bank()).await;
    let refund = house.refund(&charge, 400).await;
    let gone = house.refund(&charge, 100).await;
    house.void(&gone).await.ok();
    let failed = house.settle(&charge, "failed").await;
    assert_eq!((&failed["status"], &failed["amount_refunded"]), (&json!("FAILED"), &json!(0)));
    let refund = house.fetch(&refund).await;
    assert_eq!(refund["status"], "FAILED");
    assert_eq!(refund["failure_code"], "ach_deferred_refund_rejected_charge_failed");
    assert_eq!(house.status(&gone).await, "VOIDED");
    let expect = [("CHARGE", "CHARGE", 1000), ("RETURN", "CHARGE", 1000)];
    assert_eq!(house.ledger_movements().await, movements(&expect));
    super::covers(&["37.9"]);
}

#[tokio::test]
async fn a_refund_whose_settlement_fails_gives_its_charge_the_balance_back() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let charge = house.charged(1000, visa()).await;
    let refund = house.refund(&charge, 1000).await;
    let failed = house.settle(&refund, "failed").await;
    assert_eq!(
        (&failed["status"], &failed["failure_code"]),
        (&json!("FAILED"), &json!("settlement_failed"))
    );
    assert_eq!(house.fetch(&charge).await["amount_refunded"], 0);
    house.refund(&charge, 1000).await;
}

#[tokio::test]
async fn wrong_refunds_are_refused_in_the_order_of_the_service() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let charge = house.charged(1000, visa()).await;
    for (body, sub_code) in [
        (json!({}), "not_null"),
        (json!({"amount": 0}), "below_minimum_value"),
        (json!({"amount": -1}), "below_minimum_value"),
        (json!({"amount": "ten"}), "invalid"),
    ] {
        let reply = house.to_charge(&charge, "refund", body).await;
        assert_eq!(fields(&reply), [("amount".to_owned(), sub_code.to_owned())]);
    }
    let euro = json!({"amount": 5000, "currency": "EUR"});
    assert_eq!(refused(&house, &charge, euro).await, "currency_mismatch");
    let refund = house.refund(&charge, 10).await;
    let of_refund = house.to_charge(&refund, "refund", json!({"amount": 1})).await;
    assert_eq!(of_refund.refusal().0, 404, "only charges are refunded");
    assert_eq!(house.to_charge(&json!({"id": "none"}), "refund", json!({})).await.status, 404);
}

#[tokio::test]
async fn another_method_takes_a_refund_where_the_tenant_allows_it() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let charge = house.charged(1000, visa()).await;
    let other = with(visa(), "number", "5105105105105100");
    let body = |method: Value| json!({"amount": 100, "method": method});
    assert_eq!(
        refused(&house, &charge, body(other.clone())).await,
        "unavailable_for_merchant_policy"
    );
    house.allow("refund_to_other_method_enabled", true).await;
    assert_eq!(refused(&house, &charge, body(bank())).await, "incorrect_payment_type");
    let wrong = with(other.clone(), "exp_month", 13);
    let reply = house.to_charge(&charge, "refund", with(body(wrong), "amount", 0)).await;
    let contexts: Vec<_> = fields(&reply).into_iter().map(|field| field.0).collect();
    assert_eq!(contexts, ["amount", "method.exp_month"]);
    let refund = house.to_charge(&charge, "refund", body(other)).await.ok();
    assert_eq!(refund["method"]["number"], "************5100");
    let token = house.secret("POST", "/v1/tokens", &visa()).await.ok()["id"].clone();
    house.to_charge(&charge, "refund", body(token.clone())).await.ok();
    let again = house.to_charge(&charge, "refund", body(token)).await;
    assert_eq!(again.refusal().0, 404, "a token serves once");
    let declining = with(visa(), "number", "4000000000000002");
    assert_eq!(refused(&house, &charge, body(declining)).await, "card_declined");
    let charge = house.fetch(&charge).await;
    let statuses = charge["refunds"].as_array().unwrap().iter().map(|one| one["status"].clone());
    let statuses: Vec<_> = statuses.collect();
    assert_eq!(statuses, [json!("AUTHORIZED"), json!("AUTHORIZED"), json!("FAILED")]);
    assert_eq!(charge["amount_refunded"], 200);
    super::covers(&["37.10"]);
}
