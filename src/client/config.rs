//! Configuration of a client: the addresses of the service, our credentials there, and the errors
//! of building a client from them.
//!
//! A call becomes the bytes of its request here. Addresses are checked once, and requests are built
//! from them, so a call can never leave the host to which it belongs.

use std::fmt;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;

use crate::api::call::Auth;
use crate::base::secret::Secret;

/// The addresses of the service, and our credentials there.
#[derive(Clone)]
pub struct ServiceConfig {
    /// `{base_url}`: https, or http to a loopback IP.
    pub base_url: String,
    /// `{web_url}`; the same rule.
    pub web_url: String,
    /// The time limit of one call, from connecting to the last byte of its answer.
    pub timeout: Duration,
    /// Certificates in PEM that are trusted beside those of the operating system.
    pub ca_file: Option<Vec<u8>>,
    /// The credentials for a tenant token; without them,
    /// [`Auth::Tenant`](crate::api::call::Auth::Tenant) is denied.
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

impl fmt::Debug for ServiceConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Service({}, {})", self.base_url, self.web_url)
    }
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

/// Returns whether the credential has the type that an endpoint requires. A key must never reach a
/// host that expects a token.
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
    let pair = format!("{}:", key.expose());
    let encoded = STANDARD.encode(pair);
    sensitive(&format!("Basic {encoded}"))
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
    PlainHttp {
        /// The setting that holds the address.
        setting: &'static str,
        host: String,
    },
    /// `ca_file` holds no valid certificates.
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
