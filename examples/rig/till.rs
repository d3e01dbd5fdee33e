//! A merchant's own payments, made at the service as its shop would make them.

use std::net::SocketAddr;

use data_encoding::BASE64;
use http::Method;
use serde_json::{Value, json};

use crate::connection::Failed;
use crate::stand::{Stand, text};
use crate::{control, load};

/// Connections at once.
const CONNECTIONS: usize = 16;

/// The test mode of one merchant.
#[derive(Debug, Clone)]
pub(crate) struct Till {
    service: SocketAddr,
    /// The secret key, encoded for the request header.
    user: String,
}

impl Till {
    /// Returns the till of the merchant with this name at the sandbox.
    pub(crate) async fn of(stand: &Stand, merchant: &str) -> Result<Self, Failed> {
        let service = stand.sandbox.address;
        let all = control::json(service, Method::GET, "/_sandbox/credentials", None).await?;
        let merchants = all
            .get("merchants")
            .and_then(Value::as_array)
            .ok_or("the sandbox shows no merchants")?;
        let own = merchants.iter().find(|one| one.get("name").is_some_and(|name| name == merchant));
        let key = text(
            own.and_then(|one| one.get("test")).ok_or("the merchant has no keys")?,
            "secret_key",
        )?;
        Ok(Self { service, user: BASE64.encode(format!("{key}:").as_bytes()) })
    }

    /// Charges a card once for each reference; all charges differ in their payers.
    pub(crate) async fn charge(&self, references: &[String]) -> Result<(), Failed> {
        let charge = |(at, reference): (usize, &String)| {
            let body = json!({"amount": 1250, "reference": reference, "method": card(at)});
            self.post("/v1/charges", &body)
        };
        let requests: Vec<_> = references.iter().enumerate().map(charge).collect();
        load::run(self.service, &requests, CONNECTIONS).await.map(drop)
    }

    /// Saves a card of the published test numbers; returns its id.
    pub(crate) async fn save_card(&self) -> Result<String, Failed> {
        let request = self.post("/v1/cards", &card(0));
        let answers = load::run(self.service, &[request], 1).await?;
        let body = answers.bodies.first().ok_or("the service did not answer with a card")?;
        text(&serde_json::from_slice(body)?, "id")
    }

    fn post(&self, path: &str, body: &Value) -> Vec<u8> {
        let (body, service, user) = (body.to_string(), self.service, &self.user);
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nhost: {service}\r\nauthorization: Basic {user}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }
}

fn card(at: usize) -> Value {
    json!({
        "type": "card", "number": "4242424242424242", "exp_month": 10, "exp_year": 2040,
        "cvv": "123", "name": format!("Jane Doe {at}"), "address1": "1 Main Street",
        "postal_code": "62701",
    })
}
