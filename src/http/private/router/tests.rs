use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::Request;
use chrono::DateTime;
use serde_json::{Value, json};
use tokio::sync::watch;
use tower::ServiceExt;

use crate::base::histogram::HistogramCounts;
use crate::control::testing::{engine, overview};
use crate::engine::protocol::diagnostics::{EventTotals, Metrics, StatusView};
use crate::engine::protocol::intents::IntentsView;
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::engine::protocol::resources::ResourceList;
use crate::engine::protocol::unknown_names::UnknownName;
use crate::engine::protocol::views::{PlanView, ResourceView};
use crate::http::private::answer::SharedAnswer;
use crate::http::private::router::*;
use crate::model::events::event::EventLedger;
use crate::model::events::hook_run::ActionCounts;
use crate::model::issue::ProblemCounts;
use crate::model::manifest::TreeState;

mod connections;
mod sessions;
mod streams;
mod tokens;

fn jane() -> ResourceView {
    let view = json!({
        "kind": "Invoice", "namespace": "default", "name": "jane", "ready": true,
        "standing": "ready", "reason": "InSync", "message": "the service matches the file", "verdict": "settled",
    });
    serde_json::from_value(view).unwrap()
}

fn plan_view() -> PlanView {
    PlanView {
        version: 1,
        coverage: TreeState::Complete,
        position: 42,
        head: "9f86".to_owned(),
        commit: None,
        files: None,
        checksum: "5e1f".to_owned(),
        looked_at: Vec::new(),
        against: None,
        hold: None,
        rules: Vec::new(),
        resources: 0,
        steps: Vec::new(),
        due: Vec::new(),
        totals: Vec::new(),
        problems: Vec::new(),
        omitted: ProblemCounts::default(),
    }
}

fn status_view() -> StatusView {
    StatusView { overview: overview(), ..StatusView::default() }
}

fn totals() -> EventTotals {
    let actions = ActionCounts { done: 3, refused: 1, ..ActionCounts::default() };
    let ledger =
        EventLedger { posts: 4, verified: 5, missed: 2, actions, ..EventLedger::default() };
    let (age_seconds, lag_seconds) = (Some(7), Some(3));
    EventTotals { ledger, age_seconds, lag_seconds, hooks_dead: 1, ..EventTotals::default() }
}

fn counts() -> Metrics {
    let within_us = vec![(100, 3), (250, 5)];
    let syncs = HistogramCounts { within_us, count: 6, total_us: 1_500_001 };
    Metrics {
        overview: overview(),
        intents: [("held".to_owned(), (1, 7200))].into(),
        reasons: [("OverLimit".to_owned(), 1)].into(),
        conditions: [("Synced".to_owned(), [("True".to_owned(), 4)].into())].into(),
        over_limit: 1,
        syncs,
        events: totals(),
        ..Metrics::default()
    }
}

/// One token that may write, and one that may not.
pub(super) const WRITER: &str = "0123456789abcdef0123456789abcdef";
pub(super) const READER: &str = "fedcba9876543210fedcba9876543210";

fn tokens() -> Tokens {
    Tokens::parse(&format!("{WRITER}\nmonitor read {READER}\n")).unwrap()
}

/// Answers as an engine that knows one invoice.
fn answer_to(question: EngineQuery) -> Reply {
    match question {
        EngineQuery::Overview => Reply::Overview(Box::new(overview())),
        EngineQuery::Status => Reply::Status(Box::new(status_view())),
        EngineQuery::Resources(filter) => {
            if let Some(key) = filter.merchant {
                return Reply::Unknown(vec![UnknownName { key, nearest: None }]);
            }
            let items = if filter.not_ready { Vec::new() } else { vec![jane()] };
            Reply::Resources(ResourceList {
                total: items.len(),
                items,
                hold: None,
                rules: Vec::new(),
                at: DateTime::UNIX_EPOCH,
            })
        }
        EngineQuery::Resource(key) => {
            Reply::Resource((key.name.as_str() == "jane").then(|| Box::new(jane())))
        }
        EngineQuery::Metrics => Reply::Metrics(Box::new(counts())),
        EngineQuery::Intents => Reply::Intents(IntentsView::default()),
        EngineQuery::Events(_) => Reply::Events(Box::default()),
        EngineQuery::Event(_) => Reply::Event(None),
        EngineQuery::Hooks => Reply::Hooks(Box::default()),
        EngineQuery::ScriptResource(_) | EngineQuery::ScriptFind(..) | EngineQuery::TrialRun(_) => {
            Reply::ScriptData(Ok(Value::Null))
        }
        EngineQuery::Plan | EngineQuery::Scoped(_) => Reply::Plan(Box::new(plan_view())),
        EngineQuery::Save(_) => Reply::Unknown(Vec::new()),
        EngineQuery::Approvals => Reply::Approvals(Vec::new()),
        EngineQuery::Addresses => Reply::Addresses(Vec::new()),
        EngineQuery::Effects(_) => Reply::Effects(Vec::new()),
        EngineQuery::PlanPart(_)
        | EngineQuery::Money
        | EngineQuery::ResourceContext(_)
        | EngineQuery::Graph(_)
        | EngineQuery::IntakeLink(_)
        | EngineQuery::JournalRefs(_)
        | EngineQuery::Replay(_)
        | EngineQuery::Settle => Reply::Settled,
    }
}

