use std::net::SocketAddr;

use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{Method, Request};
use tokio::sync::{mpsc, watch};
use tower::ServiceExt;

use crate::base::secret::Secret;
use crate::engine::protocol::input::EngineInput;
use crate::http::private::auth::Tokens;
use crate::http::private::router::router;
use crate::http::public::ingress::{Ingress, IngressRules, PostRate};
use crate::http::public::webhooks::*;

const PAGE: &str = "https://service.example/merchant_applications/sign_up/once";

fn outside() -> PublicRoutes {
    PublicRoutes::new(&[3; 32])
}

/// Returns the secret part of the Event URL.
fn token() -> String {
    let url = outside().event_url("", 0);
    url.strip_prefix("/webhooks/partner/").unwrap().trim_end_matches('/').to_owned()
}

/// Returns the public routes, and the engine's end of their channel.
fn door() -> (Router, mpsc::Receiver<EngineInput>) {
    let (sender, events) = mpsc::channel(8);
    (public_router(Control::new(sender), &outside()), events)
}

fn post(path: &str, body: impl Into<Body>) -> Request<Body> {
    Request::post(path).body(body.into()).unwrap()
}

fn hook(token: &str, body: impl Into<Body>) -> Request<Body> {
    post(&format!("/webhooks/partner/{token}/rk7"), body)
}

async fn status(router: &Router, request: Request<Body>) -> u16 {
    router.clone().oneshot(request).await.unwrap().status().as_u16()
}

fn harbor() -> Key {
    "MerchantApplication/default/harbor".parse().unwrap()
}

fn apply() -> String {
    outside().apply_url("", &harbor())
}

#[tokio::test]
async fn a_wrong_token_looks_like_no_path_and_reaches_nobody() {
    let (router, mut events) = door();
    let ours = token();
    let shorter = ours.get(1..).unwrap();
    for token in ["x", shorter, &format!("{ours}x"), &ours.to_uppercase()] {
        assert_eq!(status(&router, hook(token, "{}")).await, 404, "{token}");
    }
    let long = format!("/webhooks/partner/{ours}/{}", "r".repeat(257));
    assert_eq!(status(&router, post(&long, "{}")).await, 404);
    assert_eq!(status(&router, post(&format!("/webhooks/partner/{ours}"), "{}")).await, 404);
    assert_eq!(status(&router, post("/nowhere", "{}")).await, 404);
    assert!(events.try_recv().is_err());
}

