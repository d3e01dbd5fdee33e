//! Control paths of the emulated service, and the third parties that act at it without the engine:
//! payers who pay on their own, and merchants that charge at their own till.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::Response;
use data_encoding::BASE64;
use http::Request;
use http::response::Parts;
use http_body_util::BodyExt;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::base::hash::Mark;
use crate::sim::plan::documents::{DocBody, DocTree};
use crate::sim::plan::hook_scripts::{EARLY, SKIP, START};
use crate::sim::plan::requests::PayerPayment;
use crate::sim::plan::script::SimScript;
use crate::sim::plan::world_parts::{EARLIER, TILL};

/// Client of the sandbox's control paths and of its service; clones share the sandbox.
#[derive(Debug, Clone, Default)]
pub(crate) struct ControlClient {
    /// The service itself; without a sandbox it answers no request.
    pub(crate) router: Router,
}

impl ControlClient {
    pub(crate) async fn all(&self, kind: &str) -> Vec<Value> {
        let bytes = self.call("GET", &format!("objects/{kind}"), Vec::new()).await;
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    pub(crate) async fn get_control(&self, path: &str) -> Value {
        serde_json::from_slice(&self.call("GET", path, Vec::new()).await).unwrap_or_default()
    }

    pub(crate) async fn post_control(&self, path: &str, body: &Value) -> Value {
        let body = body.to_string().into_bytes();
        serde_json::from_slice(&self.call("POST", path, body).await).unwrap_or_default()
    }

    async fn call(&self, method: &str, path: &str, body: Vec<u8>) -> Vec<u8> {
        self.send((method, &format!("/_sandbox/{path}")), "", body).await
    }

    /// Returns the `Authorization` header of a merchant.
    pub(crate) async fn authorization(&self, merchant: &str) -> String {
        let credentials = self.get_control("credentials").await;
        let merchants = list(&credentials, "merchants");
        let own = find(&merchants, "name", merchant);
        let key = own.and_then(|own| own.pointer("/test/secret_key")?.as_str());
        format!("Basic {}", BASE64.encode(format!("{}:", key.unwrap_or_default()).as_bytes()))
    }

    /// Sends a request of a third party to the service itself.
    pub(crate) async fn post_service(&self, path: &str, key: &str, body: &Value) -> Value {
        let answer = self.send(("POST", path), key, body.to_string().into_bytes()).await;
        serde_json::from_slice(&answer).unwrap_or_default()
    }

    async fn send(&self, (method, path): (&str, &str), key: &str, body: Vec<u8>) -> Vec<u8> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "127.0.0.1:8700")
            .header("authorization", key)
            .header("content-type", "application/json")
            .body(Body::from(body));
        let Ok(request) = request else { return Vec::new() };
        let Ok(answer) = self.router.clone().oneshot(request).await;
        read(answer).await.map(|(_, body)| body.to_vec()).unwrap_or_default()
    }
}

/// Returns the head and the body of an answer, or `None` if the body breaks off.
pub(crate) async fn read(answer: Response) -> Option<(Parts, Bytes)> {
    let (head, body) = answer.into_parts();
    Some((head, body.collect().await.ok()?.to_bytes()))
}

/// Returns a text field; empty if it is missing.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the first object whose field has this text.
pub(crate) fn find<'a>(objects: &'a [Value], field: &str, wanted: &str) -> Option<&'a Value> {
    objects.iter().find(|one| text(one, field) == wanted)
}

/// Returns the amount of an object in minor units; 0 if it is missing.
pub(crate) fn minor_amount(object: &Value) -> i64 {
    object.get("amount").and_then(Value::as_i64).unwrap_or(0)
}

