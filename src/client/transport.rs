//! Transports of requests: over sockets, or straight into a router of this process.
//!
//! The in-process form exists because sockets and virtual time do not mix: a year of billing runs
//! in seconds over it. It carries the same bytes and the same `Host`, and keeps the same time
//! limit. Its [`Wire`] can lose a request or an answer, or stop the caller for ever, where a real
//! wire could.

use std::convert::Infallible;
use std::fmt;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::header::{HOST, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Request, Response, Uri};
use http_body_util::BodyExt;
use tokio::time::timeout;
use tower::ServiceExt;

use super::classify::{Answer, Failure};
use super::{ClientError, Service, tls};
use crate::api::{Call, DroppedAnswer};
use crate::base::causes::root;

/// The largest accepted answer, in bytes: a page of 100 transactions is well below 1 MiB.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The transport of requests to the service.
#[derive(Clone)]
pub enum Transport {
    /// Over sockets; made by [`Transport::http`].
    Http(reqwest::Client),
    /// Into a router of this process, under tokio's time, real or paused.
    InProcess {
        router: Router,
        /// The faults between client and router.
        wire: Arc<dyn Wire>,
    },
}

/// Decides the fate of one call on an in-process wire.
pub trait Wire: Send + Sync {
    /// Called before the request reaches the service.
    fn before(&self, call: &Call) -> Decision;
    /// Called when the service has answered, before the answer reaches the client.
    fn after(&self, call: &Call) -> Decision;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The wire delivers.
    Pass,
    /// The caller stops here for ever, as a dying process does.
    Crash,
    /// The request, or the answer, is lost; the caller sees a broken connection.
    Lose,
}

/// A wire without faults.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untouched;

impl Wire for Untouched {
    fn before(&self, _call: &Call) -> Decision {
        Decision::Pass
    }

    fn after(&self, _call: &Call) -> Decision {
        Decision::Pass
    }
}

impl Transport {
    /// Returns a transport over sockets, with the service's certificates and time limits.
    ///
    /// # Errors
    /// Invalid certificates, or a machine without any.
    pub fn http(service: &Service) -> Result<Self, ClientError> {
        tls::http_client(service).map(Self::Http)
    }

    /// Carries one request to the service and its answer back, within `limit`.
    pub(super) async fn carry(
        &self,
        call: &Call,
        request: Request<Vec<u8>>,
        limit: Duration,
    ) -> Result<Answer, Failure> {
        match self {
            Self::Http(client) => over_sockets(client, request).await,
            Self::InProcess { router, wire } => {
                pass(wire.before(call)).await?;
                let answer = timeout(limit, in_process(router.clone(), request)).await;
                pass(wire.after(call)).await?;
                answer.unwrap_or(Err(Failure::TimedOut))
            }
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(_) => f.write_str("Http"),
            Self::InProcess { router: _, wire: _ } => f.write_str("InProcess"),
        }
    }
}

async fn pass(decision: Decision) -> Result<(), Failure> {
    match decision {
        Decision::Pass => Ok(()),
        Decision::Crash => pending().await,
        Decision::Lose => Err(broken()),
    }
}

fn broken() -> Failure {
    Failure::Broken("the connection broke before the whole answer was here".to_owned())
}

async fn over_sockets(
    client: &reqwest::Client,
    request: Request<Vec<u8>>,
) -> Result<Answer, Failure> {
    let request = reqwest::Request::try_from(request)
        .map_err(|error| Failure::NotConnected(root(&error.without_url())))?;
    let mut response = client.execute(request).await.map_err(failure)?;
    let (status, retry_after) = (response.status().as_u16(), retry_after(response.headers()));
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failure)? {
        gather(&mut body, &chunk)?;
    }
    Ok(Answer { status, retry_after, body })
}

/// Interprets an error of reqwest. Only one from before the request was written proves anything.
fn failure(error: reqwest::Error) -> Failure {
    let error = error.without_url();
    if error.is_connect() || error.is_builder() {
        Failure::NotConnected(root(&error))
    } else if error.is_timeout() {
        Failure::TimedOut
    } else {
        broken()
    }
}

async fn in_process(router: Router, request: Request<Vec<u8>>) -> Result<Answer, Failure> {
    let request = as_received(request).ok_or_else(broken)?;
    let response: Result<Response<Body>, Infallible> = router.oneshot(request).await;
    let response = match response {
        Ok(response) => response,
        Err(never) => match never {},
    };
    if response.extensions().get::<DroppedAnswer>().is_some() {
        return Err(broken());
    }
    let (head, mut stream) = response.into_parts();
    let mut body = Vec::new();
    while let Some(frame) = stream.frame().await {
        let frame = frame.map_err(|_cut| broken())?;
        gather(&mut body, frame.data_ref().map_or(&[], |bytes| bytes))?;
    }
    Ok(Answer { status: head.status.as_u16(), retry_after: retry_after(&head.headers), body })
}

/// Returns the request as a server reads it: the path alone, and the authority in `Host`.
fn as_received(request: Request<Vec<u8>>) -> Option<Request<Body>> {
    let (mut head, body) = request.into_parts();
    let host = HeaderValue::from_str(head.uri.authority()?.as_str()).ok()?;
    head.headers.insert(HOST, host);
    head.uri = Uri::from(head.uri.path_and_query()?.clone());
    Some(Request::from_parts(head, Body::from(body)))
}

fn retry_after(headers: &HeaderMap) -> Option<String> {
    headers.get(RETRY_AFTER)?.to_str().ok().map(str::to_owned)
}

fn gather(body: &mut Vec<u8>, chunk: &[u8]) -> Result<(), Failure> {
    if body.len().saturating_add(chunk.len()) > ANSWER_BYTES_MAX {
        return Err(Failure::TooLarge);
    }
    body.extend_from_slice(chunk);
    Ok(())
}
