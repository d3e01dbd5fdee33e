//! Proxy between the engine and the sandbox. It records every arrival, with the durable state of
//! the journal's disk at that moment, and injects faults.
//!
//! A request that has arrived is independent of its caller: the caller may give up or die, and the
//! effect still happens.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use chrono::{DateTime, Utc};
use http::request::Parts;
use http::{HeaderValue, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::{ServiceExt, service_fn};

use super::disk::SimDisk;
use super::durable::{Name, Promises, field_of};
use super::faults::{AMOUNTS, Fault, READ, Strike, effect_of_call};
use super::machine::TIMEOUT;
use super::net::Net;
use super::net::pages::{Asked, Pages};
use super::net::weather::Weather;
use super::power::{Point, Power, When};
use super::removal::told_apart;
use super::script::SEND;
use crate::api::{Call, DroppedAnswer};
use crate::base::clock::SharedClock;
use crate::base::hash::Mark;
use crate::client::{Decision, Wire};

/// A changing request that reached the service.
#[derive(Debug, Clone)]
pub struct Arrival {
    pub at: DateTime<Utc>,
    /// Life of the machine in which the request was sent, from 1.
    pub life: u32,
    /// Effect of the request; `None` for a request that we must never send.
    pub effect: Option<&'static str>,
    pub name: Name,
    /// Set if the durable journal allowed the request when it arrived.
    pub explained: bool,
    /// Fault that struck the request.
    pub fault: Option<Fault>,
    /// Body of the request.
    pub asked: Value,
    /// Answer of the service, also if the caller never received it; null until then.
    pub reply: Value,
    /// HTTP status of the answer.
    pub status: u16,
}

/// The proxy; share it behind an `Arc`.
#[derive(Debug)]
pub struct Front {
    sandbox: Router,
    journal: SimDisk,
    clock: SharedClock,
    weather: Weather,
    pages: Pages,
    book: Mutex<Book>,
}

/// Records of the proxy.
#[derive(Debug, Default)]
struct Book {
    calm: bool,
    life: u32,
    strikes: Vec<Strike>,
    calls: BTreeMap<&'static str, u32>,
    struck: BTreeMap<(&'static str, Fault), u32>,
    arrivals: Vec<Arrival>,
    seen: BTreeMap<Name, u32>,
    strangers: Vec<(DateTime<Utc>, String)>,
    promises: Promises,
}

impl Front {
    /// Returns a proxy to this sandbox that reads this journal disk.
    pub fn new(
        sandbox: Router,
        journal: SimDisk,
        clock: SharedClock,
        strikes: Vec<Strike>,
        net: &Net,
    ) -> Self {
        let book = Book { strikes, ..Book::default() };
        let (weather, pages) = (Weather::new(&net.storms), Pages::new(net.paging.as_ref()));
        Self { sandbox, journal, clock, weather, pages, book: Mutex::new(book) }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a new life of the machine.
    pub fn begin(&self) {
        let mut book = self.book();
        book.life = book.life.saturating_add(1);
        book.promises.forget();
    }

    /// Notes that another journal has replaced the old one. The calls that this journal allows so
    /// far count as sent, or are looked up before they are sent again.
    pub fn restored(&self) {
        let mut book = self.book();
        book.promises.forget();
        book.seen = book.promises.all(&self.journal);
    }

    /// Stops all faults.
    pub fn calm(&self) {
        self.book().calm = true;
        self.weather.calm();
        self.pages.calm();
    }

    pub(crate) fn weather(&self) -> &Weather {
        &self.weather
    }

    /// Returns every arrival so far.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.book().arrivals.clone()
    }

    /// Returns the time and path of each request that the service did not authorise.
    pub fn strangers(&self) -> Vec<(DateTime<Utc>, String)> {
        self.book().strangers.clone()
    }

    /// Returns how often each fault struck each effect.
    pub fn struck(&self) -> BTreeMap<(&'static str, Fault), u32> {
        self.book().struck.clone()
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
        let Ok(body) = body.collect().await else {
            return dropped();
        };
        let body = body.to_bytes().to_vec();
        let page = self.pages.shorten(&mut parts);
        let effect = if is_own_token(&parts, &body) {
            Some(READ)
        } else {
            told_apart(effect_of_call(parts.method.as_str(), parts.uri.path(), &body), &body)
        };
        let life = self.book().life;
        if let Some((answer, fault)) = self.weather.meets(effect, &parts, life) {
            self.arrive(effect, &parts, &body, Some(fault));
            return answer;
        }
        let strike = self.strike(effect);
        let place = self.arrive(effect, &parts, &body, strike.map(|strike| strike.fault));
        let request = Request::from_parts(parts, Body::from(body));
        let Some(strike) = strike else {
            return self.shown(page, self.pass(request, place).await).await;
        };
        match strike.fault {
            Fault::ErrorBefore => error(),
            Fault::Reset => dropped(),
            Fault::Throttle => throttled(strike.seconds),
            Fault::LostAnswer => {
                self.pass(request, place).await;
                dropped()
            }
            Fault::ErrorAfter => {
                self.pass(request, place).await;
                error()
            }
            Fault::LateAnswer => {
                let answer = self.pass(request, place).await;
                late(strike.seconds).await;
                answer
            }
            Fault::LateEffect => {
                let front = self.clone();
                let later = tokio::spawn(async move {
                    late(strike.seconds).await;
                    front.pass(request, place).await
                });
                later.await.unwrap_or_else(|_| dropped())
            }
            Fault::OtherAmount => altered(effect, self.pass(request, place).await).await,
        }
    }

    /// Returns an answer as the caller sees it, if it is a page of a list.
    async fn shown(&self, page: Option<Asked>, answer: Response) -> Response {
        let Some(page) = page.filter(|_| answer.status() == StatusCode::OK) else { return answer };
        let (mut head, body) = answer.into_parts();
        let Ok(body) = body.collect().await else {
            return dropped();
        };
        let said = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
        let shown = self.pages.shown(&page, said);
        head.headers.remove(http::header::CONTENT_LENGTH);
        shown.map_or_else(error, |said| Response::from_parts(head, Body::from(said.to_string())))
    }

    /// Returns the fault that strikes the next call of an effect.
    fn strike(&self, effect: Option<&'static str>) -> Option<Strike> {
        let effect = effect?;
        let mut book = self.book();
        let calls = book.calls.entry(effect).or_default();
        *calls = calls.saturating_add(1);
        let nth = *calls;
        let strike = book
            .strikes
            .iter()
            .find(|one| one.effect == effect && (one.nth == nth || one.nth == 0))
            .copied();
        let strike = strike.filter(|_| !book.calm)?;
        let struck = book.struck.entry((effect, strike.fault)).or_default();
        *struck = struck.saturating_add(1);
        Some(strike)
    }

    /// Records an arrival and returns its index.
    fn arrive(
        &self,
        effect: Option<&'static str>,
        parts: &Parts,
        body: &[u8],
        fault: Option<Fault>,
    ) -> Option<usize> {
        if effect == Some(READ) {
            return None;
        }
        let (method, path) = (parts.method.to_string(), parts.uri.path().to_owned());
        let asked: Value = serde_json::from_slice(body).unwrap_or_default();
        let word = field_of(&method, &path).and_then(|field| asked.pointer(field)?.as_str());
        let word = word.unwrap_or_default();
        let word = Mark::find_in(word).map_or_else(|| word.to_owned(), |mark| mark.to_string());
        let name = (method, path, word);
        let mut book = self.book();
        let allowed = book.promises.allowed(&self.journal, &name);
        let seen = book.seen.entry(name.clone()).or_default();
        *seen = seen.saturating_add(1);
        let explained = *seen <= allowed;
        let (at, life) = (self.clock.now(), book.life);
        let reply = Value::Null;
        let arrival = Arrival { at, life, effect, name, explained, fault, asked, reply, status: 0 };
        book.arrivals.push(arrival);
        Some(book.arrivals.len().saturating_sub(1))
    }

    /// Passes a request to the service, and records the answer.
    async fn pass(&self, request: Request<Body>, place: Option<usize>) -> Response {
        let (at, path) = (self.clock.now(), request.uri().path().to_owned());
        let answer = match self.sandbox.clone().oneshot(request).await {
            Ok(answer) => answer,
            Err(never) => match never {},
        };
        let (head, body) = answer.into_parts();
        let Ok(body) = body.collect().await else {
            return dropped();
        };
        let body = body.to_bytes().to_vec();
        if head.status == StatusCode::UNAUTHORIZED {
            self.book().strangers.push((at, path));
        }
        if let Some(place) = place
            && let Some(arrival) = self.book().arrivals.get_mut(place)
        {
            arrival.status = head.status.as_u16();
            arrival.reply = serde_json::from_slice(&body).unwrap_or_default();
        }
        Response::from_parts(head, Body::from(body))
    }
}

/// Waits longer than a caller does, and less than the grace after that.
async fn late(seconds: u64) {
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
fn dropped() -> Response {
    let mut response = Response::new(Body::empty());
    response.extensions_mut().insert(DroppedAnswer);
    response
}

fn error() -> Response {
    let body = json!({"messages": [{"code": "server_error", "message": "Server error"}]});
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}

fn throttled(seconds: u64) -> Response {
    let mut response = error();
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    response.headers_mut().insert(http::header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Returns the answer with another amount than the service gave.
async fn altered(effect: Option<&'static str>, answer: Response) -> Response {
    let (head, body) = answer.into_parts();
    let Ok(body) = body.collect().await else {
        return dropped();
    };
    let bytes = body.to_bytes().to_vec();
    let field = AMOUNTS.iter().find(|(name, _)| Some(*name) == effect).map(|(_, field)| *field);
    let mut said: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let amount = field.and_then(|field| said.get_mut(field));
    let Some(amount) = amount else {
        return Response::from_parts(head, Body::from(bytes));
    };
    *amount = json!(amount.as_i64().unwrap_or(0).saturating_add(1));
    Response::from_parts(head, Body::from(said.to_string()))
}

/// The wire, which ends where the machine dies.
#[derive(Debug, Clone)]
pub struct Tap(pub Power);

impl Tap {
    fn pass(&self, when: When, call: &Call) -> Decision {
        let body = call.body.as_deref().unwrap_or_default();
        let effect = effect_of_call(call.method.as_str(), &call.path, body);
        let effect = told_apart(effect, body).unwrap_or(READ);
        let lives = self.0.pass(Point { when, place: SEND, effect });
        if lives { Decision::Pass } else { Decision::Crash }
    }
}

impl Wire for Tap {
    fn before(&self, call: &Call) -> Decision {
        self.pass(When::Before, call)
    }

    fn after(&self, call: &Call) -> Decision {
        self.pass(When::After, call)
    }
}
