//! Targets of notifications, with every setting read.

use crate::base::secret::Secret;

/// One target. Addresses are secrets: anyone who knows a chat's address may write there, and a
/// person's address is personal.
#[derive(Debug, Clone)]
pub enum NotificationTarget {
    /// An address that takes a POST.
    Web {
        /// `https://`, or `http://` at a loopback IP.
        url: Secret,
        /// The form of the posted body.
        form: BodyFormat,
    },
    /// Mail by SMTP.
    Mail(Box<SmtpTarget>),
}

/// The form of the body posted to a web address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFormat {
    /// The body as JSON: a map unchanged, a text as `{"text": …}`.
    Json,
    /// `{"text": …}`, the form that chats accept; a map is written out as text.
    Chat,
}

/// A mail server, with sender and recipients.
#[derive(Debug, Clone)]
pub struct SmtpTarget {
    /// The recipients of notifications that name none.
    pub to: Vec<Secret>,
    /// The sender.
    pub from: Secret,
    /// A name or an IP.
    pub host: String,
    pub port: u16,
    /// None where the server asks for no login.
    pub login: Option<SmtpLogin>,
    pub encryption: SmtpEncryption,
}

/// Credentials at a mail server.
#[derive(Debug, Clone)]
pub struct SmtpLogin {
    pub user: Secret,
    pub password: Secret,
}

/// The encryption of the connection to a mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpEncryption {
    /// Upgraded by `STARTTLS`; nothing is sent where the server does not support it.
    Starttls,
    /// TLS from the first byte on.
    Tls,
    /// None: for a server at a loopback IP alone.
    None,
}
