//! Proxy between the engine and the sandbox. It records every arrival, with the durable state of
//! the journal's disk at that moment, and injects faults.
//!
//! A request that has arrived is independent of its caller: the caller may give up or die, and the
//! effect still happens.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use chrono::{DateTime, Utc};
use http::request::Parts;
use http::{HeaderValue, Request, StatusCode};
use http_body_util::BodyExt;
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tower::{ServiceExt, service_fn};

use crate::api::call::LostReplyMarker;
use crate::base::clock::SharedClock;
use crate::base::hash::Mark;
use crate::sim::machine::disk::SimDisk;
use crate::sim::machine::journal::{AllowedCalls, CallName, name_pointer};
use crate::sim::machine::process::TIMEOUT;
use crate::sim::plan::chance::{AMOUNTS, CallFault, READ, Strike, effect_of_call, refine_effect};
use crate::sim::plan::parts::add;
use crate::sim::plan::script::SimScript;
use crate::sim::service::control::read;
use crate::sim::service::paging::{PageRequest, PagedLists};
use crate::sim::service::weather::Weather;

/// A changing request that reached the service.
#[derive(Debug, Clone)]
pub struct Arrival {
    pub at: DateTime<Utc>,
    /// Effect of the request; `None` for a request that we must never send.
    pub effect: Option<&'static str>,
    pub name: CallName,
    /// Set if the durable journal allowed the request when it arrived.
    pub explained: bool,
    pub fault: Option<CallFault>,
    pub body: Value,
    /// Answer of the service, also if the caller never received it; null until then.
    pub reply: Value,
    pub status: u16,
}

