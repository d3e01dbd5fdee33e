//! Configuration of a client: the addresses of the service, our credentials there, and the errors
//! of building a client from them.
//!
//! A call becomes the bytes of its request here. Addresses are checked once, and requests are built
//! from them, so a call can never leave the host to which it belongs.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderValue, Request};
use reqwest::Url;

use crate::api::call::{Auth, Call, Host};
use crate::base::local::is_loopback_ip;
use crate::base::secret::Secret;

/// The addresses of the service, and our credentials there.
#[derive(Clone, derive_more::Debug)]
#[debug("Service({base_url}, {web_url})")]
pub struct ServiceConfig {
    /// `{base_url}`: https, or http to a loopback IP.
    pub base_url: String,
    /// `{web_url}`; the same rule.
    pub web_url: String,
    /// The time limit of one call, from connecting to the last byte of its answer.
    pub timeout: Duration,
    /// Certificates in PEM that are trusted beside those of the operating system.
    pub ca_file: Option<Vec<u8>>,
    /// The credentials for a tenant token; without them, [`Auth::Tenant`] is denied.
    pub partner: Option<ClientCredentials>,
    /// Seeds the jitter between the repetitions of a read.
    pub jitter_seed: u64,
}

/// The partner application's client credentials (partner-api, POST /oauth/token).
#[derive(Clone, Debug)]
pub struct ClientCredentials {
    pub client_id: String,
    pub client_secret: Secret,
}

/// The credential of one call (partner-api and gateway-api, Authentication).
#[derive(Clone, Debug)]
pub enum Access {
    None,
    /// A merchant's `payments` token.
    Bearer(Secret),
    /// A merchant's public or secret key: the user name, with an empty password.
    Basic(Secret),
    /// The partner's own token: the client obtains, keeps and renews it.
    Tenant,
}

/// The reason why a credential is missing or unusable. No part of the call itself was sent.
#[derive(Debug)]
pub(crate) struct AccessDenied(pub(crate) String);

/// Returns whether an endpoint takes the credential: no key may reach a host that expects a token.
pub(crate) fn fits(auth: Auth, access: &Access) -> bool {
    matches!(
        (auth, access),
        (Auth::None, Access::None)
            | (Auth::Tenant, Access::Tenant)
            | (Auth::Payments, Access::Bearer(_))
            | (Auth::PublicKey | Auth::SecretKey, Access::Basic(_))
    )
}

pub(crate) fn bearer(token: &Secret) -> Result<HeaderValue, AccessDenied> {
    sensitive(&format!("Bearer {}", token.expose()))
}

/// Encodes the key as user name with an empty password (gateway-api, Authentication).
pub(crate) fn basic(key: &Secret) -> Result<HeaderValue, AccessDenied> {
    sensitive(&format!("Basic {}", STANDARD.encode(format!("{}:", key.expose()))))
}

fn sensitive(text: &str) -> Result<HeaderValue, AccessDenied> {
    let mut value = HeaderValue::from_str(text).map_err(|_invalid| {
        AccessDenied("the credential holds characters that no header takes".to_owned())
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// The reason why a client cannot be built. The operator can fix each of them.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ClientError {
    /// No valid address, or one with parts that do not belong there.
    #[error("invalid service address `{setting}`: {why}")]
    #[diagnostic(
        code(reckon::client::address),
        help("write scheme, host and port, such as https://127.0.0.1:8700")
    )]
    Address {
        /// The setting that holds the address: `base_url` or `web_url`.
        setting: &'static str,
        why: String,
    },
    /// Plain HTTP would carry keys unencrypted.
    #[error("invalid service address `{setting}`: http:// to {host}, which is not a loopback IP")]
    #[diagnostic(
        code(reckon::client::plain_http),
        help(
            "use https://, with `service.ca_file` for an authority of your own; http:// is only for 127.0.0.1 and \
             [::1]"
        )
    )]
    PlainHttp { setting: &'static str, host: String },
    #[error("no usable certificates in `service.ca_file`")]
    #[diagnostic(
        code(reckon::client::ca_file),
        help("write PEM: one or more blocks that begin with -----BEGIN CERTIFICATE-----")
    )]
    Certificates(#[source] Option<reqwest::Error>),
    /// TLS setup failed, mostly because the machine has no certificates at all.
    #[error("TLS cannot be set up")]
    #[diagnostic(
        code(reckon::client::tls),
        help("install the system's CA certificates, or name an authority in `service.ca_file`")
    )]
    Tls(#[source] reqwest::Error),
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const AGENT: HeaderValue = HeaderValue::from_static(concat!("reckon/", env!("CARGO_PKG_VERSION")));

#[derive(Clone, derive_more::Debug)]
#[debug("{base} {web}")]
pub(crate) struct ServiceAddresses {
    base: Url,
    web: Url,
}

impl ServiceAddresses {
    pub(crate) fn new(base: &str, web: &str) -> Result<Self, ClientError> {
        Ok(Self { base: parse_address("base_url", base)?, web: parse_address("web_url", web)? })
    }

    pub(crate) fn with_web(&self, web: &str) -> Result<Self, ClientError> {
        Ok(Self { base: self.base.clone(), web: parse_address("web_url", web)? })
    }

    /// Returns `{base_url}`, as it is called.
    pub(crate) fn base(&self) -> &str {
        self.base.as_str()
    }

    fn url(&self, host: Host) -> &Url {
        match host {
            Host::Base => &self.base,
            Host::Web => &self.web,
        }
    }

    /// Returns name and port of the host to which a call goes.
    pub(crate) fn host(&self, host: Host) -> String {
        let url = self.url(host);
        let name = url.host_str().unwrap_or_default();
        url.port_or_known_default().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))
    }

    /// Builds the request of a call, with an absolute address.
    pub(crate) fn request(
        &self,
        call: &Call,
        authorization: Option<HeaderValue>,
    ) -> Result<Request<Vec<u8>>, String> {
        let url = self.call_url(call)?;
        let mut request = Request::builder()
            .method(call.method.as_str())
            .uri(url.as_str())
            .header(ACCEPT, JSON)
            .header(USER_AGENT, AGENT);
        if let Some(authorization) = authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if call.body.is_some() {
            request = request.header(CONTENT_TYPE, JSON);
        }
        let body = call.body.clone().unwrap_or_default();
        request.body(body).map_err(|_invalid| unwritable_path(call))
    }

    /// Returns the address of a call. A path that a URL parser reads differently (`..`, a missing
    /// first slash, a question mark) is refused: the request would reach an unnamed address.
    fn call_url(&self, call: &Call) -> Result<Url, String> {
        let host = self.url(call.host);
        let path = format!("{}{}", host.path().trim_end_matches('/'), call.path);
        let mut url = host.clone();
        url.set_path(&path);
        if url.path() != path {
            return Err(unwritable_path(call));
        }
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        Ok(url)
    }
}

