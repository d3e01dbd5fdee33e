//! Requests of programs on this machine to this machine: what tells them from those of other machines, of pages of other
//! origins, and of proxies that speak for somebody else.
//!
//! One rule for every listener that answers its own machine without a token.

use std::net::IpAddr;

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Uri};

/// What a browser says of the page that asks.
const FETCH_SITE: &str = "sec-fetch-site";
/// Its words for a page of the asked origin, and for no page at all.
const OWN_SITE: [&str; 2] = ["same-origin", "none"];
/// Every header with one of these beginnings is a proxy's.
const OF_PROXIES: [&str; 3] = ["x-forwarded", "cf-", "x-envoy-"];
/// Headers by which proxies say whom they speak for, or that they are there.
const BY_PROXIES: [&str; 22] = [
    "cdn-loop",
    "client-ip",
    "fastly-client-ip",
    "fly-client-ip",
    "forwarded",
    "forwarded-for",
    "proxy-client-ip",
    "true-client-ip",
    "via",
    "wl-proxy-client-ip",
    "x-appengine-user-ip",
    "x-azure-clientip",
    "x-azure-socketip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-host",
    "x-original-forwarded-for",
    "x-original-host",
    "x-proxyuser-ip",
    "x-real-ip",
    "x-remote-addr",
    "x-remote-ip",
];

/// Why a request is not one of a program on this machine to this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stranger {
    /// It comes from another machine.
    Peer,
    /// A page of another origin asks.
    Page,
    /// A proxy speaks for somebody else.
    Proxy,
    /// It names another machine, none, or several.
    Host,
}

/// Why a request is not local; `None` where it is. `peer` is the other end of its connection; without one the request was
/// made within this process.
pub fn stranger(peer: Option<IpAddr>, headers: &HeaderMap, uri: &Uri) -> Option<Stranger> {
    let reasons = [
        (Stranger::Peer, !peer.is_none_or(is_loopback)),
        (Stranger::Page, is_of_another_page(headers)),
        (Stranger::Proxy, is_of_a_proxy(headers)),
        (Stranger::Host, !names_loopback(headers, uri)),
    ];
    reasons.into_iter().find(|(_, applies)| *applies).map(|(why, _)| why)
}

/// Whether a browser says that a page asks which is not of the host that it asks.
pub fn is_of_another_page(headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all(FETCH_SITE).iter();
    sites.any(|site| !OWN_SITE.iter().any(|own| site == own)) || is_of_another_origin(headers)
}

fn is_of_another_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return false };
    let authority = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let same = authority.zip(host).is_some_and(|((_, of), host)| of.eq_ignore_ascii_case(host));
    !same || headers.get_all(ORIGIN).iter().nth(1).is_some()
}

/// Whether a proxy says that it speaks for somebody else.
fn is_of_a_proxy(headers: &HeaderMap) -> bool {
    let by = |name: &str| {
        BY_PROXIES.contains(&name) || OF_PROXIES.iter().any(|start| name.starts_with(start))
    };
    headers.keys().any(|name| by(name.as_str()))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(peer: &str, headers: &[(&str, &str)], uri: &str) -> Option<Stranger> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: http::HeaderName = name.parse().unwrap();
            map.append(name, value.parse().unwrap());
        }
        stranger(Some(peer.parse().unwrap()), &map, &uri.parse().unwrap())
    }

    fn with(headers: &[(&str, &str)]) -> Option<Stranger> {
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

    /// Closes S9: other machines, other names, other pages.
    #[test]
    fn others_are_told_apart_by_what_they_are() {
        let host = ("host", "localhost");
        assert_eq!(asked("192.0.2.7", &[host], "/"), Some(Stranger::Peer));
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
            assert_eq!(asked("127.0.0.1", headers, "/"), Some(Stranger::Host), "{headers:?}");
        }
        for uri in ["http://evil.example/", "http://evil@127.0.0.1/"] {
            assert_eq!(asked("127.0.0.1", &[host], uri), Some(Stranger::Host), "{uri}");
        }
        for page in [
            &[("origin", "https://evil.example")][..],
            &[("origin", "null")],
            &[("origin", "https://localhost:9999")],
            &[("origin", "https://localhost:8700"), ("origin", "https://evil.example")],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
        ] {
            assert_eq!(with(page), Some(Stranger::Page), "{page:?}");
        }
    }

    /// Closes S11: whatever a proxy says by which name of whom it speaks for, the request is not local.
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
            assert_eq!(with(&[(name, "203.0.113.9")]), Some(Stranger::Proxy), "{name}");
        }
        for name in ["accept", "user-agent", "x-request-id", "x-relayed-ip-address", "traceparent"]
        {
            assert_eq!(with(&[(name, "x")]), None, "{name}");
        }
    }
}
