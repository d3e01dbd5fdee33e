//! Requests that a token permits, and requests that no token permits.

use std::time::Duration;

use axum::http::{Method, header};

use super::*;
use crate::control::protocol::{CONTROL_PATH, VERSION, VERSION_HEADER};
use crate::engine::protocol::query::Reply;

const FAR: &str = "192.0.2.7:4000";

/// Returns a request from another machine, through a proxy, with this token.
fn far(method: &str, path: &str, token: Option<&str>, body: &str) -> Request<Body> {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "billing.example")
        .header("x-forwarded-for", "203.0.113.9")
        .header(VERSION_HEADER, VERSION);
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    let mut request = request.body(Body::from(body.to_owned())).unwrap();
    let peer: SocketAddr = FAR.parse().unwrap();
    request.extensions_mut().insert(ConnectInfo(peer));
    request
}

async fn status_of(request: Request<Body>) -> (u16, String) {
    let (router, _switch) = door();
    let (status, body) = send(&router, request).await;
    let code = body["error"]["code"].as_str().unwrap_or_default();
    (status, code.to_owned())
}

#[tokio::test]
async fn whoever_has_a_token_looks_from_anywhere() {
    for token in [WRITER, READER] {
        let answer = status_of(far("GET", "/api/v1/status", Some(token), "")).await;
        assert_eq!(answer, (200, String::new()));
        let body = r#"{"ask":"overview"}"#;
        let answer = status_of(far("POST", CONTROL_PATH, Some(token), body)).await;
        assert_eq!(answer, (200, String::new()));
    }
}

#[tokio::test]
async fn a_wrong_token_is_never_as_good_as_none() {
    let wrong = WRITER.replace('0', "1");
    for path in ["/api/v1/status", "/healthz", "/nowhere"] {
        let mut request = request(path);
        let bearer = format!("Bearer {wrong}").parse().unwrap();
        request.headers_mut().insert(header::AUTHORIZATION, bearer);
        let answer = status_of(request).await;
        assert_eq!(answer, (401, "wrong_token".to_owned()), "{path}");
    }
    for value in ["", "Bearer", "Basic dTpw", WRITER, &format!("Bearer {WRITER}x")] {
        let mut request = far("GET", "/healthz", None, "");
        request.headers_mut().insert(header::AUTHORIZATION, value.parse().unwrap());
        assert_eq!(status_of(request).await.0, 401, "{value}");
    }
    let mut two = far("GET", "/healthz", Some(WRITER), "");
    two.headers_mut().append(header::AUTHORIZATION, format!("Bearer {WRITER}").parse().unwrap());
    assert_eq!(status_of(two).await.0, 401);
}

