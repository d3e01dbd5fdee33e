//! The control paths, faults, restarts.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use http::Request;
use serde_json::{Map, Value, json};

use super::{TestSandbox, visa, with};
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::state::faults::Dropped;

fn charge() -> Value {
    json!({"amount": 100, "method": visa()})
}

async fn order(house: &TestSandbox, fault: Value) -> String {
    let made = house.control("POST", "faults", &fault).await;
    made["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn control_paths_answer_to_this_machine_s_names_only() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for (host, status) in [
        ("localhost:8700", 200),
        ("127.0.0.1", 200),
        ("[::1]:8700", 200),
        ("evil.example", 404),
        ("127.0.0.1.evil.example", 404),
    ] {
        let request =
            Request::get("/_sandbox/clock").header("host", host).body(Body::empty()).unwrap();
        assert_eq!(house.send(request).await.status, status, "{host}");
    }
    let request = Request::get("/_sandbox/clock").body(Body::empty()).unwrap();
    assert_eq!(house.send(request).await.status, 404);
    let request = Request::get("https://127.0.0.1:1/_sandbox/clock").body(Body::empty()).unwrap();
    assert_eq!(house.send(request).await.status, 404, "a full URI also needs a Host header");
}

/// Closes S9: the sandbox's own paths are as closed to other pages, host names and machines as the
/// daemon's.
#[tokio::test]
async fn control_paths_change_nothing_for_other_pages_and_machines() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let host = ("host", "127.0.0.1:8700");
    let near = "127.0.0.1:4000";
    for (peer, uri, headers) in [
        (near, "", &[host, ("origin", "https://evil.example")][..]),
        (near, "", &[host, ("sec-fetch-site", "cross-site")]),
        (near, "", &[host, ("host", "evil.example")]),
        (near, "", &[("host", "evil@127.0.0.1")]),
        (near, "", &[host, ("cf-connecting-ip", "192.0.2.7")]),
        (near, "https://evil.example", &[host]),
        ("192.0.2.7:4000", "", &[host]),
    ] {
        let mut request = Request::post(format!("{uri}/_sandbox/reset"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::empty()).unwrap();
        let peer: SocketAddr = peer.parse().unwrap();
        request.extensions_mut().insert(ConnectInfo(peer));
        assert_eq!(house.send(request).await.status, 404, "{peer} {uri} {headers:?}");
    }
}

#[tokio::test]
async fn requests_to_the_service_are_logged_and_control_paths_are_not() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let key = house.key("test", "secret_key").await;
    house.call("GET", "/v1/cards?page=2", Some(&key), &Value::Null).await;
    house.call("GET", "/v1/nothing", None, &Value::Null).await;
    let log = house.control("GET", "requests", &Value::Null).await;
    assert_eq!(log["total"], 2);
    let first = &log["requests"][0];
    assert_eq!((&first["method"], &first["path"]), (&json!("GET"), &json!("/v1/cards")));
    assert_eq!((&first["status"], &log["requests"][1]["status"]), (&json!(200), &json!(404)));
    assert_eq!(first["time"], "2026-11-21T18:00:00.000Z");
}

#[tokio::test]
async fn a_dropped_answer_leaves_its_effect_and_a_reset_none() {
    let house = TestSandbox::new(ServiceSurface::Public);
    order(
        &house,
        json!({"method": "POST", "path": "/v1/charges", "fault": "drop_after", "times": 1}),
    )
    .await;
    let lost = house.secret("POST", "/v1/charges", &charge()).await;
    assert_eq!(lost.dropped, Some(Dropped::Answer));
    assert_eq!(house.objects("transactions").await.len(), 1);
    assert_eq!(house.secret("POST", "/v1/charges", &charge()).await.dropped, None);
    order(&house, json!({"path": "/v1/charges", "fault": "reset"})).await;
    let reset = house.secret("POST", "/v1/charges", &charge()).await;
    assert_eq!(reset.dropped, Some(Dropped::Connection));
    assert_eq!(house.objects("transactions").await.len(), 2);
    assert_eq!(house.secret("GET", "/v1/cards", &Value::Null).await.dropped, None);
}

