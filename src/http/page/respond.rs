//! Responses of the page: HTML with its policy, and the engine's answers within a time limit.

use std::time::Duration;

use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use maud::{Markup, html};

use crate::base::page_style::headers;
use crate::control::handle::Control;
use crate::control::protocol::{ControlError, ControlRequest, LocalQuery};
use crate::engine::protocol::diagnostics::LocalReply;
use crate::engine::protocol::query::{Query, Reply};
use crate::render::page::assets::Asset;
use crate::render::page::frame::{OperatorPage, POLICY, PageSection};

/// Items on a page of a list.
pub(super) const ITEMS_SHOWN: usize = 50;
/// Time limit of an answer that a page needs.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// A year: the address of an asset changes with its content.
const ASSET_CACHE: &str = "public, max-age=31536000, immutable";
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
        let title = "No answer of the daemon";
        let page = OperatorPage { title, section: None, holds: Vec::new(), inner };
        Self(Box::new(with_status(StatusCode::SERVICE_UNAVAILABLE, &page)))
    }
}

/// Responds with a page, which names what holds changes back.
pub(super) fn show(
    control: &Control,
    title: &str,
    section: PageSection,
    inner: Markup,
) -> Response {
    let holds = control.feed().map(|feed| feed.overviews.borrow().hold_sentences());
    let holds = holds.unwrap_or_default();
    let page = OperatorPage { title, section: Some(section), holds, inner };
    with_status(StatusCode::OK, &page)
}

/// Responds that there is no such page or resource.
pub(super) fn not_found(section: Option<PageSection>, text: &str) -> Response {
    let inner = html! { p { (text) } };
    with_status(
        StatusCode::NOT_FOUND,
        &OperatorPage { title: "Not found", section, holds: Vec::new(), inner },
    )
}

/// Responds with a page whose parameters are not valid; `inner` says why.
pub(super) fn refuse(title: &str, section: PageSection, inner: Markup) -> Response {
    with_status(
        StatusCode::BAD_REQUEST,
        &OperatorPage { title, section: Some(section), holds: Vec::new(), inner },
    )
}

fn with_status(status: StatusCode, page: &OperatorPage<'_>) -> Response {
    (status, headers(POLICY), Html(page.html().into_string())).into_response()
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

async fn in_time<T>(
    answer: impl Future<Output = Result<T, ControlError>>,
) -> Result<T, ControlError> {
    tokio::time::timeout(ANSWER_MAX, answer).await.unwrap_or_else(|_| {
        let message = format!("no answer within {} seconds", ANSWER_MAX.as_secs());
        Err(ControlError::new(ControlError::BUSY, message, "load the page again in a moment"))
    })
}
