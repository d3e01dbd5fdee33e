//! The applicant's own link: it stays the same, and makes the page of five minutes at the click.
//!
//! Opening the link changes nothing, for programs open links, too, to show what is behind them; the button
//! does. The signature in the link names one application and can be made by nobody else.

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

/// Where the button may lead. Browsers hold a redirection of a form against this policy, too, and the service alone knows
/// the host of its page. The form sends nothing.
const LEADS_TO: &str = "form-action 'self' https: http://127.0.0.1:* http://localhost:*; ";
/// How long a page may take to be made.
const MADE_MAX: Duration = Duration::from_mins(1);

/// What every request can reach.
#[derive(Debug, Clone)]
struct Door {
    control: Control,
    outside: Outside,
}

/// The applicants' links.
pub(super) fn links(control: Control, outside: Outside) -> Router {
    Router::new().route("/apply/{link}", get(show).post(open)).with_state(Door { control, outside })
}

async fn show(State(door): State<Door>, Path(link): Path<String>) -> Response {
    match door.outside.application(&link) {
        Some(_) => invitation(),
        None => pages::dead_link(),
    }
}

/// The page with the button.
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

/// Leads to the service's page; nobody may keep the answer, and its address goes to nobody.
fn lead(page: &Secret) -> Response {
    let headers = [(header::CACHE_CONTROL, "no-store"), (header::REFERRER_POLICY, "no-referrer")];
    (headers, Redirect::to(page.expose())).into_response()
}
