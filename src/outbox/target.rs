//! Whom something can be told, with every setting read.

use crate::base::secret::Secret;

/// One target. Addresses are secrets: whoever knows that of a chat may write there, and that of a person is personal.
#[derive(Debug, Clone)]
pub enum Target {
    /// An address that takes a POST.
    Web {
        /// The address: `https://`, or `http://` at a loopback IP.
        url: Secret,
        /// What is posted there.
        form: Form,
    },
    /// Mail by SMTP.
    Mail(Box<Mail>),
}

/// What is posted to a web address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The body as JSON: a map as it is, a text as `{"text": …}`.
    Json,
    /// `{"text": …}`, as chats take it: a map is written out as text.
    Chat,
}

/// A server that takes mail, and whom the mail is for.
#[derive(Debug, Clone)]
pub struct Mail {
    /// Whom it is for, where the notification names nobody.
    pub to: Vec<Secret>,
    /// Whom it is from.
    pub from: Secret,
    /// The server: a name or an IP.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Who we are there; none where the server asks nobody.
    pub login: Option<Login>,
    /// How the way there is kept secret.
    pub encryption: Encryption,
}

/// Who we are at a mail server.
#[derive(Debug, Clone)]
pub struct Login {
    /// The user.
    pub user: Secret,
    /// The password.
    pub password: Secret,
}

/// How the way to a mail server is kept secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// After a word in the open; nothing is sent where the server does not.
    Starttls,
    /// From the first byte on.
    Tls,
    /// Not at all: for a server at a loopback IP alone.
    None,
}
