//! A sandbox in this process, used as a client uses it.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failure here is a failed test"
)]

use axum::body::Body;
use std::collections::BTreeMap;
use std::sync::Arc;

use data_encoding::BASE64;
use http::Request;
use http_body_util::BodyExt;
use reckon::base::clock::VirtualClock;
use reckon::sandbox::options::SandboxOptions;
use reckon::sandbox::server::Sandbox;
use reckon::sandbox::state::store::in_memory;
use serde_json::{Value, json};
use tower::ServiceExt;

/// A sandbox, and the key of its demo merchant.
pub(crate) struct Emulator {
    sandbox: Sandbox,
    key: String,
}

impl Emulator {
    pub(crate) fn new(time: &str) -> Self {
        let clock = Arc::new(VirtualClock::new(time.parse().unwrap()));
        let options = SandboxOptions { clock, ..SandboxOptions::default() };
        let sandbox = Sandbox::open(in_memory(), options).unwrap();
        Self { sandbox, key: String::new() }
    }

    async fn send(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let key = if self.key.is_empty() { self.secret().await } else { self.key.clone() };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header(
                "authorization",
                format!("Basic {}", BASE64.encode(format!("{key}:").as_bytes())),
            );
        let request = request.body(Body::from(body.to_string())).unwrap();
        let answer = self.sandbox.router().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap())
    }

    /// Returns the demo merchant's secret key of test mode.
    async fn secret(&self) -> String {
        let request = Request::get("/_sandbox/credentials").header("host", "localhost");
        let answer =
            self.sandbox.router().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        let shown: Value = serde_json::from_slice(&bytes).unwrap();
        shown.pointer("/merchants/0/test/secret_key").and_then(Value::as_str).unwrap().to_owned()
    }

    /// Makes a recurring charge; `None` where its schedule has no date left.
    pub(crate) async fn make(&self, charge: &Value) -> Option<String> {
        let declines = charge.get("declines") == Some(&Value::Bool(true));
        let number = if declines { "4000000000000002" } else { "4242424242424242" };
        let mut body = charge.clone();
        body["method"] =
            json!({"type": "card", "number": number, "exp_month": 12, "exp_year": 2040});
        let (status, answer) = self.send("POST", "/v1/recurring/charges", &body).await;
        if status == 422 {
            let code = answer.pointer("/messages/0/code").and_then(Value::as_str);
            assert_eq!(code, Some("no_occurrences_for_schedule"), "{answer}");
            return None;
        }
        assert_eq!(status, 200, "{answer}");
        Some(answer.get("id").and_then(Value::as_str).unwrap().to_owned())
    }

    pub(crate) async fn turn_to(&self, time: &str) {
        let (status, answer) = self.send("POST", "/_sandbox/clock", &json!({ "set": time })).await;
        assert_eq!(status, 200, "{answer}");
    }

    /// Returns the result of a charge, in the form of the oracle.
    pub(crate) async fn summary(&self, id: Option<&str>) -> Value {
        let Some(id) = id else {
            return json!({"status": "COMPLETED", "collected": 0, "total": 0, "paid": [], "waits": null});
        };
        let (_, charge) =
            self.send("GET", &format!("/v1/recurring/charges/{id}"), &Value::Null).await;
        let mut paid = BTreeMap::new();
        let mut waits = Value::Null;
        for page in 1.. {
            let path = format!("/v1/recurring/charges/{id}/occurrences?page_size=100&page={page}");
            let (_, list) = self.send("GET", &path, &Value::Null).await;
            let items = list.get("results").and_then(Value::as_array).unwrap().clone();
            for one in &items {
                let text = |name: &str| one.get(name).and_then(Value::as_str).unwrap().to_owned();
                let what = json!([text("due_date"), one.get("amount")]);
                match text("status").as_str() {
                    "PAID" => drop(paid.insert(text("due_date"), what)),
                    "PENDING" => waits = what,
                    _ => {}
                }
            }
            if items.len() < 100 {
                break;
            }
        }
        let paid: Vec<Value> = paid.into_values().collect();
        json!({"status": charge.get("status"), "collected": charge.get("total_occurrences"),
            "total": charge.get("total_amount"), "paid": paid, "waits": waits})
    }
}
