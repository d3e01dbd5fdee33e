//! The guards of the addresses of the page that write. They let nothing else pass, and no other
//! address knows of sessions.
//!
//! A request comes from this machine and names it, as a view without a token does. A write names
//! the page's own origin besides. All but the entrance require a session, and each write the value
//! of its session's forms. A token of the API counts for nothing here.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::base::local::{NonLocal, is_from_own_page, non_local_reason};
use crate::base::secret::Secret;
use crate::control::handle::Control;
use crate::control::page_sessions::SessionView;
use crate::http::page::respond::{not_in_session, refusal};
use crate::http::page::visit::PageVisit;
use crate::render::page::forms::FORM_TOKEN;

/// Bytes of a form, at most.
const FORM_BYTES_MAX: usize = 16 * 1024;
const FORM_TYPE: &str = "application/x-www-form-urlencoded";

/// The fields of a form that was sent, without those of the guard. `Debug` shows their number.
#[derive(Clone, derive_more::Debug)]
#[debug("FormFields({})", _0.len())]
pub(super) struct FormFields(Arc<Vec<(String, String)>>);

impl FormFields {
    fn parse(body: &[u8]) -> Self {
        Self(Arc::new(form_urlencoded::parse(body).into_owned().collect()))
    }

    /// Returns a field without the white space around it; an absent or repeated one is empty.
    pub(super) fn text(&self, name: &str) -> &str {
        let mut found = self.0.iter().filter(|(one, _)| one == name);
        match (found.next(), found.next()) {
            (Some((_, value)), None) => value.trim(),
            _ => "",
        }
    }

    fn is_of(&self, session: &SessionView) -> bool {
        Secret::from(self.text(FORM_TOKEN)) == session.form_token
    }
}

/// Passes requests on that come from this machine, and writes that the page itself sends.
pub(super) async fn local_only(request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    let why = match peer {
        None => Some(NonLocal::Peer),
        Some(_) => non_local_reason(peer, request.headers(), request.uri()),
    };
    if let Some(why) = why {
        return refusal(StatusCode::FORBIDDEN, NOT_LOCAL_TITLE, non_local_text(why));
    }
    let method = request.method();
    if method == Method::POST && !is_from_own_page(request.headers()) {
        return refusal(StatusCode::FORBIDDEN, NOT_LOCAL_TITLE, NO_PAGE);
    }
    if ![Method::GET, Method::POST].contains(method) {
        let text = "This address takes GET and POST alone.";
        return refusal(StatusCode::METHOD_NOT_ALLOWED, "Not possible", text);
    }
    next.run(request).await
}

const NOT_LOCAL_TITLE: &str = "Not from this page";
const NO_PAGE: &str = "The browser did not say that this page sent the form. Load the page again, and use its own button.";

fn non_local_text(why: NonLocal) -> &'static str {
    match why {
        NonLocal::Peer => {
            "The request comes from another machine. Open the page on the daemon's machine, or forward its port."
        }
        NonLocal::Page => {
            "A page of another origin sent this request, and nothing was done. Copy a link into the address line instead."
        }
        NonLocal::Proxy => "The request came through a proxy. Open the page without it.",
        NonLocal::Host => {
            "The address does not name this machine. Open http://127.0.0.1, http://[::1] or http://localhost."
        }
    }
}

/// Passes requests of a session on; writes only with the value of the session's forms.
pub(super) async fn session_only(
    State(control): State<Control>,
    mut request: Request,
    next: Next,
) -> Response {
    let visit = PageVisit::of(control, request.headers());
    let Some(session) = visit.session.clone() else { return not_in_session().into_response() };
    if request.method() == Method::POST {
        let (mut parts, body) = request.into_parts();
        let Some(fields) = form(&parts.headers, body).await.filter(|form| form.is_of(&session))
        else {
            return refusal(StatusCode::FORBIDDEN, "Not a form of this session", WRONG_FORM);
        };
        parts.extensions.insert(fields);
        request = Request::from_parts(parts, Body::empty());
    }
    request.extensions_mut().insert(visit);
    next.run(request).await
}

const WRONG_FORM: &str = "The form is not one of your present session, so nothing was done. Load the page again, and use its own button.";

/// Reads a form; `None` if the body is no form, or is too large.
pub(super) async fn form(headers: &HeaderMap, body: Body) -> Option<FormFields> {
    let content = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let content = content.split(';').next()?.trim();
    if !content.eq_ignore_ascii_case(FORM_TYPE) {
        return None;
    }
    let body = to_bytes(body, FORM_BYTES_MAX).await.ok()?;
    Some(FormFields::parse(&body))
}
