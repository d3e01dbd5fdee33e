//! Who is answered without a token: programs on this machine that speak to this machine.
//!
//! The peer's address keeps other machines out, the Host header keeps out a page whose name was
//! pointed here (DNS rebinding), and a forwarding header says that a proxy on this machine speaks
//! for somebody else.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, Request};
use axum::http::header::{FORWARDED, HOST, VIA};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, Uri};
use axum::middleware::Next;
use axum::response::Response;

use super::answer;

/// Headers with this beginning name whom a proxy speaks for.
const FORWARDED_FOR: &str = "x-forwarded-";
const REAL_IP: &str = "x-real-ip";

/// Lets a request through, or answers why not.
pub(super) async fn guard(request: Request, next: Next) -> Response {
    if let Some((message, help)) = refusal(&request) {
        return answer::forbidden(message, help);
    }
    if request.method() != Method::GET {
        return answer::only_get();
    }
    next.run(request).await
}

/// Why a request is refused, and what to do.
fn refusal(request: &Request) -> Option<(&'static str, &'static str)> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    if !peer.is_some_and(|ConnectInfo(peer)| is_loopback(peer.ip())) {
        return Some((
            "only programs on this machine are answered",
            "run the command on the daemon's machine, or tunnel to it with `ssh -L`",
        ));
    }
    if is_forwarded(request.headers()) {
        return Some((
            "the request came through a proxy",
            "ask the listener itself; a proxy must not stand in front of it",
        ));
    }
    if !names_loopback(request.headers(), request.uri()) {
        return Some((
            "the Host header does not name this machine",
            "ask at http://127.0.0.1, http://[::1] or http://localhost",
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