#[tokio::test]
async fn nothing_is_written_without_a_token_or_by_one_that_looks() {
    let (router, _switch) = door();
    for path in [
        CONTROL_PATH,
        "/api/v1/suspend",
        "/api/v1/resume",
        "/api/v1/approve",
        "/api/v1/reconcile",
        "/api/v1/intents/i-000001/resolve",
        "/api/v1/plan",
    ] {
        let mut near = request(path);
        *near.method_mut() = Method::POST;
        let response = router.clone().oneshot(near).await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
    }
    for (path, body) in [
        (CONTROL_PATH, r#"{"ask":"settle"}"#),
        (CONTROL_PATH, r#""refresh""#),
        (CONTROL_PATH, r#"{"look":"urls"}"#),
        ("/api/v1/suspend", r#"{"resource":"Invoice/jane","reason":"audit"}"#),
        ("/api/v1/reconcile", ""),
    ] {
        let answer = status_of(far("POST", path, Some(READER), body)).await;
        assert_eq!(answer, (403, "read_only_token".to_owned()), "{path} {body}");
    }
}

/// Closes S14: the key of the state can be exchanged only on the daemon's machine.
#[tokio::test]
async fn no_token_is_enough_to_exchange_the_key_of_the_state() {
    for body in [r#"{"rekey":{"new_key_file":null}}"#, r#"{"rekey":{"new_key_file":"/tmp/k"}}"#] {
        let answer = status_of(far("POST", CONTROL_PATH, Some(WRITER), body)).await;
        assert_eq!(answer, (403, "not_allowed".to_owned()), "{body}");
    }
}

#[tokio::test]
async fn a_path_takes_its_own_method_alone() {
    for (method, path) in [
        ("POST", "/api/v1/plan"),
        ("GET", "/api/v1/suspend"),
        ("GET", CONTROL_PATH),
        ("PUT", "/api/v1/plan"),
        ("DELETE", "/api/v1/plan"),
        ("OPTIONS", "/api/v1/suspend"),
    ] {
        let answer = status_of(far(method, path, Some(WRITER), "")).await;
        assert_eq!(answer, (405, "method_not_allowed".to_owned()), "{method} {path}");
    }
}

#[tokio::test]
async fn a_page_of_another_origin_is_refused_whatever_it_brings() {
    for origin in ["https://evil.example", "null", "", "https://billing.example.evil.example"] {
        for method in ["GET", "POST"] {
            let mut request = far(method, "/api/v1/status", Some(WRITER), "");
            request.headers_mut().insert(header::ORIGIN, origin.parse().unwrap());
            let answer = status_of(request).await;
            assert_eq!(answer, (403, "not_allowed".to_owned()), "{method} {origin}");
        }
    }
    let mut same = far("GET", "/api/v1/status", Some(WRITER), "");
    same.headers_mut().insert(header::ORIGIN, "https://billing.example".parse().unwrap());
    assert_eq!(status_of(same).await.0, 200);
}

#[tokio::test]
async fn a_client_of_another_version_is_told_both() {
    let (router, _switch) = door();
    for version in [Some("0.0.9"), None] {
        let mut request = far("POST", CONTROL_PATH, Some(WRITER), r#"{"ask":"plan"}"#);
        request.headers_mut().remove(VERSION_HEADER);
        if let Some(version) = version {
            request.headers_mut().insert(VERSION_HEADER, version.parse().unwrap());
        }
        let (status, body) = send(&router, request).await;
        assert_eq!((status, &body["error"]["code"]), (409, &json!("version_mismatch")));
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.contains(VERSION) && message.contains(version.unwrap_or("unknown")));
    }
}

#[tokio::test]
async fn a_body_that_cannot_be_read_says_what_to_send() {
    for (path, body) in [
        (CONTROL_PATH, "{"),
        (CONTROL_PATH, r#""delete_everything""#),
        ("/api/v1/suspend", r#"{"resource":"Invoice/jane"}"#),
        ("/api/v1/suspend", r#"{"resource":"Invoice/jane","reason":" "}"#),
        (
            "/api/v1/suspend",
            r#"{"resource":"Invoice/jane","reason":"a","until":"2020-01-01T00:00:00Z"}"#,
        ),
        ("/api/v1/resume", "[]"),
        ("/api/v1/approve", "{}"),
        ("/api/v1/approve", r#"{"plan":"5e1f","merchant":"Merchant/acme"}"#),
        ("/api/v1/reconcile", r#"{"wait":1}"#),
        ("/api/v1/intents/i-000001/resolve", r#"{"as":"gone"}"#),
        ("/api/v1/intents/first/resolve", r#"{"as":"retry"}"#),
    ] {
        let answer = status_of(far("POST", path, Some(WRITER), body)).await;
        assert_eq!(answer, (400, "bad_request".to_owned()), "{path} {body}");
    }
    let long = format!(r#"{{"resource":"Invoice/jane","reason":"{}"}}"#, "x".repeat(70_000));
    let request = far("POST", "/api/v1/suspend", Some(WRITER), &long);
    let (router, _switch) = door();
    let response = router.oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test(start_paused = true)]
async fn signs_of_life_come_before_an_answer_that_takes_long() {
    let (events, mut asked) = tokio::sync::mpsc::channel(1);
    let (_switch, ready) = watch::channel(true);
    let router = router(Control::new(events), ready, tokens());
    let engine = async {
        let Some(crate::engine::protocol::input::EngineInput::Ask(_, reply)) = asked.recv().await
        else {
            panic!("asked")
        };
        tokio::time::sleep(Duration::from_secs(35)).await;
        drop(reply.send(Reply::Settled));
    };
    let request = far("POST", CONTROL_PATH, Some(WRITER), r#"{"ask":"settle"}"#);
    let asking = async {
        let response = router.oneshot(request).await.unwrap();
        to_bytes(response.into_body(), 1 << 20).await.unwrap()
    };
    let ((), body) = tokio::join!(engine, asking);
    assert_eq!(&body[..], br#"   {"Ok":"settled"}"#);
}
