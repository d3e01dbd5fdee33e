//! Requests of an engine, as they were on the wire.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) host: String,
    pub(crate) authorization: Option<String>,
    pub(crate) content_type: Option<String>,
    /// JSON of the body; null if there is none.
    pub(crate) body: Value,
}

/// All requests since this value was made.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<Sent>>>);

impl Seen {
    /// Wraps a router. Every request is recorded before it reaches the router.
    pub(crate) fn before(&self, router: Router) -> Router {
        let seen = self.clone();
        router.layer(from_fn(move |request: Request, next: Next| {
            let seen = seen.clone();
            async move {
                let (head, body) = request.into_parts();
                let bytes = to_bytes(body, usize::MAX).await.unwrap();
                let header =
                    |name| head.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
                let sent = Sent {
                    method: head.method.to_string(),
                    path: head.uri.path().to_owned(),
                    host: header("host").unwrap_or_default(),
                    authorization: header("authorization"),
                    content_type: header("content-type"),
                    body: serde_json::from_slice(&bytes).unwrap_or_default(),
                };
                seen.0.lock().unwrap().push(sent);
                next.run(Request::from_parts(head, Body::from(bytes))).await
            }
        }))
    }

    /// Returns all requests, in order.
    pub(crate) fn all(&self) -> Vec<Sent> {
        self.0.lock().unwrap().clone()
    }

    /// Returns the requests of a method and a path.
    pub(crate) fn of(&self, method: &str, path: &str) -> Vec<Sent> {
        self.all().into_iter().filter(|one| one.method == method && one.path == path).collect()
    }
}
