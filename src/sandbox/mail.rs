//! E-mails that the service would send: kept in a mailbox that a control path shows.

use serde::{Deserialize, Serialize};

use crate::api::wire::Timestamp;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::{Cx, ordered};

/// One e-mail to one address.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Mail {
    pub(crate) id: String,
    pub(crate) time: Timestamp,
    pub(crate) merchant: String,
    pub(crate) to: String,
    pub(crate) subject: String,
    pub(crate) body: String,
    pub(crate) invoice_id: String,
    /// Where the link in it leads.
    pub(crate) link: String,
}

/// Puts an e-mail into the mailbox.
pub(crate) fn send(cx: &mut Cx<'_>, mail: &Mail) -> Result<(), Refusal> {
    let at = cx.next();
    cx.put(&format!("mail/{}", ordered(at)), mail)
}

/// A text as HTML shows it.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}
