//! Fault rules: every type, the number of strikes, and the fields of a rule.

use serde_json::{Value, json};

use super::{TestSandbox, visa};
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::state::faults::Dropped;

async fn order(house: &TestSandbox, fault: Value) -> Value {
    house.control("POST", "faults", &fault).await
}

async fn cards(house: &TestSandbox) -> super::Reply {
    house.secret("GET", "/v1/cards", &Value::Null).await
}

#[tokio::test]
async fn every_word_of_requests_does_what_it_says() {
    for (word, dropped, status, charges) in [
        ("drop_after", Some(Dropped::Answer), None, 1),
        ("error_before", None, Some(500), 0),
        ("error_after", None, Some(500), 1),
        ("delay", None, Some(200), 1),
        ("reset", Some(Dropped::Connection), None, 0),
        ("throttle", None, Some(429), 0),
    ] {
        let house = TestSandbox::new(ServiceSurface::Documented);
        order(&house, json!({"method": "post", "path": "/v1/charges", "fault": word})).await;
        let body = json!({"amount": 100, "method": visa()});
        let reply = house.secret("POST", "/v1/charges", &body).await;
        assert_eq!(reply.dropped, dropped, "{word}");
        assert!(status.is_none_or(|status| reply.status == status), "{word}");
        assert_eq!(house.objects("transactions").await.len(), charges, "{word}");
        assert_eq!(house.total("CHARGE").await, i64::try_from(charges).unwrap() * 100, "{word}");
        let list = house.secret("GET", "/v1/charges/holds", &Value::Null).await;
        assert_eq!(
            (list.status.as_u16(), list.dropped),
            (200, None),
            "only the named requests are dropped"
        );
    }
}

#[tokio::test]
async fn a_throttled_caller_is_told_how_long_to_wait() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    for (order_of, status, code, wait) in [
        (json!({}), 429, "too_many_requests", "1"),
        (json!({"delay_ms": 4_001}), 429, "too_many_requests", "5"),
        (json!({"status": 503, "delay_ms": 0}), 503, "server_error", "0"),
    ] {
        let mut fault = order_of;
        fault["fault"] = json!("throttle");
        fault["times"] = json!(1);
        order(&house, fault).await;
        let reply = cards(&house).await;
        let (found, word, _) = reply.refusal();
        assert_eq!((found, word.as_str()), (status, code));
        assert_eq!(reply.headers["retry-after"], wait);
        assert_eq!(cards(&house).await.status, 200, "the fault strikes once");
    }
    super::covers(&["52.9"]);
}

#[tokio::test]
async fn an_error_has_the_code_of_its_status() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    for (status, code) in [
        (400, "invalid_request"),
        (401, "not_authorized"),
        (404, "resource_not_found"),
        (409, "version_conflict"),
        (429, "too_many_requests"),
        (500, "server_error"),
        (503, "server_error"),
    ] {
        order(&house, json!({"fault": "error_before", "status": status, "times": 1})).await;
        let (found, word, _) = cards(&house).await.refusal();
        assert_eq!((found, word.as_str()), (status, code));
    }
    super::covers(&["52.10", "52.11"]);
}

#[tokio::test]
async fn a_fault_strikes_so_often_and_so_many_times_and_tells_it() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let some = json!({"fault": "error_before", "probability": "0.2", "seed": 3, "times": 4});
    order(&house, some).await;
    let mut struck = Vec::new();
    for _ in 0..60 {
        struck.push(cards(&house).await.status == 500);
    }
    let first_four: Vec<_> =
        struck.iter().enumerate().filter(|(_, hit)| **hit).map(|(at, _)| at).collect();
    assert_eq!(first_four.len(), 4);
    assert!(first_four[3] > 3, "the fault strikes at random, not the first four");
    let told = house.control("GET", "faults", &Value::Null).await["faults"][0].clone();
    assert_eq!((&told["struck"], &told["probability"]), (&json!(4), &json!("0.200000")));
    let never = TestSandbox::new(ServiceSurface::Documented);
    order(&never, json!({"fault": "reset", "probability": 0})).await;
    for _ in 0..10 {
        assert_eq!(cards(&never).await.dropped, None);
    }
}

#[tokio::test]
async fn an_order_that_makes_no_sense_is_refused() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    for wrong in [
        json!({"status": 99}),
        json!({"status": 600}),
        json!({"status": "soon"}),
        json!({"delay_ms": -1}),
        json!({"times": 1.5}),
        json!({"seed": "x"}),
        json!({"path": 7}),
        json!({"method": ["POST"]}),
        json!({"probability": 1.1}),
        json!({"probability": -0.1}),
    ] {
        let mut body = wrong;
        body["fault"] = json!("error_before");
        let reply = house.call("POST", "/_sandbox/faults", None, &body).await;
        assert_eq!(reply.refusal().0, 400, "{body}");
    }
    assert_eq!(cards(&house).await.status, 200, "no invalid order was accepted");
}
