//! One call, its bytes, and the facts proved by its answer or the lack of one.

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::routing::post as on_post;
use axum::{Extension, Json};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::*;
use crate::api::call::LostReplyMarker;

/// Answers with a copy of its request.
fn echo() -> Router {
    Router::new().fallback(|uri: Uri, headers: HeaderMap, body: Bytes| async move {
        let header = |name| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        Json(json!({
            "uri": uri.to_string(),
            "host": header("host"),
            "type": header("content-type"),
            "authorization": header("authorization"),
            "body": String::from_utf8(body.to_vec()).unwrap(),
        }))
    })
}

/// A router whose one path counts, and then answers or drops the answer.
fn counting(count: &Count, dropped: bool) -> Router {
    let count = count.clone();
    let handler = on_post(async move || {
        count.next();
        "{}"
    });
    let router = Router::new().route("/x", handler);
    if dropped { router.layer(axum::middleware::map_response(drop_answer)) } else { router }
}

async fn drop_answer(response: axum::response::Response) -> impl axum::response::IntoResponse {
    (Extension(LostReplyMarker), response)
}

fn reply(outcome: Outcome) -> Value {
    let Outcome::Done { reply } = outcome else {
        panic!("{outcome:?}");
    };
    reply
}

#[tokio::test]
async fn a_body_goes_out_byte_for_byte() {
    let odd = br#"{ "b":1,"a" : "x" }"#;
    let asked = reply(client(echo()).send(&post("/x").body(odd.to_vec()), &Access::None).await);
    assert_eq!(asked["body"].as_str().unwrap().as_bytes(), odd);
    assert_eq!(asked["type"], "application/json");
    let bare = reply(client(echo()).send(&post("/x"), &Access::None).await);
    assert_eq!((&bare["body"], &bare["type"]), (&json!(""), &Value::Null));
}

#[tokio::test]
async fn a_call_reaches_its_host_with_its_query() {
    let client = client(echo());
    let base = reply(client.send(&get("/v1/x").query("q", "a b"), &Access::None).await);
    assert_eq!((&base["host"], &base["uri"]), (&json!("base.test"), &json!("/v1/x?q=a+b")));
    let brand = client.with_web_url("https://brand.test:1/up").unwrap();
    let on_web = Call { host: Host::Web, ..get("/x") };
    let web = reply(brand.send(&on_web, &Access::None).await);
    assert_eq!((&web["host"], &web["uri"]), (&json!("brand.test:1"), &json!("/up/x")));
}

#[tokio::test]
async fn a_credential_goes_only_where_it_fits() {
    let client = client(echo());
    let key = Access::Basic(Secret::from("key"));
    let token = Access::Bearer(Secret::from("token"));
    let with = async |auth, access| client.send(&call(Method::Post, "/x", auth), access).await;
    assert_eq!(reply(with(Auth::SecretKey, &key).await)["authorization"], "Basic a2V5Og==");
    assert_eq!(reply(with(Auth::Payments, &token).await)["authorization"], "Bearer token");
    for (auth, access) in [
        (Auth::Payments, &key),
        (Auth::SecretKey, &token),
        (Auth::None, &key),
        (Auth::Tenant, &token),
        (Auth::PublicKey, &Access::None),
        (Auth::Payments, &Access::Tenant),
    ] {
        assert!(is_not_sent(&with(auth, access).await), "{auth:?} {access:?}");
    }
}

#[tokio::test]
async fn a_dropped_answer_leaves_doubt_about_what_happened() {
    let count = Count::default();
    let outcome = client(counting(&count, true)).send(&post("/x"), &Access::None).await;
    assert!(is_in_doubt(&outcome));
    assert_eq!(count.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_silent_service_leaves_doubt_when_the_time_is_over() {
    let router = Router::new().route("/x", on_post(async || sleep(LIMIT * 2).await));
    let started = Instant::now();
    assert!(is_in_doubt(&client(router).send(&post("/x"), &Access::None).await));
    assert_eq!(started.elapsed(), LIMIT);
}

#[tokio::test]
async fn an_answer_too_large_leaves_doubt() {
    let router = |bytes: usize| {
        Router::new().route("/x", on_post(async move || format!("\"{}\"", "x".repeat(bytes - 2))))
    };
    let limit = 16 * 1024 * 1024;
    let send = async |bytes| client(router(bytes)).send(&post("/x"), &Access::None).await;
    assert!(matches!(send(limit).await, Outcome::Done { .. }));
    assert!(is_in_doubt(&send(limit + 1).await));
}

/// A wire with one decision before and one after.
struct Fixed(WireDecision, WireDecision);

impl Wire for Fixed {
    fn before(&self, _call: &Call) -> WireDecision {
        self.0
    }

    fn after(&self, _call: &Call) -> WireDecision {
        self.1
    }
}

#[tokio::test(start_paused = true)]
async fn a_wire_loses_or_stops_before_and_after_the_effect() {
    use WireDecision::{Crash, Lose, Pass};
    for (before, after, effects, ends) in [
        (Lose, Pass, 0, true),
        (Pass, Lose, 1, true),
        (Crash, Pass, 0, false),
        (Pass, Crash, 1, false),
    ] {
        let count = Count::default();
        let client = over(counting(&count, false), Fixed(before, after));
        let outcome = timeout(LIMIT * 100, client.send(&post("/x"), &Access::None)).await;
        assert_eq!(outcome.is_ok(), ends, "{before:?} {after:?}");
        assert!(outcome.is_err() || is_in_doubt(&outcome.unwrap()), "{before:?} {after:?}");
        assert_eq!(count.get(), effects, "{before:?} {after:?}");
    }
}

#[tokio::test]
async fn a_throttled_call_was_not_sent() {
    let answer = (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "12")], "{}");
    let router = Router::new().route("/x", on_post(async move || answer));
    let outcome = client(router).send(&post("/x"), &Access::None).await;
    assert!(matches!(outcome, Outcome::NotSent { retry_after_s: Some(12), .. }));
}

#[tokio::test]
async fn secrets_never_show_in_debug() {
    let client = client(Router::new());
    let secret = || Secret::from(CANARY);
    let holder = ServiceConfig { ca_file: Some(CANARY.into()), ..service("https://base.test") };
    let asked = post("/x").query("q", CANARY).body(CANARY.into());
    let unsendable = client
        .send(
            &call(Method::Post, "/x", Auth::SecretKey),
            &Access::Basic(Secret::from(format!("{CANARY}\n").as_str())),
        )
        .await;
    let header = basic(&secret()).unwrap();
    let done = Outcome::Done { reply: json!(CANARY) };
    let shown = format!(
        "{client:?} {:?} {:?} {:?} {:?} {holder:?} {:?} {asked:?} {unsendable:?} {header:?} {done:?}",
        client.transport,
        Access::Bearer(secret()),
        Access::Basic(secret()),
        bearer(&Secret::from(format!("{CANARY}\u{1}").as_str())),
        holder.partner,
    );
    assert!(!shown.contains("canary") && !shown.contains("4242"), "{shown}");
    let encoded = String::from_utf8(header.as_bytes().to_vec()).unwrap();
    assert!(!shown.contains(encoded.trim_start_matches("Basic ")));
}
