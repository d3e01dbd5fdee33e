//! Processing of one request, from bytes to answer: faults, time, credential, handler, store, log.
//!
//! Pages of other origins may make one-time tokens and nothing else (gateway-api, Authentication,
//! 6).

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use chrono::{DateTime, Datelike, Utc};
use http::request::Parts;
use http::{HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use httpdate::fmt_http_date;
use tower::service_fn;

use crate::api::call::LostReplyMarker;
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::control::router;
use crate::sandbox::merchants::auth;
use crate::sandbox::pages;
use crate::sandbox::request::{ParsedRequest, pairs};
use crate::sandbox::server::{LockedState, Sandbox};
use crate::sandbox::state::faults::{FAULTS, FaultKind, FaultRule, pick};
use crate::sandbox::state::logs::{self, LoggedRequest};
use crate::sandbox::state::store::ChangeUnit;

/// Maximum body of a request to the service; a file in base64 fits.
const BODY_BYTES_MAX: usize = 16 << 20;
/// Maximum body of a control request; a snapshot is restored through it.
const CONTROL_BYTES_MAX: usize = 1 << 30;
/// Default `Retry-After` of a throttling fault, in milliseconds.
const RETRY_AFTER_MS: u64 = 1_000;

/// An answer, and whether the request changed anything besides the log of requests.
struct ServedRequest {
    answer: SandboxAnswer,
    /// The sandbox's time.
    now: DateTime<Utc>,
    is_changed: bool,
}

impl Sandbox {
    /// Returns the whole emulator as a tower service, for a server and for in-process callers. An
    /// answer that must not arrive carries [`LostReplyMarker`] in its extensions, and [`Dropped`]
    /// with the reason.
    pub fn router(&self) -> Router {
        let sandbox = self.clone();
        Router::new().fallback_service(service_fn(move |request: Request<Body>| {
            let sandbox = sandbox.clone();
            async move { Ok::<_, Infallible>(sandbox.handle(request).await) }
        }))
    }

    pub(crate) async fn handle(&self, request: Request<Body>) -> Response {
        let (parts, body) = request.into_parts();
        let parts = Arc::new(parts);
        let is_control = router::is_control(parts.uri.path()) || router::is_page(&parts);
        if is_control && !router::is_local(&parts) {
            return response(SandboxAnswer::from_refusal(&SandboxRefusal::no_path()));
        }
        let most = if is_control { CONTROL_BYTES_MAX } else { BODY_BYTES_MAX };
        let Ok(body) = Limited::new(body, most).collect().await else {
            return response(SandboxAnswer::from_refusal(&SandboxRefusal::too_large()));
        };
        let body = body.to_bytes().to_vec();
        if is_control {
            return response(router::serve(self, &parts, &body));
        }
        let (served, fault) = self.serve(&parts, body).await;
        let ServedRequest { answer, now, is_changed } = served;
        let answer = if is_changed { self.stored(answer).await } else { answer };
        let mut response = response(allow_other_origins(&parts, answer));
        if let Some(date) = http_date(now) {
            response.headers_mut().insert(header::DATE, date);
        }
        if let Some(dropped) = fault.and_then(|fault| fault.kind.dropped()) {
            response.extensions_mut().insert(dropped);
            response.extensions_mut().insert(LostReplyMarker);
        }
        response
    }

    /// Serves one request, after the delay of a fault.
    async fn serve(&self, parts: &Arc<Parts>, body: Vec<u8>) -> (ServedRequest, Option<FaultRule>) {
        let fault = {
            let _turn = self.turn().await;
            let mut live = self.lock();
            let fault = pick(&mut live.faults, false, parts.method.as_str(), parts.uri.path());
            if fault.as_ref().is_none_or(|fault| fault.kind != FaultKind::Delay) {
                return (self.serve_locked(&mut live, parts, body, fault.as_ref()), fault);
            }
            fault
        };
        let delay = fault.as_ref().and_then(|fault| fault.delay_ms).unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(delay)).await;
        let _turn = self.turn().await;
        (self.serve_locked(&mut self.lock(), parts, body, fault.as_ref()), fault)
    }

    /// Waits for the requests before. A free turn is taken at once, whatever the task did before.
    async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        tokio::task::unconstrained(self.inner.turn.lock()).await
    }

    /// Returns the answer once all changes made so far are in the log.
    async fn stored(&self, answer: SandboxAnswer) -> SandboxAnswer {
        let number = self.inner.flush.number();
        match self.inner.flush.wait(self.inner.index.as_ref(), number).await {
            Ok(()) => answer,
            Err(_) => SandboxAnswer::from_refusal(&SandboxRefusal::server_error()),
        }
    }

    fn serve_locked(
        &self,
        live: &mut LockedState,
        parts: &Arc<Parts>,
        body: Vec<u8>,
        fault: Option<&FaultRule>,
    ) -> ServedRequest {
        let now = self.now(live);
        let failed = || SandboxAnswer::from_refusal(&SandboxRefusal::server_error());
        let Ok(mut is_changed) = self.catch_up(live, now) else {
            return ServedRequest { answer: failed(), now, is_changed: false };
        };
        let mut cx = self.cx(live, now);
        let prevented = fault.and_then(refusal_before).map(Ok);
        let answer = prevented.unwrap_or_else(|| self.route(&mut cx, parts, body));
        let answer = answer.unwrap_or_else(|refusal| {
            if !refusal.keeps_effects {
                cx = self.cx(live, now);
            }
            pages::render_refusal(&cx, parts, &refusal)
        });
        let answer = fault.and_then(refusal_after).unwrap_or(answer);
        is_changed |= cx.is_changed();
        let logged = write_log(&mut cx, parts, &answer, fault, &live.faults);
        let committed = logged.and_then(|()| self.commit(live, cx));
        let answer =
            committed.map_or_else(|error| SandboxAnswer::from_refusal(&error), |()| answer);
        ServedRequest { answer, now, is_changed }
    }

    fn route(
        &self,
        cx: &mut ChangeUnit,
        parts: &Arc<Parts>,
        body: Vec<u8>,
    ) -> Result<SandboxAnswer> {
        if let Some(answer) = preflight(parts) {
            return Ok(answer);
        }
        let (route, parameters) = self.inner.routes.find(&parts.method, parts.uri.path())?;
        let caller = auth::admit(cx, route.auth, &parts.headers)?;
        let query = pairs(parts.uri.query().unwrap_or_default());
        let parts = parts.clone();
        (route.handler)(cx, &ParsedRequest { caller, parameters, query, parts, body })
    }
}

