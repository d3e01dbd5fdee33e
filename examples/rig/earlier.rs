//! Charges that were made before the project existed; later, recurring charges are made from them.

use data_encoding::BASE64;
use http::{Method, Request, header};
use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::{Value, json};

use crate::connection::{Connection, Failed};
use crate::control;
use crate::stand::{Stand, text};
use crate::tree::Document;
use crate::tree::every::{EARLIER_CHARGE, merchant_in};

/// Makes one charge for each merchant of such documents, and writes its id into them. Returns the number of charges.
pub(crate) async fn charges(stand: &Stand, tree: &mut [Document]) -> Result<usize, Failed> {
    let mut made: Vec<(String, String)> = Vec::new();
    for document in tree.iter_mut().filter(|document| document.text.contains(EARLIER_CHARGE)) {
        let merchant = merchant_in(document).unwrap_or_default().to_owned();
        let known = made.iter().find(|(of, _)| *of == merchant).map(|(_, charge)| charge.clone());
        let charge = if let Some(charge) = known {
            charge
        } else {
            let charge = charge(stand, &merchant).await?;
            made.push((merchant, charge.clone()));
            charge
        };
        document.text = document.text.replace(EARLIER_CHARGE, &charge);
    }
    Ok(made.len())
}

async fn charge(stand: &Stand, merchant: &str) -> Result<String, Failed> {
    let path = "/_sandbox/credentials";
    let known = control::json(stand.sandbox.address, Method::GET, path, None).await?;
    let merchants = known.get("merchants").and_then(Value::as_array).cloned().unwrap_or_default();
    let own = merchants.iter().find(|one| one.get("name") == Some(&json!(merchant)));
    let keys = own.and_then(|one| one.get("test")).ok_or("the sandbox knows no such merchant")?;
    let key = BASE64.encode(format!("{}:", text(keys, "secret_key")?).as_bytes());
    let card =
        json!({"type": "card", "number": "4242424242424242", "exp_month": 10, "exp_year": 2035});
    let body = json!({"amount": 1000, "method": card}).to_string();
    let request = Request::post("/v1/charges")
        .header(header::HOST, stand.sandbox.address.to_string())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::AUTHORIZATION, format!("Basic {key}"))
        .body(Full::new(Bytes::from(body)))?;
    let answer = Connection::new(stand.sandbox.address).send(request).await?;
    text(&serde_json::from_slice(answer.body())?, "id")
}
