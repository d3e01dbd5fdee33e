//! Webhooks to the partner's Event URL (partner-api, Events, Delivery rules).

use std::collections::BTreeSet;
use std::sync::Mutex;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::TestSandbox;
use super::applications::{application, manual, submit};
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::serve::{BoundAddress, serve};
use crate::sandbox::webhooks::OutgoingWebhook;

/// Returns a house with due webhooks: one test outcome for each reference.
async fn waiting(references: &[&str]) -> TestSandbox {
    let house = manual();
    for reference in references {
        let mut fields = application(reference, "Doe LLC", "1");
        fields["test"] = json!("fail");
        submit(&house, &fields).await;
    }
    house.advance("PT3S").await;
    house
}

/// Delivers the due webhooks to a receiver with this answer; returns the last path segment of each.
async fn deliver(house: &TestSandbox, status: Option<u16>) -> Vec<String> {
    let seen = Mutex::new(Vec::new());
    let take = |notice: OutgoingWebhook| {
        seen.lock().unwrap().push(notice.url.rsplit('/').next().unwrap().to_owned());
        async move { status }
    };
    house.sandbox.deliver_due(take).await.unwrap();
    seen.into_inner().unwrap()
}

async fn webhooks(house: &TestSandbox) -> Value {
    house.control("GET", "webhooks", &Value::Null).await
}

#[tokio::test]
async fn success_is_exactly_200() {
    for status in [Some(201), Some(202), Some(204), Some(302), Some(404), Some(500), None] {
        let house = waiting(&["a"]).await;
        assert_eq!(deliver(&house, status).await, ["a"]);
        assert!(deliver(&house, Some(200)).await.is_empty());
        house.advance("PT9M59S").await;
        assert!(deliver(&house, Some(200)).await.is_empty(), "{status:?}");
        house.advance("PT1S").await;
        assert_eq!(deliver(&house, Some(200)).await, ["a"], "{status:?}");
        house.advance("P1D").await;
        assert!(deliver(&house, Some(200)).await.is_empty());
        let log = webhooks(&house).await["log"].clone();
        assert_eq!((&log[0]["status"], &log[0]["attempt"]), (&json!(status), &json!(1)));
        assert_eq!((&log[1]["status"], &log[1]["attempt"]), (&json!(200), &json!(2)));
        assert_eq!(log[1]["time"], "2026-11-21T18:10:03.000Z");
        assert_eq!(log[1]["url"], "https://partner.example/events/a");
    }
    super::covers(&["16.3", "16.4"]);
}

#[tokio::test]
async fn after_25_retries_a_notification_is_given_up() {
    let house = waiting(&["a"]).await;
    for _ in 0..26 {
        assert_eq!(deliver(&house, Some(503)).await, ["a"]);
        house.advance("PT10M").await;
    }
    assert!(deliver(&house, Some(200)).await.is_empty());
    let shown = webhooks(&house).await;
    assert_eq!(shown["log"].as_array().unwrap().len(), 26);
    assert_eq!(shown["deliveries"][0]["state"], "given_up");
    assert_eq!(shown["deliveries"][0]["events"], json!(["merchant_application.declined"]));
    let id = shown["deliveries"][0]["id"].as_str().unwrap();
    house.control("POST", &format!("webhooks/{id}/redeliver"), &Value::Null).await;
    assert_eq!(deliver(&house, Some(200)).await, ["a"]);
    let unknown = house.call("POST", "/_sandbox/webhooks/x/redeliver", None, &Value::Null).await;
    assert_eq!(unknown.refusal().0, 404);
}

#[tokio::test]
async fn the_event_url_counts_as_it_is_when_a_notification_goes_out() {
    let house = waiting(&["a"]).await;
    deliver(&house, None).await;
    let url = json!({"event_url": "http://127.0.0.1:9/hooks?of="});
    house.control("POST", "partner", &url).await;
    assert_eq!(house.credentials().await["partner"]["event_url"], url["event_url"]);
    house.advance("PT10M").await;
    deliver(&house, Some(200)).await;
    assert_eq!(webhooks(&house).await["log"][1]["url"], "http://127.0.0.1:9/hooks?of=a");
    super::covers(&["3.4"]);
}

#[tokio::test]
async fn a_notification_survives_a_restart_and_a_reset_forgets_it() {
    let house = waiting(&["a", "b"]).await.reopened();
    assert_eq!(deliver(&house, Some(200)).await, ["a", "b"]);
    let house = waiting(&["a"]).await;
    house.control("POST", "reset", &Value::Null).await;
    assert!(deliver(&house, Some(200)).await.is_empty());
}