/// Returns a list field; empty if it is missing.
pub(crate) fn list(object: &Value, field: &str) -> Vec<Value> {
    object.get(field).and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Returns the mark in a recurring charge's description, else its reference.
pub(crate) fn mark_of(charge: &Value) -> String {
    let tagged = Mark::find_in(text(charge, "description")).map(|mark| mark.to_string());
    tagged.unwrap_or_else(|| text(charge, "reference").to_owned())
}

/// Address to which the sandbox sends application webhooks; the reference is appended.
pub(crate) const EVENT_URL: &str = "http://127.0.0.1:8780/events/";
/// Address to which the sandbox posts a merchant's events; the merchant's name is appended.
pub const GATEWAY_URL: &str = "http://127.0.0.1:8780/gateway/";
/// Charges of the merchant `earlier` before the run begins.
const EARLIER_CHARGES: usize = 2;
/// Recurring charges of the merchant `till` when the run begins; none collects anything during it.
const TILL_CHARGES: usize = 3;

/// Charges the payers of the merchant `earlier`. Returns the ids of the charges, in order.
pub(crate) async fn charge_payers(desk: &ControlClient, script: &SimScript) -> Vec<String> {
    let body = json!({"amount": 700, "method": card()});
    make_charges(desk, script, (EARLIER, EARLIER_CHARGES, "/v1/charges"), &body).await
}

/// Makes the recurring charges of the merchant `till`. Returns their ids.
pub(crate) async fn make_till_charges(desk: &ControlClient, script: &SimScript) -> Vec<String> {
    let body = json!({"amount": 700, "method": card(), "schedule": late_schedule()});
    make_charges(desk, script, (TILL, TILL_CHARGES, "/v1/recurring/charges"), &body).await
}

/// Makes charges of a merchant, if the world has it, over the service's own path and with the
/// merchant's own key, as its till would.
async fn make_charges(
    desk: &ControlClient,
    script: &SimScript,
    (merchant, count, path): (&str, usize, &str),
    body: &Value,
) -> Vec<String> {
    let mut made = Vec::new();
    if script.files.contains_key(merchant) {
        desk.post_control("credentials", &json!({ "merchant": merchant })).await;
        let key = desk.authorization(merchant).await;
        for _ in 0..count {
            made.push(text(&desk.post_service(path, &key, body).await, "id").to_owned());
        }
    }
    made
}

/// Returns a monthly schedule that begins long after the run.
fn late_schedule() -> Value {
    json!({"start": START, "interval_unit": "MONTH", "interval_delay": 1})
}

pub(crate) fn card() -> Value {
    json!({"type": "card", "number": "4242424242424242", "exp_month": 1, "exp_year": 2032})
}

/// Writes the ids of the earlier charges into the documents that name them.
pub(crate) fn fill_charge_ids(tree: &mut DocTree, earlier: &[String]) {
    for doc in tree.values_mut() {
        if let DocBody::FromCharge(one) = &mut doc.body {
            one.charge = earlier.get(one.nth).cloned().unwrap_or_default();
        }
    }
}

/// Objects of the payers at the service; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Payers(Arc<Mutex<PayerBook>>);

#[derive(Debug, Default)]
struct PayerBook {
    /// Ids of their cards, by merchant.
    cards: BTreeMap<String, String>,
    paid: BTreeSet<u32>,
    ids: BTreeSet<String>,
}

impl Payers {
    /// Returns true if an object, or the object of a movement of money, belongs to the payers.
    pub(crate) fn owns(&self, object: &Value) -> bool {
        let book = self.0.lock();
        let fields = ["id", "transaction_id", "charge_id", "recurring_charge_id"];
        fields.iter().any(|field| book.ids.contains(text(object, field)))
    }

    /// Pays once; a repeated call does nothing.
    pub(crate) async fn pay(&self, desk: &ControlClient, payment: &PayerPayment) {
        if !self.0.lock().paid.insert(payment.number) {
            return;
        }
        let key = desk.authorization(&payment.merchant).await;
        let card = self.card(desk, &payment.merchant, &key).await;
        let (path, body) = if [EARLY, SKIP].contains(&payment.amount) {
            let body =
                json!({"amount": payment.amount, "method": card, "schedule": late_schedule()});
            ("/v1/recurring/charges", body)
        } else {
            ("/v1/charges", json!({"amount": payment.amount, "method": card}))
        };
        let made = desk.post_service(path, &key, &body).await;
        self.0.lock().ids.insert(text(&made, "id").to_owned());
    }

    /// Returns the id of the payers' card at a merchant, and saves the card once.
    async fn card(&self, desk: &ControlClient, merchant: &str, key: &str) -> String {
        if let Some(card) = self.0.lock().cards.get(merchant) {
            return card.clone();
        }
        let body = json!({"number": "4242424242424242", "exp_month": 1, "exp_year": 2032,
            "name": "Payer"});
        let card = text(&desk.post_service("/v1/cards", key, &body).await, "id").to_owned();
        let mut book = self.0.lock();
        book.ids.insert(card.clone());
        book.cards.insert(merchant.to_owned(), card.clone());
        card
    }
}
