//! Tests of the handlers: raw JSON as the reference documents write it, through the router, without
//! sockets.

mod accounts;
mod applications;
mod banks;
mod captures;
mod cards;
mod charges;
mod clients;
mod consent;
mod control;
mod credits;
mod deauthorise;
mod documented;
mod errors;
mod faults;
mod fields_of_applications;
mod files;
mod leftovers;
mod mailbox;
mod methods;
mod money;
mod notifications;
mod openapi;
mod overview;
mod pages;
mod partner;
mod paying;
mod places;
mod portal;
mod previews;
mod records;
mod recur;
mod recurring;
mod refunds;
mod schedules;
mod shapes;
mod sign_ups;
mod signatures;
mod states;
mod story;
mod tls;
mod tokens;
mod transport;
mod verification;
mod voids;
mod webhooks;
mod year;

#[path = "../../../tests/it/support/covers.rs"]
mod covering;

use std::sync::Arc;

use axum::body::Body;
use chrono::DateTime;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::options::{SandboxOptions, ServiceSurface};
use super::server::Sandbox;
use super::state::faults::Dropped;
use crate::base::clock::Clock;
use crate::sandbox::state::store::in_memory;
use crate::store::index::ordered::Index;
use covering::covers;

/// A Saturday noon in Chicago.
const START: &str = "2026-11-21T18:00:00Z";

/// A fixed clock: only `/_sandbox/clock` moves the time in a test.
#[derive(Debug)]
struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> DateTime<chrono::Utc> {
        START.parse().unwrap()
    }
}

/// A sandbox with the helpers to call it.
struct TestSandbox {
    sandbox: Sandbox,
    index: Arc<dyn Index>,
    surface: ServiceSurface,
}

/// An answer as received.
struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
    dropped: Option<Dropped>,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    /// Returns the body of a 200.
    fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text);
        self.json()
    }

    /// Returns status, first code and first context.
    fn refusal(&self) -> (u16, String, Option<String>) {
        let message = self.json()["messages"][0].clone();
        assert_eq!(message["level"], "error", "{}", self.text);
        assert!(message["message"].as_str().is_some_and(|text| !text.is_empty()));
        let context = message["context"].as_str().map(str::to_owned);
        (self.status.as_u16(), message["code"].as_str().unwrap().to_owned(), context)
    }
}

/// Returns every `(context, sub_code)` of a 422 about fields.
fn fields(reply: &Reply) -> Vec<(String, String)> {
    assert_eq!(reply.status, 422, "{}", reply.text);
    let body = reply.json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = body["messages"].as_array().unwrap();
    for message in messages {
        assert_eq!(message["code"], "invalid_data", "{}", reply.text);
    }
    messages.iter().map(|one| (text(&one["context"]), text(&one["sub_code"]))).collect()
}

impl TestSandbox {
    fn new(surface: ServiceSurface) -> Self {
        let index = in_memory();
        let sandbox = Self::open(&index, surface);
        Self { sandbox, index, surface }
    }

    fn open(index: &Arc<dyn Index>, surface: ServiceSurface) -> Sandbox {
        let options =
            SandboxOptions { surface, clock: Arc::new(FixedClock), ..SandboxOptions::default() };
        Sandbox::open(Arc::clone(index), options).unwrap()
    }

    /// Opens the same state as another process would.
    fn reopened(&self) -> Self {
        let sandbox = Self::open(&self.index, self.surface);
        Self { sandbox, index: Arc::clone(&self.index), surface: self.surface }
    }

    async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.sandbox.router().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Reply {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
            dropped: parts.extensions.get::<Dropped>().copied(),
        }
    }

    async fn call(&self, method: &str, path: &str, auth: Option<&str>, body: &Value) -> Reply {
        let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
        if let Some(auth) = auth {
            request = request.header("authorization", auth);
        }
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        request = request.header("content-type", "application/json; charset=utf-8");
        self.send(request.body(Body::from(bytes)).unwrap()).await
    }

    async fn control(&self, method: &str, path: &str, body: &Value) -> Value {
        self.call(method, &format!("/_sandbox/{path}"), None, body).await.ok()
    }

    async fn credentials(&self) -> Value {
        self.control("GET", "credentials", &Value::Null).await
    }

    /// Returns the demo merchant as the control path shows it.
    async fn demo(&self) -> Value {
        self.credentials().await["merchants"][0].clone()
    }

    /// Returns a Basic header with the demo merchant's key: `test` or `live`, `secret_key` or
    /// `public_key`.
    async fn key(&self, mode: &str, which: &str) -> String {
        basic(self.demo().await[mode][which].as_str().unwrap())
    }

    /// Returns a `payments` bearer header for a merchant.
    async fn bearer(&self, merchant: &str) -> String {
        let code = self.control("POST", "credentials", &json!({"merchant": merchant})).await;
        let partner = self.credentials().await["partner"].clone();
        let body = json!({
            "client_id": partner["client_id"], "client_secret": partner["client_secret"],
            "grant_type": "authorization_code", "scope": "payments",
            "redirect_uri": partner["redirect_uri"], "code": code["authorization_code"],
        });
        let token = self.call("POST", "/oauth/token", None, &body).await.ok();
        format!("Bearer {}", token["access_token"].as_str().unwrap())
    }

    async fn secret(&self, method: &str, path: &str, body: &Value) -> Reply {
        let key = self.key("test", "secret_key").await;
        self.call(method, path, Some(&key), body).await
    }

    async fn advance(&self, duration: &str) {
        self.control("POST", "clock", &json!({ "advance": duration })).await;
    }

    async fn objects(&self, kind: &str) -> Vec<Value> {
        let path = format!("/_sandbox/objects/{kind}");
        let reply = self.call("GET", &path, None, &Value::Null).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn basic(key: &str) -> String {
    format!("Basic {}", data_encoding::BASE64.encode(format!("{key}:").as_bytes()))
}

/// Returns a card that is always accepted.
fn visa() -> Value {
    json!({"type": "card", "number": "4242424242424242", "exp_month": 10, "exp_year": 2030,
        "cvv": "123", "name": "Jane Doe", "address1": "1 Main Street", "postal_code": "62701"})
}

fn with(mut value: Value, name: &str, field: impl Into<Value>) -> Value {
    value[name] = field.into();
    value
}
