//! The address of a daemon. The token is sent there, so not every address is allowed.

use std::net::IpAddr;

use reqwest::Url;

use crate::cli::exit::CommandFailure;
use crate::control::protocol::CONTROL_PATH;

/// Address of a daemon.
#[derive(Debug, Clone)]
pub(crate) struct ServerAddress {
    /// As it was written, for messages.
    pub shown: String,
    /// URL that requests are posted to.
    pub control: Url,
    /// True without TLS: then the address is one of this machine.
    pub plain: bool,
}

/// Parses an address.
///
/// # Errors
/// The text is no address, carries credentials, a query or a fragment, or would show the token to
/// the network.
pub(crate) fn read(text: &str) -> Result<ServerAddress, CommandFailure> {
    let wrong = |what: &str| {
        CommandFailure::input("reckon::server::url", format!("--server: {what}"))
            .help("write https://HOST[:PORT][/PATH], or http://127.0.0.1:PORT for a daemon on this machine")
    };
    let mut url = Url::parse(text).map_err(|error| wrong(&format!("invalid address: {error}")))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(
            "the address contains a user name or password; name the token with --token-file",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("the address contains a query or fragment"));
    }
    let host = url.host_str().ok_or_else(|| wrong("the address has no host"))?;
    let plain = match url.scheme() {
        "https" => false,
        "http" if is_this_machine(host) => true,
        "http" => {
            return Err(wrong(&format!("plain http to {host} would expose the token")).help(
                "put a proxy with a certificate before the daemon and write https://…, or use a \
                tunnel: `ssh -L 8780:127.0.0.1:8780 HOST`, then http://127.0.0.1:8780",
            ));
        }
        other => return Err(wrong(&format!("unsupported scheme {other}"))),
    };
    let path = format!("{}{CONTROL_PATH}", url.path().trim_end_matches('/'));
    let shown = text.trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(ServerAddress { shown, control: url, plain })
}

/// Returns true if a host is this machine.
fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let loopback = |ip: IpAddr| ip.to_canonical().is_loopback();
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_over_tls_or_stays_on_this_machine() {
        for (text, posted, plain) in [
            ("https://billing.example", "https://billing.example/api/v1/control", false),
            ("https://h:8443/reckon/", "https://h:8443/reckon/api/v1/control", false),
            ("http://127.0.0.1:8780", "http://127.0.0.1:8780/api/v1/control", true),
            ("http://[::1]:1/", "http://[::1]:1/api/v1/control", true),
            ("http://LOCALHOST:2", "http://localhost:2/api/v1/control", true),
        ] {
            let address = read(text).unwrap();
            assert_eq!((address.control.as_str(), address.plain), (posted, plain));
        }
        for text in [
            "http://billing.example",
            "http://10.0.0.1:8780",
            "http://localhost.example",
            "https://user:pass@billing.example",
            "https://token@billing.example",
            "https://billing.example?token=1",
            "https://billing.example#a",
            "unix:/run/control.sock",
            "billing.example",
            "",
        ] {
            let failure = read(text).unwrap_err();
            assert_eq!(failure.code, "reckon::server::url", "{text}");
            assert!(!failure.message.contains("pass@"), "{}", failure.message);
        }
    }
}
