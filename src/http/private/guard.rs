//! Authentication of the private listener: answers callers with a token, and views for programs on
//! this machine that address this machine.
//!
//! Without a token, three checks apply. The peer's address keeps other machines out. The Host
//! header keeps out a page whose name was pointed here (DNS rebinding). A forwarding header shows
//! that a proxy on this machine forwards another client's request. With a token these checks do not
//! apply, so that a proxy may forward the request. A wrong token is never as good as none. A page
//! of another origin is refused, with or without a token.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;

use super::answer;
use super::tokens::{ApiCaller, Tokens};
use crate::base::local::{NonLocal, is_from_another_page, non_local_reason};
use crate::base::secret::Secret;
use crate::http::serve::connection::ValidTokenSeen;

/// Message and help for a page of another origin.
const OTHER_PAGE: (&str, &str) = (
    "request from a page of another origin",
    "send the request from a program, or from a page of this \
        listener",
);
/// Scheme of the header that carries a token.
const BEARER: &str = "bearer";

/// Passes a request on, with its caller where there is a token, or responds with the refusal.
pub(crate) async fn guard(
    State(tokens): State<Tokens>,
    mut request: Request,
    next: Next,
) -> Response {
    match caller(&tokens, &request) {
        Err(refusal) => return refusal.answer(),
        Ok(Some(caller)) => {
            if let Some(trust) = request.extensions().get::<ValidTokenSeen>() {
                trust.record();
            }
            request.extensions_mut().insert(caller);
        }
        Ok(None) => {}
    }
    if ![Method::GET, Method::POST].contains(request.method()) {
        return answer::wrong_method();
    }
    next.run(request).await
}

/// Reason for which a request is refused.
enum AuthRefusal {
    /// A token is required, and missing.
    NoToken,
    /// The token is unknown.
    WrongToken,
    /// The request comes from a place that is not allowed: message and help.
    Forbidden(&'static str, &'static str),
}

impl AuthRefusal {
    fn answer(self) -> Response {
        match self {
            Self::NoToken => answer::no_token(),
            Self::WrongToken => answer::wrong_token(),
            Self::Forbidden(message, help) => answer::forbidden(message, help),
        }
    }
}

/// Returns the caller; `None` for a view without a token.
fn caller(tokens: &Tokens, request: &Request) -> Result<Option<ApiCaller>, AuthRefusal> {
    if is_from_another_page(request.headers()) {
        let (message, help) = OTHER_PAGE;
        return Err(AuthRefusal::Forbidden(message, help));
    }
    let mut tried = request.headers().get_all(AUTHORIZATION).iter();
    match (tried.next(), tried.next()) {
        (None, _) if request.method() == Method::GET => match view_refusal(request) {
            None => Ok(None),
            Some((message, help)) => Err(AuthRefusal::Forbidden(message, help)),
        },
        (None, _) => Err(AuthRefusal::NoToken),
        (Some(one), None) => {
            let caller = token(one).and_then(|secret| tokens.caller(&secret).cloned());
            caller.map(Some).ok_or(AuthRefusal::WrongToken)
        }
        (Some(_), Some(_)) => Err(AuthRefusal::WrongToken),
    }
}

/// Returns the token in a header.
fn token(header: &HeaderValue) -> Option<Secret> {
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case(BEARER).then(|| Secret::from(token.trim()))
}

/// Returns message and help of a refused view without a token.
fn view_refusal(request: &Request) -> Option<(&'static str, &'static str)> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    let why = match peer {
        None => NonLocal::Peer,
        Some(_) => non_local_reason(peer, request.headers(), request.uri())?,
    };
    Some(match why {
        NonLocal::Peer => (
            "missing token: only programs on this machine need none",
            "send the token: `authorization: Bearer …`, or `--token-file FILE` of a command",
        ),
        NonLocal::Page => OTHER_PAGE,
        NonLocal::Proxy => (
            "missing token: the request came through a proxy",
            "send the token (a proxy must not add it), or connect to the listener directly",
        ),
        NonLocal::Host => (
            "missing token: the Host header does not name this machine",
            "connect to http://127.0.0.1, http://[::1] or http://localhost, or send the token",
        ),
    })
}
