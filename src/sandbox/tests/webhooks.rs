//! Webhooks to a merchant's own URLs (gateway-api, Webhook rules; service-facts, 68, 72, 76).

use std::sync::Mutex;

use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::notifications::{UNSIGNED, first_post, headers};
use super::{TestSandbox, covers, fields, visa, with};
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::webhooks::OutgoingWebhook;

/// Delivers the due webhooks to receivers with this answer; returns address and body of each POST.
async fn deliver(house: &TestSandbox, status: Option<u16>) -> Vec<(String, Value)> {
    let seen = Mutex::new(Vec::new());
    let take = |notice: OutgoingWebhook| {
        seen.lock().unwrap().push((notice.url, serde_json::from_slice(&notice.body).unwrap()));
        async move { status }
    };
    house.sandbox.deliver_due(take).await.unwrap();
    seen.into_inner().unwrap()
}

async fn listening(urls: Value) -> TestSandbox {
    let house = TestSandbox::new(ServiceSurface::Public);
    house.secret("PATCH", "/v1/merchant", &urls).await.ok();
    deliver(&house, Some(200)).await;
    house
}

#[tokio::test]
async fn each_mode_has_urls_of_its_own_and_each_event_is_one_post() {
    let house =
        listening(json!({"test_events_urls": "https://a.example/hook,https://b.example/hook",
        "live_events_urls": "https://live.example/hook"}))
        .await;
    house.charged(100, visa()).await;
    let sent = deliver(&house, Some(200)).await;
    let to: Vec<&str> = sent.iter().map(|(url, _)| url.as_str()).collect();
    let (a, b) = ("https://a.example/hook", "https://b.example/hook");
    assert_eq!(to, [a, b, a, b]);
    let kinds: Vec<&str> = sent.iter().map(|(_, body)| body["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[1..3], ["transaction.created", "transaction.authorized"]);
    for (_, body) in &sent {
        let path = format!("/v1/events/{}", body["id"].as_str().unwrap());
        assert_eq!(house.secret("GET", &path, &Value::Null).await.ok(), *body);
    }
    let live = house.key("live", "secret_key").await;
    house
        .call("POST", "/v1/charges", Some(&live), &json!({"amount": 5, "method": visa()}))
        .await
        .ok();
    let sent = deliver(&house, Some(200)).await;
    assert!(sent.len() == 2 && sent.iter().all(|(url, _)| url == "https://live.example/hook"));
    covers(&["51.1", "51.3"]);
}

#[tokio::test]
async fn a_change_without_a_mode_goes_to_both_sets() {
    let house = listening(
        json!({"test_events_urls": "https://t.example/", "live_events_urls": "https://l.example/"}),
    )
    .await;
    house.secret("PATCH", "/v1/merchant", &json!({"contact_name": "Ann"})).await.ok();
    let sent = deliver(&house, Some(200)).await;
    let to: Vec<(&str, &str)> =
        sent.iter().map(|(url, body)| (url.as_str(), body["type"].as_str().unwrap())).collect();
    assert_eq!(
        to,
        [("https://t.example/", "merchant.updated"), ("https://l.example/", "merchant.updated")]
    );
    assert_eq!(sent[0].1["data"]["contact_name"], "Ann");
    assert!(!sent[0].1.to_string().contains("secret"));
    covers(&["51.2"]);
}

#[tokio::test]
async fn an_event_is_tried_six_times_with_growing_waits_and_then_lost() {
    let house = listening(json!({"test_events_urls": "https://a.example/"})).await;
    house
        .secret(
            "POST",
            "/v1/charges",
            &json!({"amount": 5, "method": with(visa(), "number", "4000000000000002")}),
        )
        .await;
    let mut hours = Vec::new();
    for hour in 0..30 {
        let sent = deliver(&house, Some(201)).await;
        hours.extend(sent.iter().map(|_| hour));
        house.advance("PT1H").await;
    }
    assert_eq!(hours, [0, 0, 1, 1, 3, 3, 6, 6, 10, 10, 15, 15], "two events, six times each");
    let shown = house.control("GET", "webhooks", &Value::Null).await;
    assert!(
        shown["deliveries"]
            .as_array()
            .unwrap()
            .iter()
            .rev()
            .take(2)
            .all(|one| one["state"] == "given_up")
    );
    house.charged(5, visa()).await;
    assert_eq!(deliver(&house, Some(200)).await.len(), 2);
    house.advance("P2D").await;
    assert_eq!(
        deliver(&house, Some(200))
            .await
            .iter()
            .filter(|(_, body)| body["type"] != "transaction.completed")
            .count(),
        0
    );
    covers(&["51.4", "51.5", "51.6"]);
}

#[tokio::test]
async fn addresses_of_events_are_addresses() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for wrong in ["nowhere", "ftp://a.example/", "https://a.example/,x"] {
        let reply =
            house.secret("PUT", "/v1/merchant", &json!({ "test_events_urls": wrong })).await;
        assert_eq!(fields(&reply), [("test_events_urls".to_owned(), "invalid".to_owned())]);
    }
    let long = format!("https://a.example/{}", "x".repeat(1024));
    assert_eq!(
        house.secret("PUT", "/v1/merchant", &json!({ "live_events_urls": long })).await.status,
        422
    );
    let public = house.key("test", "public_key").await;
    assert_eq!(house.call("PATCH", "/v1/merchant", Some(&public), &json!({})).await.status, 401);
}

#[tokio::test]
async fn nothing_signs_an_event() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let receiver = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", receiver.local_addr().unwrap());
    house.secret("PATCH", "/v1/merchant", &json!({ "test_events_urls": url })).await.ok();
    let request = first_post(&house, &receiver, "merchant.updated").await;
    assert!(request.starts_with("POST /hook HTTP/1.1\r\n"), "{request}");
    assert_eq!(headers(&request), UNSIGNED.map(str::to_owned).into());
    covers(&["51.7"]);
}
