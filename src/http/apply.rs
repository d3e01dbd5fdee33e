//! The applicant's own link: it stays the same, and makes the page of five minutes at the click.
//!
//! Opening the link changes nothing, for programs open links, too, to show what is behind them; the button
//! does. The signature in the link names one application and can be made by nobody else.

use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;

use super::Outside;
use crate::control::Control;

/// How long a page may take to be made.
const MADE_MAX: Duration = Duration::from_mins(1);

const PAGE: &str = "<!doctype html><html lang=en><meta charset=utf-8><meta name=robots content=noindex>\
    <title>Your application</title><h1>Your application</h1><p>Go on to the payment service to finish and \
    send your application. The page that opens is good for five minutes; come back to this link for \
    another one.</p><form method=post><button>Go on</button></form></html>";

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
        Some(_) => unkept(Html(PAGE)),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn open(State(door): State<Door>, Path(link): Path<String>) -> Response {
    let Some(key) = door.outside.application(&link) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    match tokio::time::timeout(MADE_MAX, door.control.visit(key)).await {
        Ok(Ok(Some(page))) => unkept(Redirect::to(page.expose())),
        Ok(Ok(None)) => {
            (StatusCode::CONFLICT, Html("There is nothing to be filled in now.")).into_response()
        }
        Ok(Err(_)) | Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// An answer that nobody may keep, and whose address goes to nobody.
fn unkept(answer: impl IntoResponse) -> Response {
    let headers = [(header::CACHE_CONTROL, "no-store"), (header::REFERRER_POLICY, "no-referrer")];
    (headers, answer).into_response()
}
