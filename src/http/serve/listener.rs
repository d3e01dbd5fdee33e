//! Serves a router with limits that the libraries leave open: endless headers, unlimited
//! connections, a peer that never reads, a stop that waits for ever.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::connection::{Peer, answer};
use super::seats::Seats;

/// Time limit for the answers in progress once the daemon stops.
const STOP_MAX: Duration = Duration::from_secs(5);
/// Pause after the operating system could not accept a connection, as a rule for want of file
/// handles.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Failure to listen at an address: one of the environment.
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

/// Serves in the background until `shutdown` ends, and returns the address.
///
/// # Errors
/// The process cannot listen at the address.
pub async fn serve(
    router: Router,
    listen: SocketAddr,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<SocketAddr, HttpError> {
    Ok(start(router, listen, shutdown).await?.address)
}

/// Serves as [`serve`] does, for callers that wait for the end.
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
