//! Requests to the sandbox, as its clients and the checks send them.

use std::net::SocketAddr;

use http::{Request, header};
use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::{Value, json};

use crate::connection::{Connection, Failed};

/// The credentials of a client.
#[derive(Clone)]
pub(crate) struct Keys {
    /// Credential of the gateway, test mode.
    pub(crate) basic: String,
    /// Credential of the partner API.
    pub(crate) bearer: String,
}

/// A request that is not sent yet.
pub(crate) struct ApiRequest {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) auth: String,
    pub(crate) body: Value,
}

impl Keys {
    /// Returns the credentials of the demo merchant.
    pub(crate) async fn of(address: SocketAddr) -> Self {
        let mut caller = Caller::new(address);
        let credentials = caller.get("/_sandbox/credentials", "").await;
        let secret = credentials["merchants"][0]["test"]["secret_key"].as_str().unwrap();
        let basic = data_encoding::BASE64.encode(format!("{secret}:").as_bytes());
        let code = caller.post("/_sandbox/credentials", json!({"merchant": "demo"})).await;
        let partner = &credentials["partner"];
        let exchange = json!({
            "client_id": partner["client_id"], "client_secret": partner["client_secret"],
            "grant_type": "authorization_code", "scope": "payments",
            "redirect_uri": partner["redirect_uri"], "code": code["authorization_code"],
        });
        let token = caller.post("/oauth/token", exchange).await;
        let bearer = format!("Bearer {}", token["access_token"].as_str().unwrap());
        Self { basic: format!("Basic {basic}"), bearer }
    }
}

/// Sends a request once; returns the status and the text of the answer.
///
/// # Errors
///
/// The request was not answered.
pub(crate) async fn send(
    connection: &mut Connection,
    address: SocketAddr,
    asked: &ApiRequest,
) -> Result<(u16, String), Failed> {
    let body = if asked.body.is_null() { String::new() } else { asked.body.to_string() };
    let mut request = Request::builder()
        .method(asked.method)
        .uri(asked.path.as_str())
        .header(header::HOST, address.to_string())
        .header(header::CONTENT_TYPE, "application/json");
    if !asked.auth.is_empty() {
        request = request.header(header::AUTHORIZATION, asked.auth.as_str());
    }
    let answer = connection.send(request.body(Full::new(Bytes::from(body)))?).await?;
    let text = String::from_utf8(answer.body().to_vec())?;
    Ok((answer.status().as_u16(), text))
}

/// A client with one connection that expects a 200 each time.
pub(crate) struct Caller {
    address: SocketAddr,
    connection: Connection,
}

impl Caller {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, connection: Connection::new(address) }
    }

    /// Returns the text of the answer to a GET. An empty `auth` sends no key.
    pub(crate) async fn text(&mut self, path: &str, auth: &str) -> String {
        let (path, auth) = (path.to_owned(), auth.to_owned());
        self.send(ApiRequest { method: "GET", path, auth, body: Value::Null }).await
    }

    /// Returns the answer to a GET.
    pub(crate) async fn get(&mut self, path: &str, auth: &str) -> Value {
        serde_json::from_str(&self.text(path, auth).await).unwrap()
    }

    /// Returns the answer to a POST without a key.
    pub(crate) async fn post(&mut self, path: &str, body: Value) -> Value {
        let (path, auth) = (path.to_owned(), String::new());
        serde_json::from_str(&self.send(ApiRequest { method: "POST", path, auth, body }).await)
            .unwrap()
    }

    async fn send(&mut self, asked: ApiRequest) -> String {
        let (status, text) = send(&mut self.connection, self.address, &asked).await.unwrap();
        assert_eq!(status, 200, "{} {}: {text}", asked.method, asked.path);
        text
    }
}
