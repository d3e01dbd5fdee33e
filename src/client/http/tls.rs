//! Builds the HTTP client: TLS 1.2 or later, no redirects, no proxies, no retries of its own, time
//! limits on everything.

use std::time::Duration;

use reqwest::{Certificate, redirect, retry, tls};

use super::error::ClientError;
use crate::client::service_client::ServiceConfig;

/// The time limit of connecting. Exceeding it proves that nothing was sent, so it is shorter than
/// the limit of a whole call.
const CONNECT_TIMEOUT_MAX: Duration = Duration::from_secs(10);

/// Idle connections kept: one for each of the calls that run at once.
const IDLE_CONNECTIONS_MAX: usize = 64;

/// The time for which an idle connection is kept. It is shorter than that of servers (5 s is
/// common): a request written to a connection that the server is closing would be in doubt.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// Chooses the crypto of every TLS connection of the process; call it first in `main` and in tests.
/// A second call changes nothing.
pub fn install_crypto() {
    rustls::crypto::ring::default_provider().install_default().ok();
}

/// Returns the HTTP client for a service. The crypto must be installed.
pub(crate) fn http_client(service: &ServiceConfig) -> Result<reqwest::Client, ClientError> {
    let builder = reqwest::Client::builder()
        .tls_version_min(tls::Version::TLS_1_2)
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .no_proxy()
        .referer(false)
        .connect_timeout(service.timeout.min(CONNECT_TIMEOUT_MAX))
        .timeout(service.timeout)
        .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .tls_certs_merge(authorities(service.ca_file.as_deref())?);
    builder.build().map_err(ClientError::Tls)
}

/// Parses the certificates of a PEM file; a file without any is an error, not an empty list.
fn authorities(pem: Option<&[u8]>) -> Result<Vec<Certificate>, ClientError> {
    let Some(pem) = pem else {
        return Ok(Vec::new());
    };
    let found = Certificate::from_pem_bundle(pem)
        .map_err(|error| ClientError::Certificates(Some(error)))?;
    if found.is_empty() {
        return Err(ClientError::Certificates(None));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ca_file_without_a_certificate_is_refused() {
        for pem in
            [&b""[..], b"hello", b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"]
        {
            assert!(matches!(authorities(Some(pem)), Err(ClientError::Certificates(_))), "{pem:?}");
        }
        assert!(authorities(None).unwrap().is_empty());
    }

    #[test]
    fn installing_the_crypto_twice_is_once() {
        install_crypto();
        install_crypto();
        assert!(rustls::crypto::CryptoProvider::get_default().is_some());
    }
}