#[tokio::test]
async fn a_notification_is_answered_only_once_it_is_stored() {
    let (router, mut events) = door();
    let asked = tokio::spawn(router.oneshot(hook(&token(), "{\"events\":[]}")));
    let Some(EngineInput::PartnerWebhook(notice, stored)) = events.recv().await else {
        panic!("a notice")
    };
    assert_eq!(
        (notice.reference.as_str(), notice.body.as_slice()),
        ("rk7", &b"{\"events\":[]}"[..])
    );
    tokio::task::yield_now().await;
    assert!(!asked.is_finished());
    stored.send(()).unwrap();
    assert_eq!(asked.await.unwrap().unwrap().status(), 200);
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_stored_is_to_be_sent_again() {
    let (router, mut events) = door();
    let asked = tokio::spawn(router.clone().oneshot(hook(&token(), "{}")));
    drop(events.recv().await);
    assert_eq!(asked.await.unwrap().unwrap().status(), 503, "the engine ended meanwhile");
    assert_eq!(status(&router, hook(&token(), "{}")).await, 503, "the engine is too slow");
    drop(events);
    assert_eq!(status(&router, hook(&token(), "{}")).await, 503, "there is no engine");
}

#[tokio::test]
async fn a_body_that_is_too_large_reaches_nobody() {
    let (router, mut events) = door();
    let large = vec![b' '; BODY_BYTES_MAX + 1];
    let mut told = hook(&token(), large.clone());
    told.headers_mut().insert("content-length", large.len().into());
    assert_eq!(status(&router, told).await, 413);
    let chunks = large.chunks(1000).map(|chunk| Ok::<_, std::io::Error>(chunk.to_vec()));
    let chunks = Body::from_stream(futures::stream::iter(chunks.collect::<Vec<_>>()));
    assert_eq!(status(&router, hook(&token(), chunks)).await, 413);
    assert!(events.try_recv().is_err());
}

/// Returns the public routes with these rules, the engine's end of their channel, and the counts.
fn guarded(rules: IngressRules) -> (Router, mpsc::Receiver<EngineInput>, Control) {
    let (sender, events) = mpsc::channel(8);
    let control = Control::new(sender);
    let outside = outside().with_ingress(Ingress::new(rules));
    (public_router(control.clone(), &outside), events, control)
}

#[tokio::test]
async fn who_may_not_post_is_refused_and_counted() {
    let (router, mut events, control) = guarded(IngressRules {
        partner: vec!["192.0.2.0/24".parse().unwrap()],
        ..IngressRules::default()
    });
    let from = |peer: &str, path: &str| {
        let mut request = post(path, "{}");
        let peer: SocketAddr = peer.parse().unwrap();
        request.extensions_mut().insert(ConnectInfo(peer));
        request
    };
    let path = format!("/webhooks/partner/{}/rk7", token());
    let mut forwarded = from("198.51.100.7:4000", &path);
    forwarded.headers_mut().insert("x-forwarded-for", "192.0.2.7".parse().unwrap());
    assert_eq!(status(&router, forwarded).await, 403);
    assert_eq!(status(&router, post(&path, "{}")).await, 403, "nobody knows where it is from");
    assert_eq!(status(&router, from("192.0.2.7:4000", "/webhooks/partner/x/rk7")).await, 404);
    assert_eq!(status(&router, from("198.51.100.7:4000", "/webhooks/gateway/x")).await, 404);
    assert!(events.try_recv().is_err());
    let asked = tokio::spawn(router.oneshot(from("192.0.2.7:4000", &path)));
    let Some(EngineInput::PartnerWebhook(_, stored)) = events.recv().await else {
        panic!("a notice")
    };
    stored.send(()).unwrap();
    assert_eq!(asked.await.unwrap().unwrap().status(), 200);
    let counts = control.posts().counts();
    let count = |word: &str| counts.get(word).copied();
    assert_eq!(
        (count("forbidden"), count("unknown"), count("stored")),
        (Some(2), Some(2), Some(1))
    );
}

#[tokio::test(start_paused = true)]
async fn a_body_that_trickles_is_ended_in_a_fixed_time() {
    let (router, mut events, control) = guarded(IngressRules::default());
    let start = tokio::time::Instant::now();
    let drip = |()| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Some((Ok::<_, std::io::Error>(b" ".to_vec()), ()))
    };
    let body = Body::from_stream(futures::stream::unfold((), drip));
    let slow = router.clone().oneshot(hook(&token(), body)).await.unwrap();
    assert_eq!(
        (slow.status(), &slow.headers()["connection"]),
        (StatusCode::REQUEST_TIMEOUT, &"close".parse().unwrap())
    );
    assert_eq!(start.elapsed().as_secs(), BODY_MAX.as_secs());
    let body = Body::from_stream(futures::stream::unfold((), drip));
    let link = format!("/intake/{}", "x".repeat(20));
    assert_eq!(status(&router, post(&link, body)).await, 408, "a payer's, too");
    assert_eq!(control.posts().counts().get("slow"), Some(&1));
    assert!(events.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_sent_away_before_its_bodies_are_read() {
    let two = std::num::NonZeroU32::new(2).unwrap();
    let (router, mut events, control) = guarded(IngressRules {
        rate: Some(PostRate { per_second: two, burst: two }),
        ..IngressRules::default()
    });
    let engine = tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            if let EngineInput::PartnerWebhook(_, stored) = event {
                stored.send(()).unwrap();
            }
        }
    });
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(status(&router, hook(&token(), "{}")).await);
    }
    assert_eq!(answers, [200, 200, 429, 429]);
    let pending = Body::from_stream(futures::stream::pending::<Result<Vec<u8>, std::io::Error>>());
    let refused = router.clone().oneshot(hook(&token(), pending)).await.unwrap();
    assert_eq!(
        (refused.status(), &refused.headers()["retry-after"]),
        (StatusCode::TOO_MANY_REQUESTS, &"1".parse().unwrap())
    );
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(status(&router, hook(&token(), "{}")).await, 200);
    assert_eq!(control.posts().counts().get("flood"), Some(&3));
    engine.abort();
}

