//! Filter of webhooks at the public addresses: permitted networks, and the rate of each address.
//!
//! If a list of networks is configured, posts from elsewhere are refused. A client's address is its
//! connection's. If that is one of our proxies, the client's address is the one that this proxy
//! reports; no other header is trusted.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{ConnectInfo, Request};
use axum::http::HeaderMap;
use axum::http::header::FORWARDED;
use ipnet::IpNet;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::model::operator::WebhookAddress;

const FORWARDED_FOR: &str = "x-forwarded-for";
const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IngressRules {
    /// The networks that merchants' events come from; an empty list accepts any.
    pub gateway: Vec<IpNet>,
    /// The networks that the partner's notifications come from; an empty list accepts any.
    pub partner: Vec<IpNet>,
    /// Our own proxies, whose forwarding headers are trusted.
    pub proxies: Vec<IpNet>,
    /// Rate of posts that one address accepts; `None` accepts any.
    pub rate: Option<PostRate>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PostRate {
    /// Posts in a second, sustained.
    pub per_second: NonZeroU32,
    /// Posts at once, after an idle time.
    pub burst: NonZeroU32,
}

/// The rules, and the recent use of each address. Cheap to clone.
#[derive(derive_more::Debug, Clone, Default)]
#[debug("Gate({rules:?})")]
pub struct Ingress {
    rules: Arc<IngressRules>,
    /// For each address the moment until which its share is used up.
    used_until: Arc<Mutex<BTreeMap<WebhookAddress, Instant>>>,
}

impl Ingress {
    pub fn new(rules: IngressRules) -> Self {
        Self { rules: Arc::new(rules), used_until: Arc::default() }
    }

    /// Returns true if the partner's notifications may come from this request's client.
    pub(crate) fn accepts_partner(&self, request: &Request) -> bool {
        self.accepts_from(&self.rules.partner, request)
    }

    /// Returns true if merchants' events may come from this request's client.
    pub(crate) fn accepts_gateway(&self, request: &Request) -> bool {
        self.accepts_from(&self.rules.gateway, request)
    }

    fn accepts_from(&self, networks: &[IpNet], request: &Request) -> bool {
        if networks.is_empty() {
            return true;
        }
        let client = self.client(request);
        client.is_some_and(|client| networks.iter().any(|network| network.contains(&client)))
    }

    /// Returns the address of a request's client; `None` where it is unclear.
    fn client(&self, request: &Request) -> Option<IpAddr> {
        let ConnectInfo(peer) = request.extensions().get::<ConnectInfo<SocketAddr>>()?;
        let peer = peer.ip().to_canonical();
        if !self.is_proxy(peer) {
            return Some(peer);
        }
        let headers = request.headers();
        let told =
            [header_entries(headers, FORWARDED_FOR), header_entries(headers, FORWARDED.as_str())];
        let [plain, standard] = told.map(|list| (!list.is_empty()).then_some(list));
        let plain = plain.map(|list| self.last_client(&list, parse_address));
        let standard = standard.map(|list| self.last_client(&list, parse_forwarded));
        match (plain, standard) {
            (None, None) => Some(peer),
            (Some(one), None) | (None, Some(one)) => one,
            // The proxy wrote one of the two headers; the client may have made the other one up.
            (Some(one), Some(other)) => one.filter(|_| one == other),
        }
    }

    /// Returns the last address that is not a proxy's, else the first proxy's; `None` if an entry
    /// on the way is no address. The client may have made up all entries before the result.
    fn last_client(&self, list: &[&str], read: impl Fn(&str) -> Option<IpAddr>) -> Option<IpAddr> {
        let mut first = None;
        for part in list.iter().rev() {
            let address = read(part)?;
            if !self.is_proxy(address) {
                return Some(address);
            }
            first = Some(address);
        }
        first
    }

    fn is_proxy(&self, address: IpAddr) -> bool {
        self.rules.proxies.iter().any(|network| network.contains(&address))
    }

    /// Takes one post from an address's share; where that is used up, returns the time until more.
    pub(crate) fn take_permit(&self, address: &WebhookAddress) -> Result<(), Duration> {
        let Some(rate) = self.rules.rate else { return Ok(()) };
        let each = SECOND.checked_div(rate.per_second.get()).unwrap_or(SECOND);
        let room = each.saturating_mul(rate.burst.get().saturating_sub(1));
        let now = Instant::now();
        let mut used = self.used_until.lock();
        let until = used.get(address).map_or(now, |until| (*until).max(now));
        let ahead = until.saturating_duration_since(now);
        if let Some(wait) = ahead.checked_sub(room).filter(|wait| !wait.is_zero()) {
            return Err(wait);
        }
        used.insert(address.clone(), until.checked_add(each).unwrap_or(until));
        Ok(())
    }
}

/// Returns the entries of a header, line by line.
fn header_entries<'a>(headers: &'a HeaderMap, name: &str) -> Vec<&'a str> {
    let lines = headers.get_all(name).iter();
    lines.flat_map(|line| line.to_str().unwrap_or("?").split(',')).map(str::trim).collect()
}