#[tokio::test]
async fn an_error_comes_before_or_after_the_effect() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for (fault, status, stored) in
        [("error_before", 503, 0), ("error_after", 500, 1), ("throttle", 429, 1)]
    {
        let body = json!({"path": "/v1/charges", "fault": fault, "status": status});
        let id = order(&house, body).await;
        let reply = house.secret("POST", "/v1/charges", &charge()).await;
        assert_eq!(reply.refusal().0, status);
        assert_eq!(reply.headers.contains_key("retry-after"), fault == "throttle");
        assert_eq!(house.objects("transactions").await.len(), stored, "{fault}");
        house.control("DELETE", &format!("faults/{id}"), &Value::Null).await;
    }
    let faults = house.control("GET", "faults", &Value::Null).await;
    assert_eq!(faults["faults"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_delay_takes_the_runtime_s_time() {
    let house = TestSandbox::new(ServiceSurface::Public);
    order(&house, json!({"path": "/v1/cards", "fault": "delay", "delay_ms": 5000})).await;
    let before = tokio::time::Instant::now();
    house.secret("GET", "/v1/cards", &Value::Null).await.ok();
    assert_eq!(before.elapsed().as_secs(), 5);
}

#[tokio::test]
async fn chance_follows_the_seed() {
    let mut stories = Vec::new();
    for seed in [1, 1, 2] {
        let house = TestSandbox::new(ServiceSurface::Public);
        let body = json!({"fault": "error_before", "probability": 0.5, "seed": seed});
        order(&house, body).await;
        let mut story = Vec::new();
        for _ in 0..24 {
            story.push(house.secret("GET", "/v1/cards", &Value::Null).await.status.as_u16());
        }
        assert!(story.contains(&200) && story.contains(&500));
        stories.push(story);
    }
    assert_eq!(stories[0], stories[1]);
    assert_ne!(stories[0], stories[2]);
}

#[tokio::test]
async fn an_unknown_fault_is_refused() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for body in
        [json!({}), json!({"fault": "gremlin"}), json!({"fault": "reset", "probability": 2})]
    {
        let reply = house.call("POST", "/_sandbox/faults", None, &body).await;
        assert_eq!(reply.refusal().0, 400);
    }
}

#[tokio::test]
async fn everything_answered_is_there_after_a_restart() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let card = house.secret("POST", "/v1/cards", &visa()).await.ok();
    house.advance("P3D").await;
    order(&house, json!({"path": "/v1/events", "fault": "reset"})).await;
    let again = house.reopened();
    let path = format!("/v1/cards/{}", card["id"].as_str().unwrap());
    assert_eq!(again.secret("GET", &path, &Value::Null).await.ok(), card);
    let clock = again.control("GET", "clock", &Value::Null).await;
    assert_eq!(clock["now"], "2026-11-24T18:00:00.000Z");
    assert_eq!(again.control("GET", "faults", &Value::Null).await["faults"][0]["fault"], "reset");
    let other = again.secret("POST", "/v1/cards", &visa()).await.ok();
    assert_ne!(other["id"], card["id"]);
}

#[tokio::test]
async fn the_same_seed_and_story_give_the_same_ids() {
    let mut ids = Vec::new();
    for _ in 0..2 {
        let house = TestSandbox::new(ServiceSurface::Public);
        let card = house.secret("POST", "/v1/cards", &visa()).await.ok();
        ids.push((house.credentials().await, card));
    }
    assert_eq!(ids[0], ids[1]);
}

#[tokio::test]
async fn a_reset_forgets_all_but_partner_and_demo_merchant() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let before = house.credentials().await;
    house.secret("POST", "/v1/cards", &visa()).await.ok();
    house.bearer("acme").await;
    house.advance("P3D").await;
    house.control("POST", "reset", &Value::Null).await;
    assert_eq!(house.credentials().await, before);
    assert_eq!(house.objects("cards").await.len(), 0);
    let clock = house.control("GET", "clock", &Value::Null).await;
    assert_eq!(clock["now"], super::START.replace('Z', ".000Z"));
}

#[tokio::test]
async fn a_snapshot_brings_all_state_back() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let card = house.secret("POST", "/v1/cards", &with(visa(), "reference", "r")).await.ok();
    let snapshot = house.control("GET", "snapshot", &Value::Null).await;
    let path = format!("/v1/cards/{}", card["id"].as_str().unwrap());
    house.secret("DELETE", &path, &Value::Null).await.ok();
    house.control("POST", "restore", &snapshot).await;
    let list = house.secret("GET", "/v1/cards?reference=r", &Value::Null).await.ok();
    assert_eq!(list["results"], json!([card]));
    assert_eq!(
        house.control("GET", "snapshot", &Value::Null).await["entries"]["meta/sequence"],
        snapshot["entries"]["meta/sequence"]
    );
    let wrong = with(snapshot, "seed", 7);
    let reply = house.call("POST", "/_sandbox/restore", None, &wrong).await;
    assert_eq!(reply.refusal().0, 400);
}

