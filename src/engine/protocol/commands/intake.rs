//! A payer's link for a saved method: the state that the link shows, and the terms of a new one.
//!
//! Opening a link changes nothing. A link asks for the details that a generation of the document
//! does not have yet, or for a replacement of the saved ones; a replacement link is valid only
//! while exactly those details are saved.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::id::{Key, Mode};

/// A payer's link with a verified signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntakeLink {
    /// The saved method.
    pub key: Key,
    pub terms: IntakeTerms,
    /// End of the link's validity.
    pub until: DateTime<Utc>,
}

/// The terms of a payer's link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntakeTerms {
    /// The generation of the saved method's document.
    pub generation: u32,
    /// The name of the saved details that the payer's details replace, 12 hexadecimal digits or
    /// `0`; `None` while the generation has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

/// The present state of a payer's link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intake {
    /// The details are requested.
    Requested(Box<IntakePage>),
    /// A token has arrived, and is being saved.
    Received,
    /// The details are saved: the link has served its purpose.
    Stored,
    /// The link has expired, or the details are no longer requested.
    Expired,
    /// The details are requested, but cannot be accepted yet.
    NotYet,
}

/// The data of a payer's page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntakePage {
    /// `card` or `bank`.
    pub sort: &'static str,
    /// The merchant's public key.
    pub public_key: String,
    /// The merchant's name, if known.
    pub merchant: Option<String>,
    /// Test or live.
    pub mode: Mode,
    /// Address from which the service's own fields are loaded.
    pub service: String,
    /// The reason why the previous token failed.
    pub trouble: Option<String>,
    /// True if saved details exist that these replace.
    pub replaces: bool,
    /// Number of tokens needed for the details: one for the method, and one for each recurring
    /// charge that it pays.
    pub tokens: usize,
}
