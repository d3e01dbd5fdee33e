//! Checks that a request comes from a program on this machine and is addressed to this machine.
//!
//! Rejects requests from other machines, from pages of other origins, and from proxies that speak
//! for others. This one rule serves every listener that answers its own machine without a token.

use std::net::IpAddr;

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Uri};

/// Header in which a browser describes the requesting page's site.
const FETCH_SITE: &str = "sec-fetch-site";
/// Values for a page of the requested origin, and for no page at all.
const SAME_ORIGIN: &str = "same-origin";
const OWN_SITES: [&str; 2] = [SAME_ORIGIN, "none"];
/// Prefixes of headers that only proxies send.
const PROXY_HEADER_PREFIXES: [&str; 3] = ["x-forwarded", "cf-", "x-envoy-"];
/// Headers in which proxies name their client, or reveal themselves.
const PROXY_HEADERS: &str = "\
    cdn-loop client-ip fastly-client-ip fly-client-ip forwarded forwarded-for proxy-client-ip \
    true-client-ip via wl-proxy-client-ip x-appengine-user-ip x-azure-clientip x-azure-socketip \
    x-client-ip x-cluster-client-ip x-host x-original-forwarded-for x-original-host x-proxyuser-ip \
    x-real-ip x-remote-addr x-remote-ip";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NonLocal {
    /// The request comes from another machine.
    Peer,
    /// A page of another origin sends the request.
    Page,
    Proxy,
    /// The request names another machine, none, or several.
    Host,
}

/// Returns the reason why a request is not local; `None` where it is. `peer` is the other end of
/// its connection. A request without a peer was made within this process.
pub fn non_local_reason(peer: Option<IpAddr>, headers: &HeaderMap, uri: &Uri) -> Option<NonLocal> {
    let reasons = [
        (NonLocal::Peer, !peer.is_none_or(is_loopback)),
        (NonLocal::Page, is_from_another_page(headers)),
        (NonLocal::Proxy, is_from_proxy(headers)),
        (NonLocal::Host, !names_loopback(headers, uri)),
    ];
    reasons.into_iter().find(|(_, applies)| *applies).map(|(why, _)| why)
}

/// Returns whether the browser reports a page of another origin than the requested host.
pub fn is_from_another_page(headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all(FETCH_SITE).iter();
    sites.any(|site| !OWN_SITES.iter().any(|own| site == own)) || is_from_another_origin(headers)
}

/// Returns whether a browser reports that a page of the requested host sends the request. A request
/// that names no page at all is from none.
pub fn is_from_own_page(headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all(FETCH_SITE).iter();
    let names_page = headers.contains_key(ORIGIN) || sites.any(|site| site == SAME_ORIGIN);
    names_page && !is_from_another_page(headers)
}

fn is_from_another_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return false };
    let authority = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let same = authority.zip(host).is_some_and(|((_, of), host)| of.eq_ignore_ascii_case(host));
    !same || headers.get_all(ORIGIN).iter().nth(1).is_some()
}

/// Returns whether a header reveals a proxy.
fn is_from_proxy(headers: &HeaderMap) -> bool {
    let by = |name: &str| {
        PROXY_HEADERS.split(' ').any(|header| header == name)
            || PROXY_HEADER_PREFIXES.iter().any(|start| name.starts_with(start))
    };
    headers.keys().any(|name| by(name.as_str()))
}

/// Returns whether exactly one Host header is there and names loopback, and so does a full URI.
fn names_loopback(headers: &HeaderMap, uri: &Uri) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    is_loopback_host(host) && uri.authority().is_none_or(is_loopback_name)
}

fn is_loopback_host(host: &HeaderValue) -> bool {
    let authority = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
    authority.is_some_and(|authority| is_loopback_name(&authority))
}

/// Accepts `localhost`, an address in 127.0.0.0/8 or `[::1]`, with any port and no user.
fn is_loopback_name(authority: &Authority) -> bool {
    let host = authority.host();
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let named =
        host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(is_loopback);
    named && !authority.as_str().contains('@')
}