/// Returns the entries in the form of version 2: an event under its id, its id in a list and under
/// its time, the length of each list, and timers of expiry that a look-up makes unique.
fn in_former_form(entries: &Map<String, Value>) -> Map<String, Value> {
    let mut former = entries.clone();
    former.retain(|key, _| !key.starts_with("o/event/"));
    let mut lengths = BTreeMap::<_, u64>::new();
    for (key, event) in entries.iter().filter(|(key, _)| key.starts_with("l/")) {
        let (list, place) = key.strip_prefix("l/").unwrap().rsplit_once('/').unwrap();
        let number = lengths.entry(list).or_default();
        *number = number.wrapping_add(1);
        let Some(under) = list.strip_prefix("event/") else { continue };
        let number = !u64::from_str_radix(place, 16).unwrap();
        let (merchant, mode) = under.rsplit_once('.').unwrap();
        let owner = json!({"merchant": merchant, "mode": mode});
        let kept = json!({"owner": owner, "sequence": number, "object": event, "inside": null});
        former.insert(key.clone(), event["id"].clone());
        former.insert(format!("o/event/{}", event["id"].as_str().unwrap()), kept);
        former.insert(format!("evt/{under}/0000019aa0000000/{number:016x}"), json!(number));
    }
    former.extend(lengths.iter().map(|(list, length)| (format!("n/{list}"), json!(length))));
    for (key, entry) in entries.iter().filter(|(key, _)| key.starts_with("due/")) {
        let Some(expiry) = entry.get("SavedExpiry") else { continue };
        former.shift_remove(key);
        let (moment, _) = key.rsplit_once('/').unwrap();
        former.insert(format!("{moment}/00000000ffffffff"), entry.clone());
        let id = expiry["id"].as_str().unwrap();
        former.insert(format!("x/expiry/{id}/2040-01-01/false"), json!(true));
    }
    former
}

#[tokio::test]
async fn a_snapshot_of_version_2_has_the_same_events_and_lists() {
    let house = TestSandbox::new(ServiceSurface::Public);
    for _ in 0..3 {
        house.secret("POST", "/v1/charges", &charge()).await.ok();
        house.advance("PT1H").await;
    }
    house.advance("P2D").await;
    house.secret("POST", "/v1/cards", &visa()).await.ok();
    let snapshot = house.control("GET", "snapshot", &Value::Null).await;
    let former = in_former_form(snapshot["entries"].as_object().unwrap());
    for (prefix, count) in [("evt/", 9), ("x/expiry/", 1), ("n/", 3)] {
        assert_eq!(former.keys().filter(|key| key.starts_with(prefix)).count(), count, "{prefix}");
    }
    let former = with(with(snapshot.clone(), "version", 2), "entries", former);
    house.control("POST", "restore", &former).await;
    assert_eq!(house.control("GET", "snapshot", &Value::Null).await, snapshot);
    let all = house.secret("GET", "/v1/events", &Value::Null).await.ok();
    assert_eq!(all["total_entries"], 9);
    for event in all["results"].as_array().unwrap() {
        let path = format!("/v1/events/{}", event["id"].as_str().unwrap());
        assert_eq!(house.secret("GET", &path, &Value::Null).await.ok(), *event);
    }
}

#[tokio::test]
async fn objects_show_owner_and_marks_and_no_secret() {
    let house = TestSandbox::new(ServiceSurface::Public);
    house.secret("POST", "/v1/cards", &with(visa(), "reference", "rk1")).await.ok();
    house.secret("POST", "/v1/charges", &charge()).await.ok();
    let cards = house.objects("cards").await;
    assert_eq!((&cards[0]["merchant"], &cards[0]["mode"]), (&json!("demo"), &json!("test")));
    assert_eq!(cards[0]["reference"], "rk1");
    assert_eq!(cards[0]["number"], "************4242");
    for kind in
        ["contacts", "invoices", "banks", "recurring_charges", "occurrences", "applications"]
    {
        assert_eq!(house.objects(kind).await.len(), 0, "{kind}");
    }
    assert_eq!(house.objects("events").await.len(), 2);
    let reply = house.call("GET", "/_sandbox/objects/nothing", None, &Value::Null).await;
    assert_eq!(reply.status, 404);
}

#[tokio::test]
async fn time_goes_forward_only() {
    let house = TestSandbox::new(ServiceSurface::Public);
    house.advance("P1M").await;
    let clock = house.control("GET", "clock", &Value::Null).await;
    assert_eq!(clock["now"], "2026-12-21T18:00:00.000Z");
    for body in [
        json!({"set": super::START}),
        json!({"advance": "1D"}),
        json!({"advance": "P"}),
        json!({"advance": "P1"}),
        json!({}),
    ] {
        let reply = house.call("POST", "/_sandbox/clock", None, &body).await;
        assert_eq!(reply.refusal().0, 400, "{body}");
    }
}

#[tokio::test]
async fn a_merchant_is_made_in_its_time_zone() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let order = json!({"merchant": "tokyo", "timezone": "Asia/Tokyo"});
    house.control("POST", "credentials", &order).await;
    let merchants = house.credentials().await["merchants"].clone();
    assert_eq!(merchants[1]["name"], "tokyo");
    assert_eq!(merchants[1]["timezone"], "Asia/Tokyo");
    let banks: Vec<_> = merchants[1]["bank_accounts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bank| &bank["mode"])
        .collect();
    assert_eq!(banks, ["test", "test", "live", "live"]);
    let wrong = json!({"merchant": "x", "timezone": "Mars/Base"});
    let reply = house.call("POST", "/_sandbox/credentials", None, &wrong).await;
    assert_eq!(reply.refusal().0, 400);
}