impl Arrival {
    /// Returns true if the service applied the request.
    pub(crate) fn succeeded(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// The proxy; share it behind an `Arc`.
#[derive(Debug)]
pub struct Frontend {
    sandbox: Router,
    journal: SimDisk,
    clock: SharedClock,
    pub(crate) weather: Weather,
    pages: PagedLists,
    log: Mutex<ArrivalLog>,
}

#[derive(Debug, Default)]
pub(crate) struct ArrivalLog {
    calm: bool,
    life: u32,
    strikes: Vec<Strike>,
    calls: BTreeMap<&'static str, u32>,
    pub(crate) fault_counts: BTreeMap<(&'static str, CallFault), u32>,
    pub(crate) arrivals: Vec<Arrival>,
    seen: BTreeMap<CallName, u32>,
    /// Time and path of each request that the service did not authorise.
    pub(crate) unauthorised_calls: Vec<(DateTime<Utc>, String)>,
    allowed_calls: AllowedCalls,
}

impl Frontend {
    pub fn new(sandbox: Router, journal: SimDisk, clock: SharedClock, script: &SimScript) -> Self {
        let (weather, pages) =
            (Weather::new(&script.net.storms), PagedLists::new(script.net.paging.as_ref()));
        let log = ArrivalLog { strikes: script.strikes.clone(), ..ArrivalLog::default() };
        Self { sandbox, journal, clock, weather, pages, log: Mutex::new(log) }
    }

    pub fn begin_life(&self) {
        let mut book = self.log.lock();
        book.life = book.life.saturating_add(1);
        // The disk may have lost everything after its last sync.
        book.allowed_calls = AllowedCalls::default();
    }

    /// Notes that another journal has replaced the old one. The calls that this journal allows so
    /// far count as sent, or are looked up before they are sent again.
    pub fn journal_replaced(&self) {
        let mut book = self.log.lock();
        book.allowed_calls = AllowedCalls::default();
        book.seen = book.allowed_calls.read(&self.journal).clone();
    }

    pub fn stop_faults(&self) {
        self.log.lock().calm = true;
        self.weather.stop_storms();
        self.pages.stop_changes();
    }

    pub(crate) fn log(&self) -> MutexGuard<'_, ArrivalLog> {
        self.log.lock()
    }

    /// Returns the service as the engine's client sees it.
    pub fn router(self: &Arc<Self>) -> Router {
        let front = self.clone();
        Router::new().fallback_service(service_fn(move |request: Request<Body>| {
            let front = front.clone();
            async move { Ok::<_, Infallible>(front.serve(request).await) }
        }))
    }

    async fn serve(self: Arc<Self>, request: Request<Body>) -> Response {
        let (mut parts, body) = request.into_parts();
        let Ok(body) = body.collect().await else { return dropped_response() };
        let body = body.to_bytes().to_vec();
        let page = self.pages.shorten(&mut parts);
        let effect = if is_own_token(&parts, &body) {
            Some(READ)
        } else {
            refine_effect(effect_of_call(parts.method.as_str(), parts.uri.path(), &body), &body)
        };
        let life = self.log.lock().life;
        if let Some((answer, fault)) = self.weather.answer_call(effect, &parts, life) {
            self.record_arrival(effect, &parts, &body, Some(fault));
            return answer;
        }
        let strike = self.next_fault(effect);
        let place = self.record_arrival(effect, &parts, &body, strike.map(|strike| strike.fault));
        let request = Request::from_parts(parts, Body::from(body));
        let Some(strike) = strike else {
            return self.shorten_page(page, self.forward(request, place).await).await;
        };
        match strike.fault {
            CallFault::ErrorBefore => error_response(),
            CallFault::Reset => dropped_response(),
            CallFault::Throttle => throttled_response(strike.seconds),
            CallFault::LostAnswer => {
                self.forward(request, place).await;
                dropped_response()
            }
            CallFault::ErrorAfter => {
                self.forward(request, place).await;
                error_response()
            }
            CallFault::LateAnswer => {
                let answer = self.forward(request, place).await;
                wait_past_timeout(strike.seconds).await;
                answer
            }
            CallFault::LateEffect => {
                let front = self.clone();
                let later = tokio::spawn(async move {
                    wait_past_timeout(strike.seconds).await;
                    front.forward(request, place).await
                });
                later.await.unwrap_or_else(|_| dropped_response())
            }
            CallFault::OtherAmount => {
                with_other_amount(effect, self.forward(request, place).await).await
            }
        }
    }

    /// Returns an answer as the caller sees it, if it is a page of a list.
    async fn shorten_page(&self, page: Option<PageRequest>, answer: Response) -> Response {
        let Some(page) = page.filter(|_| answer.status() == StatusCode::OK) else { return answer };
        let Some((mut head, body)) = read(answer).await else { return dropped_response() };
        let said = serde_json::from_slice(&body).unwrap_or_default();
        let shown = self.pages.alter_page(&page, said);
        head.headers.remove(http::header::CONTENT_LENGTH);
        shown.map_or_else(error_response, |said| {
            Response::from_parts(head, Body::from(said.to_string()))
        })
    }

    fn next_fault(&self, effect: Option<&'static str>) -> Option<Strike> {
        let effect = effect?;
        let mut book = self.log.lock();
        let nth = add(&mut book.calls, effect, 1);
        let strikes = |one: &&Strike| one.effect == effect && (one.nth == nth || one.nth == 0);
        let strike = book.strikes.iter().find(strikes).copied().filter(|_| !book.calm)?;
        add(&mut book.fault_counts, (effect, strike.fault), 1);
        Some(strike)
    }

    fn record_arrival(
        &self,
        effect: Option<&'static str>,
        parts: &Parts,
        body: &[u8],
        fault: Option<CallFault>,
    ) -> Option<usize> {
        if effect == Some(READ) {
            return None;
        }
        let (method, path) = (parts.method.to_string(), parts.uri.path().to_owned());
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let word = name_pointer(&method, &path).and_then(|field| body.pointer(field)?.as_str());
        let word = word.unwrap_or_default();
        let word = Mark::find_in(word).map_or_else(|| word.to_owned(), |mark| mark.to_string());
        let name = (method, path, word);
        let mut book = self.log.lock();
        let allowed = book.allowed_calls.read(&self.journal).get(&name).copied().unwrap_or(0);
        let explained = add(&mut book.seen, name.clone(), 1) <= allowed;
        let (at, reply, status) = (self.clock.now(), Value::Null, 0);
        book.arrivals.push(Arrival { at, effect, name, explained, fault, body, reply, status });
        Some(book.arrivals.len().saturating_sub(1))
    }

    /// Passes a request to the service, and records the answer.
    async fn forward(&self, request: Request<Body>, place: Option<usize>) -> Response {
        let (at, path) = (self.clock.now(), request.uri().path().to_owned());
        let Ok(answer) = self.sandbox.clone().oneshot(request).await;
        let Some((head, body)) = read(answer).await else { return dropped_response() };
        if head.status == StatusCode::UNAUTHORIZED {
            self.log.lock().unauthorised_calls.push((at, path));
        }
        if let Some(place) = place
            && let Some(arrival) = self.log.lock().arrivals.get_mut(place)
        {
            arrival.status = head.status.as_u16();
            arrival.reply = serde_json::from_slice(&body).unwrap_or_default();
        }
        Response::from_parts(head, Body::from(body))
    }
}

/// Waits longer than a caller does, and less than the grace after that.
async fn wait_past_timeout(seconds: u64) {
    tokio::time::sleep(TIMEOUT.saturating_add(Duration::from_secs(seconds))).await;
}

/// Returns true if a request asks for the partner's own token. Such a request changes nothing and
/// may be repeated.
fn is_own_token(parts: &Parts, body: &[u8]) -> bool {
    let asked: Value = serde_json::from_slice(body).unwrap_or_default();
    parts.uri.path() == "/oauth/token"
        && asked.get("grant_type").is_some_and(|grant| grant == "client_credentials")
}

/// Returns an answer that never arrives.
fn dropped_response() -> Response {
    let mut response = Response::new(Body::empty());
    response.extensions_mut().insert(LostReplyMarker);
    response
}

fn error_response() -> Response {
    let body = json!({"messages": [{"code": "server_error", "message": "Server error"}]});
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}

fn throttled_response(seconds: u64) -> Response {
    let mut response = error_response();
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    response.headers_mut().insert(http::header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

async fn with_other_amount(effect: Option<&'static str>, answer: Response) -> Response {
    let Some((head, body)) = read(answer).await else { return dropped_response() };
    let field = AMOUNTS.iter().find(|(name, _)| Some(*name) == effect).map(|(_, field)| *field);
    let mut said: Value = serde_json::from_slice(&body).unwrap_or_default();
    let Some(amount) = field.and_then(|field| said.get_mut(field)) else {
        return Response::from_parts(head, Body::from(body));
    };
    *amount = json!(amount.as_i64().unwrap_or(0).saturating_add(1));
    Response::from_parts(head, Body::from(said.to_string()))
}