/// Formats the header `Date` (RFC 9110), whose years have four digits.
fn http_date(now: DateTime<Utc>) -> Option<HeaderValue> {
    let fits = (1970..=9999).contains(&now.year());
    fits.then(|| HeaderValue::from_str(&fmt_http_date(now.into())).ok())?
}

/// Returns the answer of a fault that prevents the effect.
fn refusal_before(fault: &FaultRule) -> Option<SandboxAnswer> {
    if fault.kind == FaultKind::ErrorBefore {
        return Some(error(fault, StatusCode::INTERNAL_SERVER_ERROR));
    }
    if fault.kind == FaultKind::Throttle {
        let retry_after = fault.delay_ms.unwrap_or(RETRY_AFTER_MS).div_ceil(1_000);
        let answer = error(fault, StatusCode::TOO_MANY_REQUESTS);
        return Some(answer.with(header::RETRY_AFTER, HeaderValue::from(retry_after)));
    }
    let is_reset = fault.kind == FaultKind::Reset;
    is_reset.then(|| SandboxAnswer::from_refusal(&SandboxRefusal::server_error()))
}

/// Returns the answer of a fault that hides the effect.
fn refusal_after(fault: &FaultRule) -> Option<SandboxAnswer> {
    let is_after = fault.kind == FaultKind::ErrorAfter;
    is_after.then(|| error(fault, StatusCode::INTERNAL_SERVER_ERROR))
}

fn error(fault: &FaultRule, otherwise: StatusCode) -> SandboxAnswer {
    let status = fault.status.and_then(|status| StatusCode::from_u16(status).ok());
    let status = status.unwrap_or(otherwise);
    let (code, text) = match status {
        StatusCode::BAD_REQUEST => ("invalid_request", "Invalid request"),
        StatusCode::UNAUTHORIZED => ("not_authorized", "Not authorized"),
        StatusCode::NOT_FOUND => ("resource_not_found", "Resource not found"),
        StatusCode::CONFLICT => ("version_conflict", "Version conflict"),
        StatusCode::TOO_MANY_REQUESTS => ("too_many_requests", "Too many requests"),
        _ => ("server_error", "Server error"),
    };
    SandboxAnswer::from_refusal(&SandboxRefusal::new(status, code, text))
}

fn write_log(
    cx: &mut ChangeUnit,
    parts: &Parts,
    answer: &SandboxAnswer,
    fault: Option<&FaultRule>,
    faults: &Vec<FaultRule>,
) -> Result<()> {
    let entry = LoggedRequest {
        time: Timestamp(cx.now),
        method: parts.method.as_str().into(),
        path: parts.uri.path().into(),
        query: parts.uri.query().map(Cow::from),
        host: host(parts).map(Cow::from),
        account: auth::account_of(cx, &parts.headers),
        status: answer.status.as_u16(),
        fault: fault.map(|fault| fault.kind),
    };
    if !faults.is_empty() {
        cx.put(FAULTS, faults)?;
    }
    logs::record_request(cx, &entry)
}

fn host(parts: &Parts) -> Option<&str> {
    let header = parts.headers.get(header::HOST).and_then(|value| value.to_str().ok());
    header.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str))
}

pub(crate) fn response(answer: SandboxAnswer) -> Response {
    let mut response = Response::new(Body::from(answer.body));
    *response.status_mut() = answer.status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    headers.extend(answer.headers);
    response
}

const PATH: [&str; 2] = ["v1", "tokens"];

fn is_shared(parts: &Parts) -> bool {
    parts.uri.path().split('/').filter(|part| !part.is_empty()).eq(PATH)
}

fn preflight(parts: &Parts) -> Option<SandboxAnswer> {
    let asks = parts.method == Method::OPTIONS && is_shared(parts);
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    asks.then(|| SandboxAnswer { headers: headers.into(), ..SandboxAnswer::empty(StatusCode::OK) })
}

fn allow_other_origins(parts: &Parts, answer: SandboxAnswer) -> SandboxAnswer {
    if !is_shared(parts) {
        return answer;
    }
    answer.with(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"))
}
