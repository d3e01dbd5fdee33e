//! Who is answered: whoever has a token, and, for looks, programs on this machine that speak to this machine.
//!
//! Without a token the peer's address keeps other machines out, the Host header keeps out a page whose name was
//! pointed here (DNS rebinding), and a forwarding header says that a proxy on this machine speaks for somebody else.
//! With one, none of that matters: a proxy may stand between. A wrong token is never as good as none. A page of
//! another origin is refused whatever it brings.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{AUTHORIZATION, FORWARDED, HOST, ORIGIN, VIA};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, Uri};
use axum::middleware::Next;
use axum::response::Response;

use super::answer;
use super::tokens::{Caller, Tokens};
use crate::base::secret::Secret;

/// Headers with this beginning name whom a proxy speaks for.
const FORWARDED_FOR: &str = "x-forwarded-";
const REAL_IP: &str = "x-real-ip";
/// How a token is sent.
const BEARER: &str = "bearer";

/// Lets a request through, with who asks where there is a token, or answers why not.
pub(super) async fn guard(
    State(tokens): State<Tokens>,
    mut request: Request,
    next: Next,
) -> Response {
    match caller(&tokens, &request) {
        Err(refusal) => return refusal.answer(),
        Ok(Some(caller)) => drop(request.extensions_mut().insert(caller)),
        Ok(None) => {}
    }
    if ![Method::GET, Method::POST].contains(request.method()) {
        return answer::wrong_method();
    }
    next.run(request).await
}

/// Why a request is not let through.
enum Refusal {
    /// There is no token, and this needs one.
    NoToken,
    /// There is one, and it is not known.
    WrongToken,
    /// It is not from where it should be, and what to do.
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

/// Who asks, `None` for a look without a token.
fn caller(tokens: &Tokens, request: &Request) -> Result<Option<Caller>, Refusal> {
    if is_of_another_origin(request.headers()) {
        return Err(Refusal::Forbidden(
            "a page of another origin asks",
            "ask with a program, or from a page of this listener",
        ));
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

/// The token in a header.
fn token(header: &HeaderValue) -> Option<Secret> {
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case(BEARER).then(|| Secret::from(token.trim()))
}

/// Whether a browser says that a page asks which is not of the host that it asks.
fn is_of_another_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return false };
    let authority = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let same = authority.zip(host).is_some_and(|((_, of), host)| of.eq_ignore_ascii_case(host));
    !same || headers.get_all(ORIGIN).iter().nth(1).is_some()
}

/// Why a look without a token is refused, and what to do.
fn refusal(request: &Request) -> Option<(&'static str, &'static str)> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    if !peer.is_some_and(|ConnectInfo(peer)| is_loopback(peer.ip())) {
        return Some((
            "without a token only programs on this machine are answered",
            "send the token: `authorization: Bearer …`, or `--token-file F` of a command",
        ));
    }
    if is_forwarded(request.headers()) {
        return Some((
            "the request came through a proxy, without a token",
            "send the token, which a proxy must not add; or ask the listener itself",
        ));
    }
    if !names_loopback(request.headers(), request.uri()) {
        return Some((
            "the Host header does not name this machine, and there is no token",
            "ask at http://127.0.0.1, http://[::1] or http://localhost, or send the token",
        ));
    }
    None
}

/// Whether a proxy says that it speaks for somebody else.
fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.contains_key(FORWARDED)
        || headers.contains_key(VIA)
        || headers.contains_key(REAL_IP)
        || headers.keys().any(|name| name.as_str().starts_with(FORWARDED_FOR))
}

/// Whether exactly one Host header is there and names loopback, and so does a full URI.
fn names_loopback(headers: &HeaderMap, uri: &Uri) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    is_loopback_host(host) && uri.authority().is_none_or(is_loopback_name)
}

fn is_loopback_host(host: &HeaderValue) -> bool {
    let authority = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
    authority.is_some_and(|authority| is_loopback_name(&authority))
}

/// `localhost`, an address in 127.0.0.0/8 or `[::1]`, with any port and no user.
fn is_loopback_name(authority: &Authority) -> bool {
    let host = authority.host();
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let named =
        host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(is_loopback);
    named && !authority.as_str().contains('@')
}

/// Loopback, also where it is written as an IPv6 address.
fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}
