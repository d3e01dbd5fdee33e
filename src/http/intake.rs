//! A payer's link: it shows the service's own fields, and takes the one-time token that they
//! return.
//!
//! Opening the link changes nothing, since programs open links, too, to preview them. The signature
//! in the link names one saved method, one generation of its document and one moment, and cannot be
//! forged. The engine decides what else the link is valid for.

mod page;
#[cfg(test)]
mod tests;

use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use tower_http::limit::RequestBodyLimitLayer;

use super::{Outside, pages};
use crate::base::secret::Secret;
use crate::control::Control;
use crate::engine::{Attaching, Intake, IntakeLink, Reply};

/// Bytes of a body, at most: a token has some twenty characters, and there are some thirty at most.
const BODY_BYTES_MAX: usize = 4 * 1024;
/// Time limit of the engine's answer.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// Actor of a token that comes through a link.
const PAYER: &str = "payer";

/// State of every request.
#[derive(Debug, Clone)]
struct Door {
    control: Control,
    outside: Outside,
}

/// Returns the routes of payers' links.
pub(super) fn links(control: Control, outside: Outside) -> Router {
    Router::new()
        .route("/intake/{link}", get(show).post(take))
        .layer(RequestBodyLimitLayer::new(BODY_BYTES_MAX))
        .with_state(Door { control, outside })
}

async fn show(State(door): State<Door>, Path(link): Path<String>) -> Response {
    match door.opened(&link).await {
        Ok(link) => door.page(link).await,
        Err(status) => pages::refused(status),
    }
}

async fn take(State(door): State<Door>, Path(text): Path<String>, body: Bytes) -> Response {
    let link = match door.opened(&text).await {
        Ok(link) => link,
        Err(status) => return pages::refused(status),
    };
    let (first, more) = tokens(&body);
    let attaching = Attaching { key: link.key.clone(), token: first, more, replace: false };
    let taken = door.control.attach(attaching, Some(link.clone()), PAYER.to_owned());
    match tokio::time::timeout(ANSWER_MAX, taken).await {
        Ok(Ok(Reply::Attached(Ok(_)))) => thanks(&text),
        Ok(Ok(Reply::Attached(Err(why)))) => {
            tracing::info!(key = %link.key, why, "a payer's token was not taken");
            let mut page = door.page(link).await;
            if page.status() == StatusCode::OK {
                *page.status_mut() = StatusCode::CONFLICT;
            }
            page
        }
        Ok(_) | Err(_) => pages::later(),
    }
}

/// Returns the tokens of a form, the first one empty where the form sends none. A token has no
/// character that a form would encode.
fn tokens(body: &[u8]) -> (Secret, Vec<Secret>) {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let mut found = text.split('&').filter_map(|pair| pair.strip_prefix("token_id="));
    let first = Secret::from(found.next().unwrap_or_default());
    (first, found.map(Secret::from).collect())
}

/// Redirects to the link, which shows the present status.
fn thanks(link: &str) -> Response {
    let headers = [(header::CACHE_CONTROL, "no-store"), (header::REFERRER_POLICY, "no-referrer")];
    (headers, Redirect::to(&format!("/intake/{link}"))).into_response()
}

impl Door {
    /// Verifies a link.
    ///
    /// # Errors
    /// The status: the link's signature is not ours, or no single resource matches it.
    async fn opened(&self, text: &str) -> Result<IntakeLink, StatusCode> {
        let opened = self.outside.payer(text).ok_or(StatusCode::NOT_FOUND)?;
        let key = opened.only(&self.control).await?;
        let (terms, until) = opened.terms;
        Ok(IntakeLink { key, terms, until })
    }

    /// Responds with the link's present page.
    async fn page(&self, link: IntakeLink) -> Response {
        let asked = tokio::time::timeout(ANSWER_MAX, self.control.intake(link)).await;
        match (asked, pages::nonce()) {
            (Ok(Ok(state)), Some(nonce)) => page::answer(&state, &nonce),
            (_, Some(nonce)) => page::answer(&Intake::Later, &nonce),
            (_, None) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        }
    }
}
