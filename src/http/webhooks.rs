//! Where the service tells the partner by itself: the paths that face the world.
//!
//! Nothing signs a notification, so the path holds a token that cannot be guessed. 200 means that the body
//! is on disk; the service sends it again after anything else (partner-api, Events).

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use tower_http::limit::RequestBodyLimitLayer;

use super::Outside;
use crate::control::Control;
use crate::engine::{Notice, Taken};
use crate::model::rotation::Address;

/// The greatest body of a notification, in bytes.
const BODY_BYTES_MAX: usize = 256 * 1024;
/// The longest reference; ours have 28 characters.
const REFERENCE_LENGTH_MAX: usize = 256;
/// How long a notification may take to be on disk.
const STORED_MAX: Duration = Duration::from_secs(10);

/// What every request can reach.
#[derive(Debug, Clone)]
struct Door {
    control: Control,
    outside: Outside,
}

/// The paths that may face the world.
pub fn public(control: Control, outside: &Outside) -> Router {
    Router::new()
        .route("/healthz", get(super::healthz))
        .merge(hooks(control, outside))
        .fallback(|| async { StatusCode::NOT_FOUND })
}

/// The webhooks and the links of applicants and payers alone.
pub fn hooks(control: Control, outside: &Outside) -> Router {
    let links = super::apply::links(control.clone(), outside.clone());
    let payers = super::intake::links(control.clone(), outside.clone());
    let door = Door { control, outside: outside.clone() };
    Router::new()
        .route("/webhooks/partner/{token}/{reference}", post(partner))
        .route("/webhooks/gateway/{token}", post(gateway))
        .layer(RequestBodyLimitLayer::new(BODY_BYTES_MAX))
        .with_state(door)
        .merge(links)
        .merge(payers)
}

impl Door {
    /// The answer at an address that was exchanged for another one: as if it had never been. `None`: it is good, or the
    /// state is not open yet; then the engine looks.
    fn closed(&self, address: &Address, generation: u32) -> Option<Response> {
        match self.control.opens(address, generation) {
            Ok(Some(true) | None) => None,
            Ok(Some(false)) => Some(StatusCode::NOT_FOUND.into_response()),
            Err(_) => Some(StatusCode::SERVICE_UNAVAILABLE.into_response()),
        }
    }
}

/// Takes one notification in. A wrong token looks like a path that is not there.
async fn partner(
    State(door): State<Door>,
    Path((token, reference)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    let generation = door.outside.partner(&token);
    let Some(generation) = generation.filter(|_| reference.len() <= REFERENCE_LENGTH_MAX) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    if let Some(refusal) = door.closed(&Address::Partner, generation) {
        return refusal;
    }
    let notice = Notice { generation, reference, body: body.to_vec() };
    match tokio::time::timeout(STORED_MAX, door.control.notify(notice)).await {
        Ok(Ok(())) => Json(serde_json::json!({ "stored": true })).into_response(),
        Ok(Err(_)) | Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// Takes one event of the gateway in. Nothing of it is believed but its id.
async fn gateway(State(door): State<Door>, Path(token): Path<String>, body: Bytes) -> Response {
    let Some((merchant, mode, generation)) = door.outside.merchant(&token) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    if let Some(refusal) = door.closed(&Address::Merchant(merchant.clone()), generation) {
        return refusal;
    }
    match tokio::time::timeout(STORED_MAX, door.control.post(&merchant, mode, &body)).await {
        Ok(Ok(Taken::Stored)) => Json(serde_json::json!({ "stored": true })).into_response(),
        Ok(Ok(Taken::Garbled)) => {
            let why = "this is no event: an object with the `id` of one was expected";
            (StatusCode::BAD_REQUEST, Json(serde_json::json!({ "message": why }))).into_response()
        }
        Ok(Ok(Taken::Unknown)) => StatusCode::NOT_FOUND.into_response(),
        Ok(Ok(Taken::Full) | Err(_)) | Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

#[cfg(test)]
mod tests;
