//! Credits (gateway-api, POST /v1/credits).

use serde_json::{Value, json};

use super::story::{bank, events, movements};
use super::{Reply, TestSandbox, fields, visa, with};
use crate::sandbox::options::ServiceSurface;

async fn credit(house: &TestSandbox, body: Value) -> Reply {
    house.secret("POST", "/v1/credits", &body).await
}

fn body(method: &Value) -> Value {
    json!({"amount": 250, "method": method})
}

async fn enabled(surface: ServiceSurface) -> TestSandbox {
    let house = TestSandbox::new(surface);
    house.allow("credits_enabled", true).await;
    house
}

#[tokio::test]
async fn credits_are_disabled_until_the_tenant_enables_them_for_an_account() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let refused = "unavailable_for_merchant_policy";
    assert_eq!(credit(&house, body(&visa())).await.refusal().1, refused);
    let card = house.demo().await["test"]["card_account_id"].as_str().unwrap().to_owned();
    let told = house.allow("credits_enabled", json!({ card.clone(): true })).await;
    assert_eq!(told["credits_enabled"][&card], true);
    let made = credit(&house, body(&visa())).await.ok();
    assert_eq!((&made["type"], &made["status"]), (&json!("CREDIT"), &json!("AUTHORIZED")));
    assert_eq!(credit(&house, body(&bank())).await.refusal().1, refused);
    house.allow("credits_enabled", false).await;
    assert_eq!(credit(&house, body(&visa())).await.refusal().1, refused);
    super::covers(&["39.1", "39.2"]);
}

#[tokio::test]
async fn a_credit_is_authorized_and_captured_by_the_daily_run() {
    let house = enabled(ServiceSurface::Public).await;
    let before = house.told().await;
    let made = credit(&house, with(body(&visa()), "reference", "c-1")).await.ok();
    assert_eq!((&made["type"], &made["status"]), (&json!("CREDIT"), &json!("AUTHORIZED")));
    assert_eq!((&made["amount"], &made["currency"]), (&json!(250), &json!("USD")));
    assert_eq!(made["account_id"], house.demo().await["test"]["card_account_id"]);
    assert_eq!(made["reference"], "c-1");
    for absent in ["auto_capture", "amount_refunded", "charge_id"] {
        assert!(made.get(absent).is_none(), "{absent}");
    }
    let expect = [("created", "PENDING"), ("authorized", "AUTHORIZED")];
    assert_eq!(house.events_since(before).await, events(&expect));
    let path = "/v1/transactions?qf=reference:c-1";
    assert_eq!(house.secret("GET", path, &Value::Null).await.ok()["total_entries"], 1);
    house.advance("P1D").await;
    assert_eq!(house.status(&made).await, "COMPLETED");
    let expect = [("CREDIT", "CREDIT", 250), ("CAPTURE", "CREDIT", 250)];
    assert_eq!(house.ledger_movements().await, movements(&expect));
    super::covers(&["39.2", "39.4"]);
}

#[tokio::test]
async fn the_documented_surface_knows_no_reference_of_a_credit() {
    let house = enabled(ServiceSurface::Documented).await;
    for reference in ["c-1".to_owned(), "c".repeat(129)] {
        let made = credit(&house, with(body(&visa()), "reference", reference)).await.ok();
        assert!(made.get("reference").is_none());
    }
    let public = enabled(ServiceSurface::Public).await;
    let long = credit(&public, with(body(&visa()), "reference", "c".repeat(129))).await;
    assert_eq!(fields(&long), [("reference".to_owned(), "invalid_length".to_owned())]);
}

#[tokio::test]
async fn an_account_is_chosen_as_for_charges() {
    let house = enabled(ServiceSurface::Documented).await;
    let demo = house.demo().await;
    for (method, account) in [(visa(), "card_account_id"), (bank(), "ach_account_id")] {
        let made = credit(&house, body(&method)).await.ok();
        assert_eq!(made["account_id"], demo["test"][account]);
    }
    for (account, code) in [
        (&demo["test"]["ach_account_id"], "incorrect_payment_type"),
        (&demo["live"]["card_account_id"], "unavailable_for_merchant_mode"),
        (&json!("nobody's"), "no_account_for_payment_method"),
    ] {
        let reply = credit(&house, with(body(&visa()), "account_id", account.clone())).await;
        assert_eq!(reply.refusal().1, code);
    }
    let euro = credit(&house, with(body(&visa()), "currency", "EUR")).await;
    assert_eq!(euro.refusal().1, "unsupported_currency");
    super::covers(&["39.3", "52.14"]);
}

#[tokio::test]
async fn a_credit_can_be_voided_before_its_capture_and_is_no_charge() {
    let house = enabled(ServiceSurface::Public).await;
    let made = credit(&house, body(&visa())).await.ok();
    for act in ["refund", "capture"] {
        assert_eq!(house.to_charge(&made, act, json!({"amount": 250})).await.refusal().0, 404);
    }
    house.void(&made).await.ok();
    house.advance("P1D").await;
    assert_eq!(house.status(&made).await, "VOIDED");
    let expect = [("CREDIT", "CREDIT", 250), ("VOID", "CREDIT", 250)];
    assert_eq!(house.ledger_movements().await, movements(&expect));
}

#[tokio::test]
async fn wrong_fields_and_declines_are_those_of_a_charge() {
    let house = enabled(ServiceSurface::Public).await;
    let contexts: Vec<_> =
        fields(&credit(&house, json!({})).await).into_iter().map(|field| field.0).collect();
    assert_eq!(contexts, ["amount", "method"]);
    let expired = with(with(visa(), "exp_year", 2020), "exp_month", 1);
    assert_eq!(credit(&house, body(&expired)).await.refusal().1, "card_expired");
    assert_eq!(house.objects("transactions").await.len(), 0);
    let reply = credit(&house, body(&with(visa(), "number", "4000000000000002"))).await;
    assert_eq!(reply.refusal().1, "card_declined");
    let left = house.fetch(&json!({"id": reply.json()["messages"][0]["entity_id"]})).await;
    assert_eq!((&left["type"], &left["status"]), (&json!("CREDIT"), &json!("FAILED")));
    assert_eq!(house.ledger_movements().await, []);
}
