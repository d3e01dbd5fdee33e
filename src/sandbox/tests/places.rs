//! Allowed origins of calls (gateway-api, Errors and Limits; service-facts, 15 and 26).

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use crate::sandbox::merchants::auth::parse_range;
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::tests::story::id;
use crate::sandbox::tests::{Reply, TestSandbox, visa};

const FRENCH: &str = "203.0.113.7";

/// Sends a request that relays the payer's address.
async fn relayed(house: &TestSandbox, path: &str, body: &Value, address: &str) -> Reply {
    let request = Request::post(path)
        .header("host", "localhost")
        .header("authorization", house.key("test", "secret_key").await)
        .header("content-type", "application/json")
        .header("X-Relayed-IP-Address", address);
    house.send(request.body(Body::from(body.to_string())).unwrap()).await
}

async fn at_home_only() -> TestSandbox {
    let house = TestSandbox::new(ServiceSurface::Public);
    house.allow("credits_enabled", true).await;
    house.allow("ip_countries", json!({"203.0.113.0/24": "FR", "2001:db8::/32": "CA"})).await;
    house.allow("transaction_allowed_countries", json!(["US", "CA"])).await;
    house
}

#[tokio::test]
async fn an_operation_from_another_country_is_refused_and_leaves_nothing_but_a_failure() {
    let house = at_home_only().await;
    let (charge, held) = (house.charged(500, visa()).await, house.held(300).await);
    let before = house.ledger_movements().await;
    let of = |one: &Value, act: &str| format!("/v1/charges/{}/{act}", id(one));
    for (path, body) in [
        ("/v1/charges".to_owned(), json!({"amount": 100, "method": visa()})),
        ("/v1/credits".to_owned(), json!({"amount": 100, "method": visa()})),
        (of(&charge, "refund"), json!({"amount": 100})),
        (of(&held, "capture"), json!({"amount": 300})),
        (format!("/v1/transactions/{}/void", id(&charge)), json!({})),
    ] {
        let reply = relayed(&house, &path, &body, FRENCH).await;
        assert_eq!(reply.refusal(), (401, "not_authorized".to_owned(), None), "{path}");
        let entity = &reply.json()["messages"][0]["entity_id"];
        if path.contains("capture") || path.contains("void") {
            assert!(entity.is_null());
        } else {
            let left = house.fetch(&json!({ "id": entity })).await;
            assert_eq!(left["status"], "FAILED");
            assert_eq!(left["failure_code"], "not_authorized_country_denied");
        }
    }
    assert_eq!(house.ledger_movements().await, before);
    assert_eq!(house.fetch(&charge).await["amount_refunded"], 0);
    for address in ["198.51.100.1", "2001:db8::7", "no address"] {
        relayed(&house, &of(&charge, "refund"), &json!({"amount": 100}), address).await.ok();
    }
    super::covers(&["32.2", "32.4", "52.14"]);
}

#[tokio::test]
async fn countries_are_an_account_s_and_none_means_all() {
    let house = at_home_only().await;
    let card = house.demo().await["test"]["card_account_id"].as_str().unwrap().to_owned();
    house.allow("transaction_allowed_countries", json!({ card: [] })).await;
    let body = json!({"amount": 100, "method": visa()});
    relayed(&house, "/v1/charges", &body, FRENCH).await.ok();
    let bank = json!({"amount": 100, "method": super::story::bank()});
    assert_eq!(relayed(&house, "/v1/charges", &bank, FRENCH).await.status, 401);
    for wrong in [
        json!({"transaction_allowed_countries": {"none": ["US"]}}),
        json!({"transaction_allowed_countries": "US"}),
        json!({"ip_countries": {"here": "US"}}),
        json!({"api_allowed_ip_address_ranges": ["10.0.0.0/33"]}),
    ] {
        let order = super::with(wrong, "merchant", "demo");
        assert_eq!(house.call("POST", "/_sandbox/policy", None, &order).await.status, 400);
    }
}

#[tokio::test]
async fn a_merchant_says_which_addresses_call_with_its_secret_keys() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let token = json!({"type": "card"});
    let public = house.key("test", "public_key").await;
    for (ranges, status) in [
        (json!(["10.0.0.0/8", "192.0.2.1"]), 401),
        (json!(["10.0.0.0/8", "127.0.0.0-127.0.0.9"]), 200),
        (json!([]), 200),
    ] {
        house.allow("api_allowed_ip_address_ranges", ranges).await;
        let reply = house.secret("GET", "/v1/cards", &Value::Null).await;
        assert_eq!(reply.status, status);
        let made = house.call("POST", "/v1/tokens", Some(&public), &token).await;
        assert_eq!(made.status, 200, "payers may make tokens from any address");
    }
    super::covers(&["32.1"]);
}

#[test]
fn a_range_has_two_ends() {
    for (text, ends) in [
        ("10.1.2.3", Some(("10.1.2.3", "10.1.2.3"))),
        ("10.1.2.3/8", Some(("10.0.0.0", "10.255.255.255"))),
        ("10.1.2.3/32", Some(("10.1.2.3", "10.1.2.3"))),
        ("10.1.2.3/0", Some(("0.0.0.0", "255.255.255.255"))),
        ("10.0.0.1 - 10.0.0.9", Some(("10.0.0.1", "10.0.0.9"))),
        ("2001:db8::/127", Some(("2001:db8::", "2001:db8::1"))),
        ("10.1.2.3/33", None),
        ("10.0.0.1-::1", None),
        ("here", None),
    ] {
        let expect = ends.map(|(first, last)| (first.parse().unwrap(), last.parse().unwrap()));
        assert_eq!(parse_range(text), expect, "{text}");
    }
}

#[tokio::test]
async fn a_relayed_address_counts_once_the_caller_s_own_has_passed() {
    let house = at_home_only().await;
    let body = json!({"amount": 100, "method": visa()});
    house.allow("api_allowed_ip_address_ranges", json!([FRENCH, "198.51.100.0/24"])).await;
    for address in [FRENCH, "198.51.100.1"] {
        let reply = relayed(&house, "/v1/charges", &body, address).await;
        assert_eq!(reply.refusal(), (401, "not_authorized".to_owned(), None), "{address}");
        assert!(reply.json()["messages"][0]["entity_id"].is_null(), "no payment was tried");
    }
    assert_eq!(house.objects("transactions").await, Vec::<Value>::new());
    house.allow("api_allowed_ip_address_ranges", json!(["127.0.0.1"])).await;
    let reply = relayed(&house, "/v1/charges", &body, FRENCH).await;
    assert_eq!(reply.refusal().0, 401);
    assert!(reply.json()["messages"][0]["entity_id"].is_string(), "the country was checked");
    relayed(&house, "/v1/charges", &body, "198.51.100.1").await.ok();
    super::covers(&["32.3"]);
}