/// Returns whether an address is loopback, also where it is written as an IPv6 address.
fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Returns whether a host is a loopback IP, as a URL writes it. A name is none, since its resolution
/// is decided elsewhere.
pub fn is_loopback_ip(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(peer: &str, headers: &[(&str, &str)], uri: &str) -> Option<NonLocal> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: http::HeaderName = name.parse().unwrap();
            map.append(name, value.parse().unwrap());
        }
        non_local_reason(Some(peer.parse().unwrap()), &map, &uri.parse().unwrap())
    }

    fn with(headers: &[(&str, &str)]) -> Option<NonLocal> {
        asked("127.0.0.1", &[&[("host", "localhost:8700")], headers].concat(), "/")
    }

    #[test]
    fn programs_on_this_machine_are_local_by_any_of_its_names() {
        for host in ["localhost", "LOCALHOST:8780", "127.0.0.1:1", "127.9.8.7", "[::1]:8780"] {
            for peer in ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"] {
                assert_eq!(asked(peer, &[("host", host)], "/"), None, "{peer} {host}");
            }
        }
        assert_eq!(asked("127.0.0.1", &[("host", "localhost")], "http://127.0.0.1:1/x"), None);
        assert_eq!(with(&[("origin", "https://localhost:8700")]), None);
        assert_eq!(with(&[("sec-fetch-site", "same-origin")]), None);
        assert_eq!(with(&[("sec-fetch-site", "none")]), None);
    }

    #[test]
    fn a_write_of_a_page_names_its_page() {
        let is_own = |headers: &[(&str, &str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in [&[("host", "localhost:8700")], headers].concat() {
                let name: http::HeaderName = name.parse().unwrap();
                map.append(name, value.parse().unwrap());
            }
            is_from_own_page(&map)
        };
        let (own, site) = (("origin", "http://localhost:8700"), "sec-fetch-site");
        assert!(is_own(&[own]) && is_own(&[(site, "same-origin")]));
        assert!(is_own(&[own, (site, "same-origin")]) && is_own(&[own, (site, "none")]));
        for headers in [
            &[][..],
            &[(site, "none")],
            &[("origin", "null")],
            &[("origin", "http://localhost:8701")],
            &[own, own],
            &[own, (site, "same-site")],
            &[own, (site, "cross-site")],
            &[("origin", "http://evil.example"), (site, "same-origin")],
            &[(site, "same-origin"), (site, "cross-site")],
        ] {
            assert!(!is_own(headers), "{headers:?}");
        }
    }

    /// Closes S9: other machines, other names, other pages.
    #[test]
    fn others_are_told_apart_by_what_they_are() {
        let host = ("host", "localhost");
        assert_eq!(asked("192.0.2.7", &[host], "/"), Some(NonLocal::Peer));
        for headers in [
            &[][..],
            &[host, host],
            &[host, ("host", "evil.example")],
            &[("host", "evil@127.0.0.1")],
            &[("host", "127.0.0.1.evil.example")],
            &[("host", "192.0.2.7:80")],
            &[("host", "")],
            &[("host", "a b")],
        ] {
            assert_eq!(asked("127.0.0.1", headers, "/"), Some(NonLocal::Host), "{headers:?}");
        }
        for uri in ["http://evil.example/", "http://evil@127.0.0.1/"] {
            assert_eq!(asked("127.0.0.1", &[host], uri), Some(NonLocal::Host), "{uri}");
        }
        for page in [
            &[("origin", "https://evil.example")][..],
            &[("origin", "null")],
            &[("origin", "https://localhost:9999")],
            &[("origin", "https://localhost:8700"), ("origin", "https://evil.example")],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
        ] {
            assert_eq!(with(page), Some(NonLocal::Page), "{page:?}");
        }
    }

    /// Closes S11: a forwarded request is not local, whichever header names the proxy's client.
    #[test]
    fn what_a_proxy_forwards_is_not_local() {
        for name in [
            "Forwarded",
            "Via",
            "X-Real-IP",
            "X-Forwarded-For",
            "X-Forwarded-Anything",
            "X-Forwarded",
            "CF-Connecting-IP",
            "CF-Connecting-IPv6",
            "True-Client-IP",
            "Fly-Client-IP",
            "X-Client-IP",
            "X-Cluster-Client-IP",
            "Fastly-Client-IP",
        ] {
            assert_eq!(with(&[(name, "203.0.113.9")]), Some(NonLocal::Proxy), "{name}");
        }
        for name in ["accept", "user-agent", "x-request-id", "x-relayed-ip-address", "traceparent"]
        {
            assert_eq!(with(&[(name, "x")]), None, "{name}");
        }
    }
}
