//! The objects that are made and read again.

use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::connection::Failed;
use crate::served::Served;

/// A sort of object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Object {
    /// An object of the sandbox: checked, masked, and kept with the days on which its card expires.
    Card,
    /// An object of the sandbox: authorised, in the ledger, with its capture planned and two events.
    Charge,
    /// An object of localstripe.
    Customer,
}

impl Object {
    /// Returns the name in the plural.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Card => "saved cards",
            Self::Charge => "charges",
            Self::Customer => "customers",
        }
    }

    /// Returns the paths for making and for reading an object.
    fn paths(self) -> [&'static str; 2] {
        match self {
            Self::Card => ["/v1/cards", "/v1/cards"],
            Self::Charge => ["/v1/charges", "/v1/transactions"],
            Self::Customer => ["/v1/customers", "/v1/customers"],
        }
    }

    fn body(self, at: usize) -> Value {
        match self {
            Self::Card => card(at),
            Self::Charge => {
                json!({"amount": 1250, "method": card(at), "reference": at.to_string()})
            }
            Self::Customer => json!({
                "name": format!("Jane Doe {at}"), "email": format!("jane-{at}@example.com"),
                "address": {"line1": "1 Main Street", "postal_code": "62701"},
            }),
        }
    }

    /// Returns `count` requests that make objects.
    pub(crate) fn creates(self, of: &Served, count: usize) -> Vec<Vec<u8>> {
        let [path, _] = self.paths();
        let bodies = (0..count).map(|at| self.body(at).to_string());
        bodies.map(|body| request(of, "POST", path, &body)).collect()
    }

    /// Returns requests that read the made objects.
    pub(crate) fn gets(self, of: &Served, made: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Failed> {
        let [_, path] = self.paths();
        let ids = made.iter().map(|body| id(body));
        ids.map(|id| Ok(request(of, "GET", &format!("{path}/{}", id?), ""))).collect()
    }
}

fn card(at: usize) -> Value {
    json!({
        "type": "card", "number": "4242424242424242", "exp_month": 10, "exp_year": 2040,
        "cvv": "123", "name": format!("Jane Doe {at}"), "address1": "1 Main Street",
        "postal_code": "62701",
    })
}

/// Returns the id of an answered object.
pub(crate) fn id(body: &[u8]) -> Result<String, Failed> {
    let object: Value = serde_json::from_slice(body)?;
    let id = object.get("id").and_then(Value::as_str).map(str::to_owned);
    id.ok_or_else(|| "an answer without an id".into())
}

fn request(of: &Served, method: &str, path: &str, body: &str) -> Vec<u8> {
    let Served { address, key, .. } = of;
    let user = BASE64.encode(format!("{key}:").as_bytes());
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Basic {user}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}
