//! Receiver of the service's webhooks, at the public paths.
//!
//! Webhooks are unsigned, so each path holds a token that cannot be guessed. 200 means that the
//! body is on disk; the service sends the webhook again after any other answer (partner-api,
//! Events). A post that is refused before that touches no disk, and every answer is counted.

use std::time::Duration;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};

use super::Outside;
use super::body::{self, NoBody};
use super::pages;
use crate::base::id::Key;
use crate::control::{Answered, Control};
use crate::engine::{Notice, Taken};
use crate::model::rotation::Address;

/// Characters of a reference, at most; ours have 28.
const REFERENCE_LENGTH_MAX: usize = 256;
/// Time limit for writing a notification to disk.
const STORED_MAX: Duration = Duration::from_secs(10);

/// State of every request.
#[derive(Debug, Clone)]
struct Door {
    control: Control,
    outside: Outside,
}

/// The answer to a post, and the time after which it may come again.
struct Answer(Answered, Option<Duration>);

impl From<Answered> for Answer {
    fn from(answered: Answered) -> Self {
        Self(answered, None)
    }
}

/// Returns the routes of the public listener.
pub fn public(control: Control, outside: &Outside) -> Router {
    Router::new()
        .route("/healthz", get(super::healthz))
        .merge(hooks(control, outside))
        .fallback(|| async { pages::dead_link() })
}

/// Returns only the routes of webhooks and of the links of applicants and payers.
pub fn hooks(control: Control, outside: &Outside) -> Router {
    let links = super::apply::links(control.clone(), outside.clone());
    let payers = super::intake::links(control.clone(), outside.clone());
    let links = links.merge(payers).layer(middleware::from_fn(body::first));
    let door = Door { control, outside: outside.clone() };
    Router::new()
        .route("/webhooks/partner/{token}/{reference}", post(partner))
        .route("/webhooks/gateway/{token}", post(gateway))
        .with_state(door)
        .merge(links)
}

async fn partner(
    State(door): State<Door>,
    Path((token, reference)): Path<(String, String)>,
    request: Request,
) -> Response {
    let answer = door.partner(&token, reference, request).await;
    door.answered(answer.unwrap_or_else(|refusal| refusal))
}

async fn gateway(
    State(door): State<Door>,
    Path(token): Path<String>,
    request: Request,
) -> Response {
    let answer = door.gateway(&token, request).await;
    door.answered(answer.unwrap_or_else(|refusal| refusal))
}

impl Door {
    /// Stores one partner notification. A wrong token looks like an absent path.
    async fn partner(
        &self,
        token: &str,
        reference: String,
        request: Request,
    ) -> Result<Answer, Answer> {
        if !self.outside.gate().hears_partner(&request) {
            return Err(Answered::Forbidden.into());
        }
        let generation = self.outside.partner(token);
        let generation = generation.filter(|_| is_reference(&reference));
        let generation = generation.ok_or(Answered::Unknown)?;
        self.passes(&Address::Partner, generation)?;
        let body = read(request).await?.to_vec();
        let notice = Notice { generation, reference, body };
        let stored = tokio::time::timeout(STORED_MAX, self.control.notify(notice)).await;
        Ok(if matches!(stored, Ok(Ok(()))) { Answered::Stored } else { Answered::Later }.into())
    }

    /// Stores one event of the gateway. Only its id is used, since the event is not yet verified.
    async fn gateway(&self, token: &str, request: Request) -> Result<Answer, Answer> {
        if !self.outside.gate().hears_gateway(&request) {
            return Err(Answered::Forbidden.into());
        }
        let opened = self.outside.merchant(token).ok_or(Answered::Unknown)?;
        let (mode, generation) = opened.terms;
        let merchant = self.only(opened.named)?;
        self.passes(&Address::Merchant(merchant.clone()), generation)?;
        let body = read(request).await?;
        let stored = self.control.post(&merchant, mode, &body);
        let answered = match tokio::time::timeout(STORED_MAX, stored).await {
            Ok(Ok(Taken::Stored)) => Answered::Stored,
            Ok(Ok(Taken::Garbled)) => Answered::Garbled,
            Ok(Ok(Taken::Unknown)) => Answered::Unknown,
            Ok(Ok(Taken::Full) | Err(_)) | Err(_) => Answered::Later,
        };
        Ok(answered.into())
    }

    /// Returns the one merchant of an address; of several in an address of the older form, the one
    /// that exists.
    fn only(&self, mut named: Vec<Key>) -> Result<Key, Answer> {
        if named.len() > 1 {
            let known = |key: &Key| self.control.receives(key);
            let known: Result<Vec<bool>, _> = named.iter().map(known).collect();
            let mut known = known.map_err(|_| Answered::Later)?.into_iter();
            named.retain(|_| known.next().unwrap_or(false));
        }
        let only = named.pop().filter(|_| named.is_empty());
        only.ok_or_else(|| Answered::Unknown.into())
    }

    /// Checks that an address is valid and that its share is not used up. A replaced address looks
    /// like an absent one. While the state is not open yet, the engine checks the generation later.
    fn passes(&self, address: &Address, generation: u32) -> Result<(), Answer> {
        match self.control.opens(address, generation) {
            Ok(Some(true) | None) => {}
            Ok(Some(false)) => return Err(Answered::Unknown.into()),
            Err(_) => return Err(Answered::Later.into()),
        }
        let taken = self.outside.gate().takes(address);
        taken.map_err(|wait| Answer(Answered::Flood, Some(wait)))
    }

    /// Counts an answer, and returns its response.
    fn answered(&self, Answer(answered, wait): Answer) -> Response {
        self.control.posts().count(answered);
        match answered {
            Answered::Stored => Json(serde_json::json!({ "stored": true })).into_response(),
            Answered::Garbled => {
                let why = "this is no event: an object with the `id` of one was expected";
                let why = Json(serde_json::json!({ "message": why }));
                (StatusCode::BAD_REQUEST, why).into_response()
            }
            Answered::Unknown => StatusCode::NOT_FOUND.into_response(),
            Answered::Forbidden => StatusCode::FORBIDDEN.into_response(),
            Answered::Slow => body::too_slow(),
            Answered::Large => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
            Answered::Flood => {
                let seconds = wait.map_or(0, |wait| wait.as_secs()).saturating_add(1);
                let after = [(header::RETRY_AFTER, HeaderValue::from(seconds))];
                (StatusCode::TOO_MANY_REQUESTS, after).into_response()
            }
            Answered::Later => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        }
    }
}

/// Returns true if a text can be a reference. A text with a control character is not one of ours.
/// It would also make the notification's identity ambiguous, since a zero byte ends the reference
/// there.
fn is_reference(text: &str) -> bool {
    text.len() <= REFERENCE_LENGTH_MAX && !text.chars().any(char::is_control)
}

/// Reads the body of a post.
async fn read(request: Request) -> Result<axum::body::Bytes, Answer> {
    body::whole(request.into_body()).await.map_err(|why| {
        match why {
            NoBody::Large => Answered::Large,
            NoBody::Slow => Answered::Slow,
        }
        .into()
    })
}

#[cfg(test)]
mod tests;