fn unwritable_path(call: &Call) -> String {
    format!("the path of {} cannot be written as it is", call.endpoint)
}

/// Parses a configured address: an accepted scheme, a host, and no part that belongs to a request.
fn parse_address(setting: &'static str, address: &str) -> Result<Url, ClientError> {
    let fault = |why: &str| ClientError::Address { setting, why: why.to_owned() };
    let url = Url::parse(address).map_err(|error| fault(&error.to_string()))?;
    let host = url.host_str().ok_or_else(|| fault("the host is missing"))?.to_owned();
    if !url.username().is_empty() || url.password().is_some() {
        return Err(fault("a user name or password is not allowed"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(fault("a query or fragment is not allowed"));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback_ip(&host) => Ok(url),
        "http" => Err(ClientError::PlainHttp { setting, host }),
        _ => Err(fault("the scheme is neither https nor http")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::call::{Auth, Method};

    fn call(path: &str) -> Call {
        Call {
            endpoint: "card.delete".to_owned(),
            method: Method::Delete,
            host: Host::Base,
            path: path.to_owned(),
            query: Vec::new(),
            auth: Auth::SecretKey,
            body: None,
        }
    }

    fn uri(base: &str, call: &Call) -> Result<String, String> {
        let addresses = ServiceAddresses::new(base, "https://web.test").unwrap();
        addresses.request(call, None).map(|request| request.uri().to_string())
    }

    #[test]
    fn http_goes_to_loopback_ips_only() {
        for good in
            ["http://127.0.0.1:8700", "http://127.9.9.9", "http://[::1]:1", "https://a.test"]
        {
            assert!(parse_address("base_url", good).is_ok(), "{good}");
        }
        for bad in
            ["http://localhost", "http://10.0.0.1", "http://a.test", "http://[::ffff:10.0.0.1]"]
        {
            let error = parse_address("base_url", bad).unwrap_err();
            assert!(matches!(error, ClientError::PlainHttp { .. }), "{bad}");
            assert!(miette::Diagnostic::help(&error).is_some());
        }
    }

    #[test]
    fn an_address_holds_nothing_but_an_address() {
        for bad in ["a.test", "ftp://a.test", "https://canary:canary@a.test", "https://a.test?k=1"]
        {
            let error = parse_address("web_url", bad).unwrap_err();
            assert!(matches!(error, ClientError::Address { .. }), "{bad}");
            assert!(!format!("{error} {error:?}").contains("canary"));
        }
    }

    #[test]
    fn a_path_is_written_as_it_is_or_not_at_all() {
        assert_eq!(
            uri("https://a.test", &call("/v1/cards/x%2Fy")).unwrap(),
            "https://a.test/v1/cards/x%2Fy"
        );
        assert_eq!(uri("https://a.test/up/", &call("/v1/x")).unwrap(), "https://a.test/up/v1/x");
        for stray in [
            "/v1/cards/..",
            "/v1/cards/%2e%2E",
            "v1",
            "@evil.test/",
            "/v1/cards?x",
            "/v1/a b",
            "/v1/./x",
        ] {
            assert!(uri("https://a.test", &call(stray)).is_err(), "{stray}");
        }
    }

    #[test]
    fn query_values_are_encoded() {
        let asked = call("/v1/cards").query("reference", "a&b=c d");
        assert_eq!(
            uri("https://a.test", &asked).unwrap(),
            "https://a.test/v1/cards?reference=a%26b%3Dc+d"
        );
    }
}