#[tokio::test]
async fn opening_a_link_changes_nothing_and_the_button_leads_to_the_page() {
    let (router, mut events) = door();
    for method in [Method::GET, Method::HEAD] {
        let mut request = Request::get(apply()).body(Body::empty()).unwrap();
        *request.method_mut() = method;
        let shown = router.clone().oneshot(request).await.unwrap();
        assert_eq!(shown.status(), 200);
        assert_eq!(shown.headers()["cache-control"], "no-store");
        assert_eq!(shown.headers()["referrer-policy"], "no-referrer");
    }
    assert!(events.try_recv().is_err());
    let asked = tokio::spawn(router.oneshot(post(&apply(), "")));
    let Some(EngineInput::Visit(key, page)) = events.recv().await else { panic!("a visit") };
    assert_eq!(key, harbor());
    page.send(Some(Secret::from(PAGE))).unwrap();
    let led = asked.await.unwrap().unwrap();
    assert_eq!(
        (led.status(), &led.headers()["location"]),
        (StatusCode::SEE_OTHER, &PAGE.parse().unwrap())
    );
    assert_eq!(led.headers()["cache-control"], "no-store");
    assert_eq!(led.headers()["referrer-policy"], "no-referrer");
}

#[tokio::test]
async fn an_applicant_with_nothing_to_do_is_told_so() {
    let (router, mut events) = door();
    let asked = tokio::spawn(router.oneshot(post(&apply(), "")));
    let Some(EngineInput::Visit(_, page)) = events.recv().await else { panic!("a visit") };
    page.send(None).unwrap();
    let told = asked.await.unwrap().unwrap();
    assert_eq!(told.status(), 409);
    let text = to_bytes(told.into_body(), 1 << 16).await.unwrap();
    let text = String::from_utf8(text.to_vec()).unwrap();
    assert!(text.contains("There is nothing"), "{text}");
}

#[tokio::test]
async fn a_forged_link_looks_like_no_path_and_reaches_nobody() {
    let (router, mut events) = door();
    let link = apply();
    let link = link.strip_prefix("/apply/").unwrap();
    let (named, signature) = link.rsplit_once('_').unwrap();
    let others = PublicRoutes::new(&[4; 32]).apply_url("", &harbor()).replace("/apply/", "");
    for forged in [
        format!("default_other_{signature}"),
        format!("{named}_"),
        format!("{named}_{}", signature.to_uppercase() + "x"),
        format!("{named}_{}", signature.get(1..).unwrap()),
        named.to_owned(),
        others,
    ] {
        let path = format!("/apply/{forged}");
        assert_eq!(status(&router, post(&path, "")).await, 404, "{forged}");
        let get = Request::get(&path).body(Body::empty()).unwrap();
        assert_eq!(status(&router, get).await, 404, "{forged}");
    }
    assert!(events.try_recv().is_err());
}

#[tokio::test]
async fn on_the_private_listener_the_hooks_answer_whom_the_guard_refuses() {
    let (sender, mut events) = mpsc::channel(8);
    let (_switch, ready) = watch::channel(true);
    let control = Control::new(sender);
    let router = router(control.clone(), ready, Tokens::default())
        .merge(webhook_router(control, &outside()));
    let from = |mut request: Request<Body>| {
        let peer: SocketAddr = "192.0.2.7:4000".parse().unwrap();
        request.extensions_mut().insert(ConnectInfo(peer));
        request
    };
    for path in ["/api/v1/plan", "/healthz", "/nowhere"] {
        assert_eq!(status(&router, from(post(path, ""))).await, 401, "{path}");
    }
    let mut near = post("/api/v1/plan", "");
    near.headers_mut().insert("host", "localhost".parse().unwrap());
    let peer: SocketAddr = "127.0.0.1:4000".parse().unwrap();
    near.extensions_mut().insert(ConnectInfo(peer));
    assert_eq!(status(&router, near).await, 401);
    assert_eq!(status(&router, from(hook("x", ""))).await, 404);
    assert!(events.try_recv().is_err());
    let asked = tokio::spawn(router.oneshot(from(hook(&token(), "{}"))));
    let Some(EngineInput::PartnerWebhook(_, stored)) = events.recv().await else {
        panic!("a notice")
    };
    stored.send(()).unwrap();
    assert_eq!(asked.await.unwrap().unwrap().status(), 200);
}
