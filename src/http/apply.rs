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

use super::pages::Page;
use super::{Outside, pages};
use crate::base::secret::Secret;
use crate::control::Control;

/// Targets that the button may lead to. Browsers apply this policy to the redirection of a form,
/// too, and only the service knows the host of its page. The form sends no data.
const LEADS_TO: &str = "form-action 'self' https: http://127.0.0.1:* http://localhost:*; ";
/// Time limit for making a page.
const MADE_MAX: Duration = Duration::from_mins(1);

/// State of every request.
#[derive(Debug, Clone)]
struct Door {
    control: Control,
    outside: Outside,
}

/// Returns the routes of applicants' links.
pub(super) fn links(control: Control, outside: Outside) -> Router {
    Router::new().route("/apply/{link}", get(show).post(open)).with_state(Door { control, outside })
}

async fn show(State(door): State<Door>, Path(link): Path<String>) -> Response {
    match door.outside.application(&link) {
        Some(_) => invitation(),
        None => pages::dead_link(),
    }
}

/// Returns the page with the button.
fn invitation() -> Response {
    let inner = html! {
        p { "Go on to the payment service to finish and send your application." }
        p.quiet {
            "The page that opens is good for five minutes. Come back to this link whenever you need another one."
        }
        form method="post" { div.actions { button { "Go on" } } }
    };
    let Some(nonce) = pages::nonce() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let page = Page::plain("Your application", inner, &nonce);
    Page { more: LEADS_TO.to_owned(), ..page }.answer(StatusCode::OK)
}

async fn open(State(door): State<Door>, Path(link): Path<String>) -> Response {
    let Some(opened) = door.outside.application(&link) else { return pages::dead_link() };
    let key = match opened.only(&door.control).await {
        Ok(key) => key,
        Err(status) => return pages::refused(status),
    };
    match tokio::time::timeout(MADE_MAX, door.control.visit(key)).await {
        Ok(Ok(Some(page))) => lead(&page),
        Ok(Ok(None)) => {
            let inner = html! { p { "There is nothing to fill in now: the application was sent, or it waits." } };
            pages::said("Nothing to do", inner, StatusCode::CONFLICT)
        }
        Ok(Err(_)) | Err(_) => pages::later(),
    }
}

/// Redirects to the service's page. The answer is never cached, and no site receives its address as
/// a referrer.
fn lead(page: &Secret) -> Response {
    let headers = [(header::CACHE_CONTROL, "no-store"), (header::REFERRER_POLICY, "no-referrer")];
    (headers, Redirect::to(page.expose())).into_response()
}
