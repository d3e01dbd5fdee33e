//! Signatures (gateway-api, POST /v1/transactions/{transactionId}/sign; service-facts, 48, 49).

use serde_json::{Value, json};

use super::story::{events, id};
use super::{TestSandbox, fields, visa, with};
use crate::sandbox::options::ServiceSurface;

const UNFIT: &str = "not_valid_for_transaction_status";

fn strokes() -> Value {
    json!({"mime_type": "service/jsignature", "data": "[{\"x\":[1,2],\"y\":[3,4]}]"})
}

#[tokio::test]
async fn a_transaction_is_signed_once() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let charge = house.charged(500, visa()).await;
    for data in ["a word", "{\"x\":[1,2]}"] {
        let reply = house.to_transaction(&charge, "sign", with(strokes(), "data", data)).await;
        assert_eq!(fields(&reply), [("data".to_owned(), "invalid".to_owned())]);
    }
    let before = house.told().await;
    let signed = house.to_transaction(&charge, "sign", strokes()).await.ok();
    assert_eq!((&signed["id"], &signed["status"]), (&charge["id"], &json!("AUTHORIZED")));
    assert_eq!(signed["signature"], strokes());
    assert_eq!(house.events_since(before).await, events(&[("updated", "AUTHORIZED")]));
    assert_eq!(house.fetch(&charge).await["signature_id"], signed["signature_id"]);
    assert_eq!(house.to_transaction(&charge, "sign", strokes()).await.refusal().1, UNFIT);
    let path = format!("/v1/signatures/{}", signed["signature_id"].as_str().unwrap());
    let kept = house.secret("GET", &path, &Value::Null).await.ok();
    assert_eq!((&kept["id"], &kept["data"]), (&signed["signature_id"], &strokes()["data"]));
    assert_eq!(kept["mime_type"], "service/jsignature");
    assert_eq!(kept["created"], "2026-11-21T18:00:00.000Z");
    let live = house.key("live", "secret_key").await;
    assert_eq!(house.call("GET", &path, Some(&live), &Value::Null).await.status, 404);
    let drawn = house.objects("events").await;
    assert!(!json!(drawn).to_string().contains("strokes"), "no event shows what was drawn");
    assert!(drawn.iter().all(|event| event["data"].get("signature").is_none()));
    super::covers(&["40.1", "40.2", "40.3", "40.7"]);
}

#[tokio::test]
async fn what_came_to_nothing_is_not_signed_and_what_is_captured_takes_no_gratuity() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let voided = house.charged(500, visa()).await;
    house.void(&voided).await.ok();
    let failed = house.charged(500, visa()).await;
    house.settle(&failed, "failed").await;
    for charge in [&voided, &failed] {
        assert_eq!(house.to_transaction(charge, "sign", strokes()).await.refusal().1, UNFIT);
    }
    let captured = house.charged(500, visa()).await;
    house.settle(&captured, "settled").await;
    let generous = with(strokes(), "gratuity", 100);
    assert_eq!(house.to_transaction(&captured, "sign", generous).await.refusal().1, UNFIT);
    house.to_transaction(&captured, "sign", with(strokes(), "gratuity", Value::Null)).await.ok();
    let none = house.to_transaction(&json!({"id": "none"}), "sign", strokes()).await;
    assert_eq!(none.refusal().0, 404);
    super::covers(&["40.4"]);
}

#[tokio::test]
async fn a_signature_s_fields_are_checked() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let charge = house.charged(500, visa()).await;
    for (field, value, sub_code) in [
        ("data", json!(""), "not_blank"),
        ("data", json!(" "), "not_blank"),
        ("data", Value::Null, "not_blank"),
        ("data", json!("s".repeat(8193)), "invalid_length"),
        ("mime_type", json!(""), "not_blank"),
        ("mime_type", json!("m".repeat(65)), "invalid_length"),
        ("gratuity", json!(-1), "below_minimum_value"),
        ("gratuity", json!("much"), "invalid"),
    ] {
        let reply = house.to_transaction(&charge, "sign", with(strokes(), field, value)).await;
        assert_eq!(fields(&reply), [(field.to_owned(), sub_code.to_owned())]);
    }
    let both = fields(&house.to_transaction(&charge, "sign", json!({})).await);
    assert_eq!(both.len(), 2);
    let other = house.charged(500, visa()).await;
    let shortest = json!({"mime_type": "m", "data": "s"});
    house.to_transaction(&other, "sign", shortest).await.ok();
    let longest = json!({"mime_type": "m".repeat(64), "data": "s".repeat(8192)});
    let signed = house.to_transaction(&charge, "sign", longest).await.ok();
    let path = format!("/v1/signatures/{}", signed["signature_id"].as_str().unwrap());
    let reply = house.secret("GET", &path, &Value::Null).await;
    assert_eq!(reply.refusal().0, 404, "the documents read no signature: {}", id(&charge));
    super::covers(&["40.5", "40.6"]);
}
