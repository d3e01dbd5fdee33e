//! Laws of one connection, over streams in memory and in tokio's own time.

use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::http::listener::*;

const GET: &str = "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Returns a body of one byte a second, for this time.
fn stream(seconds: u32) -> Body {
    Body::from_stream(futures::stream::unfold(0_u32, move |sent| async move {
        sleep(Duration::from_secs(1)).await;
        (sent < seconds).then(|| (Ok::<_, Infallible>("x"), sent.saturating_add(1)))
    }))
}

fn router() -> Router {
    Router::new()
        .route("/healthz", get(|| async { "alive" }))
        .route("/large", get(|| async { "x".repeat(4096) }))
        .route("/stream", get(|| async { stream(300) }))
        .route(
            "/trusted",
            get(|Extension(trust): Extension<ValidTokenSeen>| async move {
                trust.record();
                stream(300)
            }),
        )
}

/// Returns the client's end of a connection, and the task that answers it.
fn connected(sort: SeatUse) -> (DuplexStream, JoinHandle<()>, watch::Sender<bool>) {
    let (client, server) = duplex(1024);
    let peer = Peer { address: "192.0.2.1:4000".parse().unwrap(), permits: sort };
    let (stop, stopped) = watch::channel(false);
    (client, tokio::spawn(answer(server, peer, router(), stopped)), stop)
}

/// Closes S5: a client that asks and never reads keeps its connection for ten seconds.
#[tokio::test(start_paused = true)]
async fn a_client_that_never_reads_is_given_up() {
    let (mut client, answering, _stop) = connected(SeatUse::Any);
    let begin = Instant::now();
    client.write_all(GET.repeat(20).as_bytes()).await.unwrap();
    answering.await.unwrap();
    assert_eq!(begin.elapsed().as_secs(), 10);
}

/// Closes S5: a client that reads a little, again and again, has its connection for a minute.
#[tokio::test(start_paused = true)]
async fn a_client_that_reads_slowly_is_given_up_after_a_minute() {
    for path in ["/large", "/stream"] {
        let (mut client, answering, _stop) = connected(SeatUse::Any);
        let begin = Instant::now();
        let request = GET.replace("/large", path).repeat(20);
        client.write_all(request.as_bytes()).await.unwrap();
        let reading = tokio::spawn(async move {
            let mut some = [0; 64];
            while client.read(&mut some).await.is_ok_and(|count| count > 0) {
                sleep(Duration::from_secs(3)).await;
            }
        });
        answering.await.unwrap();
        let lived = begin.elapsed().as_secs();
        assert!((59..=60).contains(&lived), "{path}: {lived} s");
        reading.await.unwrap();
    }
}

/// A client that sends again and again gets an answer marked as the last one, and is not cut
/// between two.
#[tokio::test(start_paused = true)]
async fn an_old_connection_ends_with_an_answer() {
    let (mut client, answering, _stop) = connected(SeatUse::Any);
    let begin = Instant::now();
    let mut text = String::new();
    while !text.contains("connection: close") {
        assert_eq!(text.len(), 0, "at {:?}: {text}", begin.elapsed());
        sleep(Duration::from_secs(3)).await;
        client.write_all(GET.replace("/large", "/none").as_bytes()).await.unwrap();
        let mut some = [0; 512];
        let count = client.read(&mut some).await.unwrap();
        let answer = std::str::from_utf8(&some[..count]).unwrap();
        assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
        text = if answer.contains("close") { answer.to_owned() } else { String::new() };
    }
    assert_eq!(begin.elapsed().as_secs(), 51);
    answering.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_whoever_showed_a_token_goes_on() {
    let (mut client, answering, _stop) = connected(SeatUse::Any);
    let begin = Instant::now();
    let request =
        GET.replace("/large", "/trusted").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    client.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    client.read_to_string(&mut text).await.unwrap();
    answering.await.unwrap();
    assert!(begin.elapsed().as_secs() >= 300 && text.matches("\r\nx\r\n").count() == 300);
}

/// Closes S5: health checks end their connection, so that they keep none busy.
#[tokio::test(start_paused = true)]
async fn questions_about_health_end_their_connection() {
    for sort in [SeatUse::Any, SeatUse::Health] {
        let (mut client, answering, _stop) = connected(sort);
        let request = GET.replace("/large", "/healthz").repeat(3);
        client.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        client.read_to_string(&mut text).await.unwrap();
        answering.await.unwrap();
        assert_eq!(
            (text.matches("200 OK").count(), text.matches("alive").count()),
            (1, 1),
            "{text}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_seat_of_health_answers_nothing_else() {
    let (mut client, answering, _stop) = connected(SeatUse::Health);
    client.write_all(GET.as_bytes()).await.unwrap();
    let mut text = String::new();
    client.read_to_string(&mut text).await.unwrap();
    answering.await.unwrap();
    assert!(text.starts_with("HTTP/1.1 503") && text.contains("retry-after: 1"), "{text}");
}
