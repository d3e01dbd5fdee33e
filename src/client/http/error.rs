//! The errors of building a client.

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
