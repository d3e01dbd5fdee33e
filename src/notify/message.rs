//! A notification, and the result of an attempt to send it.

use std::fmt;

use serde_json::Value;

/// The longest key, in bytes.
const KEY_BYTES_MAX: usize = 256;

/// One notification. `Debug` shows its key and its target: the rest may hold a payer's text.
#[derive(Clone, PartialEq)]
pub struct OutgoingNotification {
    /// The notification's name for ever, in at most 256 visible characters of ASCII. A repeat has
    /// the same key.
    pub key: String,
    pub target: String,
    /// A text, or a map for a program; at most 64 KiB.
    pub body: Value,
    /// The same for a mail's readers of HTML; not sent to a web address.
    pub html: Option<String>,
    /// The subject of a mail; not sent to a web address.
    pub subject: Option<String>,
    /// Mail addresses, in place of the target's own.
    pub to: Option<Vec<String>>,
}

impl OutgoingNotification {
    /// Checks that the key can be sent to a receiver.
    ///
    /// # Errors
    /// The reason why it cannot.
    pub(crate) fn check_key(&self) -> Result<(), String> {
        let visible = self.key.bytes().all(|byte| byte.is_ascii_graphic());
        if visible && (1..=KEY_BYTES_MAX).contains(&self.key.len()) {
            return Ok(());
        }
        Err(format!("its key is not 1 to {KEY_BYTES_MAX} visible characters of ASCII"))
    }
}

impl fmt::Debug for OutgoingNotification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, target, body: _, html: _, subject: _, to: _ } = self;
        write!(f, "Message({key} to {target})")
    }
}

/// The only four results of an attempt. Reasons are for people and hold nothing secret or personal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum DeliveryResult {
    /// The receiver accepted it.
    Done,
    /// Provably not delivered: no connection was made, or the receiver asked for a later attempt.
    /// It may be sent again.
    NotSent(String),
    /// The receiver, or a rule of ours, refuses it. The same would be refused again.
    Refused(String),
    /// In doubt: the receiver may have accepted it. Only a person may order that it is sent again.
    InDoubt(String),
}
