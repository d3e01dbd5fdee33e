//! Serving a router with limits that a library leaves open: a header that never ends, connections
//! without number, a stop that waits for ever.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tower::ServiceExt;

/// How long the head of a request may take, and how long a connection may be idle.
const HEADER_MAX: Duration = Duration::from_secs(5);
/// How many connections there are at once; more wait to be accepted.
const CONNECTIONS_MAX: usize = 256;
/// How many of them one address may have; what it opens beyond that is closed at once.
const CONNECTIONS_EACH_MAX: usize = 192;
/// The greatest head of a request, in bytes, and how many headers it may have; 431 beyond that.
const HEAD_BYTES_MAX: usize = 16 * 1024;
const HEADERS_MAX: usize = 64;
/// How long answers under way may take once the daemon stops.
const STOP_MAX: Duration = Duration::from_secs(5);
/// The wait after the operating system could not accept, for want of file handles as a rule.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The listener cannot be had: the environment.
#[derive(Debug, thiserror::Error)]
#[error("listen at {address}: {source}")]
pub struct HttpError {
    /// The address as configured.
    pub address: SocketAddr,
    /// The operating system's answer.
    pub source: io::Error,
}

/// A router that is served in the background.
#[derive(Debug)]
pub struct Serving {
    /// Where; with the port that was chosen if the one asked for was 0.
    pub address: SocketAddr,
    /// Ends some seconds after `shutdown` at the latest, when every answer is given or given up.
    pub done: JoinHandle<()>,
}

/// Serves in the background until `shutdown` ends; answers where. Errors: the address cannot be
/// listened at.
pub async fn serve(
    router: Router,
    listen: SocketAddr,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<SocketAddr, HttpError> {
    Ok(start(router, listen, shutdown).await?.address)
}

/// The same as [`serve`], for who wants to wait for the end.
pub async fn start(
    router: Router,
    listen: SocketAddr,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<Serving, HttpError> {
    let failed = |source| HttpError { address: listen, source };
    let listener = TcpListener::bind(listen).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let done = tokio::spawn(accept_until(listener, router, shutdown));
    Ok(Serving { address, done })
}

/// Accepts until the shutdown, then lets answers under way end.
async fn accept_until(listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) {
    let seats = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let taken = Taken::default();
    let (stop, stopped) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(_ended) = connections.join_next(), if !connections.is_empty() => {}
            accepted = accept(&listener, &seats) => match accepted {
                Ok((stream, peer, permit)) => {
                    let Some(seat) = Seat::take(&taken, peer.ip(), permit) else {
                        tracing::debug!(%peer, "one address has too many connections");
                        continue;
                    };
                    let answering = answer(stream, peer, router.clone(), stopped.clone());
                    connections.spawn(async move {
                        answering.await;
                        drop(seat);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    stop.send_replace(true);
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(STOP_MAX, ended).await.is_err() {
        tracing::warn!("connections were cut at the stop");
    }
}

/// How many connections each address has.
type Taken = Arc<Mutex<BTreeMap<IpAddr, usize>>>;

/// The seat of one connection; free again once it is dropped.
struct Seat {
    taken: Taken,
    address: IpAddr,
    _permit: OwnedSemaphorePermit,
}

impl Seat {
    /// A seat for this address, unless it has too many.
    fn take(taken: &Taken, address: IpAddr, permit: OwnedSemaphorePermit) -> Option<Self> {
        let mut counts = taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_default();
        if *count >= CONNECTIONS_EACH_MAX {
            return None;
        }
        *count = count.saturating_add(1);
        Some(Self { taken: taken.clone(), address, _permit: permit })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut counts = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let left = counts.get(&self.address).map_or(0, |count| count.saturating_sub(1));
        if left == 0 {
            counts.remove(&self.address);
        } else {
            counts.insert(self.address, left);
        }
    }
}

/// One more connection, once there is a seat for it.
async fn accept(
    listener: &TcpListener,
    seats: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let seat = seats.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    Ok((stream, peer, seat))
}

/// Answers the requests of one connection until it closes, or the one under way after a stop.
async fn answer(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    mut stopped: watch::Receiver<bool>,
) {
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        () = told(&mut stopped) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "connection");
    }
}

/// Returns once told to stop.
async fn told(stopped: &mut watch::Receiver<bool>) {
    // Without a sender the loop that accepts has ended, which says the same.
    drop(stopped.wait_for(|stop| *stop).await);
}
