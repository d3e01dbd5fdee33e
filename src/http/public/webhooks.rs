//! Receiver of the service's webhooks, at the public paths, which reads a body in bounded size and
//! time, however slowly it arrives.
//!
//! Webhooks are unsigned, so each path holds a token that cannot be guessed. 200 means that the
//! body is on disk; the service sends the webhook again after any other answer (partner-api,
//! Events). A post that is refused before that touches no disk, and every answer is counted.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};

use crate::base::id::Key;
use crate::control::handle::Control;
use crate::control::posts::PostAnswer;
use crate::engine::events::receiver::Receipt;
use crate::engine::protocol::input::IncomingWebhook;
use crate::http::public::public_routes::PublicRoutes;
use crate::http::public::{links, pages};
use crate::model::operator::WebhookAddress;

/// Characters of a reference, at most; ours have 28.
const REFERENCE_LENGTH_MAX: usize = 256;
/// Time limit for writing a notification to disk.
const STORED_MAX: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
struct WebhookState {
    control: Control,
    outside: PublicRoutes,
}

/// The answer to a post, and the time after which it may come again.
struct WebhookAnswer(PostAnswer, Option<Duration>);

impl From<PostAnswer> for WebhookAnswer {
    fn from(answered: PostAnswer) -> Self {
        Self(answered, None)
    }
}

pub fn public_router(control: Control, outside: &PublicRoutes) -> Router {
    Router::new()
        .route("/healthz", get(crate::http::private::router::healthz))
        .merge(webhook_router(control, outside))
        .fallback(|| async { pages::dead_link_page() })
}

/// Returns only the routes of webhooks and of the links of applicants and payers.
pub fn webhook_router(control: Control, outside: &PublicRoutes) -> Router {
    let links = links::routes(control.clone(), outside.clone());
    let links = links.layer(middleware::from_fn(buffer_first));
    let door = WebhookState { control, outside: outside.clone() };
    Router::new()
        .route("/webhooks/partner/{token}/{reference}", post(partner))
        .route("/webhooks/gateway/{token}", post(gateway))
        .with_state(door)
        .merge(links)
}

async fn partner(
    State(door): State<WebhookState>,
    Path((token, reference)): Path<(String, String)>,
    request: Request,
) -> Response {
    door.respond_counted(door.partner(&token, reference, request).await)
}

async fn gateway(
    State(door): State<WebhookState>,
    Path(token): Path<String>,
    request: Request,
) -> Response {
    door.respond_counted(door.gateway(&token, request).await)
}

impl WebhookState {
    /// Stores one partner notification. A wrong token looks like an absent path.
    async fn partner(
        &self,
        token: &str,
        reference: String,
        request: Request,
    ) -> Result<WebhookAnswer, WebhookAnswer> {
        if !self.outside.ingress.accepts_partner(&request) {
            return Err(PostAnswer::Forbidden.into());
        }
        let generation = self.outside.verify_event_url(token).filter(|_| is_reference(&reference));
        let generation = generation.ok_or(PostAnswer::Unknown)?;
        self.check_address(&WebhookAddress::Partner, generation)?;
        let body = read_complete(request.into_body()).await?.to_vec();
        let notice = IncomingWebhook { generation, reference, body };
        let stored = tokio::time::timeout(STORED_MAX, self.control.partner_webhook(notice)).await;
        Ok(if matches!(stored, Ok(Ok(()))) { PostAnswer::Stored } else { PostAnswer::Later }.into())
    }

    /// Stores one event of the gateway. Only its id is used, since the event is not yet verified.
    async fn gateway(&self, token: &str, request: Request) -> Result<WebhookAnswer, WebhookAnswer> {
        if !self.outside.ingress.accepts_gateway(&request) {
            return Err(PostAnswer::Forbidden.into());
        }
        let opened = self.outside.verify_gateway_url(token).ok_or(PostAnswer::Unknown)?;
        let (mode, generation) = opened.terms;
        let merchant = self.single_merchant(opened.candidates)?;
        self.check_address(&WebhookAddress::Merchant(merchant.clone()), generation)?;
        let body = read_complete(request.into_body()).await?;
        let stored = self.control.post(&merchant, mode, &body);
        let answered = match tokio::time::timeout(STORED_MAX, stored).await {
            Ok(Ok(Receipt::Stored)) => PostAnswer::Stored,
            Ok(Ok(Receipt::Malformed)) => PostAnswer::Malformed,
            Ok(Ok(Receipt::Unknown)) => PostAnswer::Unknown,
            Ok(Ok(Receipt::Full) | Err(_)) | Err(_) => PostAnswer::Later,
        };
        Ok(answered.into())
    }