/// Returns a router over an engine that knows one invoice, and the switch of its readiness.
pub(super) fn door() -> (Router, watch::Sender<bool>) {
    let (switch, ready) = watch::channel(false);
    (router(engine(answer_to), ready, tokens()), switch)
}

/// Returns a request from this machine that names it as host.
fn request(path: &str) -> Request<Body> {
    from("127.0.0.1:4000", &[("host", "localhost:8780")], path)
}

fn from(peer: &str, headers: &[(&str, &str)], path: &str) -> Request<Body> {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut request = request.body(Body::empty()).unwrap();
    let peer: SocketAddr = peer.parse().unwrap();
    request.extensions_mut().insert(ConnectInfo(peer));
    request
}

pub(super) async fn send(router: &Router, request: Request<Body>) -> (u16, Value) {
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, serde_json::from_slice(&body).expect("every answer is JSON"))
}

async fn get_json(router: &Router, path: &str) -> (u16, Value) {
    send(router, request(path)).await
}

#[tokio::test]
async fn every_path_answers_with_its_view() {
    let (router, _switch) = door();
    let (status, body) = get_json(&router, "/api/v1/status").await;
    assert_eq!((status, &body["version"]), (200, &json!(env!("CARGO_PKG_VERSION"))));
    assert_eq!((&body["resources"], &body["coverage"]), (&json!(5), &json!("whole")));
    let (status, body) = get_json(&router, "/api/v1/resources").await;
    assert_eq!((status, &body["items"][0]["name"]), (200, &json!("jane")));
    let (status, body) = get_json(&router, "/api/v1/resources?not_ready=true&labels=a,b!=c").await;
    assert_eq!((status, &body["items"]), (200, &json!([])));
    let (status, body) = get_json(&router, "/api/v1/resources/Invoice/default/jane").await;
    assert_eq!((status, &body["ready"]), (200, &json!(true)));
    let (status, body) = get_json(&router, "/api/v1/plan").await;
    assert_eq!((status, &body["version"]), (200, &json!(1)));
    let (status, body) = get_json(&router, "/api/v1/intents").await;
    assert_eq!((status, &body["items"]), (200, &json!([])));
}

/// Sends 40 requests for this path at once, and returns the number of queries that the engine got.
async fn queries_of_many(path: &str) -> usize {
    let queries = Arc::new(AtomicUsize::new(0));
    let counted = queries.clone();
    let control = engine(move |question| {
        counted.fetch_add(1, Ordering::SeqCst);
        answer_to(question)
    });
    let (_switch, ready) = watch::channel(true);
    let router = router(control, ready, tokens());
    let all = (0..40).map(|_| router.clone().oneshot(request(path)));
    for response in futures::future::join_all(all).await {
        assert_eq!(response.unwrap().status(), StatusCode::OK);
    }
    queries.load(Ordering::SeqCst)
}

/// The second query is for those who came after the first began: its answer may lack what they saw.
#[tokio::test]
async fn however_many_ask_for_the_status_the_engine_is_asked_once_at_a_time() {
    assert_eq!(queries_of_many("/api/v1/status").await, 2);
    assert_eq!(queries_of_many("/metrics").await, 2);
}

#[tokio::test]
async fn a_request_gets_no_answer_that_was_begun_before_it_came() {
    let shared = SharedAnswer::new();
    for number in 0..3 {
        assert_eq!(shared.answer(|| async { Ok(number) }).await, Ok(number));
    }
}

#[tokio::test]
async fn a_query_that_fails_or_is_abandoned_leaves_the_next_to_ask_again() {
    let shared = SharedAnswer::new();
    let failed = shared.answer(|| async { Err(ControlError::engine_stopped()) }).await;
    assert_eq!(failed, Err(ControlError::engine_stopped()));
    let mut abandoned = Box::pin(shared.answer(std::future::pending));
    assert!(futures::poll!(&mut abandoned).is_pending());
    let mut waiting = Box::pin(shared.answer(|| async { Ok(1) }));
    assert!(futures::poll!(&mut waiting).is_pending());
    drop(abandoned);
    assert_eq!(waiting.await, Ok(1));
}

