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

use super::public_routes::PublicRoutes;
use crate::base::secret::Secret;
use crate::control::handle::Control;
use crate::engine::protocol::commands::attach::AttachToken;
use crate::engine::protocol::commands::intake::{Intake, IntakeLink};
use crate::http::private::pages;

/// Bytes of a body, at most: a token has some twenty characters, and there are some thirty at most.
const BODY_BYTES_MAX: usize = 4 * 1024;
/// Time limit of the engine's answer.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// Actor of a token that comes through a link.
const PAYER: &str = "payer";

/// State of every request.
#[derive(Debug, Clone)]
struct IntakeState {
    control: Control,
    outside: PublicRoutes,
}

/// Returns the routes of payers' links.
pub(crate) fn links(control: Control, outside: PublicRoutes) -> Router {
    Router::new()
        .route("/intake/{link}", get(show).post(take))
        .layer(RequestBodyLimitLayer::new(BODY_BYTES_MAX))
        .with_state(IntakeState { control, outside })
}

async fn show(State(door): State<IntakeState>, Path(link): Path<String>) -> Response {
    match door.verify_link(&link).await {
        Ok(link) => door.present_page(link).await,
        Err(status) => pages::page_for_status(status),
    }
}

async fn take(State(door): State<IntakeState>, Path(text): Path<String>, body: Bytes) -> Response {
    let link = match door.verify_link(&text).await {
        Ok(link) => link,
        Err(status) => return pages::page_for_status(status),
    };
    let (first, more) = tokens(&body);
    let attaching = AttachToken { key: link.key.clone(), token: first, more, replace: false };
    let taken = door.control.submit_token(attaching, link.clone(), PAYER.to_owned());
    match tokio::time::timeout(ANSWER_MAX, taken).await {
        Ok(Ok(Ok(_))) => redirect_back(&text),
        Ok(Ok(Err(why))) => {
            tracing::info!(key = %link.key, why, "a payer's token was refused");
            let mut page = door.present_page(link).await;
            if page.status() == StatusCode::OK {
                *page.status_mut() = StatusCode::CONFLICT;
            }
            page
        }
        Ok(_) | Err(_) => pages::unavailable_page(),
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
fn redirect_back(link: &str) -> Response {
    let headers = [(header::CACHE_CONTROL, "no-store"), (header::REFERRER_POLICY, "no-referrer")];
    (headers, Redirect::to(&format!("/intake/{link}"))).into_response()
}

impl IntakeState {
    /// Verifies a link.
    ///
    /// # Errors
    /// The status: the link's signature is not ours, or no single resource matches it.
    async fn verify_link(&self, text: &str) -> Result<IntakeLink, StatusCode> {
        let opened = self.outside.verify_intake_url(text).ok_or(StatusCode::NOT_FOUND)?;
        let key = opened.single_resource(&self.control).await?;
        let (terms, until) = opened.terms;
        Ok(IntakeLink { key, terms, until })
    }

    /// Responds with the link's present page.
    async fn present_page(&self, link: IntakeLink) -> Response {
        let asked = tokio::time::timeout(ANSWER_MAX, self.control.intake(link)).await;
        match (asked, pages::nonce()) {
            (Ok(Ok(state)), Some(nonce)) => page::respond_with_state(&state, &nonce),
            (_, Some(nonce)) => page::respond_with_state(&Intake::NotYet, &nonce),
            (_, None) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        }
    }
}
