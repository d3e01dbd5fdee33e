//! Why there is no client.

/// Why a client cannot be made. All of them are the operator's to mend.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ClientError {
    /// Not an address at all, or one that carries what does not belong there.
    #[error("use the service address `{setting}`: {why}")]
    #[diagnostic(
        code(reckon::client::address),
        help("write scheme, host and port, such as https://127.0.0.1:8700")
    )]
    Address {
        /// Which setting holds it: `base_url` or `web_url`.
        setting: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// Plain HTTP would carry keys in the open.
    #[error("use the service address `{setting}`: http:// to {host}, which is not a loopback IP")]
    #[diagnostic(
        code(reckon::client::plain_http),
        help(
            "use https://, with `service.ca_file` for an authority of your own; http:// is for 127.0.0.1 and [::1] alone"
        )
    )]
    PlainHttp {
        /// Which setting holds it.
        setting: &'static str,
        /// The host it names.
        host: String,
    },
    /// The certificates of `ca_file` are none.
    #[error("read the certificates of `service.ca_file`")]
    #[diagnostic(
        code(reckon::client::ca_file),
        help("it holds PEM: one or more blocks that begin with -----BEGIN CERTIFICATE-----")
    )]
    Certificates(#[source] Option<reqwest::Error>),
    /// TLS cannot be set up, mostly because the machine has no certificates at all.
    #[error("set up TLS")]
    #[diagnostic(
        code(reckon::client::tls),
        help("install the system's CA certificates, or name an authority in `service.ca_file`")
    )]
    Tls(#[source] reqwest::Error),
}
