//! E-mails that the service would send: kept as they were sent, in a mailbox that a control path shows.

pub(crate) mod letter;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::wire::Timestamp;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::{Cx, ordered};

const PREFIX: &str = "mail/";

/// One e-mail to one address.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Mail {
    /// The message of the invoice that it carries: the same for each of its addresses.
    pub(crate) id: String,
    pub(crate) time: Timestamp,
    pub(crate) merchant: String,
    pub(crate) to: String,
    pub(crate) subject: String,
    /// The message's own text, as the invoice shows it (partner-api, `invoice_messages`).
    pub(crate) body: String,
    pub(crate) invoice_id: String,
    /// Where the link in it leads.
    pub(crate) link: String,
    /// Who sent it, as people see it.
    #[serde(default)]
    pub(crate) from_name: String,
    /// The address that it came from.
    #[serde(default)]
    pub(crate) from: String,
    /// What a mail program shows: a whole document.
    #[serde(default)]
    pub(crate) html: String,
    /// The same for a mail program that shows no HTML.
    #[serde(default)]
    pub(crate) text: String,
}

/// Puts an e-mail into the mailbox.
pub(crate) fn send(cx: &mut Cx<'_>, mail: &Mail) -> Result<(), Refusal> {
    let number = cx.next();
    cx.put(&key(number), mail)
}

/// Every e-mail with its number in the mailbox, oldest first.
pub(crate) fn all(cx: &Cx<'_>) -> Result<Vec<(u64, Value)>, Refusal> {
    let kept = cx.scan(PREFIX, None, usize::MAX)?.into_iter();
    let numbered = kept.filter_map(|(key, mail)| {
        let number = u64::from_str_radix(key.strip_prefix(PREFIX)?, 16).ok()?;
        Some((number, mail))
    });
    Ok(numbered.collect())
}

/// The e-mail of a number.
pub(crate) fn numbered(cx: &Cx<'_>, number: u64) -> Result<Option<Value>, Refusal> {
    cx.get(&key(number))
}

fn key(number: u64) -> String {
    format!("{PREFIX}{}", ordered(number))
}