    /// Returns the one merchant of an address; of several in an older form, the one that exists.
    fn single_merchant(&self, mut named: Vec<Key>) -> Result<Key, WebhookAnswer> {
        if named.len() > 1 {
            let known = |key: &Key| self.control.accepts_events_of(key);
            let known: Result<Vec<bool>, _> = named.iter().map(known).collect();
            let mut known = known.map_err(|_| PostAnswer::Later)?.into_iter();
            named.retain(|_| known.next().unwrap_or(false));
        }
        named.pop().filter(|_| named.is_empty()).ok_or_else(|| PostAnswer::Unknown.into())
    }

    /// Checks that an address is valid and that its share is not used up. A replaced address looks
    /// like an absent one. While the state is not open yet, the engine checks the generation later.
    fn check_address(
        &self,
        address: &WebhookAddress,
        generation: u32,
    ) -> Result<(), WebhookAnswer> {
        match self.control.is_address_valid(address, generation) {
            Ok(Some(true) | None) => {}
            Ok(Some(false)) => return Err(PostAnswer::Unknown.into()),
            Err(_) => return Err(PostAnswer::Later.into()),
        }
        let taken = self.outside.ingress.take_permit(address);
        taken.map_err(|wait| WebhookAnswer(PostAnswer::Flood, Some(wait)))
    }

    fn respond_counted(&self, answer: Result<WebhookAnswer, WebhookAnswer>) -> Response {
        let answer = answer.unwrap_or_else(|refusal| refusal);
        self.control.posts().count(answer.0);
        answer.into_response()
    }
}

impl IntoResponse for WebhookAnswer {
    fn into_response(self) -> Response {
        let Self(answered, wait) = self;
        match answered {
            PostAnswer::Stored => Json(serde_json::json!({ "stored": true })).into_response(),
            PostAnswer::Malformed => {
                let why = "not an event: expected an object with `id`";
                let why = Json(serde_json::json!({ "message": why }));
                (StatusCode::BAD_REQUEST, why).into_response()
            }
            PostAnswer::Unknown => StatusCode::NOT_FOUND.into_response(),
            PostAnswer::Forbidden => StatusCode::FORBIDDEN.into_response(),
            PostAnswer::Slow => {
                // The connection ends, since the next bytes are the rest of the body.
                let close = [(header::CONNECTION, HeaderValue::from_static("close"))];
                (StatusCode::REQUEST_TIMEOUT, close).into_response()
            }
            PostAnswer::Large => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
            PostAnswer::Flood => {
                let seconds = wait.map_or(0, |wait| wait.as_secs()).saturating_add(1);
                let after = [(header::RETRY_AFTER, HeaderValue::from(seconds))];
                (StatusCode::TOO_MANY_REQUESTS, after).into_response()
            }
            PostAnswer::Later => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        }
    }
}

/// Returns true if a text can be a reference. One with a control character is not ours, and would
/// make the notification's identity ambiguous: a zero byte ends the reference there.
fn is_reference(text: &str) -> bool {
    text.len() <= REFERENCE_LENGTH_MAX && !text.chars().any(char::is_control)
}

/// Time limit of a body, from its first byte to its last.
pub(crate) const BODY_MAX: Duration = Duration::from_secs(10);
pub(crate) const BODY_BYTES_MAX: usize = 256 * 1024;

pub(crate) async fn read_complete(body: Body) -> Result<Bytes, PostAnswer> {
    let most = u64::try_from(BODY_BYTES_MAX).unwrap_or(u64::MAX);
    if body.size_hint().lower() > most {
        return Err(PostAnswer::Large);
    }
    match tokio::time::timeout(BODY_MAX, to_bytes(body, BODY_BYTES_MAX)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => {
            let large = error.into_inner().is::<http_body_util::LengthLimitError>();
            Err(if large { PostAnswer::Large } else { PostAnswer::Slow })
        }
        Err(_) => Err(PostAnswer::Slow),
    }
}

/// Reads the body first, and then passes the request on with it.
pub(crate) async fn buffer_first(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    match read_complete(body).await {
        Ok(bytes) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Err(refused) => WebhookAnswer::from(refused).into_response(),
    }
}

#[cfg(test)]
mod tests;
