//! Voids (gateway-api, POST /v1/transactions/{transactionId}/void and its transitions;
//! service-facts, 10, 50, 53).

use serde_json::{Value, json};

use super::story::{bank, events, movements};
use super::{TestSandbox, fields, visa};
use crate::sandbox::options::ServiceSurface;

const UNFIT: &str = "not_valid_for_transaction_status";

#[tokio::test]
async fn what_is_not_settled_can_be_voided_once() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let (charge, held) = (house.charged(700, visa()).await, house.held(300).await);
    let before = house.told().await;
    let body = json!({"reference": "by mistake"});
    let voided = house.to_transaction(&charge, "void", body).await.ok();
    assert_eq!(
        (&voided["status"], &voided["void_reference"]),
        (&json!("VOIDED"), &json!("by mistake"))
    );
    assert_eq!(house.events_since(before).await, events(&[("voided", "VOIDED")]));
    for body in [Value::Null, json!({}), json!({"reference": null})] {
        let one = house.charged(5, bank()).await;
        let voided = house.to_transaction(&one, "void", body).await.ok();
        assert!(voided["status"] == "VOIDED" && voided.get("void_reference").is_none());
    }
    house.void(&held).await.ok();
    assert_eq!(house.void(&charge).await.refusal().1, UNFIT);
    house.advance("P10D").await;
    assert_eq!(house.status(&charge).await, "VOIDED", "a voided charge is not captured");
    assert_eq!((house.total("CAPTURE").await, house.total("VOID").await), (0, 1015));
    super::covers(&["35.5", "38.5"]);
}

#[tokio::test]
async fn what_is_settled_cannot_be_voided() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    house.allow("credits_enabled", true).await;
    let charge = house.charged(700, visa()).await;
    let body = json!({"amount": 7, "method": visa()});
    let credit = house.secret("POST", "/v1/credits", &body).await.ok();
    house.advance("P1D").await;
    for settled in [&charge, &credit] {
        assert_eq!(house.void(settled).await.refusal().1, UNFIT, "{}", settled["type"]);
    }
    let refund = house.refund(&charge, 100).await;
    house.advance("P1D").await;
    assert_eq!(house.void(&refund).await.refusal().1, UNFIT);
    let voided = house.charged(700, visa()).await;
    house.void(&voided).await.ok();
    assert_eq!(house.void(&voided).await.refusal().1, UNFIT);
    let failed = house.charged(700, bank()).await;
    house.settle(&failed, "failed").await;
    assert_eq!(house.void(&failed).await.refusal().1, UNFIT);
    let none = house.void(&json!({"id": "none"})).await;
    let missing = (404, "resource_not_found".to_owned(), Some("Transaction[none]".to_owned()));
    assert_eq!(none.refusal(), missing);
    super::covers(&["35.9", "38.2"]);
}

#[tokio::test]
async fn a_charge_is_voided_after_its_refunds_alone() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let charge = house.charged(1000, visa()).await;
    let refunds = [house.refund(&charge, 300).await, house.refund(&charge, 200).await];
    assert_eq!(house.void(&charge).await.refusal().1, UNFIT);
    let before = house.told().await;
    house.void(&refunds[0]).await.ok();
    let expect = [("voided", "VOIDED"), ("updated", "AUTHORIZED")];
    assert_eq!(house.events_since(before).await, events(&expect));
    assert_eq!(house.fetch(&charge).await["amount_refunded"], 200);
    assert_eq!(house.void(&charge).await.refusal().1, UNFIT, "the charge has another refund");
    house.void(&refunds[1]).await.ok();
    assert_eq!(house.void(&charge).await.ok()["amount_refunded"], 0);
    let expect = [
        ("CHARGE", "CHARGE", 1000),
        ("REFUND", "REFUND", 300),
        ("REFUND", "REFUND", 200),
        ("VOID", "REFUND", 300),
        ("VOID", "REFUND", 200),
        ("VOID", "CHARGE", 1000),
    ];
    assert_eq!(house.ledger_movements().await, movements(&expect));
    super::covers(&["38.3", "38.6"]);
}

#[tokio::test]
async fn a_refund_that_waits_can_be_voided_and_never_moved_money() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let charge = house.charged(1000, bank()).await;
    let refund = house.refund(&charge, 1000).await;
    assert_eq!(house.void(&charge).await.refusal().1, UNFIT, "a refund waits for the charge");
    house.void(&refund).await.ok();
    house.void(&charge).await.ok();
    house.advance("P2D").await;
    assert_eq!(house.status(&refund).await, "VOIDED");
    let expect = [("CHARGE", "CHARGE", 1000), ("VOID", "CHARGE", 1000)];
    assert_eq!(house.ledger_movements().await, movements(&expect));
    house.allow("credits_enabled", true).await;
    let paid = house.charged(500, visa()).await;
    let body = json!({"amount": 7, "method": visa()});
    let credit = house.secret("POST", "/v1/credits", &body).await.ok();
    for one in [house.refund(&paid, 100).await, credit, paid] {
        assert_eq!(one["status"], "AUTHORIZED");
        assert_eq!(house.void(&one).await.ok()["status"], "VOIDED", "{}", one["type"]);
    }
    super::covers(&["38.1"]);
}

#[tokio::test]
async fn a_void_s_reference_has_a_length() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let charge = house.charged(700, visa()).await;
    let long = json!({"reference": "v".repeat(129)});
    let reply = house.to_transaction(&charge, "void", long).await;
    assert_eq!(fields(&reply), [("reference".to_owned(), "invalid_length".to_owned())]);
    let fits = json!({"reference": "v".repeat(128)});
    let voided = house.to_transaction(&charge, "void", fits).await.ok();
    assert_eq!(voided["void_reference"], "v".repeat(128));
    super::covers(&["38.4"]);
}
