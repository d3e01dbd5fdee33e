//! The applicant's own link: it stays the same, and the click makes a page that is valid for five
//! minutes.
//!
//! Opening the link changes nothing, since programs open links, too, to preview them; only the
//! button does. The signature in the link names one application and cannot be forged.

use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use maud::html;

use super::public_routes::PublicRoutes;
use crate::base::secret::Secret;
use crate::control::handle::Control;
use crate::http::private::pages;
use crate::http::private::pages::HtmlPage;

/// Targets that the button may lead to. Browsers apply this policy to the redirection of a form,
/// too, and only the service knows the host of its page. The form sends no data.
const LEADS_TO: &str = "form-action 'self' https: http://127.0.0.1:* http://localhost:*; ";
/// Time limit for making a page.
const MADE_MAX: Duration = Duration::from_mins(1);

/// State of every request.
#[derive(Debug, Clone)]
struct ApplyState {
    control: Control,
    outside: PublicRoutes,
}

/// Returns the routes of applicants' links.
pub(crate) fn links(control: Control, outside: PublicRoutes) -> Router {
    Router::new()
        .route("/apply/{link}", get(show).post(open))
        .with_state(ApplyState { control, outside })
}

async fn show(State(door): State<ApplyState>, Path(link): Path<String>) -> Response {
    match door.outside.verify_apply_url(&link) {
        Some(_) => invitation(),
        None => pages::dead_link_page(),
    }
}

/// Returns the page with the button.
fn invitation() -> Response {
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

async fn open(State(door): State<ApplyState>, Path(link): Path<String>) -> Response {
    let Some(opened) = door.outside.verify_apply_url(&link) else { return pages::dead_link_page() };
    let key = match opened.single_resource(&door.control).await {
        Ok(key) => key,
        Err(status) => return pages::page_for_status(status),
    };
    match tokio::time::timeout(MADE_MAX, door.control.visit(key)).await {
        Ok(Ok(Some(page))) => redirect(&page),
        Ok(Ok(None)) => {
            let inner = html! { p { "There is nothing to fill in now: the application was sent, or it waits." } };
            pages::message_page("Nothing to do", inner, StatusCode::CONFLICT)
        }
        Ok(Err(_)) | Err(_) => pages::unavailable_page(),
    }
}

/// Redirects to the service's page. The answer is never cached, and no site receives its address as
/// a referrer.
fn redirect(page: &Secret) -> Response {
    let headers = [(header::CACHE_CONTROL, "no-store"), (header::REFERRER_POLICY, "no-referrer")];
    (headers, Redirect::to(page.expose())).into_response()
}
