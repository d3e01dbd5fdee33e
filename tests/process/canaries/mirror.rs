//! A service that repeats each request in every field of its answers. Until a test sets its manner, it passes requests
//! on to a sandbox.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use base64::Engine as _;
use http::request::Parts;
use http::{Request, Response, header};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::ext::ReasonPhrase;
use serde_json::{Value, json};

use crate::connection::Connection;

/// The manner in which the service answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Answers as the sandbox does.
    Honest,
    /// Refuses changes, and reads that follow a `POST`, with this status and in the form of the service's errors.
    Refuses(u16),
    /// Refuses changes with this status and answers reads as the sandbox does. So an effect whose first call is a read
    /// is sent as well.
    RefusesChanges(u16),
    /// Answers changes with 200 and an object in which every field repeats the request.
    Repeats,
    /// Answers changes with 422 and a page of a hundred kilobytes, not JSON.
    Page,
}

#[derive(Debug, Clone)]
pub(crate) struct Mirror {
    sandbox: SocketAddr,
    manner: Arc<Mutex<Manner>>,
    /// Requests that the service repeated, by method and path.
    repeated: Arc<Mutex<Vec<String>>>,
    pub(crate) address: SocketAddr,
}

impl Mirror {
    /// Starts the service in front of a sandbox.
    pub(crate) async fn before(sandbox: SocketAddr) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let manner = Arc::new(Mutex::new(Manner::Honest));
        let mirror = Self { sandbox, manner, repeated: Arc::default(), address };
        let router = Router::new().fallback(answer).with_state(mirror.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        mirror
    }

    /// Sets the manner of all later answers.
    pub(crate) fn answers(&self, manner: Manner) {
        *self.manner.lock().expect("held") = manner;
    }

    /// Returns the requests that the service repeated since the last call, by method and path, and forgets them.
    pub(crate) fn repeated(&self) -> Vec<String> {
        std::mem::take(&mut *self.repeated.lock().expect("held"))
    }
}

async fn answer(State(mirror): State<Mirror>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.expect("a body");
    let manner = *mirror.manner.lock().expect("held");
    let is_read = head.method == http::Method::GET;
    if manner == Manner::Honest || (is_read && matches!(manner, Manner::RefusesChanges(_))) {
        return honest(mirror.sandbox, head, body).await;
    }
    let asked = format!("{} {}", head.method, head.uri.path());
    mirror.repeated.lock().expect("held").push(asked);
    repeat(manner, &quoted(&head, &body))
}

async fn honest(sandbox: SocketAddr, head: Parts, body: Bytes) -> Response<Body> {
    let mut request = Request::from_parts(head, Full::new(body));
    request.headers_mut().insert(header::HOST, sandbox.to_string().parse().expect("a host"));
    let answer = Connection::new(sandbox).send(request).await.expect("an answer");
    let (mut head, body) = answer.into_parts();
    head.headers.remove(header::TRANSFER_ENCODING);
    Response::from_parts(head, Body::from(body))
}

/// Returns all that was sent, as it is and in other forms. The credential is included encoded and decoded.
fn quoted(head: &Parts, body: &[u8]) -> String {
    let header = |name| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("");
    let credential = header(header::AUTHORIZATION);
    let plain = credential.split(' ').next_back().unwrap_or("");
    let plain = base64::engine::general_purpose::STANDARD.decode(plain).unwrap_or_default();
    let plain = String::from_utf8_lossy(&plain).into_owned();
    let body = String::from_utf8_lossy(body);
    let escaped = serde_json::to_string(&*body).expect("JSON");
    format!("{credential} {plain} {} {body} {escaped}", head.uri)
}

fn repeat(manner: Manner, said: &str) -> Response<Body> {
    let (status, body) = match manner {
        Manner::Refuses(status) | Manner::RefusesChanges(status) => {
            (status, json!({ "messages": messages(said) }).to_string())
        }
        Manner::Repeats => (200, object(said).to_string()),
        Manner::Honest | Manner::Page => (422, format!("<html>{}", said.repeat(200))),
    };
    // A status line of HTTP holds no line ends.
    let line: String = said.chars().filter(char::is_ascii_graphic).take(4_000).collect();
    let mut answer = Response::builder()
        .status(status)
        .header(header::LOCATION, &line)
        .header(header::RETRY_AFTER, &line)
        .body(Body::from(body))
        .expect("an answer");
    let phrase = ReasonPhrase::try_from(line.into_bytes()).expect("a phrase");
    answer.extensions_mut().insert(phrase);
    answer
}

/// Returns the pieces of a text that can be values, split at quotes, blanks and slashes.
fn words(said: &str) -> impl Iterator<Item = &str> {
    said.split(['"', ' ', '/', '\\', ':', ',', '=']).filter(|word| word.len() > 3)
}

/// Returns one message for the whole text, one of a hundred kilobytes, and one for each piece, repeated in every field.
fn messages(said: &str) -> Vec<Value> {
    let all = |text: &str| {
        json!({"code": text, "level": text, "facility": text, "message": format!("it is {text}"),
               "context": text, "sub_code": text, "entity_id": text, text: text})
    };
    let spread: String = said.chars().flat_map(|c| [c, '-']).collect();
    let quoted = format!("number {said} is wrong");
    let mut messages = vec![all(&quoted), all(&spread), all(&said.repeat(100))];
    messages.extend(words(said).map(all));
    // The client keeps few messages, so each one takes its turn at the beginning.
    let turn = said.len() % messages.len();
    messages.rotate_left(turn);
    messages
}

/// Returns an object with the fields that the client reads, each with a piece of the request.
fn object(said: &str) -> Value {
    let names = [
        "id",
        "status",
        "type",
        "currency",
        "description",
        "reference",
        "timezone",
        "name",
        "access_token",
    ];
    let pieces = words(said).chain(std::iter::repeat(said));
    let mut object: serde_json::Map<String, Value> =
        names.iter().zip(pieces).map(|(name, piece)| ((*name).to_owned(), json!(piece))).collect();
    object.insert(said.to_owned(), json!([said]));
    Value::Object(object)
}
