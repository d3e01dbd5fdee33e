//! Requests to the sandbox, as its clients and the checks send them.

use std::net::SocketAddr;

use http::{Request, header};
use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::{Value, json};

use crate::connection::{Connection, Failed};

/// What lets a client in.
#[derive(Clone)]
pub(crate) struct Keys {
    /// The gateway's, of the test mode.
    pub(crate) basic: String,
    /// The partner API's.
    pub(crate) bearer: String,
}

/// A request that is not sent yet.
pub(crate) struct Wish {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) auth: String,
    pub(crate) body: Value,
}

impl Keys {
    /// Those of the demo merchant.
    pub(crate) async fn of(address: SocketAddr) -> Self {
        let mut caller = Caller::new(address);
        let told = caller.get("/_sandbox/credentials", "").await;
        let secret = told["merchants"][0]["test"]["secret_key"].as_str().unwrap();
        let basic = data_encoding::BASE64.encode(format!("{secret}:").as_bytes());
        let code = caller.post("/_sandbox/credentials", json!({"merchant": "demo"})).await;
        let partner = &told["partner"];
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

/// Sends a request once; the status and the text of its answer. Errors: it was not answered.
pub(crate) async fn send(
    connection: &mut Connection,
    address: SocketAddr,
    wish: &Wish,
) -> Result<(u16, String), Failed> {
    let body = if wish.body.is_null() { String::new() } else { wish.body.to_string() };
    let mut request = Request::builder()
        .method(wish.method)
        .uri(wish.path.as_str())
        .header(header::HOST, address.to_string())
        .header(header::CONTENT_TYPE, "application/json");
    if !wish.auth.is_empty() {
        request = request.header(header::AUTHORIZATION, wish.auth.as_str());
    }
    let answer = connection.send(request.body(Full::new(Bytes::from(body)))?).await?;
    let text = String::from_utf8(answer.body().to_vec())?;
    Ok((answer.status().as_u16(), text))
}

/// Who asks over one connection, and expects a 200 each time.
pub(crate) struct Caller {
    address: SocketAddr,
    connection: Connection,
}

impl Caller {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, connection: Connection::new(address) }
    }

    /// The text of the answer to a GET; `auth` empty: without a key.
    pub(crate) async fn text(&mut self, path: &str, auth: &str) -> String {
        let (path, auth) = (path.to_owned(), auth.to_owned());
        self.send(Wish { method: "GET", path, auth, body: Value::Null }).await
    }

    /// The answer to a GET.
    pub(crate) async fn get(&mut self, path: &str, auth: &str) -> Value {
        serde_json::from_str(&self.text(path, auth).await).unwrap()
    }

    /// The answer to a POST without a key.
    pub(crate) async fn post(&mut self, path: &str, body: Value) -> Value {
        let (path, auth) = (path.to_owned(), String::new());
        serde_json::from_str(&self.send(Wish { method: "POST", path, auth, body }).await).unwrap()
    }

    async fn send(&mut self, wish: Wish) -> String {
        let (status, text) = send(&mut self.connection, self.address, &wish).await.unwrap();
        assert_eq!(status, 200, "{} {}: {text}", wish.method, wish.path);
        text
    }
}
