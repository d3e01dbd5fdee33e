//! A payer: one-time tokens of the service's own fields, and a browser.

use axum::Router;
use axum::body::{Body, to_bytes};
use http::Request;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::world::{World, request};

/// Returns the details of a card of this number, which expires in August 2031.
pub(crate) fn card(number: &str) -> Value {
    json!({"type": "card", "number": number, "exp_month": 8, "exp_year": 2031})
}

/// Returns the details of a bank account of this number.
pub(crate) fn bank(number: &str) -> Value {
    json!({"type": "bank", "routing_number": "000000013", "account_number": number,
        "account_type": "CHECKING", "given_name": "Jane", "surname": "Doe"})
}

/// Makes a one-time token of a card or a bank account, as the service's own fields do.
pub(crate) fn token(world: &World, details: &Value) -> String {
    let all = world.control("GET", "credentials", &Value::Null);
    let merchants = all["merchants"].as_array().unwrap();
    let acme = merchants.iter().find(|one| one["name"] == "acme").unwrap();
    let key = acme["test"]["public_key"].as_str().unwrap();
    let made = request(&world.sandbox.router(), "POST", "/v1/tokens", Some(key), Some(details));
    made["id"].as_str().expect("a token").to_owned()
}

/// Sends a browser's request. Returns the status and the page.
pub(crate) async fn browse(router: Router, method: &str, path: &str, body: &str) -> (u16, String) {
    let request = Request::builder().method(method).uri(path).body(Body::from(body.to_owned()));
    let answer = router.oneshot(request.unwrap()).await.unwrap();
    let status = answer.status().as_u16();
    let bytes = to_bytes(answer.into_body(), 64 * 1024).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}
