//! Responses of the page: HTML with its policy, and the engine's answers within a time limit.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use maud::{Markup, html};

use crate::base::page_style::headers as page_headers;
use crate::control::handle::Control;
use crate::control::protocol::{ControlError, ControlRequest, LocalQuery};
use crate::engine::protocol::diagnostics::LocalReply;
use crate::engine::protocol::query::{Query, Reply};
use crate::render::page::assets::Asset;
use crate::render::page::entry::{refused, way_in};
use crate::render::page::frame::{OperatorPage, POLICY};

/// Items on a page of a list.
pub(super) const ITEMS_SHOWN: usize = 50;
/// Time limit of an answer that a page needs.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// A year: the address of an asset changes with its content.
const ASSET_CACHE: &str = "public, max-age=31536000, immutable";
const NO_ANSWER: &str = "No answer of the daemon";
/// The name in the journal of requests of this page, which only read.
const ACTOR: &str = "page";

/// A page that cannot be shown, with its status.
pub(super) struct PageRefusal(Box<Response>);

impl IntoResponse for PageRefusal {
    fn into_response(self) -> Response {
        *self.0
    }
}

pub(super) type PageResult = Result<Response, PageRefusal>;

impl From<ControlError> for PageRefusal {
    fn from(why: ControlError) -> Self {
        let inner = html! { p role="alert" { (why.message) } p { (why.help) } };
        Self(Box::new(respond_with(StatusCode::SERVICE_UNAVAILABLE, NO_ANSWER, inner)))
    }
}

/// Responds with a page of no section and no session.
pub(super) fn respond_with(status: StatusCode, title: &str, inner: Markup) -> Response {
    let page = OperatorPage { title, section: None, holds: Vec::new(), session: None, inner };
    with_status(status, &page)
}

/// Responds that a request is refused, for this reason.
pub(super) fn refusal(status: StatusCode, title: &str, text: &str) -> Response {
    respond_with(status, title, refused(text))
}

/// Responds that the address needs a session, and how to begin one.
pub(super) fn not_in_session() -> PageRefusal {
    let inner = html! { p role="alert" { "You are not in a session, or it ended. Nothing was done." } (way_in()) };
    PageRefusal(Box::new(respond_with(StatusCode::FORBIDDEN, "Not entered", inner)))
}

/// Responds with a page of this status.
pub(super) fn with_status(status: StatusCode, page: &OperatorPage<'_>) -> Response {
    let mut response =
        (status, page_headers(POLICY), Html(page.html().into_string())).into_response();
    // Under `no-referrer` a browser sends `Origin: null` with a form, which no check can tell from a
    // page of another origin. Under this policy no other origin is told the address, either.
    let policy = HeaderValue::from_static("same-origin");
    response.headers_mut().insert(header::REFERRER_POLICY, policy);
    response
}

pub(super) fn asset(asset: &'static Asset) -> Response {
    let headers = [
        (header::CONTENT_TYPE, asset.content_type),
        (header::CACHE_CONTROL, ASSET_CACHE),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, asset.content.as_str()).into_response()
}

/// Returns the engine's answer to a query.
pub(super) async fn ask<Q: Query>(control: &Control, query: Q) -> Result<Q::Answer, ControlError> {
    in_time(control.ask(query)).await
}

/// Returns an answer from data beside the engine.
pub(super) async fn ask_local<T: serde::de::DeserializeOwned>(
    control: &Control,
    query: LocalQuery,
) -> Result<T, ControlError> {
    let sent = control.send(ControlRequest::Local(Box::new(query)), ACTOR.to_owned());
    let Reply::Local(LocalReply(value)) = in_time(sent).await? else {
        return Err(ControlError::bug("unexpected response type"));
    };
    serde_json::from_value(value).map_err(|why| ControlError::bug(&why.to_string()))
}

/// Returns the answer to a write. A write that takes too long is not withdrawn.
pub(super) async fn answer_of_write<T>(
    answer: impl Future<Output = Result<T, ControlError>>,
) -> Result<T, PageRefusal> {
    let Ok(answered) = tokio::time::timeout(ANSWER_MAX, answer).await else {
        let inner = html! {
            p role="alert" { "The daemon works on it for longer than " (ANSWER_MAX.as_secs()) " seconds. It may be done yet: look at the audit trail before you send it again." }
            p { a href="/audit" { "Audit trail" } }
        };
        let status = StatusCode::SERVICE_UNAVAILABLE;
        return Err(PageRefusal(Box::new(respond_with(status, NO_ANSWER, inner))));
    };
    Ok(answered?)
}

async fn in_time<T>(
    answer: impl Future<Output = Result<T, ControlError>>,
) -> Result<T, ControlError> {
    tokio::time::timeout(ANSWER_MAX, answer).await.unwrap_or_else(|_| {
        let message = format!("no answer within {} seconds", ANSWER_MAX.as_secs());
        Err(ControlError::new(ControlError::BUSY, message, "load the page again in a moment"))
    })
}
