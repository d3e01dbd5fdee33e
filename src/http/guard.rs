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
use super::serve::Trust;
use super::tokens::{Caller, Tokens};
use crate::base::local::{Stranger, is_of_another_page, stranger};
use crate::base::secret::Secret;

/// Message and help for a page of another origin.
const OTHER_PAGE: (&str, &str) =
    ("a page of another origin asks", "ask with a program, or from a page of this listener");
/// Scheme of the header that carries a token.
const BEARER: &str = "bearer";

/// Passes a request on, with its caller where there is a token, or responds with the refusal.
pub(super) async fn guard(
    State(tokens): State<Tokens>,
    mut request: Request,
    next: Next,
) -> Response {
    match caller(&tokens, &request) {
        Err(refusal) => return refusal.answer(),
        Ok(Some(caller)) => {
            if let Some(trust) = request.extensions().get::<Trust>() {
                trust.shown();
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
enum Refusal {
    /// A token is required, and missing.
    NoToken,
    /// The token is unknown.
    WrongToken,
    /// The request comes from a place that is not allowed: message and help.
    Forbidden(&'static str, &'static str),
}

impl Refusal {
    fn answer(self) -> Response {
        match self {
            Self::NoToken => answer::no_token(),
            Self::WrongToken => answer::wrong_token(),
            Self::Forbidden(message, help) => answer::forbidden(message, help),
        }
    }
}

/// Returns the caller; `None` for a view without a token.
fn caller(tokens: &Tokens, request: &Request) -> Result<Option<Caller>, Refusal> {
    if is_of_another_page(request.headers()) {
        let (message, help) = OTHER_PAGE;
        return Err(Refusal::Forbidden(message, help));
    }
    let mut tried = request.headers().get_all(AUTHORIZATION).iter();
    match (tried.next(), tried.next()) {
        (None, _) if request.method() == Method::GET => match refusal(request) {
            None => Ok(None),
            Some((message, help)) => Err(Refusal::Forbidden(message, help)),
        },
        (None, _) => Err(Refusal::NoToken),
        (Some(one), None) => {
            let caller = token(one).and_then(|secret| tokens.caller(&secret).cloned());
            caller.map(Some).ok_or(Refusal::WrongToken)
        }
        (Some(_), Some(_)) => Err(Refusal::WrongToken),
    }
}

/// Returns the token in a header.
fn token(header: &HeaderValue) -> Option<Secret> {
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case(BEARER).then(|| Secret::from(token.trim()))
}

/// Returns message and help of a refused view without a token.
fn refusal(request: &Request) -> Option<(&'static str, &'static str)> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    let why = match peer {
        None => Stranger::Peer,
        Some(_) => stranger(peer, request.headers(), request.uri())?,
    };
    Some(match why {
        Stranger::Peer => (
            "without a token only programs on this machine are answered",
            "send the token: `authorization: Bearer …`, or `--token-file F` of a command",
        ),
        Stranger::Page => OTHER_PAGE,
        Stranger::Proxy => (
            "the request came through a proxy, without a token",
            "send the token, which a proxy must not add; or ask the listener itself",
        ),
        Stranger::Host => (
            "the Host header does not name this machine, and there is no token",
            "ask at http://127.0.0.1, http://[::1] or http://localhost, or send the token",
        ),
    })
}
