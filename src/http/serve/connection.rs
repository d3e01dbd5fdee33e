//! One connection, from its first request to its end: how long it may live, and what it may ask for.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::Instant;
use tower::ServiceExt;

use super::patient::Patient;
use super::seats::Sort;

/// How long the head of a request may take, and how long a connection may be idle.
const HEADER_MAX: Duration = Duration::from_secs(5);
/// How long a connection lives, unless a token was shown on it.
const LIFE_MAX: Duration = Duration::from_mins(1);
/// From this age on its next answer is its last one: a client that sends again and again is not cut between two requests.
const OLD: Duration = Duration::from_secs(50);
/// The greatest head of a request, in bytes, and how many headers it may have; 431 beyond that.
const HEAD_BYTES_MAX: usize = 16 * 1024;
const HEADERS_MAX: usize = 64;
/// Paths that say how the daemon is. Their answers end the connection: nobody keeps a seat by them.
const HEALTH: [&str; 2] = ["/healthz", "/readyz"];
/// Says of an answer that it is the last one of its connection.
const LAST: HeaderValue = HeaderValue::from_static("close");

/// Whether a good token was shown on a connection: it may then live as long as it is used. Every request carries it.
#[derive(Debug, Clone, Default)]
pub(in crate::http) struct Trust(Arc<AtomicBool>);

impl Trust {
    /// A good token was shown.
    pub(in crate::http) fn shown(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_shown(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Whom a connection is from, and what its seat is good for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer {
    pub(super) address: SocketAddr,
    pub(super) sort: Sort,
}

/// Answers the requests of one connection until it closes or its time is over, or the one under way after a stop.
pub(super) async fn answer<S>(stream: S, peer: Peer, router: Router, stopped: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (trust, begun) = (Trust::default(), Instant::now());
    let shown = trust.clone();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let answered = respond(router.clone(), peer, trust.clone(), request);
        let trust = trust.clone();
        async move {
            let mut answer = answered.await?;
            if begun.elapsed() >= OLD && !trust.is_shown() {
                answer.headers_mut().insert(header::CONNECTION, LAST);
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(Patient::new(stream)), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        () = told(stopped) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
        () = outlived(shown) => Ok(()),
    };
    if let Err(error) = ended {
        tracing::debug!(peer = %peer.address, %error, "connection");
    }
}

/// Answers one request.
async fn respond(
    router: Router,
    peer: Peer,
    trust: Trust,
    mut request: hyper::Request<Incoming>,
) -> Result<Response, Infallible> {
    let health = HEALTH.contains(&request.uri().path());
    let mut answer = if health || peer.sort == Sort::Any {
        request.extensions_mut().insert(ConnectInfo(peer.address));
        request.extensions_mut().insert(trust);
        router.oneshot(request).await?
    } else {
        let later = [(header::RETRY_AFTER, HeaderValue::from_static("1"))];
        (StatusCode::SERVICE_UNAVAILABLE, later).into_response()
    };
    if health || peer.sort == Sort::Health {
        answer.headers_mut().insert(header::CONNECTION, LAST);
    }
    Ok(answer)
}

/// Returns once told to stop.
async fn told(mut stopped: watch::Receiver<bool>) {
    // Without a sender the loop that accepts has ended, which says the same.
    drop(stopped.wait_for(|stop| *stop).await);
}

/// Returns once the connection has lived long enough; never where a token was shown.
async fn outlived(trust: Trust) {
    tokio::time::sleep(LIFE_MAX).await;
    if trust.is_shown() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests;
