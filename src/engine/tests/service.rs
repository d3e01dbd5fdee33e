//! A service with fixed answers in this process.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use http::Response;
use parking_lot::Mutex;
use serde_json::{Value, json};

/// Answers by request, such as `GET /v1/cards/c1`, and the requests so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct FixedService(Arc<Mutex<FixedAnswers>>);

#[derive(Debug, Default)]
struct FixedAnswers {
    answers: BTreeMap<String, (u16, Value)>,
    requests: Vec<String>,
}

impl FixedService {
    /// Answers a request, named by method and path, with this body from now on.
    pub(crate) fn answer(&self, request: &str, body: Value) {
        self.answer_with(request, 200, body);
    }

    pub(crate) fn answer_with(&self, request: &str, status: u16, body: Value) {
        self.0.lock().answers.insert(request.to_owned(), (status, body));
    }

    /// Answers a list with these entries.
    pub(crate) fn list(&self, path: &str, entries: &Value) {
        let total = entries.as_array().map_or(0, Vec::len);
        let page = json!({"page": 1, "page_size": 100, "total_entries": total, "results": entries});
        self.answer(&format!("GET {path}"), page);
    }

    /// Answers that the service has no object at this path.
    pub(crate) fn lacks(&self, path: &str) {
        let problem =
            json!({"messages": [{"context": "Object[1]", "code": "NotFound", "message": "no"}]});
        self.answer_with(&format!("GET {path}"), 404, problem);
    }

    /// Returns the requests so far, each by method and path.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.0.lock().requests.clone()
    }

    pub(crate) fn router(&self) -> Router {
        Router::new().fallback(respond).with_state(self.clone())
    }
}

async fn respond(State(service): State<FixedService>, request: Request) -> Response<Body> {
    let name = format!("{} {}", request.method(), request.uri().path());
    let mut known = service.0.lock();
    let (status, body) = known.answers.get(&name).cloned().unwrap_or((404, json!({})));
    known.requests.push(name);
    Response::builder().status(status).body(Body::from(body.to_string())).unwrap()
}
