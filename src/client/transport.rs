//! Transports of requests: over sockets, or straight into a router of this process.
//!
//! The HTTP client takes TLS 1.2 or later, follows no redirects, uses no proxies, makes no retries
//! of its own, and has time limits on everything.
//!
//! The in-process form exists because sockets and virtual time do not mix: a year of billing runs
//! in seconds over it. It carries the same bytes and the same `Host`, and keeps the same time
//! limit. Its [`Wire`] can lose a request or an answer, or stop the caller for ever, where a real
//! wire could.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::header::{DATE, HOST, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri};
use http_body_util::BodyExt;
use reqwest::{Certificate, redirect, retry, tls};
use tokio::time::timeout;
use tower::ServiceExt;

use crate::api::call::{Call, LostReplyMarker};
use crate::base::wording::root_cause;
use crate::client::classify::{HttpAnswer, TransportFailure};
use crate::client::request::{ClientError, ServiceConfig};

/// The largest accepted answer, in bytes: a page of 100 transactions is well below 1 MiB.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

#[derive(Clone, derive_more::Debug)]
pub enum Transport {
    /// Over sockets; made by [`Transport::http`].
    #[debug("Http")]
    Http(reqwest::Client),
    /// Into a router of this process, under tokio's time, real or paused.
    #[debug("InProcess")]
    InProcess {
        router: Router,
        /// The faults between client and router.
        wire: Arc<dyn Wire>,
    },
}

/// Decides the fate of one call on an in-process wire.
pub trait Wire: Send + Sync {
    /// Called before the request reaches the service.
    fn before(&self, _call: &Call) -> WireDecision {
        WireDecision::Pass
    }

