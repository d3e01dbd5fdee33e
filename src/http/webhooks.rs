//! Where the service tells the partner by itself: the paths that face the world.
//!
//! Nothing signs a notification, so the path holds a token that cannot be guessed. 200 means that the body
//! is on disk; the service sends it again after anything else (partner-api, Events). What is refused before that touches
//! no disk, and every answer is counted.

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

/// What a post is answered with, and when it may come again.
struct Answer(Answered, Option<Duration>);

impl From<Answered> for Answer {
    fn from(answered: Answered) -> Self {
        Self(answered, None)
    }
}

/// The paths that may face the world.
pub fn public(control: Control, outside: &Outside) -> Router {
    Router::new()
        .route("/healthz", get(super::healthz))
        .merge(hooks(control, outside))
        .fallback(|| async { pages::dead_link() })
}

/// The webhooks and the links of applicants and payers alone.
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
    /// Takes one notification in. A wrong token looks like a path that is not there.
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

    /// Takes one event of the gateway in. Nothing of it is believed but its id.
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

    /// The one merchant that an address names; of several that an address of the older form can name, the one that exists.
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

    /// Whether an address is good and its share is not used up. One that was exchanged for another one is as if it had
    /// never been; while the state is not open yet, the engine looks.
    fn passes(&self, address: &Address, generation: u32) -> Result<(), Answer> {
        match self.control.opens(address, generation) {
            Ok(Some(true) | None) => {}
            Ok(Some(false)) => return Err(Answered::Unknown.into()),
            Err(_) => return Err(Answered::Later.into()),
        }
        let taken = self.outside.gate().takes(address);
        taken.map_err(|wait| Answer(Answered::Flood, Some(wait)))
    }

    /// The response to a post, counted.
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

/// Whether a text can be a reference. One with a control character is none of ours, and would blur what a notification is
/// known by, which ends the reference with a zero byte.
fn is_reference(text: &str) -> bool {
    text.len() <= REFERENCE_LENGTH_MAX && !text.chars().any(char::is_control)
}

/// The body of a post.
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
