//! Links of payers and applicants. Opening a link changes nothing, since programs open links, too,
//! to preview them. The signature in a link names its resource and cannot be forged.
//!
//! A payer's link shows the service's own fields, and takes the one-time token that they return. It
//! names one saved method, one generation of its document and one moment; the engine decides what
//! else the link is valid for. The applicant's link stays the same; its button makes a page of the
//! service that is valid for five minutes.

use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use maud::html;
use tower_http::limit::RequestBodyLimitLayer;

use crate::base::secret::Secret;
use crate::control::handle::Control;
use crate::engine::protocol::payers::{AttachToken, Intake, IntakeLink};
use crate::http::public::pages::{self, HtmlPage};
use crate::http::public::public_routes::PublicRoutes;

/// Bytes of a body, at most: a token has some twenty characters, and there are some thirty at most.
const BODY_BYTES_MAX: usize = 4 * 1024;
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// Actor of a token that comes through a link.
const PAYER: &str = "payer";

#[derive(Debug, Clone)]
struct LinkState {
    control: Control,
    outside: PublicRoutes,
}

pub(crate) fn routes(control: Control, outside: PublicRoutes) -> Router {
    Router::new()
        .route("/intake/{link}", get(show_intake).post(take_tokens))
        .layer(RequestBodyLimitLayer::new(BODY_BYTES_MAX))
        .route("/apply/{link}", get(show_invitation).post(open_application))
        .with_state(LinkState { control, outside })
}

async fn show_intake(State(door): State<LinkState>, Path(link): Path<String>) -> Response {
    match door.verify_link(&link).await {
        Ok(link) => door.present_page(link).await,
        Err(status) => pages::page_for_status(status),
    }
}

async fn take_tokens(
    State(door): State<LinkState>,
    Path(text): Path<String>,
    body: Bytes,
) -> Response {
    let link = match door.verify_link(&text).await {
        Ok(link) => link,
        Err(status) => return pages::page_for_status(status),
    };
    let (first, more) = form_tokens(&body);
    let attaching = AttachToken { key: link.key.clone(), token: first, more, replace: false };
    let taken = door.control.submit_token(attaching, link.clone(), PAYER.to_owned());
    match tokio::time::timeout(ANSWER_MAX, taken).await {
        Ok(Ok(Ok(_))) => redirect(&format!("/intake/{text}")),
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

/// Returns the tokens of a form, the first empty where there is none; no token needs decoding.
fn form_tokens(body: &[u8]) -> (Secret, Vec<Secret>) {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let mut found = text.split('&').filter_map(|pair| pair.strip_prefix("token_id="));
    let first = Secret::from(found.next().unwrap_or_default());
    (first, found.map(Secret::from).collect())
}

/// Redirects to an address; never cached, and no site receives the address as a referrer.
fn redirect(address: &str) -> Response {
    let headers = [(header::CACHE_CONTROL, "no-store"), (header::REFERRER_POLICY, "no-referrer")];
    (headers, Redirect::to(address)).into_response()
}

impl LinkState {
    /// Verifies a link; refuses one that is not ours, or that no single resource matches.
    async fn verify_link(&self, text: &str) -> Result<IntakeLink, StatusCode> {
        let opened = self.outside.verify_intake_url(text).ok_or(StatusCode::NOT_FOUND)?;
        let key = opened.single_resource(&self.control).await?;
        let (terms, until) = opened.terms;
        Ok(IntakeLink { key, terms, until })
    }

    async fn present_page(&self, link: IntakeLink) -> Response {
        let asked = tokio::time::timeout(ANSWER_MAX, self.control.intake(link)).await;
        match (asked, pages::nonce()) {
            (Ok(Ok(state)), Some(nonce)) => pages::intake_page(&state, &nonce),
            (_, Some(nonce)) => pages::intake_page(&Intake::NotYet, &nonce),
            (_, None) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        }
    }
}

/// Targets that the button may lead to. Browsers apply this policy to the redirection of a form,
/// too, and only the service knows the host of its page. The form sends no data.
const LEADS_TO: &str = "form-action 'self' https: http://127.0.0.1:* http://localhost:*; ";
const MADE_MAX: Duration = Duration::from_mins(1);

async fn show_invitation(State(door): State<LinkState>, Path(link): Path<String>) -> Response {
    if door.outside.verify_apply_url(&link).is_none() {
        return pages::dead_link_page();
    }
    let inner = html! {
        p { "Continue at the payment service to complete and send your application." }
        p.quiet {
            "The page that opens is good for five minutes. Come back to this link whenever you need another one."
        }
        form method="post" { div.actions { button { "Go on" } } }
    };
    let Some(nonce) = pages::nonce() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let page = HtmlPage::plain("Your application", inner, &nonce);
    HtmlPage { policy_extra: LEADS_TO.to_owned(), ..page }.answer(StatusCode::OK)
}

async fn open_application(State(door): State<LinkState>, Path(link): Path<String>) -> Response {
    let Some(opened) = door.outside.verify_apply_url(&link) else { return pages::dead_link_page() };
    let key = match opened.single_resource(&door.control).await {
        Ok(key) => key,
        Err(status) => return pages::page_for_status(status),
    };
    match tokio::time::timeout(MADE_MAX, door.control.visit(key)).await {
        Ok(Ok(Some(page))) => redirect(page.expose()),
        Ok(Ok(None)) => {
            let inner = html! { p { "There is nothing to fill in now: the application was sent, or it waits." } };
            pages::message_page("Nothing to do", inner, StatusCode::CONFLICT)
        }
        Ok(Err(_)) | Err(_) => pages::unavailable_page(),
    }
}

#[cfg(test)]
mod tests;
