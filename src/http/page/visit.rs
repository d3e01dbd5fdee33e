//! One request of the page: its session, if it came with a valid cookie, and what it writes.
//!
//! The cookie's name holds the port, since a browser sends a cookie to every port of a host. Two
//! cookies of the name are none: one of them may be another program's.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::header::{COOKIE, HOST, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};

use crate::base::secret::Secret;
use crate::control::handle::Control;
use crate::control::page_sessions::{SessionUse, SessionView};
use crate::control::requests::Request;
use crate::http::page::respond::{PageRefusal, answer_of_write, not_in_session, with_status};
use crate::render::page::frame::{OperatorPage, PageSection};

/// The header in which a browser names the use of an answer; a script's own request has none.
const FETCH_DEST: &str = "sec-fetch-dest";
const SCRIPT_DEST: &str = "empty";
const HTTP_PORT: u16 = 80;

/// One request, with its session.
#[derive(Debug, Clone)]
pub(crate) struct PageVisit {
    pub(super) control: Control,
    pub(super) session: Option<SessionView>,
    cookie: Option<Secret>,
}

impl FromRequestParts<Control> for PageVisit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, control: &Control) -> Result<Self, Infallible> {
        // The guard of writes has looked the session up already.
        let known = parts.extensions.get::<Self>().cloned();
        Ok(known.unwrap_or_else(|| Self::of(control.clone(), &parts.headers)))
    }
}

impl PageVisit {
    pub(super) fn of(control: Control, headers: &HeaderMap) -> Self {
        let is_script = headers.get(FETCH_DEST).is_some_and(|dest| dest == SCRIPT_DEST);
        let by = if is_script { SessionUse::Script } else { SessionUse::Person };
        let cookie = cookie_of(headers);
        let session = cookie.as_ref().and_then(|one| control.page().find(one.expose(), by));
        Self { control, session, cookie }
    }

    pub(super) fn is_in_session(&self) -> bool {
        self.session.is_some()
    }

    /// Returns the session, or the page that says how to begin one.
    pub(super) fn session(&self) -> Result<&SessionView, PageRefusal> {
        self.session.as_ref().ok_or_else(not_in_session)
    }

    /// Sends a write in the name of the session's person.
    pub(super) async fn write<R: Request>(&self, request: R) -> Result<R::Response, PageRefusal> {
        let actor = self.session()?.actor.clone();
        answer_of_write(self.control.send(request, actor)).await
    }

    /// Responds that a write is done: the page at `path` shows the notice once.
    pub(super) fn respond_done(&self, notice: &str, path: &str) -> Response {
        if let Some(cookie) = &self.cookie {
            self.control.page().leave_notice(cookie.expose(), notice.trim().to_owned());
        }
        Redirect::to(path).into_response()
    }

    pub(super) fn end(&self) {
        if let Some(cookie) = &self.cookie {
            self.control.page().end(cookie.expose());
        }
    }
}

/// Responds with a page, which names what holds changes back, and the session.
pub(super) fn show(
    visit: &PageVisit,
    title: &str,
    section: PageSection,
    inner: Markup,
) -> Response {
    show_with(visit, StatusCode::OK, (title, section), inner)
}

pub(super) fn show_with(
    visit: &PageVisit,
    status: StatusCode,
    (title, section): (&str, PageSection),
    inner: Markup,
) -> Response {
    let holds = visit.control.feed().map(|feed| feed.overviews.borrow().hold_sentences());
    let holds = holds.unwrap_or_default();
    let session = visit.session.as_ref();
    with_status(status, &OperatorPage { title, section: Some(section), holds, session, inner })
}

/// Responds that there is no such page or resource.
pub(super) fn not_found(visit: &PageVisit, section: PageSection, text: &str) -> Response {
    show_with(visit, StatusCode::NOT_FOUND, ("Not found", section), html! { p { (text) } })
}

/// Responds with a page whose parameters are not valid; `inner` says why.
pub(super) fn refuse(
    visit: &PageVisit,
    title: &str,
    section: PageSection,
    inner: Markup,
) -> Response {
    show_with(visit, StatusCode::BAD_REQUEST, (title, section), inner)
}

/// Returns the status of a form that is asked for, or of one that did nothing.
pub(super) fn form_status(problem: Option<&str>) -> StatusCode {
    if problem.is_some() { StatusCode::CONFLICT } else { StatusCode::OK }
}

/// Adds the cookie of a session to a response; an empty one ends it in the browser.
pub(super) fn set_cookie(response: &mut Response, headers: &HeaderMap, cookie: &Secret) {
    let (name, value) = (cookie_name(headers), cookie.expose());
    let end = if value.is_empty() { "; Max-Age=0" } else { "" };
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{end}");
    if let Ok(mut value) = HeaderValue::from_str(&text) {
        value.set_sensitive(true);
        response.headers_mut().insert(SET_COOKIE, value);
    }
}

fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let port = host.and_then(|host| host.parse::<Authority>().ok()?.port_u16());
    format!("reckon_page_{}", port.unwrap_or(HTTP_PORT))
}

/// Returns the cookie of the session; `None` where there is none, or more than one.
fn cookie_of(headers: &HeaderMap) -> Option<Secret> {
    let wanted = cookie_name(headers);
    let all = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = all.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    let mut found = pairs.filter(|(name, _)| name.trim() == wanted).map(|(_, value)| value.trim());
    let cookie = found.next()?;
    found.next().is_none().then(|| Secret::from(cookie))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(host: &str, cookies: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        for cookie in cookies {
            headers.append(COOKIE, cookie.parse().unwrap());
        }
        cookie_of(&headers).map(|cookie| cookie.expose().to_owned())
    }

    #[test]
    fn a_cookie_belongs_to_the_port_and_two_are_none() {
        let one = Some("a".to_owned());
        assert_eq!(found("localhost:8780", &["x=1; reckon_page_8780=a; y=2"]), one);
        assert_eq!(found("[::1]:8780", &["x=1", "reckon_page_8780=a"]), one);
        assert_eq!(found("localhost", &["reckon_page_80=a"]), one);
        assert_eq!(found("localhost:8781", &["reckon_page_8780=a"]), None);
        assert_eq!(found("localhost:8780", &["reckon_page_8780=a; reckon_page_8780=b"]), None);
        assert_eq!(found("localhost:8780", &["reckon_page_8780=a", "reckon_page_8780=a"]), None);
    }
}
