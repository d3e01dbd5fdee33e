//! Payers: their links and tokens, pages that are made for one person, and payments.
//! [`crate::engine::commands::intake`] decides about links and tokens.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_with::skip_serializing_none;

use crate::base::id::{Key, Mode};
use crate::base::secret::Secret;
use crate::model::state::health::PaymentResult;

/// A payer's link with a verified signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntakeLink {
    pub key: Key,
    pub terms: IntakeTerms,
    pub until: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntakeTerms {
    /// The generation of the saved method's document.
    pub generation: u32,
    /// The name of the saved details that the payer's details replace, 12 hexadecimal digits or
    /// `0`; `None` while the generation has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intake {
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntakePage {
    /// `card` or `bank`.
    pub sort: &'static str,
    pub public_key: String,
    pub merchant: Option<String>,
    pub mode: Mode,
    /// Address from which the service's own fields are loaded.
    pub service: String,
    /// The reason why the previous token failed.
    pub trouble: Option<String>,
    /// True if saved details exist that these replace.
    pub replaces: bool,
    /// Number of tokens needed: one for the method, and one for each recurring charge of it.
    pub tokens: usize,
}

/// A token on its way to the engine. It crosses the control socket, and is displayed nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachToken {
    pub key: Key,
    #[serde(serialize_with = "serialize_exposed")]
    pub token: Secret,
    /// Further tokens of the same details, one for each recurring charge that the method pays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(serialize_with = "serialize_all")]
    pub more: Vec<Secret>,
    /// True if the token may replace the saved details. A payer's link contains this itself.
    #[serde(default)]
    pub replace: bool,
}

/// A token with its actor and its origin.
#[derive(Debug)]
pub struct SubmitToken {
    pub attaching: AttachToken,
    /// The payer's link by which the token arrived, if any.
    pub link: Option<IntakeLink>,
    pub actor: String,
}

fn serialize_exposed<S: Serializer>(token: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(token.expose())
}

fn serialize_all<S: Serializer>(tokens: &[Secret], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(tokens.iter().map(Secret::expose))
}

/// The address; `None`: there is no page to open now.
pub type PageLink = Option<Secret>;

/// A link on its way to the person who asked for it; it crosses the control socket alone.
#[derive(derive_more::Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[debug("Link(***)")]
#[serde(transparent)]
pub struct SecretLink(#[serde(serialize_with = "serialize_exposed")] pub Secret);

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaymentsView {
    /// The newest try to collect money; `None` until an event reports one.
    pub last: Option<PaymentView>,
    /// Failed tries since the last successful one.
    pub failures: u32,
    /// The date of the next payment, as the service last showed it.
    pub next: Option<String>,
}

/// One try to collect money.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaymentView {
    /// The transaction, or the occurrence.
    pub id: String,
    pub result: PaymentResult,
    /// In minor units.
    pub amount: Option<i64>,
    /// ISO 4217.
    pub currency: Option<String>,
    /// The service's code of a failure.
    pub reason: Option<String>,
    /// By the service's clock.
    pub at: String,
}

#[cfg(test)]
mod tests;