#[tokio::test]
async fn what_is_not_there_says_where_to_look() {
    let (router, _switch) = door();
    for (path, expected) in [
        ("/api/v1/resources/Invoice/default/nobody", (404, "no_such_resource")),
        ("/api/v1/resources?merchant=absent", (404, "no_such_resource")),
        ("/api/v1/resources?kind=Nothing", (400, "bad_request")),
        ("/api/v1/resources?limit=one", (400, "bad_request")),
        ("/api/v1/resources/Invoice/default/Not_A_Name", (400, "bad_request")),
        ("/api/v1/resources/Invoice/default/a%2Fb", (400, "bad_request")),
        ("/api/v1/resources/Invoice/default/%FF", (400, "bad_request")),
        ("/nowhere", (404, "no_such_path")),
    ] {
        let (status, body) = get_json(&router, path).await;
        assert_eq!((status, body["error"]["code"].as_str().unwrap()), expected, "{path}");
        assert!(!body["error"]["help"].as_str().unwrap().is_empty(), "{path}");
    }
}

#[tokio::test]
async fn alive_comes_before_ready() {
    let (router, switch) = door();
    assert_eq!(get_json(&router, "/healthz").await.0, 200);
    let (status, body) = get_json(&router, "/readyz").await;
    assert_eq!((status, &body["error"]["code"]), (503, &json!("not_ready")));
    switch.send_replace(true);
    assert_eq!(get_json(&router, "/readyz").await.0, 200);
}

#[tokio::test]
async fn an_engine_that_ended_is_told_and_not_waited_for() {
    let (events, _) = tokio::sync::mpsc::channel(1);
    let (_switch, ready) = watch::channel(true);
    let router = router(Control::new(events), ready, Tokens::default());
    let (status, body) = get_json(&router, "/api/v1/plan").await;
    assert_eq!((status, &body["error"]["code"]), (503, &json!(ControlError::STOPPED)));
    assert_eq!(get_json(&router, "/healthz").await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_is_busy_is_not_waited_for_without_end() {
    let (events, _unread) = tokio::sync::mpsc::channel(1);
    let (_switch, ready) = watch::channel(true);
    let router = router(Control::new(events), ready, Tokens::default());
    let (status, body) = get_json(&router, "/api/v1/plan").await;
    assert_eq!((status, &body["error"]["code"]), (503, &json!("engine_busy")));
}

#[tokio::test]
async fn this_machine_is_answered_by_any_of_its_names() {
    let (router, _switch) = door();
    for host in ["localhost", "LOCALHOST:8780", "127.0.0.1:1", "127.9.8.7", "[::1]:8780"] {
        for peer in ["127.0.0.1:4000", "127.1.2.3:1", "[::1]:4000", "[::ffff:127.0.0.1]:4000"] {
            let request = from(peer, &[("host", host)], "/healthz");
            assert_eq!(send(&router, request).await.0, 200, "{peer} {host}");
        }
    }
}

#[tokio::test]
async fn others_are_refused_with_what_to_do() {
    let (router, _switch) = door();
    let host = ("host", "localhost");
    let mut refused = vec![
        from("192.0.2.7:4000", &[host], "/healthz"),
        from("127.0.0.1:1", &[], "/healthz"),
        from("127.0.0.1:1", &[host, ("host", "evil.example")], "/healthz"),
        from("127.0.0.1:1", &[host], "http://evil.example/healthz"),
    ];
    for host in ["evil.example", "localhost.evil.example", "192.0.2.7:80", "[::2]", "", "a b"] {
        refused.push(from("127.0.0.1:1", &[("host", host)], "/healthz"));
    }
    refused.push(from("127.0.0.1:1", &[("host", "evil@localhost")], "/healthz"));
    for name in [
        "Forwarded",
        "X-Forwarded-For",
        "X-Forwarded-Anything",
        "X-Real-IP",
        "Via",
        "CF-Connecting-IP",
    ] {
        refused.push(from("127.0.0.1:1", &[host, (name, "x")], "/healthz"));
    }
    let mut nameless = request("/healthz");
    nameless.extensions_mut().clear();
    refused.push(nameless);
    for request in refused {
        let shown = format!("{request:?}");
        let (status, body) = send(&router, request).await;
        assert_eq!((status, &body["error"]["code"]), (403, &json!("not_allowed")), "{shown}");
        assert!(!body["error"]["help"].as_str().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_monitor_reads_counts_and_nothing_private() {
    let (router, _switch) = door();
    let answer = router.oneshot(request("/metrics")).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let bytes = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    for line in [
        "reckon_resources{state=\"stuck\"} 1",
        "reckon_unready{reason=\"OverLimit\"} 1",
        "reckon_conditions{type=\"Synced\",status=\"True\"} 4",
        "reckon_intents{state=\"held\"} 1",
        "reckon_intents_oldest_seconds{state=\"held\"} 7200",
        "reckon_journal_position 42",
        "reckon_journal_sync_seconds_bucket{le=\"0.00025\"} 5",
        "reckon_journal_sync_seconds_bucket{le=\"+Inf\"} 6",
        "reckon_journal_sync_seconds_sum 1.500001",
    ] {
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
}