async fn fault(house: &TestSandbox, word: &str, times: u64) {
    let order = json!({"fault": word, "path": "/events/", "times": times});
    house.control("POST", "faults", &order).await;
}

#[tokio::test]
async fn a_lost_notification_reaches_nobody_and_comes_again() {
    let house = waiting(&["a"]).await;
    fault(&house, "webhook_lost", 1).await;
    assert!(deliver(&house, Some(200)).await.is_empty());
    let log = webhooks(&house).await["log"].clone();
    assert_eq!((&log[0]["status"], &log[0]["fault"]), (&Value::Null, &json!("webhook_lost")));
    house.advance("PT10M").await;
    assert_eq!(deliver(&house, Some(200)).await, ["a"]);
}

#[tokio::test]
async fn a_doubled_notification_arrives_twice_and_a_reordered_one_later() {
    let house = waiting(&["a", "b"]).await;
    fault(&house, "webhook_doubled", 1).await;
    assert_eq!(deliver(&house, Some(200)).await, ["a", "a", "b"]);
    assert_eq!(webhooks(&house).await["log"].as_array().unwrap().len(), 3);
    let house = waiting(&["a", "b"]).await;
    fault(&house, "webhook_reordered", 1).await;
    assert_eq!(deliver(&house, Some(200)).await, ["b"]);
    house.advance("PT1M").await;
    assert_eq!(deliver(&house, Some(200)).await, ["a"]);
    // An unlimited fault still holds each webhook back only once.
    let house = waiting(&["a"]).await;
    house.control("POST", "faults", &json!({"fault": "webhook_reordered"})).await;
    assert!(deliver(&house, Some(200)).await.is_empty());
    house.advance("PT1M").await;
    assert_eq!(deliver(&house, Some(200)).await, ["a"]);
}

#[tokio::test]
async fn faults_of_requests_and_of_notifications_are_apart() {
    let house = waiting(&["a"]).await;
    house.control("POST", "faults", &json!({"fault": "drop_after"})).await;
    assert_eq!(deliver(&house, Some(200)).await, ["a"]);
    let house = waiting(&[]).await;
    house.control("POST", "faults", &json!({"fault": "webhook_lost"})).await;
    assert_eq!(house.secret("GET", "/v1/cards", &Value::Null).await.status, 200);
    let elsewhere = json!({"fault": "webhook_lost", "path": "/other"});
    let house = waiting(&["a"]).await;
    house.control("POST", "faults", &elsewhere).await;
    assert_eq!(deliver(&house, Some(200)).await, ["a"]);
}

/// Returns the first request that a listening sandbox sends to this receiver, which answers 200.
/// Asserts that the request contains `part`.
pub(super) async fn first_post(house: &TestSandbox, receiver: &TcpListener, part: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let ended = async move { stopped.await.unwrap_or_default() };
    let place = BoundAddress::bind("127.0.0.1:0".parse().unwrap(), true).unwrap();
    let running = serve(&house.sandbox, place, directory.path(), ended).unwrap();
    let (mut socket, _) = receiver.accept().await.unwrap();
    let mut request = String::new();
    while !request.contains(part) {
        let mut chunk = [0; 4096];
        let read = socket.read(&mut chunk).await.unwrap();
        assert!(read > 0, "{request}");
        request.push_str(std::str::from_utf8(&chunk[..read]).unwrap());
    }
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    socket.write_all(answer).await.unwrap();
    drop(socket);
    stop.send(()).unwrap();
    running.done.await.unwrap().unwrap();
    request
}

/// Returns the names of a request's headers, sorted.
pub(super) fn headers(request: &str) -> BTreeSet<String> {
    let head = request.split("\r\n\r\n").next().unwrap_or_default();
    let names = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    names.map(|(name, _)| name.to_lowercase()).collect()
}

/// All headers of a webhook: none of them authenticates the sender.
pub(super) const UNSIGNED: [&str; 4] = ["accept", "content-length", "content-type", "host"];

#[tokio::test]
async fn a_listening_sandbox_posts_by_itself_and_signs_nothing() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let receiver = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hooks/", receiver.local_addr().unwrap());
    house.control("POST", "partner", &json!({ "event_url": url })).await;
    submit(&house, &application("usr_1", "Doe LLC", "1")).await;
    house.advance("PT5S").await;
    let request = first_post(&house, &receiver, "auth_code").await;
    assert!(request.starts_with("POST /hooks/usr_1 HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("content-type: application/json"));
    let body: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(body["events"][0]["type"], "merchant.provisioned");
    assert_eq!(headers(&request), UNSIGNED.map(str::to_owned).into());
    super::covers(&["16.2", "16.6"]);
}