    /// Called when the service has answered, before the answer reaches the client.
    fn after(&self, _call: &Call) -> WireDecision {
        WireDecision::Pass
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireDecision {
    Pass,
    /// The caller stops here for ever, as a dying process does.
    Crash,
    /// The request, or the answer, is lost; the caller sees a broken connection.
    Lose,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct FaultlessWire;

impl Wire for FaultlessWire {}

impl Transport {
    /// Returns a transport over sockets, with the service's certificates and time limits. The crypto
    /// must be installed.
    ///
    /// # Errors
    /// Invalid certificates, or a machine without any.
    pub fn http(service: &ServiceConfig) -> Result<Self, ClientError> {
        let builder = reqwest::Client::builder()
            .tls_version_min(tls::Version::TLS_1_2)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .referer(false)
            .connect_timeout(service.timeout.min(CONNECT_TIMEOUT_MAX))
            .timeout(service.timeout)
            .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .tls_certs_merge(authorities(service.ca_file.as_deref())?);
        builder.build().map(Self::Http).map_err(ClientError::Tls)
    }

    /// Carries one request to the service and its answer back, within `limit`.
    pub(crate) async fn carry(
        &self,
        call: &Call,
        request: Request<Vec<u8>>,
        limit: Duration,
    ) -> Result<HttpAnswer, TransportFailure> {
        match self {
            Self::Http(client) => over_sockets(client, request).await,
            Self::InProcess { router, wire } => {
                apply_decision(wire.before(call)).await?;
                let answer = timeout(limit, in_process(router.clone(), request)).await;
                apply_decision(wire.after(call)).await?;
                answer.unwrap_or(Err(TransportFailure::TimedOut))
            }
        }
    }
}

async fn apply_decision(decision: WireDecision) -> Result<(), TransportFailure> {
    match decision {
        WireDecision::Pass => Ok(()),
        WireDecision::Crash => pending().await,
        WireDecision::Lose => Err(broken_connection()),
    }
}

fn broken_connection() -> TransportFailure {
    TransportFailure::Broken("the connection broke before the whole answer was here".to_owned())
}

async fn over_sockets(
    client: &reqwest::Client,
    request: Request<Vec<u8>>,
) -> Result<HttpAnswer, TransportFailure> {
    let request = reqwest::Request::try_from(request)
        .map_err(|error| TransportFailure::NotConnected(root_cause(&error.without_url())))?;
    let mut response = client.execute(request).await.map_err(interpret_error)?;
    let status = response.status().as_u16();
    let [retry_after, date] = [RETRY_AFTER, DATE].map(|name| text_of(response.headers(), &name));
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(interpret_error)? {
        append_chunk(&mut body, &chunk)?;
    }
    Ok(HttpAnswer { status, retry_after, date, body })
}

/// Interprets an error of reqwest. Only one from before the request was written proves anything.
fn interpret_error(error: reqwest::Error) -> TransportFailure {
    let error = error.without_url();
    if error.is_connect() || error.is_builder() {
        TransportFailure::NotConnected(root_cause(&error))
    } else if error.is_timeout() {
        TransportFailure::TimedOut
    } else {
        broken_connection()
    }
}

async fn in_process(
    router: Router,
    request: Request<Vec<u8>>,
) -> Result<HttpAnswer, TransportFailure> {
    let request = as_received(request).ok_or_else(broken_connection)?;
    let response = router.oneshot(request).await.unwrap_or_else(|never| match never {});
    if response.extensions().get::<LostReplyMarker>().is_some() {
        return Err(broken_connection());
    }
    let (head, mut stream) = response.into_parts();
    let mut body = Vec::new();
    while let Some(frame) = stream.frame().await {
        let frame = frame.map_err(|_cut| broken_connection())?;
        append_chunk(&mut body, frame.data_ref().map_or(&[], |bytes| bytes))?;
    }
    let [retry_after, date] = [RETRY_AFTER, DATE].map(|name| text_of(&head.headers, &name));
    Ok(HttpAnswer { status: head.status.as_u16(), retry_after, date, body })
}

/// Returns the request as a server reads it: the path alone, and the authority in `Host`.
fn as_received(request: Request<Vec<u8>>) -> Option<Request<Body>> {
    let (mut head, body) = request.into_parts();
    let host = HeaderValue::from_str(head.uri.authority()?.as_str()).ok()?;
    head.headers.insert(HOST, host);
    head.uri = Uri::from(head.uri.path_and_query()?.clone());
    Some(Request::from_parts(head, Body::from(body)))
}

fn text_of(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

fn append_chunk(body: &mut Vec<u8>, chunk: &[u8]) -> Result<(), TransportFailure> {
    if body.len().saturating_add(chunk.len()) > ANSWER_BYTES_MAX {
        return Err(TransportFailure::TooLarge);
    }
    body.extend_from_slice(chunk);
    Ok(())
}

/// The time limit of connecting, below that of a call: exceeding it proves that nothing was sent.
const CONNECT_TIMEOUT_MAX: Duration = Duration::from_secs(10);
/// Idle connections kept: one for each of the calls that run at once.
const IDLE_CONNECTIONS_MAX: usize = 64;
/// The time for which an idle connection is kept. It is shorter than that of servers (5 s is
/// common): a request written to a connection that the server is closing would be in doubt.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// Chooses the crypto of every TLS connection; call it first in `main` and tests. Idempotent.
pub fn install_crypto() {
    rustls::crypto::ring::default_provider().install_default().ok();
}

/// Parses the certificates of a PEM file; a file without any is an error, not an empty list.
fn authorities(pem: Option<&[u8]>) -> Result<Vec<Certificate>, ClientError> {
    let Some(pem) = pem else { return Ok(Vec::new()) };
    let found = Certificate::from_pem_bundle(pem)
        .map_err(|error| ClientError::Certificates(Some(error)))?;
    if found.is_empty() { Err(ClientError::Certificates(None)) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ca_file_without_a_certificate_is_refused() {
        for pem in
            [&b""[..], b"hello", b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"]
        {
            assert!(matches!(authorities(Some(pem)), Err(ClientError::Certificates(_))), "{pem:?}");
        }
        assert!(authorities(None).unwrap().is_empty());
    }

    #[test]
    fn installing_the_crypto_twice_is_once() {
        install_crypto();
        install_crypto();
        assert!(rustls::crypto::CryptoProvider::get_default().is_some());
    }
}
