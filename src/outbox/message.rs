//! What is to be told, and what became of it.

use std::fmt;

use serde_json::Value;

/// The longest key, in bytes.
const KEY_BYTES_MAX: usize = 256;

/// One notification. `Debug` shows its key and its target: the rest may hold what a payer wrote.
#[derive(Clone, PartialEq)]
pub struct Message {
    /// What names this notification for ever, in at most 256 visible characters of ASCII. A repeat has the same.
    pub key: String,
    /// The name of its target.
    pub target: String,
    /// A text, or a map for a program; at most 64 KiB.
    pub body: Value,
    /// The same for a mail's readers of HTML; a web address is not told it.
    pub html: Option<String>,
    /// The subject of a mail; a web address is not told it.
    pub subject: Option<String>,
    /// Addresses of mail, in place of the target's own.
    pub to: Option<Vec<String>>,
}

impl Message {
    /// Whether the key can be told to a receiver. Errors: why not.
    pub(super) fn check(&self) -> Result<(), String> {
        let visible = self.key.bytes().all(|byte| byte.is_ascii_graphic());
        if visible && (1..=KEY_BYTES_MAX).contains(&self.key.len()) {
            return Ok(());
        }
        Err(format!("its key is not 1 to {KEY_BYTES_MAX} visible characters of ASCII"))
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, target, body: _, html: _, subject: _, to: _ } = self;
        write!(f, "Message({key} to {target})")
    }
}

/// The only four things that are known of an attempt. Reasons are for people and hold nothing secret or personal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Sent {
    /// The receiver took it.
    Done,
    /// Provably nobody got it: no connection came about, or the receiver asked to come again later. It may be tried
    /// again.
    NotSent(String),
    /// The receiver, or a rule of ours, says no. The same would be refused again.
    Refused(String),
    /// Whether it was taken is not known. It is not to be sent again unless a person says so.
    InDoubt(String),
}
