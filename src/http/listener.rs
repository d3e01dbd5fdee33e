//! Serves a router with limits that the libraries leave open: endless headers, unlimited
//! connections, a peer that never reads, a stop that waits for ever. A connection has a life time
//! and permitted requests.

use std::convert::Infallible;
use std::io;
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
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;
use tower::ServiceExt;

use crate::http::connection_limits::{SeatUse, Seats, WriteTimeoutStream};

/// Time limit for the answers in progress once the daemon stops.
const STOP_MAX: Duration = Duration::from_secs(5);
/// Pause after the system could not accept a connection, as a rule for want of file handles.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug, thiserror::Error)]
#[error("listen at {address}: {source}")]
pub struct HttpError {
    /// The address as configured.
    pub address: SocketAddr,
    pub source: io::Error,
}

/// A router that is served in the background.
#[derive(Debug)]
pub struct Serving {
    /// The address; with the chosen port if the configured one was 0.
    pub address: SocketAddr,
    /// Ends some seconds after `shutdown` at the latest, when every answer is sent or cut.
    pub done: JoinHandle<()>,
}

/// A socket that listens. Connections wait in it while no router serves it, so that one router can
/// follow another without a refused connection. Cheap to clone.
#[derive(Debug, Clone)]
pub struct BoundSocket {
    /// The address as configured.
    configured: SocketAddr,
    socket: Arc<std::net::TcpListener>,
}

impl BoundSocket {
    /// Listens at an address.
    ///
    /// # Errors
    /// The process cannot listen at the address.
    pub async fn bind(configured: SocketAddr) -> Result<Self, HttpError> {
        let failed = |source| HttpError { address: configured, source };
        let socket = TcpListener::bind(configured).await.and_then(TcpListener::into_std);
        Ok(Self { configured, socket: Arc::new(socket.map_err(failed)?) })
    }

    /// Returns the socket if it was bound to this configured address.
    pub fn at(&self, configured: SocketAddr) -> Option<Self> {
        (self.configured == configured).then(|| self.clone())
    }

    /// Serves a router until `shutdown` ends; the socket itself stays open.
    ///
    /// # Errors
    /// The socket cannot be shared with the router.
    pub fn start(
        &self,
        router: Router,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<Serving, HttpError> {
        let failed = |source| HttpError { address: self.configured, source };
        let listener = self.socket.try_clone().and_then(TcpListener::from_std).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let done = tokio::spawn(accept_until(listener, router, shutdown));
        Ok(Serving { address, done })
    }
}

/// Accepts connections until the shutdown, and then lets the answers in progress end.
async fn accept_until(listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) {
    let seats = Seats::default();
    let (stop, stopped) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(_ended) = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, address)) => {
                    let Some(seat) = seats.take(address.ip()) else {
                        tracing::debug!(peer = %address, "connection refused: too many are open");
                        continue;
                    };
                    let peer = Peer { address, permits: seat.permits };
                    let answering = answer(stream, peer, router.clone(), stopped.clone());
                    connections.spawn(async move {
                        answering.await;
                        drop(seat);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    stop.send_replace(true);
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(STOP_MAX, ended).await.is_err() {
        tracing::warn!("open connections were closed at shutdown");
    }
}

/// Time limit for the head of a request, and for an idle connection.
const HEADER_MAX: Duration = Duration::from_secs(5);
/// Life time of a connection without a valid token.
const LIFE_MAX: Duration = Duration::from_mins(1);
/// Age from which the next answer is the last: no client is cut between two requests.
const OLD_AGE: Duration = Duration::from_secs(50);
/// Bytes and number of headers in the head of a request, at most; 431 beyond that.
const HEAD_BYTES_MAX: usize = 16 * 1024;
const HEADERS_MAX: usize = 64;
/// Health paths. Their answers end the connection, so that health checks never keep a seat.
const HEALTH_PATHS: [&str; 2] = ["/healthz", "/readyz"];
const LAST: HeaderValue = HeaderValue::from_static("close");

/// Records if a connection showed a valid token, or has a stream: it may then live while it is in
/// use.
#[derive(Debug, Clone, Default)]
pub(crate) struct ValidTokenSeen(Arc<AtomicBool>);

impl ValidTokenSeen {
    pub(crate) fn record(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_seen(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The client of a connection, and the use of its seat.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    pub(crate) permits: SeatUse,
}

/// Answers the requests of one connection; after a stop, only the one in progress.
pub(crate) async fn answer<S>(stream: S, peer: Peer, router: Router, stopped: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (trust, begun) = (ValidTokenSeen::default(), Instant::now());
    let shown = trust.clone();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let answered = respond(router.clone(), peer, trust.clone(), request);
        let trust = trust.clone();
        async move {
            let mut answer = answered.await?;
            if begun.elapsed() >= OLD_AGE && !trust.is_seen() {
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
        .serve_connection(TokioIo::new(WriteTimeoutStream::new(stream)), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        () = stop_requested(stopped) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
        () = lifetime_over(shown) => Ok(()),
    };
    if let Err(error) = ended {
        tracing::debug!(peer = %peer.address, %error, "connection");
    }
}

async fn respond(
    router: Router,
    peer: Peer,
    trust: ValidTokenSeen,
    mut request: hyper::Request<Incoming>,
) -> Result<Response, Infallible> {
    let health = HEALTH_PATHS.contains(&request.uri().path());
    let mut answer = if health || peer.permits == SeatUse::Any {
        request.extensions_mut().insert(ConnectInfo(peer.address));
        request.extensions_mut().insert(trust);
        router.oneshot(request).await?
    } else {
        let later = [(header::RETRY_AFTER, HeaderValue::from_static("1"))];
        (StatusCode::SERVICE_UNAVAILABLE, later).into_response()
    };
    if health || peer.permits == SeatUse::Health {
        answer.headers_mut().insert(header::CONNECTION, LAST);
    }
    Ok(answer)
}

/// Returns once the daemon stops.
async fn stop_requested(mut stopped: watch::Receiver<bool>) {
    // Without a sender the accept loop has ended, which means the same.
    drop(stopped.wait_for(|stop| *stop).await);
}

/// Returns once the connection's life time is over; never after a valid token.
async fn lifetime_over(trust: ValidTokenSeen) {
    tokio::time::sleep(LIFE_MAX).await;
    if trust.is_seen() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests;
