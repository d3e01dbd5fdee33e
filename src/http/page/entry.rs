//! The entrance of the page: a link shows its person, its button uses it up and begins a
//! session, and the session's own button ends it.
//!
//! Loading the link uses nothing up, so a preview of it does no harm. The token is in the link's
//! path, since a page must work without scripts; no log holds paths, and no other host gets them.

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};

use crate::base::secret::Secret;
use crate::control::handle::Control;
use crate::http::page::guard::form;
use crate::http::page::respond::{refusal, respond_with};
use crate::http::page::visit::{PageVisit, set_cookie};
use crate::render::page::entry;

const TITLE: &str = "Enter";

/// Shows the person of a link.
pub(super) async fn ask(
    State(control): State<Control>,
    path: Result<Path<String>, PathRejection>,
) -> Response {
    let Ok(Path(token)) = path else { return invalid() };
    let Some(actor) = control.page().link_actor(&token) else { return invalid() };
    respond_with(StatusCode::OK, TITLE, entry::question(&actor, &Secret::from(token)))
}

/// Says how to get a link.
pub(super) async fn without_link() -> Response {
    respond_with(StatusCode::OK, TITLE, entry::way_in())
}

/// Begins a session.
pub(super) async fn enter(
    State(control): State<Control>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let Some(sent) = form(&headers, body).await else { return invalid() };
    let Some(cookie) = control.page().enter(sent.text(entry::TOKEN_FIELD)) else {
        return invalid();
    };
    let mut response = Redirect::to("/").into_response();
    set_cookie(&mut response, &headers, &cookie);
    response
}

/// Ends the session.
pub(super) async fn leave(visit: PageVisit, headers: HeaderMap) -> Response {
    visit.end();
    let mut response = Redirect::to("/").into_response();
    set_cookie(&mut response, &headers, &Secret::from(""));
    response
}

fn invalid() -> Response {
    refusal(StatusCode::FORBIDDEN, "This link is not valid", entry::INVALID)
}