/// Parses `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`.
fn parse_address(text: &str) -> Option<IpAddr> {
    let address = text.parse::<IpAddr>().ok();
    let address = address.or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()));
    let bare = || text.strip_prefix('[')?.strip_suffix(']')?.parse::<IpAddr>().ok();
    Some(address.or_else(bare)?.to_canonical())
}

/// Returns the address of one element of `Forwarded`, such as `for="[2001:db8::1]:80";proto=https`.
fn parse_forwarded(element: &str) -> Option<IpAddr> {
    element.split(';').find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        name.eq_ignore_ascii_case("for").then(|| parse_address(value.trim().trim_matches('"')))?
    })
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn gate() -> Ingress {
        let networks = |all: &[&str]| all.iter().map(|one| one.parse().unwrap()).collect();
        Ingress::new(IngressRules {
            gateway: networks(&["192.0.2.0/24", "2001:db8::/32"]),
            partner: Vec::new(),
            proxies: networks(&["10.0.0.0/8", "fd00::/8"]),
            rate: NonZeroU32::new(10).map(|each_second| PostRate {
                per_second: each_second,
                burst: NonZeroU32::new(20).unwrap(),
            }),
        })
    }

    fn hears(peer: &str, headers: &[(&str, &str)]) -> bool {
        let mut request = Request::post("/");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::empty()).unwrap();
        let peer: IpAddr = peer.parse().unwrap();
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from((peer, 4000))));
        gate().accepts_gateway(&request)
    }

    #[test]
    fn only_the_networks_of_the_list_are_heard() {
        for (peer, heard) in [
            ("192.0.2.7", true),
            ("::ffff:192.0.2.7", true),
            ("2001:db8::7", true),
            ("198.51.100.7", false),
            ("2001:db9::7", false),
            ("127.0.0.1", false),
        ] {
            assert_eq!(hears(peer, &[]), heard, "{peer}");
        }
        let nobody = Request::post("/").body(Body::empty()).unwrap();
        assert!(!gate().accepts_gateway(&nobody) && gate().accepts_partner(&nobody));
    }

    #[test]
    fn a_forwarded_address_is_believed_from_a_proxy_of_ours_alone() {
        let ours = ("x-forwarded-for", "192.0.2.7");
        assert!(!hears("198.51.100.7", &[ours]) && hears("10.1.1.1", &[ours]));
        let forwarded = ("forwarded", "for=\"[2001:db8::7]:80\";proto=https");
        assert!(!hears("198.51.100.7", &[forwarded]) && hears("fd00::1", &[forwarded]));
        for (list, heard) in [
            ("198.51.100.7, 192.0.2.7", true),
            ("192.0.2.7, 198.51.100.7", false),
            ("198.51.100.7, 192.0.2.7, 10.3.3.3", true),
            ("192.0.2.7, unknown, 10.3.3.3", false),
            ("192.0.2.7:443", true),
            ("192.0.2.7,", false),
            ("10.3.3.3", false),
        ] {
            assert_eq!(hears("10.1.1.1", &[("x-forwarded-for", list)]), heard, "{list}");
        }
        let lines = [("x-forwarded-for", "192.0.2.7"), ("x-forwarded-for", "198.51.100.7")];
        assert!(!hears("10.1.1.1", &lines), "the last line counts");
        assert!(!hears("10.1.1.1", &[]), "a proxy without an address is its own client");
        let both = |other| [("x-forwarded-for", "192.0.2.7"), ("forwarded", other)];
        assert!(hears("10.1.1.1", &both("for=192.0.2.7")));
        assert!(!hears("10.1.1.1", &both("for=198.51.100.7")), "one of the two is made up");
        assert!(!hears("10.1.1.1", &[("forwarded", "for=_hidden, for=\"x")]));
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_takes_so_many_posts_at_once_and_in_a_second() {
        let gate = gate();
        let taken = |address: &WebhookAddress| {
            (0..100).filter(|_| gate.take_permit(address).is_ok()).count()
        };
        let acme = WebhookAddress::Merchant("Merchant/acme".parse().unwrap());
        assert_eq!(
            (taken(&acme), taken(&WebhookAddress::Partner)),
            (20, 20),
            "each has its own share"
        );
        assert_eq!(gate.take_permit(&acme), Err(Duration::from_millis(100)));
        tokio::time::advance(Duration::from_millis(300)).await;
        assert_eq!(taken(&acme), 3);
        tokio::time::advance(Duration::from_hours(1)).await;
        assert_eq!(taken(&acme), 20);
    }
}
