//! E-mails that the service would send: kept as sent, in a mailbox that a control path shows.

pub(crate) mod letter;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::wire::Timestamp;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::state::store::{ChangeUnit, sortable_key};

const PREFIX: &str = "mail/";

/// An e-mail to one address.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredEmail {
    /// Id of the invoice's message: the same for each of its addresses.
    pub(crate) id: String,
    pub(crate) time: Timestamp,
    pub(crate) merchant: String,
    pub(crate) to: String,
    pub(crate) subject: String,
    /// The message's text, as the invoice shows it (partner-api, `invoice_messages`).
    pub(crate) body: String,
    pub(crate) invoice_id: String,
    /// Target of the e-mail's link.
    pub(crate) link: String,
    /// Display name of the sender.
    #[serde(default)]
    pub(crate) from_name: String,
    /// Address of the sender.
    #[serde(default)]
    pub(crate) from: String,
    /// The e-mail as a whole HTML document.
    #[serde(default)]
    pub(crate) html: String,
    /// The e-mail as plain text.
    #[serde(default)]
    pub(crate) text: String,
}

/// Adds an e-mail to the mailbox.
pub(crate) fn send(cx: &mut ChangeUnit<'_>, mail: &StoredEmail) -> Result<(), SandboxRefusal> {
    let number = cx.next();
    cx.put(&key(number), mail)
}

/// Returns every e-mail with its number in the mailbox, oldest first.
pub(crate) fn all(cx: &ChangeUnit<'_>) -> Result<Vec<(u64, Value)>, SandboxRefusal> {
    let kept = cx.scan(PREFIX, None, usize::MAX)?.into_iter();
    let numbered = kept.filter_map(|(key, mail)| {
        let number = u64::from_str_radix(key.strip_prefix(PREFIX)?, 16).ok()?;
        Some((number, mail))
    });
    Ok(numbered.collect())
}

/// Returns the e-mail with this number.
pub(crate) fn get_by_number(
    cx: &ChangeUnit<'_>,
    number: u64,
) -> Result<Option<Value>, SandboxRefusal> {
    cx.get(&key(number))
}

fn key(number: u64) -> String {
    format!("{PREFIX}{}", sortable_key(number))
}
