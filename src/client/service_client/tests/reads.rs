//! Reads that are repeated, and lists that are complete or an error.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "small numbers that the tests choose; an overflow fails the test"
)]

use axum::Json;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::routing::get as on_get;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;

/// A router whose `/x` answers the n-th request with `answers[n]`, the last one for ever.
fn scripted(count: &Count, answers: &'static [(u16, &'static str)]) -> Router {
    let count = count.clone();
    let handler = async move || {
        let (status, wait) = answers[count.next().min(answers.len() - 1)];
        (StatusCode::from_u16(status).unwrap(), [("retry-after", wait)], "7")
    };
    Router::new().route("/x", on_get(handler))
}

async fn check(
    answers: &'static [(u16, &'static str)],
) -> (Result<Value, ReadError>, usize, Duration) {
    let count = Count::default();
    let client = client(scripted(&count, answers));
    let started = Instant::now();
    let result = client.read(&get("/x"), &Access::None).await;
    (result, count.get(), started.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_passes_is_read_over() {
    let (result, tries, _) = check(&[(500, ""), (503, ""), (429, ""), (200, "")]).await;
    assert_eq!((result, tries), (Ok(json!(7)), 4));
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_stays_ends_the_read_after_four_tries() {
    let (result, tries, took) = check(&[(500, "")]).await;
    let reason = "the service answered 500".into();
    assert_eq!((result, tries), (Err(ReadError::Unreachable { reason }), 4));
    assert!(took <= Duration::from_millis(250 + 500 + 1000 + 10), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_not_asked_twice() {
    for status in [401, 403, 404, 422] {
        let count = Count::default();
        let router = Router::new().route(
            "/x",
            on_get({
                let count = count.clone();
                async move || {
                    count.next();
                    let body = json!({"messages": [{"code": "why"}]});
                    (StatusCode::from_u16(status).unwrap(), Json(body))
                }
            }),
        );
        let problem = serde_json::from_value(json!({"messages": [{"code": "why"}]})).unwrap();
        let expected = match status {
            401 => ReadError::Unauthorised,
            404 => ReadError::NotFound(problem),
            _ => ReadError::Refused(status, problem),
        };
        assert_eq!(client(router).read(&get("/x"), &Access::None).await, Err(expected));
        assert_eq!(count.get(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_asked_for_is_kept_up_to_a_minute() {
    for answers in [&[(429, "60"), (200, "")], &[(503, "60"), (200, "")]] {
        let (result, tries, took) = check(answers).await;
        assert_eq!((result, tries), (Ok(json!(7)), 2));
        assert!(took >= Duration::from_mins(1) && took < Duration::from_secs(61), "{took:?}");
    }
    let (result, tries, took) = check(&[(429, "61"), (200, "")]).await;
    assert!(matches!(result, Err(ReadError::Unreachable { .. })));
    assert_eq!((tries, took), (1, Duration::ZERO));
}

/// A wire that loses every request.
struct Cut;

impl Wire for Cut {
    fn before(&self, _call: &Call) -> WireDecision {
        WireDecision::Lose
    }

    fn after(&self, _call: &Call) -> WireDecision {
        WireDecision::Pass
    }
}

#[tokio::test(start_paused = true)]
async fn a_dead_wire_is_unreachable_after_the_tries_are_used_up() {
    let count = Count::default();
    let client = over(scripted(&count, &[(200, "")]), Cut);
    let read = client.read(&get("/x"), &Access::None).await;
    assert!(matches!(read, Err(ReadError::Unreachable { .. })));
    assert_eq!(count.get(), 0);
}

#[tokio::test]
async fn what_is_not_a_get_is_never_read() {
    for method in [Method::Post, Method::Patch, Method::Put, Method::Delete] {
        let router = Router::new().fallback(async || "7");
        let read = client(router).read(&call(method, "/x", Auth::None), &Access::None).await;
        assert!(matches!(read, Err(ReadError::NotARead { .. })), "{method:?}");
    }
}

#[test]
fn waits_are_jittered_by_the_seed_alone() {
    let waits = || {
        let client = client(Router::new());
        (1..=20).map(|tries| client.backoff(tries, None).unwrap()).collect::<Vec<_>>()
    };
    let first = waits();
    assert_eq!(first, waits());
    assert!(first.iter().all(|wait| *wait <= Duration::from_secs(5)));
    assert!(first.windows(2).any(|pair| pair[0] > pair[1]), "full jitter, not a ramp");
}

#[derive(Deserialize)]
struct Asked {
    page: usize,
    page_size: usize,
    reference: Option<String>,
}

/// A list of `total(n)` numbers at the n-th request, with at most `largest` of them on a page.
fn list(count: &Count, largest: usize, total: fn(usize) -> usize) -> Router {
    let count = count.clone();
    let handler = async move |Query(asked): Query<Asked>| {
        assert_eq!((asked.page_size, asked.reference.as_deref()), (100, Some("m")));
        let total = total(count.next());
        let from = (asked.page - 1) * largest;
        let results: Vec<usize> = (from..total.min(from + largest)).collect();
        Json(
            json!({"page": asked.page, "page_size": largest, "total_entries": total, "results": results}),
        )
    };
    Router::new().route("/x", on_get(handler))
}

async fn pages(
    largest: usize,
    total: fn(usize) -> usize,
) -> (Result<Vec<Value>, ReadError>, usize) {
    let count = Count::default();
    let asked = get("/x").query("reference", "m").query("page", 9).query("page_size", 2);
    let read = client(list(&count, largest, total)).pages(&asked, &Access::None).await;
    (read, count.get())
}

fn numbers(until: usize) -> Vec<Value> {
    (0..until).map(Value::from).collect()
}

#[tokio::test]
async fn a_list_is_read_to_its_end_and_no_further() {
    assert_eq!(pages(100, |_| 0).await, (Ok(vec![]), 1));
    assert_eq!(pages(100, |_| 100).await, (Ok(numbers(100)), 1));
    assert_eq!(pages(100, |_| 250).await, (Ok(numbers(250)), 3));
}

#[tokio::test]
async fn a_service_with_smaller_pages_is_read_to_its_end_too() {
    assert_eq!(pages(20, |_| 45).await, (Ok(numbers(45)), 3));
}

#[tokio::test]
async fn a_list_that_grows_meanwhile_is_read_to_its_new_end() {
    assert_eq!(pages(100, |request| 150 + request).await, (Ok(numbers(151)), 2));
}

#[tokio::test]
async fn a_list_that_shrinks_meanwhile_is_read_again() {
    let once = |request| if request == 0 { 150 } else { 149 };
    assert_eq!(pages(100, once).await, (Ok(numbers(149)), 4));
    let (read, requests) = pages(100, |request| 1000 - request).await;
    assert!(matches!(read, Err(ReadError::Unreachable { .. })));
    assert_eq!(requests, 6);
}

#[tokio::test]
async fn an_empty_page_ends_a_list() {
    let count = Count::default();
    let counted = count.clone();
    let handler = async move || {
        let results = if counted.next() == 0 { numbers(3) } else { Vec::new() };
        Json(json!({"page": 1, "page_size": 100, "total_entries": 9, "results": results}))
    };
    let router = Router::new().route("/x", on_get(handler));
    assert_eq!(client(router).pages(&get("/x"), &Access::None).await, Ok(numbers(3)));
    assert_eq!(count.get(), 2);
}

#[tokio::test]
async fn a_list_that_does_not_end_is_an_error() {
    let endless = async || {
        Json(json!({"page": 1, "page_size": 1, "total_entries": u64::MAX, "results": [1]}))
    };
    let router = Router::new().route("/x", on_get(endless));
    let read = client(router).pages(&get("/x"), &Access::None).await;
    assert!(matches!(read, Err(ReadError::Unreachable { .. })));
}

#[tokio::test]
async fn what_is_not_a_page_is_an_error_not_an_empty_list() {
    let router = Router::new().route("/x", on_get(async || Json(json!({"items": []}))));
    let read = client(router).pages(&get("/x"), &Access::None).await;
    assert!(matches!(read, Err(ReadError::Unreachable { .. })));
}
